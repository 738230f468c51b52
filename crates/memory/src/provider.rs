//! The seam for memories that are kept elsewhere: by a service, or in what was said before.

use hermes_conversation::{BoxFuture, SessionId};

/// A memory beside the two files.
///
/// What it gives is data, never instructions: whoever asks puts it between marks and says so. It must
/// give the same `static_block` for as long as nothing changed, since that is part of the frozen prompt;
/// a time limit on `recall` is the caller's, and dropping the future must be harmless.
pub trait MemoryProvider: Send + Sync {
    /// What it is called in the settings.
    fn name(&self) -> &'static str;

    /// A block for the system prompt of a new session. Asked once, when the session begins.
    fn static_block(&self) -> Option<String>;

    /// Older messages of a session are about to be summed up: what was not kept yet is kept now, and what is
    /// returned goes along to whoever writes the summary.
    fn before_compaction<'a>(&'a self, _session: &'a SessionId) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    /// What it knows that bears on this message, for the message itself. Asked once per turn.
    fn recall<'a>(&'a self, message: &'a str, session: &'a SessionId) -> BoxFuture<'a, Option<String>>;
}

//! The interface of memory providers, which keep memory elsewhere: in a service, or in earlier sessions.

use hermes_conversation::{BoxFuture, SessionId};

/// A source of memory beside the two files.
///
/// It returns data, never instructions: the caller puts it between marks that say so. `static_block` must be
/// the same until something changes, because it is part of the stored system prompt. The caller limits the
/// time of `recall`, and dropping its future must be harmless.
pub trait MemoryProvider: Send + Sync {
    /// Its name in the settings.
    fn name(&self) -> &'static str;

    /// Returns a block for the system prompt of a new session. Called once, when the session begins.
    fn static_block(&self) -> Option<String>;

    /// Called before a compaction: saves what is not saved yet, and returns text for the model that writes the
    /// summary.
    fn before_compaction<'a>(&'a self, _session: &'a SessionId) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    /// Returns what is relevant for a message. Called once per turn.
    fn recall<'a>(&'a self, message: &'a str, session: &'a SessionId) -> BoxFuture<'a, Option<String>>;
}

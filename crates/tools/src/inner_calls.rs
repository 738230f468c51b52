//! Calls that a script makes through the tools of its session.
//!
//! A call must be judged, recorded and approved before it runs, which is the agent's work. So the agent hands in
//! [`InnerCalls`] with the call of the script.

use crate::Origin;
use hermes_conversation::{BoxFuture, RecordError, ToolCall};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The reader of a result.
#[derive(Clone)]
pub enum Caller {
    /// The model. A script that it runs can make calls if they are handed in.
    Model(Option<Arc<dyn InnerCalls>>),
    /// A script. It parses the result, so nothing is added to it, and it gets a text again that the model has.
    Script,
}

impl Caller {
    pub(crate) fn is_script(&self) -> bool {
        matches!(self, Self::Script)
    }
}

/// Runs calls of a script.
///
/// Implementations treat each call like one of the model: it is judged, approved and recorded before it runs, and runs
/// at most once. They return when it has ended and its end is recorded, also after a cancellation.
pub trait InnerCalls: Send + Sync {
    /// The names of all tools of the session.
    fn tools(&self) -> Vec<String>;

    /// Runs the call with this number, counted from 1. An error means that nothing can be recorded any more.
    fn call<'a>(
        &'a self,
        number: u64,
        call: ToolCall,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<InnerReply, RecordError>>;
}

/// The result of a call of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerReply {
    /// A JSON text.
    pub text: String,
    pub origin: Origin,
}

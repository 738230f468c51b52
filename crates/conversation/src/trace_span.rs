//! Durations and results of model calls and tool calls, for traces and statistics. No decision depends on them.

use crate::{CacheEntry, Cost, IntentId, TurnId, Usage};
use std::time::Duration;

/// A finished model call or tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceSpan {
    /// The duration of a tool call. Its result is recorded later, in one commit with the others of its batch.
    ToolRan { intent: IntentId, took: Duration },
    /// A model call of the turn.
    ModelCall { turn: TurnId, call: Box<ModelCall> },
}

/// One request to a model, successful or not.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub took: Duration,
    /// Time until the first byte of the response; `None` if there was none.
    pub first_byte: Option<Duration>,
    pub provider: String,
    pub model: String,
    /// 1 for the first attempt, plus one for every failure since the last reply.
    pub attempt: u32,
    pub end: CallEnd,
    pub usage: Option<Usage>,
    pub cost: Option<Cost>,
    /// The relation of the request's prompt prefix to that of the request before it.
    pub cache: CacheEntry,
    /// The text received before the user stopped the call. It is never sent.
    pub partial: Option<String>,
}

/// The end of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// A reply, with its finish reason.
    Replied(&'static str),
    /// A fault, by its class. The provider's error text is only in the log, which is redacted.
    Failed(&'static str),
    /// Stopped by the user.
    Stopped,
}

//! What a turn spent its time on, for people who look at it later. Nothing is decided by it.

use crate::{CacheEntry, Cost, IntentId, TurnId, Usage};
use std::time::Duration;

/// Something that has just ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    /// A tool ran for this long; its result is recorded later, together with those of its neighbours.
    ToolRan { intent: IntentId, took: Duration },
    /// A model was asked.
    ModelCall { turn: TurnId, call: Box<ModelCall> },
}

/// One request to a model, answered or not.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub took: Duration,
    /// How long nothing at all was heard.
    pub first_byte: Option<Duration>,
    pub provider: String,
    pub model: String,
    /// 1 for the first try, and one more for every failure since the last answer.
    pub attempt: u32,
    pub end: CallEnd,
    pub usage: Option<Usage>,
    pub cost: Option<Cost>,
    /// How the request related to the one before it.
    pub cache: CacheEntry,
    /// The text that had arrived when the user stopped the call. It is never sent.
    pub partial: Option<String>,
}

/// How a model call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// With a reply, which ended for this reason.
    Replied(&'static str),
    /// With a fault of this class. What the provider said of it is for the log, which is redacted.
    Failed(&'static str),
    /// The person stopped it.
    Stopped,
}

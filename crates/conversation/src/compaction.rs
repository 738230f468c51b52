//! Compaction: replacing older messages by a summary when a conversation outgrows the context window.
//!
//! Nothing is removed from the record: a compaction opens a new *epoch*, whose messages are sent instead of the
//! recorded ones. Messages of the user, the model and tools are *originals*; messages that a compaction wrote,
//! summaries and copies of kept messages alike, are not. A [`Node`] lists the originals of a summary.

use crate::{Message, MessageId, TokenCount};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A new epoch, recorded in one transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Compaction {
    /// The messages to send from now on, in order.
    pub messages: Vec<Arc<Message>>,
    /// The number of messages at the end that are unchanged.
    pub tail: usize,
    /// At most one leaf, for the originals outside the tail that no leaf covers yet; then parents of older nodes.
    pub nodes: Vec<NewNode>,
    pub report: CompactionReport,
}

/// A summary to record. It gets the next number of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNode {
    /// The numbers of the nodes that it summarises; empty for a leaf, which summarises originals.
    pub children: Vec<u32>,
    pub text: String,
}

/// A recorded summary and the messages that it covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The number within the session, from 1.
    pub number: u32,
    /// 0 for a leaf.
    pub level: u32,
    pub children: Vec<u32>,
    /// The first original that it covers.
    pub first: MessageId,
    /// The last original that it covers.
    pub last: MessageId,
    /// The number of originals from `first` to `last`.
    pub messages: u64,
    pub text: String,
}

/// The trigger of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The start of a turn.
    Preflight,
    /// Between two model calls of a turn.
    Loop,
    /// The provider rejected a request as too long.
    Overflow,
    /// A request of the user.
    Manual,
    /// Maintenance of idle sessions by a front end.
    Hygiene,
}

/// The source of a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryBy {
    /// The model with this name.
    Model(String),
    /// Excerpts, because no model is configured for summaries.
    Excerpts,
    /// Excerpts, because the model failed or its summary was unusable.
    Fallback { why: String },
}

/// The result of a compaction, as recorded and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionReport {
    pub engine: String,
    pub trigger: Trigger,
    pub by: SummaryBy,
    pub messages_before: u64,
    pub messages_after: u64,
    pub tokens_before: TokenCount,
    pub tokens_after: TokenCount,
    pub seconds: f64,
    /// The cost of the summary in dollars, if known.
    pub cost_usd: Option<f64>,
    pub kept: KeptCounts,
}

/// The number of items that a compaction kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeptCounts {
    /// Unchanged messages at the end.
    pub tail: u64,
    pub pins: u64,
    pub todos: u64,
    pub files: u64,
}

impl Trigger {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Loop => "loop",
            Self::Overflow => "overflow",
            Self::Manual => "manual",
            Self::Hygiene => "hygiene",
        }
    }
}

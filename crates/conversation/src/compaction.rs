//! What takes the place of older messages when a conversation outgrows its model's window.
//!
//! Nothing is removed from the record: a compaction opens a new *epoch*, whose messages are a view of what
//! was said. Messages that somebody said are *originals*; those that a compaction wrote, summaries and
//! copies of kept messages alike, are not. A [`Node`] remembers which originals a summary stands for.

use crate::{Message, MessageId, TokenCount};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A new epoch, to be recorded at once or not at all.
#[derive(Debug, Clone, PartialEq)]
pub struct Compaction {
    /// What the model is sent from now on, in order.
    pub messages: Vec<Arc<Message>>,
    /// How many of them, at the end, are as they were.
    pub tail: usize,
    /// At most one leaf, for the originals that no leaf stands for yet and that are not in the tail; then
    /// parents of older nodes.
    pub nodes: Vec<NewNode>,
    pub report: CompactionReport,
}

/// A summary to be remembered. Numbers go on from the session's last one, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNode {
    /// The numbers of the nodes it sums up; none for a leaf, which sums up originals.
    pub children: Vec<u32>,
    pub text: String,
}

/// A summary, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Within its session, from 1.
    pub number: u32,
    /// 0 for a leaf.
    pub level: u32,
    pub children: Vec<u32>,
    /// The first and the last original, and how many there are from one to the other.
    pub first: MessageId,
    pub last: MessageId,
    pub messages: u64,
    pub text: String,
}

/// What led to a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A turn begins.
    Preflight,
    /// Between two calls of a turn.
    Loop,
    /// The provider refused a request as too long.
    Overflow,
    /// A person asked for it.
    Manual,
    /// A front end looks after sessions that nobody watches.
    Hygiene,
}

/// Who wrote the summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryBy {
    /// A model, by its name.
    Model(String),
    /// Nobody: excerpts, because no model was asked.
    Excerpts,
    /// Excerpts, because what a model was asked for did not come or was no good.
    Fallback { why: String },
}

/// One line of the record per compaction.
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
    /// What the summary cost in dollars, where that is known.
    pub cost_usd: Option<f64>,
    pub kept: KeptCounts,
}

/// What a compaction took care not to lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeptCounts {
    /// Messages at the end that are as they were.
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

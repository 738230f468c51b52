//! Keeping a conversation inside the model's window.
//!
//! An engine decides, in plain functions; the agent carries the decision out: it asks the second model for
//! a summary, records the new epoch and goes on with it.

mod calibration;
mod compaction;
mod compressor;
mod digest;
mod lossless;
mod never;
mod parts;
mod port;
mod summarise;
mod view;
mod weights;

pub use calibration::Calibration;
pub use compaction::marker::HEADING as SUMMARY_HEADING;
pub use compaction::settings::{CompressorSettings, Limits, UNKNOWN_WINDOW, limits};
pub use compaction::template::SECTIONS as SUMMARY_SECTIONS;
pub use compressor::Compressor;
pub use digest::digest;
pub use lossless::{LOSSLESS, Lossless, LosslessSettings};
pub use never::NeverCompact;
pub use port::{EnginePort, here};
pub use summarise::{NoSummaries, Summarise, Summary, SummaryFailure, SummaryFailureKind};
pub use view::{Keep, Last, Past, View, Window, request_size};
pub use weights::{IMAGE_TOKENS, Weight, Weights, weigh};

use hermes_conversation::{KeptCounts, Message, NewNode, SummaryBy};
use std::ops::Range;
use std::sync::Arc;

/// Decides when a history must shrink, and how.
///
/// The methods are pure: the same view gives the same answer, and the model call between them is made by
/// the agent.
pub trait ContextEngine: Send + Sync {
    /// The name in settings and in the record.
    fn name(&self) -> &str;

    /// Decides whether to compact the history now, and returns the plan for it.
    fn plan(&self, view: &View<'_>) -> Decision;

    /// Returns the compacted history, given the answer of the auxiliary model. An unacceptable answer is
    /// replaced by excerpts, so that no message is dropped silently; an error says why no valid and smaller
    /// history can be made, and the history stays as it is.
    fn assemble(&self, view: &View<'_>, plan: &Plan, answer: Answer<'_>) -> Result<Assembled, String>;

    /// From how many tokens on a request is too large, for a window; `None` where nothing ever is.
    fn threshold(&self, window: &Window) -> Option<u64>;
}

/// The decision about a history.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It fits.
    Leave,
    /// Compaction is due but would not help now. A sentence for the user: the reason, and a remedy.
    Stuck(String),
    Shrink(Plan),
}

/// The plan of a compaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The stretch that a summary takes the place of.
    pub replace: Range<usize>,
    /// The question to the auxiliary model; `None` if no model is needed.
    pub question: Option<Question>,
    /// The whole request before, in tokens.
    pub before: hermes_conversation::TokenCount,
}

/// A question to the auxiliary model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub system: String,
    pub text: String,
    pub max_output_tokens: u64,
}

/// The answer to the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// Nothing was asked.
    NotAsked,
    /// A model, by its name, said this.
    Said { model: &'a str, text: &'a str },
    /// No model answered, for this reason.
    Failed(&'a str),
}

/// A history that takes the place of a longer one.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    pub messages: Vec<Arc<Message>>,
    /// The number of unchanged messages at the end.
    pub tail: usize,
    pub nodes: Vec<NewNode>,
    pub by: SummaryBy,
    pub kept: KeptCounts,
    /// The whole request after, in tokens.
    pub after: hermes_conversation::TokenCount,
}

//! Keeping a conversation inside the model's window.
//!
//! An engine decides, in plain functions; the agent carries the decision out: it asks the second model for
//! a summary, records the new epoch and goes on with it.

mod calibration;
mod compressor;
mod digest;
mod lossless;
mod never;
mod parts;
mod port;
mod shrinking;
mod summarise;
mod view;
mod weights;

pub use calibration::Calibration;
pub use compressor::Compressor;
pub use digest::digest;
pub use lossless::{LOSSLESS, Lossless, LosslessSettings};
pub use never::NeverCompact;
pub use port::{EnginePort, here};
pub use shrinking::marker::HEADING as SUMMARY_HEADING;
pub use shrinking::settings::{CompressorSettings, Limits, UNKNOWN_WINDOW, limits};
pub use shrinking::template::SECTIONS as SUMMARY_SECTIONS;
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

    /// Whether the history is to shrink now, and what is needed for it.
    fn plan(&self, view: &View<'_>) -> Decision;

    /// What takes the place of the history, given what the second model said. An answer that is no good is
    /// replaced by excerpts, so that nothing is dropped without a word; an error says why nothing that is
    /// smaller and valid can be made, and the history stays as it is.
    fn assemble(&self, view: &View<'_>, plan: &Plan, answer: Answer<'_>) -> Result<Assembled, String>;

    /// From how many tokens on a request is too large, for a window; `None` where nothing ever is.
    fn threshold(&self, window: &Window) -> Option<u64>;
}

/// What to do about a history.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It fits.
    Leave,
    /// It should shrink, and nothing good would come of it now. A sentence for the person: why, and what
    /// can be done.
    Stuck(String),
    Shrink(Plan),
}

/// How a history is to shrink.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The stretch that a summary takes the place of.
    pub replace: Range<usize>,
    /// What to ask the second model; `None` where no model is needed.
    pub question: Option<Question>,
    /// The whole request before, in tokens.
    pub before: hermes_conversation::TokenCount,
}

/// What a second model is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub system: String,
    pub text: String,
    pub max_output_tokens: u64,
}

/// What came of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// Nothing was asked.
    NotAsked,
    /// A model, by its name, said this.
    Said { model: &'a str, text: &'a str },
    /// Nobody answered, for this reason.
    Failed(&'a str),
}

/// A history that takes the place of a longer one.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    pub messages: Vec<Arc<Message>>,
    /// How many of them, at the end, are as they were.
    pub tail: usize,
    pub nodes: Vec<NewNode>,
    pub by: SummaryBy,
    pub kept: KeptCounts,
    /// The whole request after, in tokens.
    pub after: hermes_conversation::TokenCount,
}

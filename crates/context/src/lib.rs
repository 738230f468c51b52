//! Keeping a conversation inside the model's window.
//!
//! An engine decides; the agent carries the decision out. The only engine in this version
//! never compacts: the conversation is sent whole.

use hermes_conversation::{Message, TokenCount};
use std::ops::Range;
use std::sync::Arc;

/// Decides when a history must shrink, and how.
///
/// Both methods are pure: the model call between them is made by the agent.
pub trait ContextEngine: Send + Sync {
    /// What to replace by a summary, or `None` to send the history as it is.
    fn plan(&self, history: &[Arc<Message>], budget: &Budget) -> Option<Plan>;

    /// The history that takes the place of the old one, given the summary's text.
    fn assemble(&self, history: &[Arc<Message>], plan: &Plan, summary: &str) -> Vec<Arc<Message>>;
}

/// What there is room for, and what the last request took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub window: Option<u64>,
    pub used: Option<TokenCount>,
}

/// A stretch of the history to replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub summarise: Range<usize>,
}

/// Sends everything, always.
#[derive(Debug, Default)]
pub struct NeverCompact;

impl ContextEngine for NeverCompact {
    fn plan(&self, _: &[Arc<Message>], _: &Budget) -> Option<Plan> {
        None
    }

    fn assemble(&self, history: &[Arc<Message>], _: &Plan, _: &str) -> Vec<Arc<Message>> {
        history.to_vec()
    }
}

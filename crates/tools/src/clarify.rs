//! Asking the person a question in the middle of the work.

use hermes_conversation::CallId;

/// The most answers that are offered.
pub(crate) const MOST_CHOICES: usize = 4;

/// A question of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub call_id: CallId,
    pub text: String,
    /// Answers to choose from; the person may always give another. Often none.
    pub choices: Vec<String>,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clarified {
    /// In the person's words, or in those of a choice.
    Answered(String),
    /// There is nobody who could be asked.
    Nobody,
}

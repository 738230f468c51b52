//! Questions to the user during a turn.

use hermes_conversation::CallId;

/// The most answers that are offered.
pub(crate) const MOST_CHOICES: usize = 4;

/// A question of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub call_id: CallId,
    pub text: String,
    /// Suggested answers; the user may always give another. Often empty.
    pub choices: Vec<String>,
}

/// The user's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clarified {
    /// The text of the user or of a choice.
    Answered(String),
    /// No user is available to answer.
    NoUser,
}

//! Approval: the user's decision on a tool call before it runs.

use crate::clarify::{Clarified, Question};
use hermes_conversation::{BoxFuture, CallId};
use serde::Deserialize;
use std::path::PathBuf;

/// The calls for which approval is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "ConfigWord")]
pub enum ApprovalMode {
    /// Before every command.
    Manual,
    /// Never.
    Off,
}

impl ApprovalMode {
    /// Reads `approvals.mode`. Any value other than off requests approval: a typing error must not disable
    /// it.
    pub fn from_config(word: &str) -> Self {
        match word.trim().to_ascii_lowercase().as_str() {
            "off" | "false" => Self::Off,
            _ => Self::Manual,
        }
    }
}

/// YAML reads a bare `off` as a boolean.
#[derive(Deserialize)]
#[serde(untagged)]
enum ConfigWord {
    Flag(bool),
    Word(String),
    Other(serde::de::IgnoredAny),
}

impl From<ConfigWord> for ApprovalMode {
    fn from(word: ConfigWord) -> Self {
        match word {
            ConfigWord::Flag(false) => Self::Off,
            ConfigWord::Flag(true) | ConfigWord::Other(_) => Self::Manual,
            ConfigWord::Word(word) => Self::from_config(&word),
        }
    }
}

/// A call that waits for approval. The text shown is the text that will run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    pub call_id: CallId,
    pub tool: String,
    /// The action to approve, for instance the command.
    pub what: String,
    pub cwd: PathBuf,
}

/// The user's answer to an approval request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    Allowed,
    Denied,
    /// No user is available to answer.
    NoUser,
    /// The user cancels the whole turn.
    Stopped,
}

/// A connection to the user.
///
/// Implementations show the request or the question and wait; dropping the future withdraws it. Silence is
/// not approval: an implementation that stops waiting answers [`Approval::Denied`].
pub trait AskUser: Send + Sync {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval>;

    /// Asks the user a question. Returns at once if no user is available.
    fn clarify<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Clarified>;

    /// Returns true if a user watches and can stop the turn.
    fn is_present(&self) -> bool {
        true
    }
}

/// For runs without a user.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoUser;

impl AskUser for NoUser {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async { Approval::NoUser })
    }

    fn clarify<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Clarified> {
        Box::pin(async { Clarified::NoUser })
    }

    fn is_present(&self) -> bool {
        false
    }
}

/// The tool result for a call that was not approved.
pub fn denied_text(approval: &Approval) -> String {
    match approval {
        Approval::Allowed => "This call was allowed but has not been run.".to_owned(),
        Approval::Stopped => "Not run: the user stopped the turn.".to_owned(),
        Approval::Denied => "Not run: the user denied this command. Do not try it again, reword it or reach \
             the same effect another way; ask the user what they want instead."
            .to_owned(),
        Approval::NoUser => {
            "Not run: commands need a person's approval here, and nobody is present to give it. \
             Do not try it again. Tell the user that the command was not run, and that they can start \
             Hermes with --yolo or set approvals.mode: off to allow commands without asking."
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_off_turns_asking_off() {
        for (word, want) in [
            ("off", ApprovalMode::Off),
            ("False", ApprovalMode::Off),
            ("manual", ApprovalMode::Manual),
            ("smart", ApprovalMode::Manual),
            ("of", ApprovalMode::Manual),
            ("", ApprovalMode::Manual),
        ] {
            assert_eq!(ApprovalMode::from_config(word), want, "{word}");
        }
        for (json, want) in [
            ("false", ApprovalMode::Off),
            ("true", ApprovalMode::Manual),
            ("\"off\"", ApprovalMode::Off),
            ("7", ApprovalMode::Manual),
            ("null", ApprovalMode::Manual),
        ] {
            assert_eq!(serde_json::from_str::<ApprovalMode>(json).unwrap(), want, "{json}");
        }
    }

    #[test]
    fn a_refusal_says_that_nothing_ran() {
        assert!(denied_text(&Approval::Denied).starts_with("Not run"));
        let nobody = denied_text(&Approval::NoUser);
        assert!(nobody.contains("--yolo") && nobody.contains("approvals.mode: off"));
    }
}

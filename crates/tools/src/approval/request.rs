//! A request for approval and the answers to it.

use super::decision::DecidedBy;
use crate::Environment;
use hermes_conversation::CallId;
use std::path::PathBuf;
use std::sync::Arc;

/// A call that waits for approval. The text shown is the text that will run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    pub call_id: CallId,
    pub tool: String,
    /// The action to approve, for instance the command.
    pub what: String,
    pub cwd: PathBuf,
    /// The changes of the environment that it runs with. An answer holds for no other ones.
    pub environment: Arc<Environment>,
    /// The effects, described for the user, and changes of the environment that matter to them.
    pub effects: Vec<String>,
    /// The approval keys of the rules that matched.
    pub rules: Vec<String>,
    pub coverage: Coverage,
    /// The advice of a model against the call.
    pub advice: Option<String>,
    /// A model may approve it with `approvals.mode: smart`.
    pub is_reviewable: bool,
}

/// The calls that the wider answers cover, described for the user. `None` if an answer is not offered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    pub session: Option<String>,
    pub always: Option<String>,
}

impl ApprovalRequest {
    /// A request that can only be approved for this one call.
    pub fn once(call_id: CallId, tool: impl Into<String>, what: impl Into<String>, cwd: PathBuf) -> Self {
        Self {
            call_id,
            tool: tool.into(),
            what: what.into(),
            cwd,
            environment: Arc::default(),
            effects: Vec::new(),
            rules: Vec::new(),
            coverage: Coverage::default(),
            advice: None,
            is_reviewable: false,
        }
    }

    /// Returns true if an answer of this scope is offered.
    pub fn offers(&self, scope: Scope) -> bool {
        match scope {
            Scope::Once => true,
            Scope::Session => self.coverage.session.is_some(),
            Scope::Always => self.coverage.always.is_some(),
        }
    }
}

/// The calls that an approval covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// This call: exact text, environment changes, directory and place.
    #[default]
    Once,
    /// Calls like it until the session ends.
    Session,
    /// Calls like it, in every session.
    Always,
}

impl Scope {
    /// The word for the record and for `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
        }
    }
}

/// The user's answer to an approval request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    Allowed(Scope),
    Denied {
        /// The reason for the model.
        reason: Option<String>,
    },
    /// The user did not answer in time.
    TimedOut,
    /// No user is available to answer.
    NoUser,
    /// The user cancels the whole turn.
    Stopped,
}

impl Approval {
    pub const ONCE: Self = Self::Allowed(Scope::Once);
    pub const DENIED: Self = Self::Denied { reason: None };
}

/// A decision or an advice before the user is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Review {
    /// The call runs, without any access beyond the sandbox.
    Allow(DecidedBy),
    /// The user is asked and sees this advice against the call.
    Advise(String),
}

/// The user's answer to a request about several calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchApproval {
    /// Each is approved, once.
    AllOnce,
    /// The user wants to answer for each call.
    OneByOne,
    /// The answer holds for each of them.
    Each(Approval),
}

/// The tool result for a call that was not approved.
pub fn denied_text(approval: &Approval) -> String {
    match approval {
        Approval::Allowed(_) => "This call was allowed but has not been run.".to_owned(),
        Approval::Stopped => "Not run: the user stopped the turn.".to_owned(),
        Approval::Denied { reason: None } => {
            "Not run: the user denied this command. Do not try it again, reword it or reach \
             the same effect another way; ask the user what they want instead."
                .to_owned()
        }
        Approval::Denied { reason: Some(reason) } => format!(
            "Not run: the user denied this command, with this reason: {reason}\nDo not try it again, reword it or \
             reach the same effect another way."
        ),
        Approval::TimedOut => "Not run: the user did not answer the approval request in time. Silence is not \
             consent: do not try it again, reword it or reach the same effect another way. Say that the \
             command was not run, and go on with what needs no approval."
            .to_owned(),
        Approval::NoUser => "Not run: this command needs approval, and no one is available to give it. \
             Do not try it again or reach the same effect another way. Tell the user that the command was not run, \
             and that they can run it in a chat, add it to command_allowlist, or set \
             approvals.unattended: sandboxed."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_that_nothing_ran_and_carries_the_reason() {
        let reason = Some("use the staging host".to_owned());
        for approval in [Approval::DENIED, Approval::TimedOut, Approval::NoUser, Approval::Stopped] {
            assert!(denied_text(&approval).starts_with("Not run"), "{approval:?}");
        }
        assert!(denied_text(&Approval::Denied { reason }).contains("use the staging host"));
    }
}

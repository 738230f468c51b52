//! Approval: the decision on a call before it runs, by rules and by the user.
//!
//! The gate (`hermes-gate`) says what a call would do. [`decide`] turns that into a decision by the settings and the
//! answers of the session so far; it is pure. Only a call that it cannot decide is put to the user.

mod allow_list;
mod decision;
mod mode;
mod request;
mod session_approvals;
mod smart;

pub use allow_list::AllowList;
pub use decision::{Action, ActionKind, ApprovalPolicy, DecidedBy, Decision, decide};
pub(crate) use decision::{asked_rules, coverage};
pub use mode::{ApprovalMode, Unattended};
pub use request::{Approval, ApprovalRequest, BatchApproval, Coverage, Review, Scope, denied_text};
pub use session_approvals::SessionApprovals;
pub(crate) use smart::may_ask_model;
pub use smart::{SmartAnswer, smart_prompt};

use crate::clarify::{Clarified, Question};
use hermes_conversation::BoxFuture;

/// A connection to the user.
///
/// Implementations show the request or the question and wait; dropping the future withdraws it. Silence is
/// not approval: an implementation that stops waiting answers [`Approval::TimedOut`].
pub trait AskUser: Send + Sync {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval>;

    /// Decides without the user, or adds an advice to the request, if the settings ask for that. Called before the
    /// user is asked.
    fn review<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Option<Review>> {
        Box::pin(async { None })
    }

    /// Asks about several calls of one reply at once.
    fn approve_batch<'a>(&'a self, _requests: &'a [ApprovalRequest]) -> BoxFuture<'a, BatchApproval> {
        Box::pin(async { BatchApproval::OneByOne })
    }

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

//! Approvals and questions of a session, answered by the observer that holds the right.

use crate::hub::Hub;
use hermes_conversation::BoxFuture;
use hermes_tools::{Approval, ApprovalRequest, AskUser, BatchApproval, Clarified, Question};
use std::sync::Arc;
use std::time::Duration;

/// Time that a question waits for another observer after the answering one has left.
const HANDOVER_GRACE: Duration = Duration::from_secs(60);

/// The number of a question in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuestionId(pub u64);

/// A question that is not answered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingQuestion {
    pub id: QuestionId,
    pub kind: QuestionKind,
}

/// The subject of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionKind {
    /// A tool call or a hook that needs approval.
    Approval(ApprovalRequest),
    /// Several tool calls of one reply that need approval.
    Batch(Vec<ApprovalRequest>),
    /// A question of the model.
    Clarify(Question),
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Approval(Approval),
    Batch(BatchApproval),
    Text(String),
    /// The front end cannot ask the user now.
    Unavailable,
}

/// Asks the observers of one session.
pub struct SessionQuestions(pub Arc<Hub>);

impl AskUser for SessionQuestions {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            if !self.is_present() {
                return Approval::NoUser;
            }
            match self.answer(QuestionKind::Approval(request.clone())).await {
                Some(Answer::Approval(approval)) => approval,
                Some(Answer::Unavailable) => Approval::NoUser,
                // A text is not an approval, and neither is silence.
                Some(Answer::Text(_) | Answer::Batch(_)) | None => Approval::DENIED,
            }
        })
    }

    fn approve_batch<'a>(&'a self, requests: &'a [ApprovalRequest]) -> BoxFuture<'a, BatchApproval> {
        Box::pin(async move {
            match self.answer(QuestionKind::Batch(requests.to_vec())).await {
                Some(Answer::Batch(answer)) => answer,
                Some(Answer::Approval(approval)) => BatchApproval::Each(approval),
                Some(Answer::Text(_) | Answer::Unavailable) | None => BatchApproval::OneByOne,
            }
        })
    }

    fn clarify<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Clarified> {
        Box::pin(async move {
            if !self.is_present() {
                return Clarified::NoUser;
            }
            match self.answer(QuestionKind::Clarify(question.clone())).await {
                Some(Answer::Text(text)) => Clarified::Answered(text),
                Some(Answer::Approval(_) | Answer::Batch(_) | Answer::Unavailable) | None => {
                    Clarified::NoUser
                }
            }
        })
    }

    fn is_present(&self) -> bool {
        self.0.has_answerer()
    }
}

impl SessionQuestions {
    /// Waits for an answer. `None` when the right to answer stays unclaimed for too long.
    async fn answer(&self, kind: QuestionKind) -> Option<Answer> {
        let (id, answer) = self.0.ask(kind);
        let _withdrawn = WithdrawOnDrop { hub: &self.0, id };
        tokio::select! {
            answer = answer => answer.ok(),
            () = self.unclaimed() => None,
        }
    }

    /// Returns when no observer has held the right to answer for [`HANDOVER_GRACE`].
    async fn unclaimed(&self) {
        loop {
            let changed = self.0.answerer_changed.notified();
            match self.0.has_answerer() {
                true => changed.await,
                false if tokio::time::timeout(HANDOVER_GRACE, changed).await.is_err() => return,
                false => {}
            }
        }
    }
}

/// Closes a question whose turn no longer waits for it.
struct WithdrawOnDrop<'a> {
    hub: &'a Hub,
    id: QuestionId,
}

impl Drop for WithdrawOnDrop<'_> {
    fn drop(&mut self) {
        self.hub.withdraw(self.id);
    }
}

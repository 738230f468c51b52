//! The other input ports of a turn, fed from a recording.

use super::cursor::Cursor;
use super::line::{Answer, BatchLine, MailLine, ReviewLine, What};
use super::recorded_answer::RecordedAnswer;
use hermes_agent::{Pause, sleep};
use hermes_context::{self as context, NoSummaries, Summarise, Summary, SummaryFailure};
use hermes_conversation::{
    BoxFuture, DeliveryPoint, HookCall, HookEvent, HookVerdict, Hooks, Lease, Mail, Mailbox, RecordError,
    SessionId,
};
use hermes_store::{SessionDb, StoreError};
use hermes_tools::{
    Approval, ApprovalRequest, AskUser, BatchApproval, Clarified, DecidedBy, Question, Review, Scope,
};
use std::sync::Arc;

pub(crate) struct ReplayedAsk {
    pub(crate) cursor: Arc<Cursor>,
    pub(crate) is_watched: bool,
    pub(crate) live: Option<Arc<dyn AskUser>>,
}

impl AskUser for ReplayedAsk {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        if let (true, Some(live)) = (self.cursor.is_live(), &self.live) {
            return live.approve(request);
        }
        let asked = request.call_id.clone();
        let pick = move |what: &What| match what {
            What::Approval { call, answer } if *call == asked => Some(answer.clone()),
            _ => None,
        };
        let recorded = RecordedAnswer::new(self.cursor.clone(), "an answer to a question", Box::new(pick));
        Box::pin(async move { approval(recorded.answer().await) })
    }

    fn review<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Option<Review>> {
        if let (true, Some(live)) = (self.cursor.is_live(), &self.live) {
            return live.review(request);
        }
        let is_next = |what: &What| matches!(what, What::Review { call, .. } if *call == request.call_id);
        let line = self.cursor.peek(is_next).unwrap_or_default().then(|| {
            self.cursor.take("a review", |what| match what {
                What::Review { answer, .. } => Some(answer.clone()),
                _ => None,
            })
        });
        let review = line.flatten().map(|line| match line {
            ReviewLine::Smart => Review::Allow(DecidedBy::Model),
            ReviewLine::Sandbox => Review::Allow(DecidedBy::Sandbox),
            ReviewLine::Advice(advice) => Review::Advise(advice),
        });
        Box::pin(async move { review })
    }

    fn approve_batch<'a>(&'a self, requests: &'a [ApprovalRequest]) -> BoxFuture<'a, BatchApproval> {
        if let (true, Some(live)) = (self.cursor.is_live(), &self.live) {
            return live.approve_batch(requests);
        }
        // Recordings of older versions have none.
        if self.cursor.peek(|what| matches!(what, What::BatchApproval { .. })) != Some(true) {
            return Box::pin(async { BatchApproval::OneByOne });
        }
        let pick = |what: &What| match what {
            What::BatchApproval { answer } => Some(answer.clone()),
            _ => None,
        };
        let recorded = RecordedAnswer::new(self.cursor.clone(), "an answer to a question", Box::new(pick));
        Box::pin(async move {
            match recorded.answer().await {
                BatchLine::AllOnce => BatchApproval::AllOnce,
                BatchLine::OneByOne => BatchApproval::OneByOne,
                BatchLine::Each(answer) => BatchApproval::Each(approval(answer)),
            }
        })
    }

    /// Recorded calls do not run, so only live ones ask.
    fn clarify<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Clarified> {
        match &self.live {
            Some(live) if self.cursor.is_live() => live.clarify(question),
            _ => Box::pin(async { Clarified::NoUser }),
        }
    }

    fn is_present(&self) -> bool {
        match &self.live {
            Some(live) if self.cursor.is_live() => live.is_present(),
            _ => self.is_watched,
        }
    }
}

fn approval(answer: Answer) -> Approval {
    match answer {
        Answer::Allowed => Approval::ONCE,
        Answer::AllowedForSession => Approval::Allowed(Scope::Session),
        Answer::AllowedAlways => Approval::Allowed(Scope::Always),
        Answer::Denied => Approval::DENIED,
        Answer::DeniedBecause(reason) => Approval::Denied { reason: Some(reason) },
        Answer::TimedOut => Approval::TimedOut,
        Answer::NoUser => Approval::NoUser,
        Answer::Stopped => Approval::Stopped,
    }
}

pub(crate) struct ReplayedMailbox {
    pub(crate) cursor: Arc<Cursor>,
    pub(crate) store: SessionDb,
}

impl Mailbox for ReplayedMailbox {
    fn waiting<'a>(
        &'a self,
        lease: &'a Lease,
        _: DeliveryPoint,
    ) -> BoxFuture<'a, Result<Vec<Mail>, RecordError>> {
        let recorded = self.cursor.peek(|what| match what {
            What::Mail(lines) => Some(lines.clone()),
            _ => None,
        });
        Box::pin(async move {
            let (Some(Some(lines)), false) = (recorded, self.cursor.is_live()) else { return Ok(Vec::new()) };
            self.cursor.take("mail", |_| Some(()));
            Ok(posted(&self.store, &lease.session, lines).await?)
        })
    }
}

/// Stores queued messages, whose delivery is then recorded there.
pub(crate) async fn posted(
    store: &SessionDb,
    session: &SessionId,
    lines: Vec<MailLine>,
) -> Result<Vec<Mail>, StoreError> {
    let mut mail = Vec::new();
    for MailLine { mode, text } in lines {
        let id = store.post(session, mode, &text).await?;
        mail.push(Mail { id, mode, text });
    }
    Ok(mail)
}

pub(crate) struct ReplayedSummaries {
    pub(crate) cursor: Arc<Cursor>,
    pub(crate) window: Option<u64>,
}

impl Summarise for ReplayedSummaries {
    fn window(&self) -> Option<u64> {
        self.window
    }

    /// After a fork no model writes summaries: excerpts replace them.
    fn ask<'a>(
        &'a self,
        session: &'a SessionId,
        question: &'a context::Question,
    ) -> BoxFuture<'a, Result<Summary, SummaryFailure>> {
        if self.cursor.is_live() {
            return NoSummaries.ask(session, question);
        }
        let pick = |what: &What| match what {
            What::Summary { answer } => Some(answer.clone()),
            _ => None,
        };
        Box::pin(RecordedAnswer::new(self.cursor.clone(), "a summary", Box::new(pick)).answer())
    }
}

pub(crate) struct ReplayedHooks {
    pub(crate) cursor: Arc<Cursor>,
    /// The events that had hooks.
    pub(crate) listened: Vec<String>,
}

impl Hooks for ReplayedHooks {
    fn wants(&self, event: HookEvent) -> bool {
        !self.cursor.is_live() && self.listened.iter().any(|name| name == event.as_str())
    }

    fn fire(&self, _: HookCall) -> BoxFuture<'_, HookVerdict> {
        let recorded = self.cursor.peek(|what| match what {
            What::Hook { block, context } => Some(Some((block.clone(), context.clone()))),
            What::Stop => Some(None),
            _ => None,
        });
        if let (Some(Some(_)), false) = (&recorded, self.cursor.is_live()) {
            self.cursor.take("a hook", |_| Some(()));
        }
        Box::pin(async move {
            match recorded.flatten().flatten() {
                Some((Some(reason), _)) => HookVerdict::Block { reason },
                Some((None, Some(text))) => HookVerdict::Context { text },
                Some((None, None)) | None => HookVerdict::Continue,
            }
        })
    }
}

/// The random numbers that were drawn.
pub(crate) fn jitter(cursor: Arc<Cursor>) -> Arc<dyn Fn() -> f64 + Send + Sync> {
    Arc::new(move || {
        if cursor.is_live() {
            return rand::random();
        }
        let number = cursor.take("a random number", |what| match what {
            What::Jitter { number } => Some(*number),
            _ => None,
        });
        number.unwrap_or(0.0)
    })
}

/// Waits that end immediately.
pub(crate) fn pause(cursor: Arc<Cursor>) -> Pause {
    let real = sleep();
    Arc::new(move |time| {
        if cursor.is_live() {
            return real(time);
        }
        let pick = |what: &What| match what {
            What::Waited { dropped } => Some((!dropped).then_some(())),
            _ => None,
        };
        Box::pin(RecordedAnswer::new(cursor.clone(), "the end of a wait", Box::new(pick)).answer())
    })
}

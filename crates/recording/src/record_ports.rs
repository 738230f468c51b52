//! Recording wrappers of the ports.

use super::line::{Answer, BatchLine, MailLine, ReviewLine, What};
use super::outcome_sink::{OutcomeSink, WatchedEvents};
use super::player::ended_line;
use super::record_model::{OnEnd, RecordedRoute};
use super::record_tools::RecordedTools;
use super::recorder::Recorder;
use super::session_line::{SessionFacts, session_line};
use super::watched_transcript::WatchedTranscript;
use hermes_agent::{Input, Ports, Session, TurnReport};
use hermes_context::{self as context, Summarise, Summary, SummaryFailure};
use hermes_conversation::{
    BoxFuture, DeliveryPoint, HookCall, HookEvent, HookVerdict, Hooks, Lease, Mail, Mailbox, RecordError,
    SessionId,
};
use hermes_tools::{
    Approval, ApprovalRequest, AskUser, BatchApproval, Clarified, DecidedBy, Question, Review, Scope,
};
use std::sync::{Arc, PoisonError};
use tokio_util::sync::CancellationToken;

impl Recorder {
    /// Records the state of a session before its next turn.
    pub fn session(&self, session: &Session, facts: SessionFacts<'_>) {
        let line = session_line(session, facts);
        self.put(What::Session(Box::new(line)));
    }

    /// Records the start of a turn with its prompt, and returns the recorded ports.
    pub fn turn(
        self: &Arc<Self>,
        session: &SessionId,
        input: &Input,
        ports: Ports,
        cancel: &CancellationToken,
    ) -> Ports {
        let mail = MailLine::all(&input.mail);
        self.put(What::Turn { session: session.to_string(), input: input.message.clone(), mail });
        self.ports(ports, cancel)
    }

    pub fn turn_ended(&self, report: &TurnReport) {
        let state = self.digest().lock().unwrap_or_else(PoisonError::into_inner).hex();
        self.put(What::Ended(ended_line(report, state)));
    }

    /// Wraps the ports. A new input of a turn needs a port here.
    fn ports(self: &Arc<Self>, ports: Ports, cancel: &CancellationToken) -> Ports {
        self.begin_turn(cancel.clone());
        let for_scripts = Some(ports.script_ports());
        let Ports {
            route,
            tools,
            tool_context,
            ask,
            transcript,
            mailbox,
            hooks,
            engine,
            summaries,
            jitter,
            pause,
            events,
            for_scripts: _,
        } = ports;
        let sink: Arc<dyn OutcomeSink> = self.clone();
        let (rolling, waiting) = (self.clone(), self.clone());
        Ports {
            route: Arc::new(RecordedRoute { inner: route, recorder: self.clone() }),
            tools: Arc::new(RecordedTools::new(tools, self.clone())),
            tool_context,
            ask: Arc::new(RecordedAsk { inner: ask, recorder: self.clone() }),
            transcript: Arc::new(WatchedTranscript {
                inner: transcript,
                sink: sink.clone(),
                state: self.digest(),
            }),
            mailbox: Arc::new(RecordedMailbox { inner: mailbox, recorder: self.clone() }),
            hooks: Arc::new(RecordedHooks { inner: hooks, recorder: self.clone() }),
            engine,
            summaries: Arc::new(RecordedSummaries { inner: summaries, recorder: self.clone() }),
            jitter: Arc::new(move || {
                let number = jitter();
                rolling.put(What::Jitter { number });
                number
            }),
            pause: Arc::new(move |time| {
                let end = OnEnd::new(waiting.clone(), What::Waited { dropped: true });
                let sleep = pause(time);
                Box::pin(async move {
                    let mut end = end;
                    sleep.await;
                    end.is(What::Waited { dropped: false });
                })
            }),
            for_scripts,
            events: events.watched_by(Arc::new(WatchedEvents { sink, state: self.digest() })),
        }
    }
}

struct RecordedMailbox {
    inner: Arc<dyn Mailbox>,
    recorder: Arc<Recorder>,
}

impl Mailbox for RecordedMailbox {
    fn waiting<'a>(
        &'a self,
        lease: &'a Lease,
        point: DeliveryPoint,
    ) -> BoxFuture<'a, Result<Vec<Mail>, RecordError>> {
        Box::pin(async move {
            let mail = self.inner.waiting(lease, point).await?;
            if !mail.is_empty() {
                self.recorder.put(What::Mail(MailLine::all(&mail)));
            }
            Ok(mail)
        })
    }
}

struct RecordedAsk {
    inner: Arc<dyn AskUser>,
    recorder: Arc<Recorder>,
}

impl AskUser for RecordedAsk {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        let call = request.call_id.clone();
        let nothing = What::Approval { call: call.clone(), answer: None };
        let end = OnEnd::new(self.recorder.clone(), nothing);
        Box::pin(async move {
            let mut end = end;
            let approval = self.inner.approve(request).await;
            end.is(What::Approval { call, answer: Some(answer(&approval)) });
            approval
        })
    }

    fn review<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Option<Review>> {
        Box::pin(async move {
            let review = self.inner.review(request).await?;
            let answer = match &review {
                Review::Allow(DecidedBy::Model) => ReviewLine::Smart,
                Review::Allow(_) => ReviewLine::Sandbox,
                Review::Advise(advice) => ReviewLine::Advice(advice.clone()),
            };
            self.recorder.put(What::Review { call: request.call_id.clone(), answer });
            Some(review)
        })
    }

    fn approve_batch<'a>(&'a self, requests: &'a [ApprovalRequest]) -> BoxFuture<'a, BatchApproval> {
        let end = OnEnd::new(self.recorder.clone(), What::BatchApproval { answer: None });
        Box::pin(async move {
            let mut end = end;
            let batch = self.inner.approve_batch(requests).await;
            let line = match &batch {
                BatchApproval::AllOnce => BatchLine::AllOnce,
                BatchApproval::OneByOne => BatchLine::OneByOne,
                BatchApproval::Each(approval) => BatchLine::Each(answer(approval)),
            };
            end.is(What::BatchApproval { answer: Some(line) });
            batch
        })
    }

    /// The answer is in the call's result, and that is recorded.
    fn clarify<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Clarified> {
        self.inner.clarify(question)
    }

    fn is_present(&self) -> bool {
        self.inner.is_present()
    }
}

fn answer(approval: &Approval) -> Answer {
    match approval {
        Approval::Allowed(Scope::Once) => Answer::Allowed,
        Approval::Allowed(Scope::Session) => Answer::AllowedForSession,
        Approval::Allowed(Scope::Always) => Answer::AllowedAlways,
        Approval::Denied { reason: None } => Answer::Denied,
        Approval::Denied { reason: Some(reason) } => Answer::DeniedBecause(reason.clone()),
        Approval::TimedOut => Answer::TimedOut,
        Approval::NoUser => Answer::NoUser,
        Approval::Stopped => Answer::Stopped,
    }
}

struct RecordedSummaries {
    inner: Arc<dyn Summarise>,
    recorder: Arc<Recorder>,
}

impl Summarise for RecordedSummaries {
    fn window(&self) -> Option<u64> {
        self.inner.window()
    }

    /// Changes only the request for a summary; the summary is recorded.
    fn flush_memory<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Option<String>> {
        self.inner.flush_memory(session)
    }

    fn ask<'a>(
        &'a self,
        session: &'a SessionId,
        question: &'a context::Question,
    ) -> BoxFuture<'a, Result<Summary, SummaryFailure>> {
        let end = OnEnd::new(self.recorder.clone(), What::Summary { answer: None });
        Box::pin(async move {
            let mut end = end;
            let answer = self.inner.ask(session, question).await;
            end.is(What::Summary { answer: Some(answer.clone()) });
            answer
        })
    }
}

struct RecordedHooks {
    inner: Arc<dyn Hooks>,
    recorder: Arc<Recorder>,
}

impl Hooks for RecordedHooks {
    fn wants(&self, event: HookEvent) -> bool {
        self.inner.wants(event)
    }

    fn fire(&self, call: HookCall) -> BoxFuture<'_, HookVerdict> {
        Box::pin(async move {
            let verdict = self.inner.fire(call).await;
            match &verdict {
                HookVerdict::Continue => self.recorder.note_stop(),
                HookVerdict::Block { reason } => {
                    self.recorder.put(What::Hook { block: Some(reason.clone()), context: None });
                }
                HookVerdict::Context { text } => {
                    self.recorder.put(What::Hook { block: None, context: Some(text.clone()) });
                }
            }
            verdict
        })
    }
}

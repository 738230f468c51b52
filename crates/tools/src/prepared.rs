//! A call between decision and act.
//!
//! [`Prepared`] says what a call may do and whether it may do it. Running it takes a permit,
//! and a permit only comes from the record, so nothing runs that was not written down.

use crate::approval::{coverage, decide, may_ask_model};
use crate::tool::{Body, Bound, CallScope};
use crate::{
    Action, ApprovalRequest, AskUser, Caller, Concurrency, DecidedBy, Decision, Environment, Origin,
    PlannedChange, Scope, ToolContext, ToolError, ToolOutput, Touches, builtin, hints, limits, untrusted,
};
use futures::FutureExt;
use hermes_conversation::{
    Cost, Disposition, Effect, EventRelay, IntentState, StartPermit, ToolCall, ToolMessage, TraceSpan,
    Transcript,
};
use hermes_gate::{Grant, Verdict as GateVerdict};
use serde_json::{Value, json};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// A call that has been judged.
pub struct Prepared {
    /// The call as it will be run; its name may have been repaired.
    pub call: ToolCall,
    pub effect: Effect,
    pub verdict: Verdict,
    pub concurrency: Concurrency,
    /// `None` for a call that can never run.
    body: Option<Body>,
    /// The declared origin of its results. The file that it reads may still be untrusted.
    origin: Origin,
    cwd: PathBuf,
    /// The environment of its command: the one that was judged.
    environment: Arc<Environment>,
    /// The files that it may change.
    touches: Option<Touches>,
    /// The action that was decided about.
    action: Option<Action>,
    /// The source of the decision.
    decided_by: DecidedBy,
    /// Accesses beyond the sandbox.
    grants: Vec<Grant>,
}

/// The decision on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Run,
    /// Needs approval first.
    Ask(ApprovalRequest),
    /// It is answered with `text` and never runs. `decision` is `denied` or `invalid`.
    Refuse {
        text: String,
        decision: &'static str,
    },
}

impl Verdict {
    /// The word for the record.
    pub fn decision(&self) -> &'static str {
        match self {
            Self::Run => "allowed",
            Self::Ask(_) => "asked",
            Self::Refuse { decision, .. } => decision,
        }
    }
}

/// The handles that a call runs with.
#[derive(Clone)]
pub struct RunScope {
    /// Ends the call early.
    pub cancel: CancellationToken,
    /// The record in which processes are noted before they do anything.
    pub transcript: Arc<dyn Transcript>,
    /// The receiver of the call's events.
    pub events: EventRelay,
    /// The connection to the user.
    pub ask: Arc<dyn AskUser>,
    /// Characters that its result may have, see [`result_limit`](crate::result_limit).
    pub result_limit: usize,
    /// The reader of the result sees images in it.
    pub sees_images: bool,
    /// The reader of the result.
    pub caller: Caller,
}

/// A call that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    pub message: ToolMessage,
    pub state: IntentState,
    /// The tool did not achieve what it was asked; for people and loop guards.
    pub failed: bool,
    pub millis: u64,
    /// The cost of auxiliary model calls.
    pub cost: Option<Cost>,
}

impl Prepared {
    pub(crate) fn bound(call: ToolCall, bound: Bound, cx: &ToolContext) -> Self {
        let decision = bound
            .action
            .as_ref()
            .map(|action| (decide(action, &cx.settings().approvals, &cx.approvals()), action));
        let (verdict, decided_by, grants) = match decision {
            None => (Verdict::Run, DecidedBy::Harmless, Vec::new()),
            Some((Decision::Run { by, grants }, _)) => (Verdict::Run, by, grants),
            Some((Decision::Ask, action)) => {
                (Verdict::Ask(request(&call, action)), DecidedBy::User, Vec::new())
            }
            Some((Decision::Refuse { by, text }, _)) => {
                (Verdict::Refuse { text, decision: "denied" }, by, Vec::new())
            }
        };
        Self {
            call,
            effect: bound.effect,
            verdict,
            concurrency: bound.concurrency,
            body: Some(bound.body),
            origin: Origin::Here,
            cwd: cx.cwd(),
            environment: bound
                .action
                .as_ref()
                .map_or_else(|| cx.environment(), |action| action.environment.clone()),
            touches: bound.touches,
            action: bound.action,
            decided_by,
            grants,
        }
    }

    /// The approval keys of the rules that matched, worst first.
    pub fn rules(&self) -> Vec<&str> {
        self.action.as_ref().map(rules).unwrap_or_default()
    }

    pub fn decided_by(&self) -> DecidedBy {
        self.decided_by
    }

    /// Lets the call run after an answer of the user. Returns the entries that the answer adds to
    /// `command_allowlist`.
    pub fn approve(&mut self, scope: Scope, cx: &ToolContext) -> Vec<String> {
        self.verdict = Verdict::Run;
        self.decided_by = DecidedBy::User;
        let Some(action) = &self.action else { return Vec::new() };
        self.grants = action.assessment.findings.iter().flat_map(|finding| finding.grants.clone()).collect();
        cx.note_approval(action, scope)
    }

    /// Lets the call run without any access beyond the sandbox.
    pub fn allow_confined(&mut self, by: DecidedBy) {
        self.verdict = Verdict::Run;
        self.decided_by = by;
    }

    pub(crate) fn refuse(call: ToolCall, text: String, decision: &'static str) -> Self {
        Self {
            call,
            effect: Effect::Read,
            verdict: Verdict::Refuse { text, decision },
            concurrency: Concurrency::Free,
            body: None,
            origin: Origin::Here,
            cwd: PathBuf::new(),
            environment: Arc::default(),
            touches: None,
            action: None,
            decided_by: DecidedBy::Harmless,
            grants: Vec::new(),
        }
    }

    /// A call that was judged elsewhere and that another component runs.
    pub fn judged(call: ToolCall, effect: Effect, verdict: Verdict, concurrency: Concurrency) -> Self {
        Self {
            call,
            effect,
            verdict,
            concurrency,
            body: None,
            cwd: PathBuf::new(),
            environment: Arc::default(),
            origin: Origin::Here,
            touches: None,
            action: None,
            decided_by: DecidedBy::Harmless,
            grants: Vec::new(),
        }
    }

    pub(crate) fn untrusted_if(mut self, is_untrusted: bool) -> Self {
        self.origin = if is_untrusted { Origin::Outside } else { Origin::Here };
        self
    }

    /// Carries the call out. Whatever the tool does, panicking included, there is a result.
    pub async fn run(self, permit: StartPermit, cx: &ToolContext, scope: RunScope) -> Finished {
        let begun = Instant::now();
        let Some(body) = self.body else {
            return self.into_refused();
        };
        let scope = CallScope {
            call_id: self.call.id.clone(),
            intent: permit.intent(),
            cwd: self.cwd,
            environment: self.environment,
            cancel: scope.cancel,
            transcript: scope.transcript,
            events: scope.events,
            ask: scope.ask,
            result_limit: scope.result_limit,
            sees_images: scope.sees_images,
            grants: self.grants,
            asked: self.action.as_ref().map(asked).unwrap_or_default(),
            caller: scope.caller,
        };
        if !builtin::COUNTED.contains(&self.call.name.as_str()) {
            cx.reads().other_tool_ran();
        }
        let planned = planned_change(self.touches, &self.call.name, self.action.as_ref(), cx);
        let span = tracing::info_span!("tool_call", tool = self.call.name, call = self.call.id.as_str());
        let running = saved(planned, cx, AssertUnwindSafe(body(cx, &scope)).catch_unwind());
        let result = running.instrument(span.clone()).await;
        let took = begun.elapsed();
        scope.transcript.note_span(TraceSpan::ToolRan { intent: scope.intent, took });
        let (mut cost, mut images) = (None, Vec::new());
        let mut origin = self.origin;
        let (text, failed, state, disposition) = match result {
            Ok(Ok(mut output)) => {
                if origin == Origin::Here {
                    origin = output.origin;
                }
                output.origin = origin;
                let failed = output.failed;
                cost = output.cost;
                images = std::mem::take(&mut output.images);
                (limits::fitted(output, scope.result_limit, cx), failed, IntentState::Done, None)
            }
            Ok(Err(error)) => {
                let text = limits::fitted(error_output(error).with_origin(origin), scope.result_limit, cx);
                (text, true, IntentState::Failed, None)
            }
            Err(_) => (crashed(&self.call.name), true, IntentState::Failed, Some(Disposition::Unknown)),
        };
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let (outcome, bytes) = (state.as_str(), text.len());
        match disposition {
            Some(_) => tracing::error!(parent: &span, ms = millis, "tool crashed"),
            None => tracing::info!(parent: &span, outcome, failed, bytes, ms = millis, "tool ended"),
        }
        let hints = match origin {
            _ if scope.caller.is_script() => None,
            Origin::Here => hints::for_call(&self.call, &scope.cwd, cx),
            Origin::Outside => None,
        };
        let text = text + hints.as_deref().unwrap_or_default();
        let mut message = ToolMessage::new(self.call.id, self.call.name, text).with_images(&images);
        message.disposition = disposition;
        if origin == Origin::Outside {
            untrusted::mark(&mut message, cx);
        }
        Finished { message, state, failed, millis, cost }
    }

    /// The end of a call that was not allowed to run.
    pub fn refused(self, why: &str) -> Finished {
        let (tool, call, decision) = (&self.call.name, self.call.id.as_str(), self.verdict.decision());
        tracing::info!(tool, call, decision, "tool not run");
        let text = json!({ "error": why }).to_string();
        let message =
            ToolMessage::new(self.call.id, self.call.name, text).with_disposition(Disposition::None);
        Finished { message, state: IntentState::Refused, failed: true, millis: 0, cost: None }
    }

    /// The end of a call whose verdict is [`Verdict::Refuse`]; any other call is answered as
    /// one that was never started.
    pub fn into_refused(self) -> Finished {
        let why = match &self.verdict {
            Verdict::Refuse { text, .. } => text.clone(),
            Verdict::Run | Verdict::Ask(_) => "This call was not run.".to_owned(),
        };
        self.refused(&why)
    }
}

/// The change that a call is about to make, for a checkpoint.
fn planned_change(
    touches: Option<Touches>,
    tool: &str,
    action: Option<&Action>,
    cx: &ToolContext,
) -> Option<PlannedChange> {
    const LONGEST: usize = 60;
    let touches = touches?;
    let reason = match (&touches, action) {
        (Touches::Anything { .. }, Some(action)) => {
            let line = cx.clean(action.text.clone()).split_whitespace().collect::<Vec<_>>().join(" ");
            format!("before {tool}: {}", line.chars().take(LONGEST).collect::<String>())
        }
        _ => format!("before {tool}"),
    };
    Some(PlannedChange { touches, reason })
}

/// Runs a call with a checkpoint before it, and notes its changes after it.
async fn saved<T>(planned: Option<PlannedChange>, cx: &ToolContext, running: impl Future<Output = T>) -> T {
    let (Some(planned), Some(checkpoints)) = (planned, cx.checkpoints()) else { return running.await };
    let before = checkpoints.before_change(&planned).await;
    let result = running.await;
    if let Some(before) = before {
        checkpoints.after_change(before).await;
    }
    result
}

/// The request for approval of an action.
fn request(call: &ToolCall, action: &Action) -> ApprovalRequest {
    let findings = action.assessment.findings.iter();
    let mut effects: Vec<String> = Vec::new();
    for finding in findings {
        if !effects.contains(&finding.reason) {
            effects.push(finding.reason.clone());
        }
    }
    effects.extend(action.environment.notes().iter().cloned());
    ApprovalRequest {
        environment: action.environment.clone(),
        effects,
        rules: rules(action).into_iter().map(str::to_owned).collect(),
        coverage: coverage(action),
        is_reviewable: may_ask_model(&action.assessment),
        ..ApprovalRequest::once(call.id.clone(), &call.name, &action.text, action.cwd.clone())
    }
}

fn rules(action: &Action) -> Vec<&str> {
    let mut rules: Vec<&str> =
        action.assessment.worst().map(|finding| finding.rule.as_ref()).into_iter().collect();
    for finding in &action.assessment.findings {
        if !rules.contains(&finding.rule.as_ref()) {
            rules.push(&finding.rule);
        }
    }
    rules
}

/// The rules of an action that runs although they ask.
fn asked(action: &Action) -> Vec<String> {
    let asking = action.assessment.findings.iter().filter(|finding| finding.verdict == GateVerdict::Ask);
    asking.map(|finding| finding.rule.clone().into_owned()).collect()
}

fn error_output(error: ToolError) -> ToolOutput {
    ToolOutput::json(error.into_value()).failed_if(true)
}

fn crashed(name: &str) -> String {
    let error = format!("{name} crashed. What it was doing may be half done; check before trying again.");
    Value::to_string(&json!({ "error": error }))
}

#[cfg(test)]
#[path = "prepared_tests.rs"]
mod tests;

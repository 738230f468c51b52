//! Runs the calls that a script makes.
//!
//! Each takes the way of a call of the model: it is judged, hooks and the user are asked, its start is recorded, it
//! runs, its end is recorded. Calls that only read run beside each other, all others alone.

use crate::tooling::{Made, intent, place};
use crate::{Ports, approving, hooking};
use hermes_conversation::{
    BoxFuture, CallEnding, Decided, Effect, HookEvent, InnerCall, InnerEnd, IntentId, Lease, OpenTurn,
    RecordError, Settled, StartPermit, ToolCall, TurnEvent,
};
use hermes_tools::{
    Caller, Concurrency, Finished, InnerCalls, InnerReply, LONGEST_RESULT, Origin, Prepared, RunScope,
    Verdict, kept_result,
};
use std::sync::{Mutex, PoisonError};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio_util::sync::CancellationToken;

/// Calls that run at the same time.
const MOST_AT_ONCE: u32 = 8;

/// The calls of one script.
pub(crate) struct ScriptCalls {
    ports: Ports,
    lease: Lease,
    turn: OpenTurn,
    /// The call of the script.
    parent: IntentId,
    /// Ends the turn.
    turn_cancel: CancellationToken,
    order: RwLock<()>,
    made: Mutex<Vec<(Made, Settled)>>,
}

/// The place of a call in the order of its script.
enum Turnstile<'a> {
    Beside { _guard: RwLockReadGuard<'a, ()> },
    Alone { _guard: RwLockWriteGuard<'a, ()> },
}

/// A call that was judged finally.
struct Judged {
    prepared: Prepared,
    decided: Option<Decided>,
    ending: CallEnding,
}

impl ScriptCalls {
    pub(crate) fn new(
        lease: &Lease,
        turn: &OpenTurn,
        parent: IntentId,
        ports: &Ports,
        turn_cancel: &CancellationToken,
    ) -> Self {
        Self {
            ports: ports.scripted(),
            lease: lease.clone(),
            turn: turn.clone(),
            parent,
            turn_cancel: turn_cancel.clone(),
            order: RwLock::with_max_readers((), MOST_AT_ONCE),
            made: Mutex::default(),
        }
    }

    /// Removes and returns the calls that have ended.
    pub(crate) fn take_made(&self) -> Vec<(Made, Settled)> {
        std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Judges a call when its place in the order has come. An earlier call may have changed the directory or the
    /// environment, so a call that waited is judged again.
    async fn admit(&self, call: &ToolCall) -> (Prepared, Turnstile<'_>) {
        let ports = &self.ports;
        let judged_in = place(ports);
        let mut prepared = ports.tools.prepare(call, &ports.tool_context);
        if runs_beside(&prepared) {
            let guard = self.order.read().await;
            if place(ports) == judged_in {
                return (prepared, Turnstile::Beside { _guard: guard });
            }
        }
        let guard = self.order.write().await;
        // An answer may have come that covers this call, too.
        if place(ports) != judged_in || matches!(prepared.verdict, Verdict::Ask(_)) {
            prepared = ports.tools.prepare(call, &ports.tool_context);
        }
        (prepared, Turnstile::Alone { _guard: guard })
    }

    /// Asks hooks, then the user.
    async fn decide(&self, mut prepared: Prepared, cancel: &CancellationToken) -> Judged {
        let ports = &self.ports;
        let may_run = !matches!(prepared.verdict, Verdict::Refuse { .. });
        if may_run && ports.hooks.wants(HookEvent::PreToolCall) {
            let reason = hooking::before_tool(&self.lease.session, &prepared.call, ports, cancel).await;
            if let Some(reason) = reason {
                prepared.verdict = Verdict::Refuse { text: reason, decision: "denied" };
                let rules = prepared.rules().into_iter().map(str::to_owned).collect();
                let (decision, by) = ("denied", "hook");
                let decided =
                    Decided { intent: self.parent, decision, by, scope: None, rules, was_asked: true };
                return Judged { prepared, decided: Some(decided), ending: CallEnding::NotAllowed };
            }
        }
        if matches!(prepared.verdict, Verdict::Ask(_)) {
            let asking = cancel.child_token();
            let answered = approving::ask(&mut prepared, None, ports, &asking).await;
            let ending = answered.ending;
            if asking.is_cancelled() && !cancel.is_cancelled() {
                // The user stopped the turn, and not only the script.
                self.turn_cancel.cancel();
            }
            return Judged { prepared, decided: Some(answered.record(self.parent)), ending };
        }
        let by_rule =
            approving::decided_by_rules(std::iter::once((self.parent, &prepared)), ports).await.pop();
        Judged { prepared, decided: by_rule, ending: CallEnding::Answered }
    }

    async fn run(
        &self,
        number: u64,
        call: ToolCall,
        cancel: &CancellationToken,
    ) -> Result<InnerReply, RecordError> {
        let (prepared, _turnstile) = self.admit(&call).await;
        let Judged { mut prepared, decided, ending } = self.decide(prepared, cancel).await;
        if cancel.is_cancelled() && prepared.verdict == Verdict::Run {
            let text = "The call was not run: the script has ended.".to_owned();
            prepared.verdict = Verdict::Refuse { text, decision: "denied" };
        }
        let recorded = InnerCall { parent: self.parent, number, intent: intent(&prepared, true), decided };
        let (id, permit) = self.ports.transcript.begin_inner(&self.lease, &self.turn, recorded).await?;
        let (call, effect) = (prepared.call.clone(), prepared.effect.clone());
        let finished = self.carry_out(prepared, permit, ending, cancel).await;
        let text = finished.message.content.as_text().to_owned();
        let end = InnerEnd { intent: id, state: finished.state, result: kept_result(&text) };
        self.ports.transcript.end_inner(&self.lease, &self.turn, end).await?;
        self.ports.tool_context.settled(std::iter::once(id));
        // A result from outside is marked where it is sent to a model.
        let origin = if finished.message.api_content.is_some() { Origin::Outside } else { Origin::Here };
        self.note(id, call, effect, finished);
        Ok(InnerReply { text, origin })
    }

    async fn carry_out(
        &self,
        prepared: Prepared,
        permit: Option<StartPermit>,
        ending: CallEnding,
        cancel: &CancellationToken,
    ) -> Finished {
        let ports = &self.ports;
        let call = prepared.call.clone();
        let refused = (prepared.verdict != Verdict::Run).then(|| prepared.verdict.decision());
        let ToolCall { id, name, arguments, .. } = call.clone();
        ports.events.send(TurnEvent::ToolStarted { id: id.clone(), name: name.clone(), arguments }).await;
        let finished = match (&prepared.verdict, permit) {
            (Verdict::Run, Some(permit)) => {
                let scope = RunScope {
                    cancel: cancel.child_token(),
                    transcript: ports.transcript.clone(),
                    events: ports.events.relay(),
                    ask: ports.ask.clone(),
                    result_limit: LONGEST_RESULT,
                    // A script gets text.
                    sees_images: false,
                    caller: Caller::Script,
                };
                ports.tools.run(prepared, permit, &ports.tool_context, scope).await
            }
            _ => prepared.into_refused(),
        };
        let (failed, millis) = (finished.failed, finished.millis);
        let result = finished.message.content.as_text().to_owned();
        ports.events.send(TurnEvent::ToolFinished { id, name, result, failed, ending, millis }).await;
        let status = hooking::status(refused, failed, cancel.is_cancelled());
        hooking::after_tool(&self.lease.session, &call, &finished, status, ports, cancel).await;
        finished
    }

    fn note(&self, id: IntentId, call: ToolCall, effect: Effect, finished: Finished) {
        let facts = self.ports.tools.facts(&call.name);
        let Finished { message, state, failed, cost, .. } = finished;
        let made = Made { call, facts, effect, failed, cost, by_script: Vec::new() };
        let settled = Settled { intent: id, state, message };
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push((made, settled));
    }
}

impl InnerCalls for ScriptCalls {
    fn tools(&self) -> Vec<String> {
        self.ports.tools.all_names()
    }

    fn call<'a>(
        &'a self,
        number: u64,
        call: ToolCall,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<InnerReply, RecordError>> {
        Box::pin(self.run(number, call, cancel))
    }
}

/// Returns true for a call that needs no answer and disturbs no other one.
fn runs_beside(prepared: &Prepared) -> bool {
    let is_apart = matches!(prepared.concurrency, Concurrency::Free | Concurrency::Reads(_));
    is_apart && prepared.effect == Effect::Read && !matches!(prepared.verdict, Verdict::Ask(_))
}

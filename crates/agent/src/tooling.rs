//! Runs the calls of one reply.
//!
//! The reply and an intent per call are recorded first; calls that may run together do, calls
//! that must be in order are started by the commit that records the results before them.

use crate::edits::FinishedCall;
use crate::loop_guard::{Observation, Repetition};
use crate::script_calls::ScriptCalls;
use crate::turn::{BatchNotes, Event, When};
use crate::{Ports, Session, approving, hooking, mail, texts};
use futures::future::join_all;
use hermes_conversation::{
    CallEnding, Cost, Decided, Effect, HookEvent, Intent, IntentId, IntentState, Lease, Mail, Message,
    OpenTurn, RecordError, RunsIn, Settled, Settlement, StartPermit, ToolCall, ToolDefinition, ToolFacts,
    ToolStatus, TurnEvent,
};
use hermes_tools::{
    Approval, ApprovalRequest, Caller, Environment, Finished, InnerCalls, Prepared, RunScope, Verdict,
    batch_limit, result_limit, segments,
};
use hermes_wire::{CallState, Reply};
use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Gives every call of `reply` exactly one recorded result.
pub(crate) async fn run_tools(
    session: &mut Session,
    reply: Reply,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Event {
    match Batch::plan(session, reply, ports).await {
        Ok(batch) => match batch.run(session, ports, cancel).await {
            Ok(event) => event,
            Err(error) => Event::StoreFailed(error),
        },
        Err(error) => Event::StoreFailed(error),
    }
}

/// The calls of one reply, recorded and not yet run.
struct Batch {
    calls: VecDeque<Planned>,
    segments: Vec<Range<usize>>,
    /// Results that have not been recorded yet, in call order.
    unsettled: Vec<Settled>,
    decided: Vec<Decided>,
    /// The working directory and the environment with which the calls were judged.
    judged_in: (PathBuf, Arc<Environment>),
    /// The reason why a loop ends the turn.
    stopped_loop: Option<String>,
    /// The names of the tools, where none of them exists.
    unknown: Option<String>,
    /// The user's messages that go with the last result.
    steering: Vec<Mail>,
    /// Characters of the results so far.
    said: usize,
}

struct Planned {
    id: IntentId,
    prepared: Prepared,
    permit: Option<StartPermit>,
    ending: CallEnding,
    /// The answer to a request about several calls. It holds for the request that was shown, not for a later one.
    given: Option<(ApprovalRequest, Approval)>,
}

/// A call that has been carried out.
pub(crate) struct Made {
    pub(crate) call: ToolCall,
    pub(crate) facts: ToolFacts,
    pub(crate) effect: Effect,
    pub(crate) failed: bool,
    pub(crate) cost: Option<Cost>,
    /// The calls that it made itself.
    pub(crate) by_script: Vec<(Made, Settled)>,
}

/// The session and the turn of a call.
#[derive(Clone, Copy)]
struct CallPlace<'a> {
    lease: &'a Lease,
    turn: Option<&'a OpenTurn>,
    /// The model can be shown the images of results.
    sees_images: bool,
}

impl Batch {
    /// Judges the calls and records the reply with their intents. The calls of the first
    /// segment are started by the same commit.
    async fn plan(session: &mut Session, reply: Reply, ports: &Ports) -> Result<Self, RecordError> {
        let mut prepared = Vec::with_capacity(reply.message.calls.len());
        session.only_housekeeping =
            reply.message.calls.iter().all(|call| ports.tools.facts(&call.name).is_housekeeping);
        let is_unreadable = reply.calls.contains(&CallState::Malformed);
        for (call, state) in reply.message.calls.iter().zip(&reply.calls) {
            prepared.push(judge(call, state, is_unreadable, ports));
        }
        session.only_scripts = !prepared.is_empty() && prepared.iter().all(|call| runs_script(call, ports));
        let unknown = unknown_tools(&prepared, ports);
        let segments = segments(&prepared);
        // Hooks are asked once the calls are on record, so none is started before.
        let is_asked = ports.hooks.wants(HookEvent::PreToolCall);
        let first = segments.first().filter(|_| !is_asked).cloned().unwrap_or(0..0);
        let intents: Vec<Intent> = prepared
            .iter()
            .enumerate()
            .map(|(place, prepared)| intent(prepared, first.contains(&place)))
            .collect();
        let Some(turn) = &session.turn else {
            return Ok(Self::empty());
        };
        let spent = session.unrecorded.take();
        let permits =
            ports.transcript.plan(&session.lease, turn, &reply.message, spent.as_ref(), &intents).await?;
        session.history.push(Message::Assistant(reply.message));
        let calls = prepared
            .into_iter()
            .zip(permits.ids.into_iter().zip(permits.started))
            .map(|(prepared, (id, permit))| Planned {
                id,
                prepared,
                permit,
                ending: CallEnding::Answered,
                given: None,
            })
            .collect::<VecDeque<_>>();
        let decided =
            approving::decided_by_rules(calls.iter().map(|call| (call.id, &call.prepared)), ports).await;
        Ok(Self { calls, segments, decided, judged_in: place(ports), unknown, ..Self::empty() })
    }

    fn empty() -> Self {
        Self {
            calls: VecDeque::new(),
            segments: Vec::new(),
            unsettled: Vec::new(),
            decided: Vec::new(),
            judged_in: Default::default(),
            stopped_loop: None,
            unknown: None,
            steering: Vec::new(),
            said: 0,
        }
    }

    async fn run(
        mut self,
        session: &mut Session,
        ports: &Ports,
        cancel: &CancellationToken,
    ) -> Result<Event, RecordError> {
        session.guard.next_reply();
        self.ask_together(ports, cancel).await;
        for segment in std::mem::take(&mut self.segments) {
            let mut calls: Vec<Planned> = self.calls.drain(..segment.len()).collect();
            if cancel.is_cancelled() {
                self.unsettled.extend(stopped(calls, session, ports, cancel).await);
                continue;
            }
            self.look_again(&mut calls, ports);
            self.consult(&mut calls, session, ports, cancel).await;
            self.ask(&mut calls, session, ports, cancel).await?;
            self.start(&mut calls, session, ports).await?;
            if cancel.is_cancelled() {
                self.unsettled.extend(stopped(calls, session, ports, cancel).await);
                continue;
            }
            let sees_images = ports.route.current().profile().sees_images == Some(true)
                && session.quirks_mut().shows_results();
            let place = CallPlace { lease: &session.lease, turn: session.turn.as_ref(), sees_images };
            let ended = join_all(calls.into_iter().map(|call| carry_out(call, place, ports, cancel))).await;
            let (mut ended, made): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
            self.fit(&mut ended, ports);
            for (made, settled) in made.iter().zip(&mut ended) {
                for (made, settled) in &made.by_script {
                    session.edits.observe(finished_call(made, settled));
                    made.cost.into_iter().for_each(|cost| session.add_cost(cost));
                }
                session.edits.observe(finished_call(made, settled));
                self.look_for_loop(made, settled, session, ports);
                made.cost.into_iter().for_each(|cost| session.add_cost(cost));
            }
            self.unsettled.extend(ended);
        }
        // A turn that ends here hears nothing any more: what was to steer it is said after it.
        let goes_on = self.stopped_loop.is_none() && !cancel.is_cancelled();
        if goes_on && self.unsettled.last().is_some_and(|last| mail::can_join(&last.message)) {
            self.steering = mail::steering(session, ports).await?;
        }
        self.settle(session, ports, Vec::new()).await?;
        Ok(match (self.stopped_loop, self.unknown) {
            _ if cancel.is_cancelled() => Event::Cancelled(When::RunningTools),
            (Some(why), _) => Event::GoesInCircles(why),
            (None, Some(names)) => Event::UnknownTools(names),
            (None, None) => Event::ToolsDone,
        })
    }

    /// Keeps what the calls of one reply say together at a length the model can afford.
    fn fit(&mut self, ended: &mut [Settled], ports: &Ports) {
        let limit = batch_limit(ports.route.current().profile().context_length);
        let room = limit.saturating_sub(self.said);
        let messages = ended.iter_mut().map(|settled| &mut settled.message).collect();
        self.said += ports.tools.fit(messages, room, &ports.tool_context);
    }

    /// Adds a warning to the result of a call that repeats without progress, or ends the turn where the settings
    /// ask for it.
    fn look_for_loop(&mut self, made: &Made, settled: &mut Settled, session: &mut Session, ports: &Ports) {
        let message = &mut settled.message;
        let seen = Observation {
            tool: &made.call.name,
            arguments: &made.call.arguments,
            result: message.content.as_text(),
            failed: made.failed,
            is_read_only: made.effect == Effect::Read && !made.facts.result_varies,
            changed_file: matches!(made.effect, Effect::Write(_)) && !made.failed,
            cwd: &ports.tool_context.cwd(),
        };
        let (kind, times, is_stop) = match session.guard.observe(seen, &session.limits.loops) {
            Repetition::None => return,
            Repetition::Warn { kind, times } => (kind, times, false),
            Repetition::Stop { kind, times } => (kind, times, true),
        };
        message.add_note(&texts::loop_warning(kind, &made.call.name, times));
        if is_stop {
            self.stopped_loop = Some(texts::loop_stopped(kind, &made.call.name, times));
        }
    }

    /// An earlier call of the same reply may have changed the directory or the environment; what is shown, judged
    /// and run must be seen from where the session stands now.
    fn look_again(&mut self, calls: &mut [Planned], ports: &Ports) {
        let here = place(ports);
        if here == self.judged_in {
            return;
        }
        self.judged_in = here;
        for call in calls.iter_mut().filter(|call| !matches!(call.prepared.verdict, Verdict::Refuse { .. })) {
            call.prepared = ports.tools.prepare(&call.prepared.call, &ports.tool_context);
        }
    }

    /// Asks hooks whether the calls may run, before the user is asked.
    async fn consult(
        &mut self,
        calls: &mut [Planned],
        session: &Session,
        ports: &Ports,
        cancel: &CancellationToken,
    ) {
        if !ports.hooks.wants(HookEvent::PreToolCall) {
            return;
        }
        let session = &session.lease.session;
        let may_run = |call: &&mut Planned| !matches!(call.prepared.verdict, Verdict::Refuse { .. });
        let asking = calls.iter_mut().filter(may_run).map(|call| async move {
            let reason = hooking::before_tool(session, &call.prepared.call, ports, cancel).await?;
            call.prepared.verdict = Verdict::Refuse { text: reason, decision: "denied" };
            call.ending = CallEnding::NotAllowed;
            let rules = call.prepared.rules().into_iter().map(str::to_owned).collect();
            Some(Decided {
                intent: call.id,
                decision: "denied",
                by: "hook",
                scope: None,
                rules,
                was_asked: true,
            })
        });
        self.decided.extend(join_all(asking).await.into_iter().flatten());
    }

    /// Requests approval where the verdict says so. An answer may take long, so finished calls are recorded first.
    async fn ask(
        &mut self,
        calls: &mut [Planned],
        session: &mut Session,
        ports: &Ports,
        cancel: &CancellationToken,
    ) -> Result<(), RecordError> {
        for call in calls {
            if !matches!(call.prepared.verdict, Verdict::Ask(_)) {
                continue;
            }
            if !self.unsettled.is_empty() {
                self.settle(session, ports, Vec::new()).await?;
            }
            let given = call.given.take();
            let decided = approving::ask(&mut call.prepared, given, ports, cancel).await;
            call.ending = decided.ending;
            self.decided.push(decided.record(call.id));
        }
        Ok(())
    }

    /// Asks about all calls of the reply at once, if several need approval and no hook is asked before.
    async fn ask_together(&mut self, ports: &Ports, cancel: &CancellationToken) {
        if ports.hooks.wants(HookEvent::PreToolCall) {
            return;
        }
        let asked: Vec<&mut Planned> =
            self.calls.iter_mut().filter(|call| matches!(call.prepared.verdict, Verdict::Ask(_))).collect();
        let requests = asked.iter().filter_map(|call| match &call.prepared.verdict {
            Verdict::Ask(request) => Some(request.clone()),
            Verdict::Run | Verdict::Refuse { .. } => None,
        });
        let requests: Vec<_> = requests.collect();
        let Some(answer) = approving::ask_together(&requests, ports, cancel).await else { return };
        for (call, request) in asked.into_iter().zip(requests) {
            call.given = Some((request, answer.clone()));
        }
    }

    /// Makes sure that every call that will run has been recorded as started.
    async fn start(
        &mut self,
        calls: &mut [Planned],
        session: &mut Session,
        ports: &Ports,
    ) -> Result<(), RecordError> {
        let waiting = |call: &Planned| call.permit.is_none() && call.prepared.verdict == Verdict::Run;
        let start: Vec<IntentId> = calls.iter().filter(|call| waiting(call)).map(|call| call.id).collect();
        if start.is_empty() {
            return Ok(());
        }
        let mut permits = self.settle(session, ports, start).await?;
        for call in calls.iter_mut().filter(|call| waiting(call)).rev() {
            call.permit = permits.pop();
        }
        Ok(())
    }

    /// Records what has ended, and starts what comes next in the same commit.
    async fn settle(
        &mut self,
        session: &mut Session,
        ports: &Ports,
        start: Vec<IntentId>,
    ) -> Result<Vec<StartPermit>, RecordError> {
        let Some(turn) = &session.turn else {
            return Ok(Vec::new());
        };
        let mut results = std::mem::take(&mut self.unsettled);
        for settled in &mut results {
            mail::disarm(&mut settled.message);
        }
        if let Some(last) = results.last_mut().filter(|_| !self.steering.is_empty()) {
            mail::join(&mut last.message, &self.steering);
        }
        let steering = std::mem::take(&mut self.steering);
        let mail = steering.iter().map(|mail| mail.id).collect();
        let messages: Vec<_> = results.iter().map(|settled| settled.message.clone()).collect();
        let settled: Vec<IntentId> = results.iter().map(|settled| settled.intent).collect();
        let (decided, cwd) = (std::mem::take(&mut self.decided), ports.tool_context.take_move());
        let settlement = Settlement { results, start, decided, cwd, mail };
        let permits = ports.transcript.settle(&session.lease, turn, settlement).await?;
        ports.tool_context.settled(settled.into_iter());
        for message in messages {
            session.history.push(Message::Tool(message));
        }
        mail::announce(steering, ports).await;
        Ok(permits)
    }
}

/// The directory and the environment of the next command.
pub(crate) fn place(ports: &Ports) -> (PathBuf, Arc<Environment>) {
    (ports.tool_context.cwd(), ports.tool_context.environment())
}

/// Judges a call: truncated or unreadable ones are refused before any tool sees them. `is_unreadable` says
/// that one of the reply's calls is: then the others are not run either.
fn judge(call: &ToolCall, state: &CallState, is_unreadable: bool, ports: &Ports) -> Prepared {
    let mut prepared = ports.tools.prepare(call, &ports.tool_context);
    let refusal = match state {
        CallState::Complete | CallState::Repaired => is_unreadable.then_some(texts::SKIPPED_CALL),
        CallState::Truncated => Some(texts::TRUNCATED_CALL),
        CallState::Malformed => Some(texts::MALFORMED_CALL),
    };
    if let Some(text) = refusal {
        prepared.verdict = Verdict::Refuse { text: text.to_owned(), decision: "invalid" };
    }
    prepared
}

/// The facts about the last calls that the turn decides by.
pub(crate) fn notes(session: &Session, ports: &Ports) -> BatchNotes {
    BatchNotes {
        unchecked: unchecked_code(session, ports),
        only_housekeeping: session.only_housekeeping,
        only_scripts: session.only_scripts,
    }
}

/// The code files that were changed and not checked since, where there is a tool to check them with.
fn unchecked_code(session: &Session, ports: &Ports) -> Option<String> {
    let files = session.edits.unchecked()?;
    let runs_commands = |tool: &ToolDefinition| ports.tools.facts(&tool.name).runs_in == RunsIn::Command;
    ports.tools.definitions().iter().any(runs_commands).then_some(files)
}

/// The call as the record of file edits sees it.
fn finished_call<'a>(made: &'a Made, settled: &'a Settled) -> FinishedCall<'a> {
    FinishedCall {
        facts: made.facts,
        arguments: &made.call.arguments,
        result: settled.message.content.as_text(),
        failed: made.failed,
        has_run: settled.state != IntentState::Refused,
        only_reads: made.effect == Effect::Read,
    }
}

/// The names of the tools that were called, where none of them exists.
fn unknown_tools(prepared: &[Prepared], ports: &Ports) -> Option<String> {
    let is_refused = |call: &Prepared| matches!(call.verdict, Verdict::Refuse { decision: "invalid", .. });
    if prepared.is_empty() || !prepared.iter().all(is_refused) {
        return None;
    }
    let known = ports.tools.definitions();
    let is_known = |call: &Prepared| known.iter().any(|tool| tool.name == call.call.name);
    let names = prepared.iter().map(|call| call.call.name.as_str());
    (!prepared.iter().any(is_known)).then(|| names.collect::<Vec<_>>().join(", "))
}

fn runs_script(prepared: &Prepared, ports: &Ports) -> bool {
    ports.tools.facts(&prepared.call.name).runs_in == RunsIn::Script
}

pub(crate) fn intent(prepared: &Prepared, is_first: bool) -> Intent {
    let state = match prepared.verdict {
        Verdict::Run if is_first => IntentState::Started,
        Verdict::Run | Verdict::Ask(_) => IntentState::Planned,
        Verdict::Refuse { .. } => IntentState::Refused,
    };
    Intent {
        call_id: prepared.call.id.clone(),
        tool: prepared.call.name.clone(),
        arguments: prepared.call.arguments.clone(),
        effect: match state {
            IntentState::Refused => Effect::Read,
            _ => prepared.effect.clone(),
        },
        state,
        decision: prepared.verdict.decision(),
    }
}

async fn carry_out(
    call: Planned,
    place: CallPlace<'_>,
    ports: &Ports,
    cancel: &CancellationToken,
) -> (Settled, Made) {
    let Planned { id, prepared, permit, ending, .. } = call;
    let session = &place.lease.session;
    let script = place.turn.filter(|_| runs_script(&prepared, ports));
    let script = script.map(|turn| Arc::new(ScriptCalls::new(place.lease, turn, id, ports, cancel)));
    let (call, effect) = (prepared.call.clone(), prepared.effect.clone());
    let ToolCall { id: call_id, name, arguments, .. } = call.clone();
    let refused = (prepared.verdict != Verdict::Run).then(|| prepared.verdict.decision());
    ports.events.send(TurnEvent::ToolStarted { id: call_id.clone(), name: name.clone(), arguments }).await;
    let ended = match (&prepared.verdict, permit) {
        (Verdict::Run, Some(permit)) => {
            let scope = RunScope {
                cancel: cancel.child_token(),
                transcript: ports.transcript.clone(),
                events: ports.events.relay(),
                ask: ports.ask.clone(),
                result_limit: result_limit(ports.route.current().profile().context_length),
                sees_images: place.sees_images,
                caller: Caller::Model(script.clone().map(|script| script as Arc<dyn InnerCalls>)),
            };
            ports.tools.run(prepared, permit, &ports.tool_context, scope).await
        }
        _ => prepared.into_refused(),
    };
    let (failed, millis) = (ended.failed, ended.millis);
    let result = ended.message.content.plain_text().into_owned();
    let facts = ports.tools.facts(&call.name);
    let is_unanswered = failed && refused.is_none() && facts.user_answer.is_some() && cancel.is_cancelled();
    let ending = if is_unanswered { CallEnding::Unanswered } else { ending };
    ports.events.send(TurnEvent::ToolFinished { id: call_id, name, result, failed, ending, millis }).await;
    let status = hooking::status(refused, failed, cancel.is_cancelled());
    hooking::after_tool(session, &call, &ended, status, ports, cancel).await;
    let Finished { message, state, cost, .. } = ended;
    let by_script = script.map(|script| script.take_made()).unwrap_or_default();
    (Settled { intent: id, state, message }, Made { call, facts, effect, failed, cost, by_script })
}

/// Ends calls that were not started before the user cancelled.
async fn stopped(
    calls: Vec<Planned>,
    session: &Session,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Vec<Settled> {
    let session = &session.lease.session;
    join_all(calls.into_iter().map(|call| async move {
        let asked = call.prepared.call.clone();
        let ended = call.prepared.refused(texts::CANCELLED_CALL);
        hooking::after_tool(session, &asked, &ended, ToolStatus::Cancelled, ports, cancel).await;
        Settled { intent: call.id, state: ended.state, message: ended.message }
    }))
    .await
}

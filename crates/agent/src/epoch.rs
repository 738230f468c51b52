//! Makes a new epoch of a history: asks the engine what to do, a second model for a summary, and the engine
//! again for what takes the place of the history.

use crate::{Ports, Session, texts};
use hermes_context::{Answer, Assembled, Decision, Keep, Plan, View, Window, digest};
use hermes_conversation::{
    CacheBreak, Compaction, CompactionReport, History, Node, SummaryBy, Trigger, TurnEvent,
};
use hermes_tools::{Todo, TodoStatus, todo_list_in};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// What came of the attempt to make a new epoch.
#[derive(Debug)]
pub enum Prepared {
    NotNeeded,
    /// The history should shrink and cannot, for this reason.
    Stuck(String),
    Cancelled,
    /// To be recorded, and then gone on with; see [`adopt`].
    Ready(Box<Compaction>),
}

/// Makes a new epoch if the engine finds that there should be one. `focus` is what its summary should be
/// about. Nothing is changed yet.
pub async fn prepare(
    session: &mut Session,
    trigger: Trigger,
    focus: Option<&str>,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Prepared {
    let begun = Instant::now();
    session.context.weights.follow(session.history.messages());
    let fixed = session.fixed_tokens(&ports.tools.definitions());
    if is_far(session, trigger, fixed, ports) {
        return Prepared::NotNeeded;
    }
    let mut keep = keep(session);
    let decided = {
        let view = view(session, trigger, focus, &keep, fixed, ports);
        cancel.run_until_cancelled(ports.engine.plan(&view)).await
    };
    let plan = match decided.unwrap_or(Decision::Leave) {
        _ if cancel.is_cancelled() => return Prepared::Cancelled,
        Decision::Leave => return Prepared::NotNeeded,
        Decision::Stuck(why) => return Prepared::Stuck(why),
        Decision::Shrink(plan) => plan,
    };
    ports.events.send(TurnEvent::Status(texts::compacting(plan.replace.len()))).await;
    let plan = match flushed(session, plan, &mut keep, (trigger, focus, fixed), ports, cancel).await {
        Some(plan) => plan,
        None => return Prepared::Cancelled,
    };
    let answered = match cancel.run_until_cancelled(ask(session, &plan, ports)).await {
        Some(answered) => answered,
        None => return Prepared::Cancelled,
    };
    if let (Some(why), true) = (&answered.failed, session.context.keeps_whole) {
        return Prepared::Stuck(texts::left_whole(why));
    }
    let cost_usd = answered.cost_usd;
    let assembled = {
        let view = view(session, trigger, focus, &keep, fixed, ports);
        let assembling = ports.engine.assemble(&view, &plan, answered.answer());
        cancel.run_until_cancelled(assembling).await
    };
    let assembled = match assembled {
        None => return Prepared::Cancelled,
        Some(Ok(assembled)) => assembled,
        Some(Err(why)) => return Prepared::Stuck(why),
    };
    let report = CompactionReport {
        engine: ports.engine.name().to_owned(),
        trigger,
        by: assembled.by.clone(),
        messages_before: session.history.len() as u64,
        messages_after: assembled.messages.len() as u64,
        tokens_before: plan.before,
        tokens_after: assembled.after,
        seconds: begun.elapsed().as_secs_f64(),
        cost_usd,
        kept: assembled.kept,
    };
    let Assembled { messages, tail, nodes, .. } = assembled;
    Prepared::Ready(Box::new(Compaction { messages, tail, nodes, report }))
}

/// Lets an outside memory keep what it wants; where it has something to say to the summary, the plan is made
/// again with it. `None` when the person stopped it.
async fn flushed(
    session: &Session,
    plan: Plan,
    keep: &mut Keep,
    (trigger, focus, fixed): (Trigger, Option<&str>, u64),
    ports: &Ports,
    cancel: &CancellationToken,
) -> Option<Plan> {
    keep.memory = cancel.run_until_cancelled(ports.summaries.flush_memory(&session.lease.session)).await?;
    if keep.memory.is_none() {
        return Some(plan);
    }
    let view = view(session, trigger, focus, keep, fixed, ports);
    Some(match cancel.run_until_cancelled(ports.engine.plan(&view)).await? {
        Decision::Shrink(with_memory) => with_memory,
        Decision::Leave | Decision::Stuck(_) => plan,
    })
}

/// Goes on with an epoch that was recorded with these nodes.
pub async fn adopt(session: &mut Session, compaction: Compaction, nodes: Vec<Node>, ports: &Ports) {
    let Compaction { messages, report, .. } = compaction;
    tracing::info!(
        engine = report.engine,
        trigger = report.trigger.as_str(),
        messages_before = report.messages_before,
        messages_after = report.messages_after,
        tokens_before = report.tokens_before.value(),
        tokens_after = report.tokens_after.value(),
        ms = (report.seconds * 1e3) as u64,
        "the history was compacted"
    );
    session.context.compacted(digest(&messages), report.tokens_after.value(), nodes);
    let past = &mut session.context.past;
    let is_fallback = matches!(report.by, SummaryBy::Fallback { .. });
    past.fallbacks = if is_fallback { past.fallbacks + 1 } else { 0 };
    // What was read is no longer in the conversation; reading it again is no repetition.
    ports.tool_context.forget_reads();
    session.history = History::of(messages);
    session.ledger.declare(CacheBreak::Compaction);
    ports.events.send(TurnEvent::Compacted(Box::new(report))).await;
}

/// What a second model said, or why it did not.
struct Answered {
    said: Option<(String, String)>,
    failed: Option<String>,
    cost_usd: Option<f64>,
}

impl Answered {
    fn answer(&self) -> Answer<'_> {
        match (&self.said, &self.failed) {
            (Some((model, text)), _) => Answer::Said { model, text },
            (None, Some(why)) => Answer::Failed(why),
            (None, None) => Answer::NotAsked,
        }
    }
}

async fn ask(session: &mut Session, plan: &Plan, ports: &Ports) -> Answered {
    let nothing = Answered { said: None, failed: None, cost_usd: None };
    let Some(question) = &plan.question else { return nothing };
    match ports.summaries.ask(&session.lease.session, question).await {
        Ok(summary) if summary.was_cut => {
            let failed = Some(format!("{} stopped in the middle of the summary", summary.model));
            Answered { failed, cost_usd: summary.cost_usd, ..nothing }
        }
        Ok(summary) => {
            Answered { said: Some((summary.model, summary.text)), cost_usd: summary.cost_usd, ..nothing }
        }
        Err(failure) => {
            tracing::warn!(why = failure.why, "no summary");
            session.context.failed = Some((failure.kind, failure.why.clone()));
            Answered { failed: Some(failure.why), ..nothing }
        }
    }
}

/// What an engine is shown.
fn view<'a>(
    session: &'a Session,
    trigger: Trigger,
    focus: Option<&'a str>,
    keep: &'a Keep,
    fixed: u64,
    ports: &Ports,
) -> View<'a> {
    let model = ports.route.current();
    let context = &session.context;
    View {
        history: session.history.messages(),
        weights: &context.weights,
        fixed,
        last: context.last,
        scale: context.scales.scale(&model.profile().model),
        window: window_of(session, ports),
        trigger,
        focus,
        past: &context.past,
        keep,
        nodes: &context.nodes,
    }
}

pub(crate) fn window_of(session: &Session, ports: &Ports) -> Window {
    let output = ports.route.current().profile().max_tokens;
    Window { tokens: known_window(session, ports), output, summariser: ports.summaries.window() }
}

fn known_window(session: &Session, ports: &Ports) -> Option<u64> {
    let known = ports.route.current().profile().context_length;
    match (session.context.window, known) {
        (Some(told), Some(known)) => Some(told.min(known)),
        (told, known) => told.or(known),
    }
}

/// Whether a session is so small that nobody needs to be asked what fits.
fn is_far(session: &Session, trigger: Trigger, fixed: u64, ports: &Ports) -> bool {
    /// A window that no model writes summaries with.
    const SMALL: u64 = 8_000;
    if !matches!(trigger, Trigger::Preflight | Trigger::Loop) {
        return false;
    }
    let size = session.context.size(session.history.len(), fixed, &ports.route.current().profile().model);
    let window = Window { tokens: known_window(session, ports), ..Window::default() };
    size.value() < ports.engine.threshold(&window).unwrap_or(u64::MAX).min(SMALL)
}

/// What must not get lost. The plan is taken from the conversation, or from what stood there before: a
/// replay has nothing else.
fn keep(session: &mut Session) -> Keep {
    let newest = session.history.messages().iter().rev().find_map(|message| todo_list_in(message));
    if let Some(list) = newest {
        session.context.todos = list;
    }
    let is_open = |status: TodoStatus| matches!(status, TodoStatus::Pending | TodoStatus::InProgress);
    let todos = session.context.todos.iter().filter(|todo| is_open(todo.status));
    let line = |todo: &Todo| {
        let state = if todo.status == TodoStatus::InProgress { "in progress" } else { "pending" };
        format!("[{}] {} ({state})", todo.id, todo.content)
    };
    Keep { todos: todos.map(line).collect(), pins: session.context.pins.clone(), memory: None }
}

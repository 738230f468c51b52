//! Makes a new epoch of a history: asks the engine what to do, a second model for a summary, and the engine
//! again for what takes the place of the history.

use crate::engine_view::{Wish, is_far, keep, view};
use crate::{Ports, Session, texts};
use hermes_context::{Answer, Assembled, Decision, Keep, LOSSLESS, Plan, Summary, digest};
use hermes_conversation::{
    CacheBreak, Compaction, CompactionReport, History, Lease, Node, RecordError, SummaryBy, Trigger,
    TurnEvent,
};
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The result of preparing a new epoch.
#[derive(Debug)]
pub enum Prepared {
    NotNeeded,
    /// The history should shrink and cannot, for this reason.
    Stuck(String),
    Cancelled,
    StoreFailed(RecordError),
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
    let since = Instant::now();
    session.context.weights.follow(session.history.messages());
    let fixed = session.fixed_tokens(&ports.tools.definitions());
    let wish = Wish { trigger, focus, fixed, since };
    if is_far(session, &wish, ports) {
        return Prepared::NotNeeded;
    }
    let keep = keep(session);
    let decided = {
        let view = view(session, &wish, &keep, ports);
        cancel.run_until_cancelled(ports.engine.plan(&view)).await
    };
    let plan = match decided.unwrap_or(Decision::Leave) {
        _ if cancel.is_cancelled() => return Prepared::Cancelled,
        Decision::Leave => return Prepared::NotNeeded,
        Decision::Stuck(why) => return Prepared::Stuck(why),
        Decision::Shrink(plan) => plan,
    };
    let lease = session.lease.clone();
    match ports.transcript.lock_compaction(&lease).await {
        Ok(true) => {}
        Ok(false) => return Prepared::Stuck(texts::compacted_elsewhere()),
        Err(error) => return Prepared::StoreFailed(error),
    }
    // Whoever asked for it knows.
    if trigger != Trigger::Manual {
        ports.events.send(TurnEvent::Status(texts::compacting(plan.replace.len()))).await;
    }
    let prepared = holding(&lease, ports, carry_out(session, plan, keep, &wish, ports, cancel)).await;
    if !matches!(prepared, Prepared::Ready(_))
        && let Err(error) = ports.transcript.unlock_compaction(&lease).await
    {
        // It runs out by itself.
        tracing::warn!(%error, "the right to compact was not given back");
    }
    prepared
}

/// Keeps the right to compact for as long as the work takes.
async fn holding<T>(lease: &Lease, ports: &Ports, work: impl Future<Output = T>) -> T {
    /// Well before the right runs out.
    const AGAIN: Duration = Duration::from_secs(60);
    let mut work = pin!(work);
    loop {
        if let Ok(done) = tokio::time::timeout(AGAIN, &mut work).await {
            return done;
        }
        if let Err(error) = ports.transcript.lock_compaction(lease).await {
            tracing::warn!(%error, "the right to compact was not prolonged");
        }
    }
}

/// Does what the engine has planned.
async fn carry_out(
    session: &mut Session,
    plan: Plan,
    mut keep: Keep,
    wish: &Wish<'_>,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Prepared {
    let Some(plan) = flushed(session, plan, &mut keep, wish, ports, cancel).await else {
        return Prepared::Cancelled;
    };
    let Some(answered) = cancel.run_until_cancelled(ask(session, &plan, ports)).await else {
        return Prepared::Cancelled;
    };
    if let (Some(why), true) = (&answered.failed, session.context.keeps_whole) {
        let why = texts::left_whole(why);
        // Nothing has changed, so the next look in this turn would ask in vain again.
        session.context.past.resting = Some(why.clone());
        return Prepared::Stuck(why);
    }
    let assembled = {
        let view = view(session, wish, &keep, ports);
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
        trigger: wish.trigger,
        by: assembled.by,
        messages_before: session.history.len() as u64,
        messages_after: assembled.messages.len() as u64,
        tokens_before: plan.before,
        tokens_after: assembled.after,
        seconds: wish.since.elapsed().as_secs_f64(),
        cost_usd: answered.cost_usd,
        kept: assembled.kept,
    };
    let Assembled { messages, tail, nodes, .. } = assembled;
    Prepared::Ready(Box::new(Compaction { messages, tail, nodes, report }))
}

/// Lets an external memory save facts before a compaction; if it returns notes for the summary, the plan is
/// made again with them. `None` if the user cancelled.
async fn flushed(
    session: &Session,
    plan: Plan,
    keep: &mut Keep,
    wish: &Wish<'_>,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Option<Plan> {
    keep.memory = cancel.run_until_cancelled(ports.summaries.flush_memory(&session.lease.session)).await?;
    if keep.memory.is_none() {
        return Some(plan);
    }
    let view = view(session, wish, keep, ports);
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
    if !is_fallback {
        (session.context.failed, session.context.is_made_good) = (None, true);
    }
    // What was read is no longer in the conversation; reading it again is no repetition.
    ports.tool_context.forget_reads();
    session.history = History::of(messages);
    session.ledger.declare(CacheBreak::Compaction);
    ports.events.send(TurnEvent::Compacted(Box::new(report))).await;
    // What an engine keeps within reach is not lost to the model.
    if session.context.past.count == 2 && ports.engine.name() != LOSSLESS {
        ports.events.send(TurnEvent::Status(texts::SUMMARISED_TWICE.to_owned())).await;
    }
}

/// The summary of the auxiliary model, or the reason why there is none.
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
    let asked = ports.summaries.ask(&session.lease.session, question).await;
    if let Ok(Summary { model, instead_of: Some(why), .. }) = &asked {
        ports.events.send(TurnEvent::Status(texts::summary_by_fallback(why, model))).await;
    }
    match asked {
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

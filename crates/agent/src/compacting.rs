//! Compacts the history: gets a plan from the context engine and a summary from the auxiliary model, then opens a
//! new epoch.
//!
//! Nothing changes before the new epoch is recorded; whatever fails before that leaves the session as it
//! was.

use crate::context_state::ToldWindow;
use crate::engine_view::window_of;
use crate::epoch::{Prepared, adopt, prepare};
use crate::turn::{Event, When};
use crate::{Ports, Session, image_remedies, texts};
use hermes_conversation::{Compaction, CompactionReport, Node, RecordError, Trigger, TurnEvent};
use hermes_wire::{Fault, FaultClass, overflow};
use tokio_util::sync::CancellationToken;

/// The result of an attempt at compaction.
#[derive(Debug)]
pub enum Compacted {
    /// The history fits as it is.
    NotNeeded,
    /// It should shrink and cannot, for this reason.
    Stuck(String),
    Done(Box<CompactionReport>),
    /// The user cancelled it; nothing was changed.
    Cancelled,
    StoreFailed(RecordError),
}

/// Compacts if needed before the first call of a turn or after tool results, and passes the event on.
pub(crate) async fn before(
    session: &mut Session,
    trigger: Trigger,
    event: Event,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Event {
    if !matches!(event, Event::Started | Event::ToolsDone) {
        return event;
    }
    match compact(session, trigger, None, ports, cancel).await {
        Compacted::NotNeeded | Compacted::Done(_) => event,
        Compacted::Stuck(why) => {
            // It may still fit; the provider has the last word.
            if !std::mem::replace(&mut session.context.is_notified, true) {
                ports.events.send(TurnEvent::Status(why)).await;
            }
            event
        }
        Compacted::Cancelled => Event::Cancelled(When::CallingModel),
        Compacted::StoreFailed(error) => Event::StoreFailed(error),
    }
}

/// After a refusal of a request that was too long.
pub(crate) async fn after_refusal(
    session: &mut Session,
    mut fault: Fault,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Event {
    /// With less output than this left, compaction is better than a reply that is cut at once.
    const WORTH_WRITING: u64 = 1_024;
    /// The tokens of a long context window that an account may use without extra cost.
    const USUAL_TIER: u64 = 200_000;
    let told = overflow(&fault.detail);
    let window = window_of(session, ports);
    let is_about_output = told.is_about_output && fault.class == FaultClass::ContextOverflow;
    let is_only_output = is_about_output && told.window.is_none();
    if let Some(room) = told.output.filter(|room| is_only_output || is_about_output && *room >= WORTH_WRITING)
    {
        // The prompt fits; only the wish was too large.
        const MARGIN: u64 = 64;
        let room = room.saturating_sub(MARGIN).max(1);
        session.output_cap = Some(room);
        ports.events.send(TurnEvent::Status(texts::output_left(room))).await;
        return Event::Remedied;
    }
    if is_only_output {
        // A shorter history would be refused for the same reason.
        return Event::NotCompacted { fault, why: Some(texts::OUTPUT_TOO_LONG.to_owned()) };
    }
    if fault.class == FaultClass::ContextOverflow {
        let counted = counted(session, ports);
        if let Some(window) = far_below(counted, told.window, window.tokens) {
            let doubt = texts::far_below_the_window(&fault.detail, counted, window);
            if !std::mem::replace(&mut session.context.has_doubted, true) {
                ports.events.send(TurnEvent::Status(format!("{doubt}; sending it again"))).await;
                return Event::Remedied;
            }
            fault.detail = doubt;
        }
    }
    let is_tier = fault.class == FaultClass::LongContextTier;
    let fits = if is_tier { Some(told.window.unwrap_or(USUAL_TIER)) } else { told.window };
    if let Some(tokens) = fits.filter(|fits| window.tokens.is_none_or(|known| *fits < known)) {
        let told = ToldWindow { tokens, is_lasting: !is_tier };
        session.context.hear_window(ports.route.current().profile(), told);
    }
    // Loses less than a summary does.
    if image_remedies::shrink(session, &fault, ports).await {
        return Event::Remedied;
    }
    // A shorter conversation was too large, too: then it is not the words.
    if session.context.past.in_this_turn > 0 && image_remedies::leave_out(session, &fault, ports).await {
        return Event::Remedied;
    }
    if ports.engine.threshold(&window_of(session, ports)).is_none() {
        return match image_remedies::leave_out(session, &fault, ports).await {
            true => Event::Remedied,
            false => Event::NotCompacted { fault, why: None },
        };
    }
    let why = match compact(session, Trigger::Overflow, None, ports, cancel).await {
        Compacted::Done(_) => return Event::Remedied,
        Compacted::NotNeeded => None,
        Compacted::Stuck(why) => Some(why),
        Compacted::Cancelled => return Event::Cancelled(When::CallingModel),
        Compacted::StoreFailed(error) => return Event::StoreFailed(error),
    };
    match image_remedies::leave_out(session, &fault, ports).await {
        true => Event::Remedied,
        false => Event::NotCompacted { fault, why },
    }
}

/// The size of the next request in tokens, as it is estimated here.
fn counted(session: &mut Session, ports: &Ports) -> u64 {
    let fixed = session.fixed_tokens(&ports.tools.definitions());
    session.context.weights.follow(session.history.messages());
    let model = ports.route.current();
    session.context.size(session.history.len(), fixed, &model.profile().model).value()
}

/// The window, where a request is so far below it that a refusal for its length cannot be right. What the server
/// claims counts where it is less than what is known.
fn far_below(counted: u64, claimed: Option<u64>, known: Option<u64>) -> Option<u64> {
    let window = match (claimed, known) {
        (Some(claimed), Some(known)) => claimed.min(known),
        (claimed, known) => claimed.or(known)?,
    };
    (counted.saturating_mul(2) < window).then_some(window)
}

/// Makes the history smaller if the engine finds that it should be, in the same session. `focus` is what the
/// summary should be about.
pub async fn compact(
    session: &mut Session,
    trigger: Trigger,
    focus: Option<&str>,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Compacted {
    let compaction = match prepare(session, trigger, focus, ports, cancel).await {
        Prepared::NotNeeded => return Compacted::NotNeeded,
        Prepared::Stuck(why) => return Compacted::Stuck(why),
        Prepared::Cancelled => return Compacted::Cancelled,
        Prepared::StoreFailed(error) => return Compacted::StoreFailed(error),
        Prepared::Ready(compaction) => *compaction,
    };
    let report = Box::new(compaction.report.clone());
    match commit(session, &compaction, ports).await {
        Ok(nodes) => adopt(session, compaction, nodes, ports).await,
        Err(error) => return Compacted::StoreFailed(error),
    }
    Compacted::Done(report)
}

async fn commit(
    session: &mut Session,
    compaction: &Compaction,
    ports: &Ports,
) -> Result<Vec<Node>, RecordError> {
    // What the calls so far have cost belongs to the messages that they produced.
    if session.unrecorded.is_some()
        && let Some(turn) = &session.turn
    {
        let spent = session.unrecorded.take();
        ports.transcript.extend(&session.lease, turn, &[], spent.as_ref()).await?;
    }
    ports.transcript.compact(&session.lease, session.turn.as_ref(), compaction).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_doubted_where_the_request_is_far_below_the_window() {
        for (counted, claimed, known, want) in [
            (3_000, None, Some(200_000), Some(200_000)),
            (3_000, Some(131_072), Some(200_000), Some(131_072)),
            (3_000, Some(300_000), Some(200_000), Some(200_000)),
            (3_000, Some(8_192), None, Some(8_192)),
            // A smaller window than was known may well be too small.
            (3_000, Some(4_096), Some(200_000), None),
            (99_999, None, Some(200_000), Some(200_000)),
            (100_000, None, Some(200_000), None),
            (3_000, None, None, None),
            (u64::MAX, None, Some(u64::MAX), None),
        ] {
            assert_eq!(far_below(counted, claimed, known), want, "{counted} {claimed:?} {known:?}");
        }
    }
}

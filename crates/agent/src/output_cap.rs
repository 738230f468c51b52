//! The output cap of a model after truncated replies.
//!
//! A raised cap holds for the rest of the turn and for the model whose reply was cut. If the endpoint
//! rejects it or a budget does not allow it, the first cap applies again.

use crate::turn::Event;
use crate::{Ports, Session, texts};
use hermes_conversation::TurnEvent;
use hermes_wire::{ModelProfile, Reply};

/// The assumed cap of a reply if no cap was set and the length of the reply is unknown.
const USUAL: u64 = 4_096;
/// The maximum of a raised cap.
pub(crate) const MOST: u64 = 32_768;

/// The next larger cap: the one in force doubled, up to a limit. `None` where it cannot grow. Where no cap
/// was set, the endpoint has one of its own; the length of the truncated reply shows it.
fn larger(set: Option<u64>, raised: Option<u64>, written: u64) -> Option<u64> {
    let in_force = raised.or(set).unwrap_or(written.max(USUAL));
    let next = in_force.saturating_mul(2).min(set.unwrap_or_default().max(MOST));
    (next > in_force).then_some(next)
}

/// Raises the cap for the continuation of a truncated reply, if a cap is set: the parts are joined anyway,
/// and the endpoint's own cap may be higher than any chosen here.
pub(crate) fn raise_for_continuation(session: &mut Session, profile: &ModelProfile, reply: &Reply) {
    if profile.max_tokens.or(session.output_cap).is_some() {
        session.output_cap =
            larger(profile.max_tokens, session.output_cap, written(reply)).or(session.output_cap);
    }
}

/// Retracts a reply with truncated calls and raises the cap for the next one.
pub(crate) async fn raise_for_calls(session: &mut Session, reply: Box<Reply>, ports: &Ports) -> Event {
    let profile = ports.route.current().profile().clone();
    let Some(cap) = larger(profile.max_tokens, session.output_cap, written(&reply)) else {
        return Event::CapIsFull(reply);
    };
    session.output_cap = Some(cap);
    retract(&reply, ports).await;
    ports.events.send(TurnEvent::Status(texts::cap_raised(cap))).await;
    Event::Remedied
}

/// Retracts the displayed part of a discarded reply.
pub(crate) async fn retract(reply: &Reply, ports: &Ports) {
    let thought = reply.message.reasoning.text.as_deref().unwrap_or_default();
    if !reply.message.text.is_empty() || !thought.is_empty() {
        ports.events.send(TurnEvent::Retracted).await;
    }
}

/// Restores the first cap after the larger one was rejected.
pub(crate) async fn restore(session: &mut Session, why: &str, ports: &Ports) -> Event {
    session.output_cap = None;
    ports.events.send(TurnEvent::Status(texts::cap_restored(why))).await;
    Event::Remedied
}

fn written(reply: &Reply) -> u64 {
    reply.usage.map_or(0, |usage| usage.output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cap_doubles_up_to_the_maximum() {
        for (set, written, want) in [
            (Some(4_096), 4_096, vec![8_192, 16_384, 32_768]),
            (Some(5_000), 7, vec![10_000, 20_000, 32_768]),
            // A configured cap is not reduced and not exceeded.
            (Some(64_000), 64_000, vec![]),
            (Some(32_768), 32_768, vec![]),
            (Some(0), 0, vec![]),
            (Some(u64::MAX), 0, vec![]),
            // No cap is set: never less than what was written.
            (None, 0, vec![8_192, 16_384, 32_768]),
            (None, 20_000, vec![32_768]),
            (None, 64_000, vec![]),
        ] {
            let (mut raised, mut got) = (None, Vec::new());
            while let Some(next) = larger(set, raised, written) {
                got.push(next);
                raised = Some(next);
            }
            assert_eq!(got, want, "{set:?} {written}");
        }
    }
}

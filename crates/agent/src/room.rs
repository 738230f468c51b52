//! How much a model may write, after replies that were cut for want of room.
//!
//! The larger cap holds for the rest of the turn and for the model that was cut. An endpoint that does not
//! take it, or a budget that does not allow it, gets the first one back.

use crate::turn::Event;
use crate::{Ports, Session, texts};
use hermes_conversation::TurnEvent;
use hermes_wire::{ModelProfile, Reply};

/// What a reply may have had where no cap was set and nobody says how long it was.
const USUAL: u64 = 4_096;
/// No cap is raised beyond this.
pub(crate) const ENOUGH: u64 = 32_768;

/// The next larger cap: the one in force doubled, up to a limit. `None` where it cannot grow. Where no cap
/// was set, the endpoint has one of its own; the length of the reply that it cut tells what it is.
fn larger(set: Option<u64>, raised: Option<u64>, written: u64) -> Option<u64> {
    let in_force = raised.or(set).unwrap_or(written.max(USUAL));
    let next = in_force.saturating_mul(2).min(set.unwrap_or_default().max(ENOUGH));
    (next > in_force).then_some(next)
}

/// Lets the rest of an answer be longer than the part that was cut, where somebody set a cap: the parts are
/// joined anyway, and an endpoint's own may be higher than any we would choose.
pub(crate) fn for_the_rest(session: &mut Session, profile: &ModelProfile, reply: &Reply) {
    if profile.max_tokens.or(session.room).is_some() {
        session.room = larger(profile.max_tokens, session.room, written(reply)).or(session.room);
    }
}

/// Forgets a reply whose calls were cut, and lets the next one be longer.
pub(crate) async fn for_calls(session: &mut Session, reply: Box<Reply>, ports: &Ports) -> Event {
    let profile = ports.route.current().profile().clone();
    let Some(room) = larger(profile.max_tokens, session.room, written(&reply)) else {
        return Event::NoMoreRoom(reply);
    };
    session.room = Some(room);
    forget(&reply, ports).await;
    ports.events.send(TurnEvent::Status(texts::more_room(room))).await;
    Event::Remedied
}

/// Takes back what was shown of a reply that does not count.
pub(crate) async fn forget(reply: &Reply, ports: &Ports) {
    let thought = reply.message.reasoning.text.as_deref().unwrap_or_default();
    if !reply.message.text.is_empty() || !thought.is_empty() {
        ports.events.send(TurnEvent::Retracted).await;
    }
}

/// Goes back to the first cap: the larger one was not taken.
pub(crate) async fn taken_back(session: &mut Session, why: &str, ports: &Ports) -> Event {
    session.room = None;
    ports.events.send(TurnEvent::Status(texts::less_room(why))).await;
    Event::Remedied
}

fn written(reply: &Reply) -> u64 {
    reply.usage.map_or(0, |usage| usage.output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_doubles_until_it_is_enough() {
        for (set, written, want) in [
            (Some(4_096), 4_096, vec![8_192, 16_384, 32_768]),
            (Some(5_000), 7, vec![10_000, 20_000, 32_768]),
            // What was asked for is not made smaller, and is all there is.
            (Some(64_000), 64_000, vec![]),
            (Some(32_768), 32_768, vec![]),
            (Some(0), 0, vec![]),
            (Some(u64::MAX), 0, vec![]),
            // Nobody set one: never less than what was written.
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

//! Carries out what the turn machine decides. Holds no policy.

use crate::recovery::Remedy;
use crate::turn::{Event, Step, Turn, When};
use crate::{
    Input, Ports, Session, TurnReport, calling, compacting, fallback, finish, hooking, image_remedies, mail,
    output_cap, texts, tooling,
};
use hermes_conversation::{CacheBreak, Message, Opening, Trigger, TurnEvent};
use hermes_wire::{Fault, FaultClass};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Runs one turn to its end. The user's message is recorded before anything else happens, and
/// whatever happens afterwards, the turn is closed in the record.
pub fn run_turn(
    session: &mut Session,
    input: impl Into<Input>,
    ports: &Ports,
    cancel: &CancellationToken,
) -> impl Future<Output = TurnReport> + Send {
    // What follows is large, and should be there once.
    drive(session, input.into(), ports, cancel)
}

async fn drive(session: &mut Session, input: Input, ports: &Ports, cancel: &CancellationToken) -> TurnReport {
    fallback::restore(session, ports);
    let mut turn = Turn::new(session.limits)
        .with_fallbacks(ports.route.stops_left())
        .asked_in(ports.route.current().profile().mode);
    let mut event = begin(session, input, ports, cancel).await;
    loop {
        let is_image = matches!(&event, Event::Failed(fault) if fault.class == FaultClass::ImageTooLarge);
        if is_image && !image_remedies::can_shrink(session) {
            turn.images_are_small();
        }
        event = match turn.next(event) {
            Step::CallModel(asking) => calling::call_model(session, ports, asking, cancel).await,
            Step::RunTools(reply) => {
                let done = tooling::run_tools(session, *reply, ports, cancel).await;
                turn.tools_ran(tooling::notes(session, ports));
                compacting::before(session, Trigger::Loop, done, ports, cancel).await
            }
            Step::Apply(remedy) => apply(session, remedy, ports, cancel).await,
            Step::Finish(outcome) => {
                return finish::finish(session, outcome, turn.calls(), ports, cancel).await;
            }
        };
    }
}

async fn begin(session: &mut Session, input: Input, ports: &Ports, cancel: &CancellationToken) -> Event {
    session.start_counting();
    let Input { message, mail, at } = input;
    let message = message.without_memory();
    let opening = Opening { message: message.clone(), mail: mail.iter().map(|mail| mail.id).collect(), at };
    match ports.transcript.open_turn(&session.lease, opening).await {
        Ok(turn) => {
            tracing::Span::current().record("turn_id", turn.id.0);
            session.turn = Some(turn);
        }
        Err(error) => return Event::StoreFailed(error),
    }
    ports.events.send(TurnEvent::Accepted).await;
    mail::announce(mail, ports).await;
    let (message, recorded) = hooking::opening(session, message, ports, cancel).await;
    session.context.next_turn(&Message::User(message.clone()));
    session.hear(message);
    if let Err(error) = recorded {
        return Event::StoreFailed(error);
    }
    fallback::notify(session, ports).await;
    compacting::before(session, Trigger::Preflight, Event::Started, ports, cancel).await
}

async fn apply(session: &mut Session, remedy: Remedy, ports: &Ports, cancel: &CancellationToken) -> Event {
    match remedy {
        Remedy::Wait { delay, why } => wait(delay, &why, ports, cancel).await,
        Remedy::Mend { quirk, why } => {
            session.quirks_mut().set(quirk);
            session.ledger.declare(CacheBreak::Learned);
            ports.events.send(TurnEvent::Status(texts::repaired(quirk, &why))).await;
            Event::Remedied
        }
        Remedy::NextKey(fault) => next_key(fault, ports, cancel).await,
        Remedy::NextModel { class, why } => fallback::advance(session, class, why, ports).await,
        Remedy::AskAboutResults(reply) => {
            add(session, vec![Message::Assistant(reply.message), texts::about_results()], ports).await
        }
        Remedy::AskToVerify(reply, files) => {
            ports.events.send(TurnEvent::Status(format!("asking the model to check {files}"))).await;
            add(session, vec![Message::Assistant(reply.message), texts::verify(&files)], ports).await
        }
        Remedy::AskToAct(reply) => {
            add(session, vec![Message::Assistant(reply.message), texts::act()], ports).await
        }
        Remedy::AskToContinue(reply) => {
            output_cap::raise_for_continuation(session, ports.route.current().profile(), &reply);
            add(session, vec![Message::Assistant(reply.message), texts::continuation()], ports).await
        }
        Remedy::Resend(reply) => {
            output_cap::retract(&reply, ports).await;
            Event::Remedied
        }
        Remedy::RaiseCap(reply) => output_cap::raise_for_calls(session, reply, ports).await,
        Remedy::RestoreCap { why } => output_cap::restore(session, &why, ports).await,
        Remedy::Compact(fault) => compacting::after_refusal(session, fault, ports, cancel).await,
        Remedy::AskForSummary => add(session, vec![texts::summary_request()], ports).await,
    }
}

/// Lets the model look for another key. Looking may take a while: a login may have to be renewed.
async fn next_key(fault: Fault, ports: &Ports, cancel: &CancellationToken) -> Event {
    let model = ports.route.current();
    match cancel.run_until_cancelled(model.another_key(&fault)).await {
        None => Event::Cancelled(When::CallingModel),
        Some(false) => Event::NoOtherKey(fault),
        Some(true) => {
            let provider = &model.profile().issuer.provider;
            let notice = format!("{}; trying again with a stored key of {provider}", fault.detail);
            ports.events.send(TurnEvent::Status(notice)).await;
            Event::Remedied
        }
    }
}

/// Waits out a fault, with up to half as much again so that many sessions do not return in step.
async fn wait(delay: Duration, why: &str, ports: &Ports, cancel: &CancellationToken) -> Event {
    let delay = delay.mul_f64(1.0 + 0.5 * (ports.jitter)().clamp(0.0, 1.0));
    tracing::info!(ms = delay.as_millis() as u64, "waiting before another try");
    let notice = format!("{why}; trying again in {:.1} s", delay.as_secs_f64());
    ports.events.send(TurnEvent::Status(notice)).await;
    match cancel.run_until_cancelled((ports.pause)(delay)).await {
        Some(()) => Event::Remedied,
        None => Event::Cancelled(When::CallingModel),
    }
}

/// Records messages of the agent's own and adds them to the history.
pub(crate) async fn add(session: &mut Session, messages: Vec<Message>, ports: &Ports) -> Event {
    let Some(turn) = &session.turn else {
        return Event::Remedied;
    };
    let spent = session.unrecorded.take();
    if let Err(error) = ports.transcript.extend(&session.lease, turn, &messages, spent.as_ref()).await {
        return Event::StoreFailed(error);
    }
    for message in messages {
        session.history.push(message);
    }
    Event::Remedied
}

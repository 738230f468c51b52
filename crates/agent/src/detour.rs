//! Another model steps in, for the rest of a turn or a little longer.
//!
//! Nothing of the session's own changes: its system prompt and what was learned about its model are
//! put aside and taken up again, so that the model finds its requests as it left them.

use crate::turn::Event;
use crate::{Ports, Session, StandIn, driver};
use hermes_conversation::{Quirks, TurnEvent};
use hermes_prompt::SystemPrompt;
use hermes_wire::{Fault, FaultClass, ModelProfile};
use std::sync::Arc;

/// What is different while another model steps in.
pub(crate) struct Detour {
    pub(crate) system: Arc<str>,
    pub(crate) quirks: Quirks,
}

impl Detour {
    /// The prompt names the model, and a model should not be told that it is another.
    fn to(system: &Arc<str>, profile: &ModelProfile) -> Self {
        let renamed = SystemPrompt::renamed(system, &profile.model, &profile.issuer.provider);
        let system = renamed.map_or_else(|| system.clone(), Arc::from);
        Self { system, quirks: Quirks::default() }
    }
}

/// A turn begins: the session's own model answers again, unless it is to be left alone for now.
pub(crate) fn restore(session: &mut Session, ports: &Ports) {
    if ports.route.restore() {
        session.detour = None;
    } else if session.detour.is_none() {
        session.detour = Some(Detour::to(&session.system, ports.route.current().profile()));
    }
}

/// Says who answers, where that is not the session's own model from the start.
pub(crate) async fn remind(session: &Session, ports: &Ports) {
    if session.detour.is_some() {
        let name = name(ports.route.current().profile());
        let notice = format!("staying with {name} for now: the first model is given a rest");
        ports.events.send(TurnEvent::Status(notice)).await;
    }
}

/// Goes on with the next model.
pub(crate) async fn take(session: &mut Session, class: FaultClass, why: String, ports: &Ports) -> Event {
    // What the one before has cost is recorded as its own.
    if session.unrecorded.is_some()
        && let failed @ Event::StoreFailed(_) = driver::add(session, Vec::new(), ports).await
    {
        return failed;
    }
    let before = name(ports.route.current().profile());
    let Some(model) = ports.route.advance(class) else {
        return Event::Failed(Fault::new(class, why));
    };
    session.detour = Some(Detour::to(&session.system, model.profile()));
    // What the one before could write says nothing about this one.
    session.room = None;
    tracing::warn!(
        from = before,
        to = name(model.profile()),
        fault = class.as_str(),
        "going on with another model"
    );
    let notice = format!("{before} did not answer ({why}); going on with {}", name(model.profile()));
    ports.events.send(TurnEvent::Status(notice)).await;
    Event::Remedied
}

/// Who stands in for the session's own model, for the report.
pub(crate) fn stand_in(session: &Session, ports: &Ports) -> Option<StandIn> {
    session.detour.as_ref()?;
    let model = ports.route.current();
    let profile = model.profile();
    Some(StandIn {
        model: profile.model.to_string(),
        provider: profile.issuer.provider.clone(),
        base_url: profile.base_url.clone(),
    })
}

fn name(profile: &ModelProfile) -> String {
    format!("{}/{}", profile.issuer.provider, profile.model)
}

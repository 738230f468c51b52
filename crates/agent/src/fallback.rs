//! Fallback to another model, for the rest of a turn or for the cooldown of the first one.
//!
//! The session's own state does not change: its system prompt and the quirks of its model are kept and used
//! again afterwards, so that the requests to it keep their prefix.

use crate::turn::Event;
use crate::{Ports, Session, StandIn, driver};
use hermes_conversation::{Quirks, TurnEvent};
use hermes_prompt::SystemPrompt;
use hermes_wire::{Fault, FaultClass, ModelProfile};
use std::sync::Arc;

/// The state of a session while a fallback model is in use.
pub(crate) struct FallbackState {
    pub(crate) system: Arc<str>,
    pub(crate) quirks: Quirks,
}

impl FallbackState {
    /// Names the fallback model in the system prompt, where the session's own model is named.
    fn to(system: &Arc<str>, profile: &ModelProfile) -> Self {
        let renamed = SystemPrompt::renamed(system, &profile.model, &profile.issuer.provider);
        let system = renamed.map_or_else(|| system.clone(), Arc::from);
        Self { system, quirks: Quirks::default() }
    }
}

/// Returns to the session's own model at the start of a turn, unless it is in cooldown.
pub(crate) fn restore(session: &mut Session, ports: &Ports) {
    if ports.route.restore() {
        session.fallback = None;
    } else if session.fallback.is_none() {
        session.fallback = Some(FallbackState::to(&session.system, ports.route.current().profile()));
    }
}

/// Notifies the user that a turn starts with a fallback model.
pub(crate) async fn notify(session: &Session, ports: &Ports) {
    if session.fallback.is_some() {
        let name = name(ports.route.current().profile());
        let notice = format!("using {name}: the first model is in cooldown");
        ports.events.send(TurnEvent::Status(notice)).await;
    }
}

/// Switches to the next model of the route.
pub(crate) async fn advance(session: &mut Session, class: FaultClass, why: String, ports: &Ports) -> Event {
    // The cost of the failed model is recorded under its own name.
    if session.unrecorded.is_some()
        && let failed @ Event::StoreFailed(_) = driver::add(session, Vec::new(), ports).await
    {
        return failed;
    }
    let before = name(ports.route.current().profile());
    let Some(model) = ports.route.advance(class) else {
        return Event::Failed(Fault::new(class, why));
    };
    session.fallback = Some(FallbackState::to(&session.system, model.profile()));
    // The raised cap belongs to the model before.
    session.output_cap = None;
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

/// The fallback model in use, for the report.
pub(crate) fn stand_in(session: &Session, ports: &Ports) -> Option<StandIn> {
    session.fallback.as_ref()?;
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

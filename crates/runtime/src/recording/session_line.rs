//! A session as it stands before a turn, to a line and back.

use super::line::{LimitsLine, SessionLine};
use hermes_agent::Session;
use hermes_agent::recovery::Limits;
use hermes_conversation::{HookEvent, Hooks, Message};
use hermes_prompt::{Layers, SystemPrompt};
use hermes_tools::Registry;
use hermes_wire::ModelRoute;

/// What a session is besides its state.
pub(crate) struct SessionFacts<'a> {
    pub(crate) source: &'a str,
    pub(crate) cwd: String,
    /// What its system prompt was made from, if that is known.
    pub(crate) layers: Option<&'a Layers>,
    pub(crate) route: &'a dyn ModelRoute,
    pub(crate) toolsets: Vec<String>,
    pub(crate) disabled_toolsets: Vec<String>,
    pub(crate) registry: &'a Registry,
    pub(crate) is_watched: bool,
    pub(crate) hooks: &'a dyn Hooks,
}

pub(crate) fn session_line(session: &Session, facts: SessionFacts<'_>) -> SessionLine {
    // Layers that would make another prompt are not what this one was made from.
    let layers = facts.layers.filter(|layers| *SystemPrompt::assemble(layers).as_str() == *session.system);
    SessionLine {
        id: session.lease.session.to_string(),
        source: facts.source.to_owned(),
        cwd: facts.cwd,
        layers: layers.cloned(),
        system: session.system.to_string(),
        more_system: session.additions.system.as_deref().map(str::to_owned),
        prefill: session.additions.prefill.iter().map(|message| Message::clone(message)).collect(),
        stops: facts.route.stops().iter().map(|stop| stop.profile().clone()).collect(),
        limits: LimitsLine::of(&session.limits),
        toolsets: facts.toolsets,
        disabled_toolsets: facts.disabled_toolsets,
        tools: Some(owned(facts.registry.all_names())),
        waiting: owned(facts.registry.waiting()),
        is_watched: facts.is_watched,
        hooks: HookEvent::ALL
            .iter()
            .filter(|event| facts.hooks.wants(**event))
            .map(|event| event.as_str().to_owned())
            .collect(),
        quirks: session.quirks,
        history: session.history.messages().iter().map(|message| Message::clone(message)).collect(),
    }
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

impl LimitsLine {
    fn of(limits: &Limits) -> Self {
        let Limits { max_iterations, attempts, keys, continuations, empty_retries, cut_calls, backoff } =
            *limits;
        Self { max_iterations, attempts, keys, continuations, empty_retries, cut_calls, backoff }
    }

    pub(crate) fn to_limits(&self) -> Limits {
        let Self { max_iterations, attempts, keys, continuations, empty_retries, cut_calls, backoff } = *self;
        Limits { max_iterations, attempts, keys, continuations, empty_retries, cut_calls, backoff }
    }
}

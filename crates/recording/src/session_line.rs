//! The line for the state of a session before a turn.

use super::line::{ContextLine, LimitsLine, SessionLine};
use hermes_agent::Session;
use hermes_agent::recovery::Limits;
use hermes_conversation::{HookEvent, Hooks, Message};
use hermes_plugins::context_engine::{EngineSettings, ToolWire};
use hermes_prompt::{Layers, SystemPrompt};
use hermes_tools::Registry;
use hermes_wire::ModelRoute;

/// The properties of a session besides its state.
pub struct SessionFacts<'a> {
    pub source: &'a str,
    pub cwd: String,
    /// The layers of its system prompt, if known.
    pub layers: Option<&'a Layers>,
    pub route: &'a dyn ModelRoute,
    pub toolsets: Vec<String>,
    pub disabled_toolsets: Vec<String>,
    pub registry: &'a Registry,
    pub engine_tools: &'a [ToolWire],
    pub is_watched: bool,
    pub hooks: &'a dyn Hooks,
    pub engine: EngineSettings,
    /// The context window of the model that writes summaries.
    pub summariser: Option<u64>,
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
        engine_tools: facts.engine_tools.to_vec(),
        is_watched: facts.is_watched,
        hooks: HookEvent::ALL
            .iter()
            .filter(|event| facts.hooks.wants(**event))
            .map(|event| event.as_str().to_owned())
            .collect(),
        quirks: session.quirks,
        context: Some(ContextLine {
            engine: facts.engine,
            past: session.context.past.clone(),
            nodes: session.context.nodes.clone(),
            pins: session.context.pins.clone(),
            todos: session.context.todos.clone(),
            summariser: facts.summariser,
        }),
        history: session.history.messages().iter().map(|message| Message::clone(message)).collect(),
    }
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

impl LimitsLine {
    fn of(limits: &Limits) -> Self {
        Self {
            max_iterations: limits.max_iterations,
            attempts: limits.attempts,
            keys: limits.keys,
            continuations: limits.continuations,
            empty_retries: limits.empty_retries,
            cut_calls: limits.cut_calls,
            compactions: limits.compactions,
            backoff: limits.backoff,
            loops: limits.loops,
            stop_checks: limits.stop_checks,
        }
    }

    pub(crate) fn to_limits(&self) -> Limits {
        Limits {
            max_iterations: self.max_iterations,
            attempts: self.attempts,
            keys: self.keys,
            continuations: self.continuations,
            empty_retries: self.empty_retries,
            cut_calls: self.cut_calls,
            compactions: self.compactions,
            backoff: self.backoff,
            loops: self.loops,
            stop_checks: self.stop_checks,
        }
    }
}

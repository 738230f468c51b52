//! The context engine of a session.

use super::Session;
use crate::{Runtime, RuntimeError};
use hermes_context::{Compressor, EnginePort, Summarise as _, Window};
use hermes_conversation::{EventSink, SessionId, TurnEvent};
use hermes_exec::child_env;
use hermes_plugins::context_engine::{
    Choice, EngineSettings, External, ExternalPort, ExternalSettings, LaunchContext, ToolWire, are_enabled,
    with_tools,
};
use hermes_providers::Endpoint;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The place where the engine of a session runs.
pub(super) enum EngineState {
    /// In this process.
    BuiltIn,
    /// As a program of the user. `tools` are those that the session offers, once the program was asked for them.
    External { program: Arc<External>, tools: Option<Vec<ToolWire>> },
}

impl EngineState {
    pub(super) fn program(&self) -> Option<&Arc<External>> {
        match self {
            Self::BuiltIn => None,
            Self::External { program, .. } => Some(program),
        }
    }

    /// The tools of the engine that the session offers.
    pub(super) fn tools(&self) -> &[ToolWire] {
        match self {
            Self::External { tools: Some(tools), .. } => tools,
            Self::External { tools: None, .. } | Self::BuiltIn => &[],
        }
    }

    /// Makes the next turn offer the tools again.
    pub(super) fn forget_tools(&mut self) {
        if let Self::External { tools, .. } = self {
            *tools = None;
        }
    }
}

/// The engine of a new session. Nothing is started.
pub(super) fn engine_state(
    runtime: &Runtime,
    choice: &Choice,
    id: &SessionId,
    endpoint: &Endpoint,
) -> Result<EngineState, RuntimeError> {
    let Choice::Plugin(plugin) = choice else { return Ok(EngineState::BuiltIn) };
    let passthrough = runtime.config.settings.terminal.env_passthrough.get()?;
    let shell = runtime.launch.shell.iter().map(|(name, value)| (name.clone(), value.clone()));
    let launch = LaunchContext {
        model: endpoint.model.clone(),
        env: child_env(shell, passthrough),
        secrets: runtime.secrets.clone(),
    };
    let program = Arc::new(External::new(plugin.clone(), launch, id.to_string()));
    Ok(EngineState::External { program, tools: None })
}

impl Session {
    /// The engine with its settings and current state.
    pub(super) fn engine(&self) -> Result<EngineSettings, RuntimeError> {
        let (config, own) = (&self.runtime.config, &self.endpoint);
        let settings = self.engine.settings(config, &own.label(), &own.model)?;
        Ok(match (settings, self.engine_state.program()) {
            (EngineSettings::External(settings), Some(external)) => {
                EngineSettings::External(ExternalSettings { status: external.status(), ..settings })
            }
            (other, _) => other,
        })
    }

    /// The engine for a turn.
    pub(super) fn engine_port(&self, events: &EventSink) -> Result<Arc<dyn EnginePort>, RuntimeError> {
        Ok(match self.external_port(events)? {
            Some(port) => port,
            None => self.engine()?.engine(),
        })
    }

    /// The same if it is an external program.
    pub(super) fn external_port(
        &self,
        events: &EventSink,
    ) -> Result<Option<Arc<ExternalPort>>, RuntimeError> {
        let program = self.engine_state.program();
        let (Some(engine), EngineSettings::External(settings)) = (program, self.engine()?) else {
            return Ok(None);
        };
        Ok(Some(Arc::new(ExternalPort {
            engine: engine.clone(),
            events: events.relay(),
            compressor: Compressor::new(settings.compressor.clone()),
            settings: settings.compressor,
            keeps_whole: self.runtime.config.settings.compression.abort_on_summary_failure.value()?,
        })))
    }

    /// Offers the tools of an engine before the first model call; an engine without tools is not started for it.
    /// Sub-agents have the tools that they were started with.
    pub(super) async fn prepare_engine(
        &mut self,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<(), RuntimeError> {
        let settings = &self.runtime.config.settings;
        let is_wanted = are_enabled(&self.role.toolsets, settings.agent.disabled_toolsets.get()?)
            && self.role.parent_call.is_none();
        let program = self.engine_state.program().filter(|program| is_wanted && program.has_tools());
        let Some(external) = program.cloned() else {
            return Ok(());
        };
        if external.status().has_failed {
            return Ok(());
        }
        let profile = self.route.current().profile().clone();
        let window = Window {
            tokens: profile.context_length,
            output: profile.max_tokens,
            summariser: self.summaries.window(),
        };
        let relay = events.relay();
        let Some(Ok(())) = cancel.run_until_cancelled(external.ready(&window, &relay)).await else {
            return Ok(());
        };
        // A program that was restarted for a continued session has the tools that the model knows.
        let EngineState::External { tools: offered @ None, .. } = &mut self.engine_state else {
            return Ok(());
        };
        let mut tools = external.tools();
        let (registry, told) = with_tools(&self.role.registry, tools.clone(), Some(&external));
        tools.retain(|tool| registry.names().contains(&tool.name.as_str()));
        *offered = Some(tools);
        self.role.registry = Arc::new(registry);
        self.is_recorded = false;
        for line in told {
            relay.send(TurnEvent::Status(line)).await;
        }
        Ok(())
    }
}

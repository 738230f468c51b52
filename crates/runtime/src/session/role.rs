//! The role of a session, a user's or a sub-agent's, and what follows from it: tools, prompt, recording.

use crate::{Opening, Runtime, RuntimeError, Surface, prompting};
use hermes_agent::recovery::Limits;
use hermes_conversation::{CallId, EventSink, Hooks, NoHooks, SessionId};
use hermes_memory::Recalling;
use hermes_plugins::hooks::SessionHooks;
use hermes_prompt::Additions;
use hermes_providers::Tap;
use hermes_recording::Recorder;
use hermes_tools::{AskUser, Inherited, Processes, Registry, ToolContext};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The role of a session: a user's, or a sub-agent's.
pub(crate) struct SessionRole {
    /// The tag of the session's row.
    pub(crate) source: String,
    pub(crate) surface: Surface,
    /// Completed turns are followed by a title and a review.
    pub(crate) works_in_background: bool,
    /// The session and the call that a sub-agent works for.
    pub(crate) parent_call: Option<(SessionId, CallId)>,
    /// The tools that the model is offered.
    pub(crate) registry: Arc<Registry>,
    /// The tools that the model would be offered with a large window.
    pub(crate) all_tools: Arc<Registry>,
    /// The toolsets that they were selected by.
    pub(crate) toolsets: Arc<[String]>,
    pub(crate) limits: Limits,
    /// More text for the system prompt.
    pub(crate) instructions: Option<String>,
    /// The number of sessions above it.
    pub(crate) depth: u32,
    /// Texts that go with its requests and are not stored.
    pub(crate) additions: Additions,
    /// The memory is part of its prompt.
    pub(crate) remembers: bool,
    /// The background processes of the session that a sub-agent works for.
    pub(crate) processes: Option<Arc<dyn Processes>>,
    /// The state that a sub-agent takes over from that session.
    pub(crate) inherited: Inherited,
}

impl SessionRole {
    pub(crate) fn recorder(&self, runtime: &Runtime) -> Option<Arc<Recorder>> {
        runtime.recorder().filter(|_| self.parent_call.is_none())
    }

    pub(crate) fn tap(&self, runtime: &Runtime) -> Option<Arc<dyn Tap>> {
        self.recorder(runtime).map(|recorder| recorder as Arc<dyn Tap>)
    }

    pub(crate) fn of_user_session(runtime: &Runtime, opening: &Opening) -> Result<Self, RuntimeError> {
        let offered = runtime.offered(&opening.surface.platform)?;
        Ok(Self {
            source: opening.source.clone().unwrap_or_else(|| opening.surface.platform.clone()),
            surface: opening.surface.clone(),
            works_in_background: opening.works_in_background,
            parent_call: None,
            all_tools: offered.registry.clone(),
            registry: offered.registry,
            toolsets: offered.toolsets,
            limits: runtime.limits()?,
            instructions: opening.instructions.clone(),
            depth: 0,
            additions: prompting::additions(runtime)?,
            remembers: !runtime.config.settings.agent.ignore_rules.value()?,
            processes: None,
            inherited: Inherited::default(),
        })
    }

    /// The background processes of a session with this role. A sub-agent has those of its user's session.
    pub(crate) fn session_processes(&self, runtime: &Runtime, id: &SessionId) -> Option<Arc<dyn Processes>> {
        match self.parent_call {
            Some(_) => self.processes.clone(),
            None => runtime.session_processes(id, self.works_in_background),
        }
    }

    /// The hooks of the settings, and recall.
    pub(crate) fn hooks(
        &self,
        runtime: &Runtime,
        ask: &Arc<dyn AskUser>,
        tools: &Arc<ToolContext>,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Arc<dyn Hooks> {
        let hooks: Arc<dyn Hooks> = match runtime.hooks.clone() {
            None => Arc::new(NoHooks),
            Some(hooks) => {
                let (platform, ask) = (self.source.clone(), ask.clone());
                let (events, cancel) = (events.relay(), cancel.clone());
                Arc::new(SessionHooks { hooks, platform, ask, events, cancel, tools: tools.clone() })
            }
        };
        // A sub-agent gets everything from the session that it works for.
        let is_subagent = self.parent_call.is_some();
        match runtime.memory_provider().ok().flatten().filter(|_| !is_subagent && self.remembers) {
            Some(provider) => Arc::new(Recalling { hooks, provider }),
            None => hooks,
        }
    }
}

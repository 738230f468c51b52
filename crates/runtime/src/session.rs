//! One session, as its task holds it.

mod background;
mod context;
mod engine;
mod model;
mod opening;
mod resume;
mod role;
mod status;
mod turns;
mod undo;
mod window;

pub use context::ContextMeter;
pub(crate) use role::SessionRole;
pub use status::SessionStatus;
pub use undo::{Undone, undo_last_turn};

use crate::delegation::{CurrentEndpoint, delegate};
use crate::naming::Naming;
use crate::summaries::Summaries;
use crate::tool_setup::SessionTools;
use crate::{Opening, Runtime, RuntimeError, SessionMailbox, prompting};
use engine::EngineState;
use hermes_agent::Session as AgentSession;
use hermes_config::settings::ReasoningEffort;
use hermes_config::{Config, Personality, Refused};
use hermes_conversation::{
    CacheBreak, Cost, History, Mail, Message, Quirks, SessionId, Usage, UserMessage, record_finished_turn,
};
use hermes_memory::Review;
use hermes_observers::{Hub, SessionQuestions, Snapshot};
use hermes_plugins::context_engine::{Choice, choose};
use hermes_prompt::{Layers, SystemPrompt};
use hermes_providers::{Endpoint, caching_note};
use hermes_store::{CompactionFailures, NewSession, this_process};
use hermes_tools::{AskUser, ToolContext};
use hermes_vision::VisionClient;
use hermes_wire::ModelRoute;

use model::{ModelProbes, keep_outline, retarget};
pub(crate) use opening::starting_directory;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// An open session. One turn runs at a time.
pub struct Session {
    runtime: Runtime,
    id: SessionId,
    endpoint: Endpoint,
    /// The same, shared with sub-agents.
    current: CurrentEndpoint,
    role: SessionRole,
    route: Arc<dyn ModelRoute>,
    tool_context: Arc<ToolContext>,
    ask: Arc<dyn AskUser>,
    state: State,
    is_resumed: bool,
    title: Option<String>,
    usage: Usage,
    /// The cost since it was opened here.
    cost: Option<Cost>,
    notices: Vec<String>,
    naming: Naming,
    review: Review,
    /// The record failed during a turn and must be read again before the next one.
    is_unsure: bool,
    /// The layers of the system prompt, if it was assembled here.
    layers: Option<Layers>,
    /// The recording, if there is one, has the current state of the session.
    is_recorded: bool,
    probes: ModelProbes,
    /// The window that tools and system prompt were fitted to.
    fitted_to: Option<u64>,
    /// The failures of the last compactions.
    failures: CompactionFailures,
    summaries: Arc<Summaries>,
    engine: Choice,
    engine_state: EngineState,
}

enum State {
    /// Without messages, and not stored.
    Fresh {
        system: String,
        cwd: PathBuf,
    },
    Live(Box<AgentSession>),
}

/// The reason why a session is closed. Resuming it reopens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parting {
    /// The program was left.
    Left,
    /// A new session was started instead.
    NewSession,
    /// Another stored session was resumed instead.
    ResumedOther,
    /// A sub-agent that has reported.
    SubAgentDone,
}

impl Parting {
    /// The stored value, which is that of the Python release.
    fn as_str(self) -> &'static str {
        match self {
            Self::Left => "cli_close",
            Self::NewSession => "new_session",
            Self::ResumedOther => "resumed_other",
            Self::SubAgentDone => "subagent_done",
        }
    }
}

impl Session {
    /// A new session of a user.
    pub(crate) fn fresh(
        runtime: &Runtime,
        opening: Opening,
        ask: Arc<dyn AskUser>,
    ) -> Result<Self, RuntimeError> {
        let role = SessionRole::of_user_session(runtime, &opening)?;
        let cwd = match opening.cwd {
            Some(cwd) => cwd,
            None => starting_directory(runtime)?,
        };
        Self::begin(runtime, new_id(), role, runtime.endpoint()?, cwd, ask)
    }

    pub(crate) fn note_unknown_skills(&mut self, names: &[String]) {
        let notice = |name| format!("unknown skill `{name}`; `hermes skills list` lists them");
        self.notices.extend(names.iter().map(notice));
    }

    /// The names of all personalities.
    pub fn personalities(&self) -> Result<Vec<String>, RuntimeError> {
        let all = hermes_config::all_personalities(&self.runtime.config)?;
        Ok(all.into_iter().map(|(name, _)| name).collect())
    }

    /// Changes the personality of later replies. `Err` has the known names.
    pub fn set_personality(&mut self, name: &str) -> Result<Result<Personality, Vec<String>>, RuntimeError> {
        let found = match Personality::find(&self.runtime.config, name)? {
            Ok(found) => found,
            Err(names) => return Ok(Err(names)),
        };
        let own = self.runtime.config.settings.agent.system_prompt.get()?;
        self.role.additions.system = prompting::overlays(&[own.as_deref(), found.overlay()]);
        if let State::Live(session) = &mut self.state {
            session.additions = self.role.additions.clone();
            session.ledger.declare(CacheBreak::Settings);
        }
        Ok(Ok(found))
    }

    /// Stores earlier messages in a new session, as one completed turn.
    pub(crate) async fn store_earlier_messages(
        &mut self,
        first: UserMessage,
        rest: Vec<Message>,
    ) -> Result<(), RuntimeError> {
        self.store_session().await?;
        let State::Live(session) = &mut self.state else { return Ok(()) };
        let store = self.runtime.store()?;
        let stored = record_finished_turn(store, &session.lease, first, rest).await;
        stored
            .map_err(|error| RuntimeError::NoAnswer(format!("cannot store the earlier messages: {error}")))?;
        session.history = History::restore(store.load(&self.id).await?.messages);
        self.tool_context.restore(session.history.messages());
        Ok(())
    }

    /// A new session that is not stored yet.
    pub(crate) fn begin(
        runtime: &Runtime,
        id: SessionId,
        role: SessionRole,
        endpoint: Endpoint,
        cwd: PathBuf,
        ask: Arc<dyn AskUser>,
    ) -> Result<Self, RuntimeError> {
        let found = prompting::gather(runtime, &role, &endpoint, &cwd, &id)?;
        let system = SystemPrompt::assemble(&found.layers).into_string();
        let state = State::Fresh { system, cwd: cwd.clone() };
        let mut handle = Self::assemble(runtime, id, role, endpoint, cwd, ask, state)?;
        handle.notices.extend(found.notices);
        Ok(Self { layers: Some(found.layers), ..handle })
    }

    fn assemble(
        runtime: &Runtime,
        id: SessionId,
        role: SessionRole,
        endpoint: Endpoint,
        cwd: PathBuf,
        ask: Arc<dyn AskUser>,
        state: State,
    ) -> Result<Self, RuntimeError> {
        if let Some(promise) =
            runtime.config.unsupported_safety().into_iter().find(|one| one.refused == Refused::Run)
        {
            return Err(RuntimeError::UnsupportedSafety { text: promise.text });
        }
        let (route, mut notices) = runtime.models().route(&endpoint, role.tap(runtime))?;
        if role.parent_call.is_none() {
            notices.extend(prompting::unknown_personality(&runtime.config)?);
            notices.extend(runtime.take_notices());
            let unasked = runtime.hooks.as_ref().filter(|_| !ask.is_present());
            notices.extend(unasked.map(|hooks| hooks.not_approved()).unwrap_or_default());
        }
        let (engine, warning) = choose(&runtime.config, runtime.home())?;
        notices.extend(warning);
        let engine_state = engine::engine_state(runtime, &engine, &id, &endpoint)?;
        let summaries = Arc::new(Summaries::of(runtime, &endpoint));
        let current = Arc::new(Mutex::new(endpoint.clone()));
        let processes = role.session_processes(runtime, &id);
        let tool_context = runtime.tool_context(SessionTools {
            delegate: delegate(runtime, &id, &current, &role, processes.clone())?,
            processes,
            vision: runtime.vision_of_tools(&id, &current, &role.all_tools),
            is_watched: ask.is_present(),
            inherited: role.inherited.clone(),
            ..SessionTools::of(&id, cwd)
        })?;
        Ok(Self {
            runtime: runtime.clone(),
            id,
            endpoint,
            current,
            role,
            route,
            tool_context,
            summaries,
            engine,
            engine_state,
            ask,
            state,
            is_resumed: false,
            title: None,
            usage: Usage::default(),
            cost: None,
            notices,
            naming: Naming::default(),
            review: Review::default(),
            is_unsure: false,
            layers: None,
            is_recorded: false,
            probes: ModelProbes::default(),
            fitted_to: None,
            failures: CompactionFailures::default(),
        })
    }

    /// Sends approvals and questions to the observers of the session.
    pub(crate) fn answer_through(&mut self, hub: &Arc<Hub>) {
        self.ask = Arc::new(SessionQuestions(hub.clone()));
    }

    /// The session between two turns, for observers.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let messages = self.history().map(|history| history.messages().into()).unwrap_or_default();
        Snapshot {
            session: self.id.clone(),
            title: self.title.clone(),
            model: self.endpoint.model.clone(),
            provider: self.endpoint.label(),
            messages,
            running: None,
            questions: Vec::new(),
        }
    }

    /// Changes the working directory of later tool calls.
    pub(crate) fn set_cwd(&mut self, cwd: PathBuf) {
        self.tool_context.relocate(cwd);
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The models that see images.
    pub(crate) fn vision(&self) -> VisionClient {
        self.runtime.vision(&self.id, &self.current)
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The state of the session's tools.
    pub(crate) fn tool_context(&self) -> &ToolContext {
        &self.tool_context
    }

    /// One line about the confinement of commands.
    pub fn sandbox_summary(&self) -> String {
        self.tool_context.sandbox_summary()
    }

    /// The current working directory.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.tool_context.cwd()
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// One line about the provider's prompt cache.
    pub fn caching_note(&self) -> String {
        let own = self.route.stops().first().and_then(|model| model.profile().cache);
        caching_note(&self.endpoint, own)
    }

    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// True once the session is in the store.
    pub fn is_stored(&self) -> bool {
        matches!(self.state, State::Live(_))
    }

    /// The tokens that the session has used so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The cost of its model calls since it was opened here; `None` before the first.
    pub fn cost(&self) -> Option<Cost> {
        self.cost
    }

    /// The messages so far.
    pub fn history(&self) -> Option<&History> {
        match &self.state {
            State::Live(session) => Some(&session.history),
            State::Fresh { .. } => None,
        }
    }

    /// Returns the notices about the opening of the session, once.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Returns the queued messages, oldest first.
    pub async fn waiting(&self) -> Result<Vec<Mail>, RuntimeError> {
        match &self.state {
            State::Fresh { .. } => Ok(Vec::new()),
            State::Live(_) => Ok(self.runtime.store()?.waiting(&self.id).await?),
        }
    }

    /// Returns the mailbox for messages during a turn. The session is stored if it was not yet.
    pub async fn mailbox(&mut self) -> Result<SessionMailbox, RuntimeError> {
        self.store_session().await?;
        Ok(SessionMailbox { store: self.runtime.store()?.clone(), session: self.id.clone() })
    }

    /// Gives the session a title.
    pub async fn set_title(&mut self, title: &str) -> Result<Option<String>, RuntimeError> {
        self.store_session().await?;
        self.title = self.runtime.store()?.set_title(&self.id, title).await?;
        Ok(self.title.clone())
    }

    /// Ends the session and releases its lease, so that another process may continue it.
    pub async fn close(self, parting: Parting) {
        self.tool_context.leave().await;
        if let Some(external) = self.engine_state.program() {
            external.shutdown().await;
        }
        if let (State::Live(session), Ok(store)) = (&self.state, self.runtime.store()) {
            // A lease that is not released is taken over from the dead process.
            let _ = store.release_ending(&session.lease, parting.as_str()).await;
        }
    }

    async fn store_session(&mut self) -> Result<(), RuntimeError> {
        let State::Fresh { system, cwd } = &self.state else {
            return Ok(());
        };
        let new = NewSession {
            id: self.id.clone(),
            source: self.role.source.clone(),
            model: self.endpoint.model.clone(),
            provider: self.endpoint.label(),
            base_url: self.endpoint.base_url.to_string(),
            system_prompt: system.clone(),
            cwd: Some(cwd.display().to_string()),
            parent: self.role.parent_call.as_ref().map(|(session, _)| session.clone()),
            delegating_call: self.role.parent_call.as_ref().map(|(_, call)| call.clone()),
            model_config: model_config(&self.runtime.config, self.role.limits.max_iterations)?,
        };
        let store = self.runtime.store()?;
        let acquired = store.acquire(new, this_process()).await?;
        keep_outline(store, &self.id, self.layers.as_ref());
        let (history, quirks, limits) = (History::default(), Quirks::default(), self.role.limits);
        let mut session = AgentSession::new(acquired.lease, system.as_str().into(), history, quirks, limits);
        session.additions = self.role.additions.clone();
        self.state = State::Live(Box::new(session));
        Ok(())
    }
}

/// The settings that the Python release stores with a session, in its format.
fn model_config(config: &Config, max_iterations: u32) -> Result<Map<String, Value>, RuntimeError> {
    let reasoning = match config.settings.agent.reasoning_effort.value()? {
        ReasoningEffort::Default => Value::Null,
        ReasoningEffort::None => json!({ "enabled": false }),
        effort => json!({ "enabled": true, "effort": effort.as_str() }),
    };
    let values = [
        ("max_iterations", json!(max_iterations)),
        ("reasoning_config", reasoning),
        ("max_tokens", json!(config.settings.model.max_tokens.value()?)),
    ];
    Ok(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// `YYYYMMDD_HHMMSS_<6 hex>`, local time.
pub(crate) fn new_id() -> SessionId {
    let now = crate::clock::zoned().strftime("%Y%m%d_%H%M%S").to_string();
    SessionId::new(format!("{now}_{:06x}", rand::random::<u32>() & 0x00ff_ffff))
}

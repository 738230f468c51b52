//! Plays a recording through the same driver that made it.

use super::cursor::{Cursor, Ended};
use super::digest::StateDigest;
use super::error::RecordingError;
use super::line::{EndedLine, SessionLine, What};
use super::outcome_sink::{OutcomeSink, WatchedEvents};
use super::replay_engine::replayed_engine;
use super::replay_model::ReplayedRoute;
use super::replay_ports::{
    ReplayedAsk, ReplayedHooks, ReplayedMailbox, ReplayedSummaries, jitter, pause, posted,
};
use super::replay_tools::ReplayedTools;
use super::watched_transcript::WatchedTranscript;
use hermes_agent::{Input, Ports, Session, TurnReport, run_turn};
use hermes_context::{EnginePort, NeverCompact, here};
use hermes_conversation::{EventSink, History, Lease, Message, SessionId, events, record_finished_turn};
use hermes_prompt::{Additions, SystemPrompt};
use hermes_store::{NewSession, SessionDb, StoreError, this_process};
use hermes_tools::{AskUser, KnownTools, ToolContext, Toolbox};
use hermes_wire::ModelRoute;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The environment of a replay: the store, the tools and the live models.
pub(crate) trait ReplayEnvironment: Sync {
    fn store(&self) -> &SessionDb;
    /// The real tools of a session, of which only the descriptions are used before a fork.
    fn tools(&self, line: &SessionLine) -> Result<Arc<dyn Toolbox>, RecordingError>;
    fn tool_context(&self, cwd: PathBuf) -> Result<Arc<ToolContext>, RecordingError>;
    /// The id under which a session is stored here.
    fn id(&self, recorded: &str) -> SessionId;
    /// The models and the user that take over at a fork.
    fn live(&self) -> Option<Live>;
}

/// The models and the user that take over at a fork.
#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) route: Arc<dyn ModelRoute>,
    pub(crate) ask: Arc<dyn AskUser>,
}

/// One play of a recording.
pub(crate) struct Player<'a> {
    pub(crate) cursor: Arc<Cursor>,
    pub(crate) around: &'a dyn ReplayEnvironment,
    pub(crate) state: Arc<Mutex<StateDigest>>,
    pub(crate) turns: usize,
    sessions: HashMap<String, Played>,
}

struct Played {
    session: Session,
    route: Arc<ReplayedRoute>,
    tools: Arc<dyn Toolbox>,
    tool_context: Arc<ToolContext>,
    is_watched: bool,
    hooks: Vec<String>,
    engine: Arc<dyn EnginePort>,
    /// The window of the model that writes summaries.
    summariser: Option<u64>,
    /// Everything in the history is also in the store.
    is_seeded: bool,
}

/// The end of a turn in which a live model was called.
pub(crate) struct WentLive {
    pub(crate) report: TurnReport,
    pub(crate) session: SessionId,
    pub(crate) lease: Lease,
}

impl<'a> Player<'a> {
    pub(crate) fn new(cursor: Arc<Cursor>, around: &'a dyn ReplayEnvironment) -> Self {
        Self { cursor, around, state: Arc::default(), turns: 0, sessions: HashMap::new() }
    }

    /// Plays to the end, to the first difference, or to the end of the turn that went live. `stage`
    /// gives the token and the channel of each turn.
    pub(crate) async fn play(
        &mut self,
        mut stage: impl FnMut() -> (CancellationToken, EventSink),
    ) -> Result<Option<WentLive>, RecordingError> {
        while let Some(next) = self.cursor.peek(What::clone) {
            match next {
                What::Session(line) => {
                    self.open(&line).await?;
                    self.cursor.take("a session", |_| Some(()));
                }
                What::Turn { session, input, mail } => {
                    self.cursor.take("a turn", |_| Some(()));
                    let (cancel, events) = stage();
                    let mail = posted(self.around.store(), &self.around.id(&session), mail).await;
                    let input = Input { message: input, mail: mail.map_err(of_store)?, at: None };
                    if let Some(live) = self.turn(&session, input, cancel, events).await {
                        return Ok(Some(live));
                    }
                }
                other => self.cursor.differs("the start of a turn", other.kind()),
            }
        }
        Ok(None)
    }

    pub(crate) fn state_hex(&self) -> String {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).hex()
    }

    async fn open(&mut self, line: &SessionLine) -> Result<(), RecordingError> {
        if line.stops.is_empty() {
            return Err(setup("a session without a model"));
        }
        if let Some(layers) = &line.layers {
            let mut layers = layers.clone();
            layers.describe_tools(&KnownTools);
            layers.is_misnamed = hermes_providers::misnames_models(&layers.provider);
            let made = SystemPrompt::assemble(&layers).into_string();
            if made != line.system {
                self.cursor.differs(&line.system, &made);
            }
        }
        let earlier = self.sessions.remove(&line.id);
        let (lease, is_seeded) = match &earlier {
            Some(played) => (played.session.lease.clone(), played.is_seeded),
            None => self.store_session(line).await?,
        };
        let history = History::restore(line.history.clone());
        let limits = line.limits.to_limits();
        let mut session = Session::new(lease, line.system.as_str().into(), history, line.quirks, limits);
        session.additions = Additions {
            system: line.more_system.as_deref().map(Arc::from),
            prefill: line.prefill.iter().cloned().map(Arc::new).collect(),
        };
        if let Some(context) = &line.context {
            session.context.past = context.past.clone();
            session.context.nodes = context.nodes.clone();
            session.context.pins = context.pins.clone();
            session.context.todos = context.todos.clone();
        }
        let live = self.around.live();
        let played = Played {
            session,
            route: Arc::new(ReplayedRoute::new(
                self.cursor.clone(),
                &line.stops,
                live.map(|live| live.route),
            )),
            tools: self.around.tools(line)?,
            tool_context: self.around.tool_context(PathBuf::from(&line.cwd))?,
            is_watched: line.is_watched,
            hooks: line.hooks.clone(),
            engine: line.context.as_ref().map_or_else(
                || here(NeverCompact),
                |context| replayed_engine(self.cursor.clone(), &context.engine),
            ),
            summariser: line.context.as_ref().and_then(|context| context.summariser),
            is_seeded,
        };
        self.sessions.insert(line.id.clone(), played);
        Ok(())
    }

    /// Stores a session with its recorded history. Returns true if the history is complete.
    async fn store_session(&self, line: &SessionLine) -> Result<(Lease, bool), RecordingError> {
        let own = &line.stops[0];
        let new = NewSession {
            id: self.around.id(&line.id),
            source: line.source.clone(),
            model: own.model.to_string(),
            provider: own.issuer.provider.clone(),
            base_url: own.base_url.clone(),
            system_prompt: line.system.clone(),
            cwd: Some(line.cwd.clone()),
            parent: None,
            delegating_call: None,
            model_config: serde_json::Map::new(),
        };
        let store = self.around.store();
        let lease = store.acquire(new, this_process()).await.map_err(of_store)?.lease;
        let mut messages = line.history.iter();
        let first = match messages.next() {
            None => return Ok((lease, true)),
            Some(Message::User(first)) => first.clone(),
            // A history that does not begin with the user is only kept in memory.
            Some(_) => return Ok((lease, false)),
        };
        let stored = record_finished_turn(store, &lease, first, messages.cloned().collect()).await;
        stored.map_err(|error| setup(&error.to_string()))?;
        Ok((lease, true))
    }

    async fn turn(
        &mut self,
        id: &str,
        input: Input,
        cancel: CancellationToken,
        events: EventSink,
    ) -> Option<WentLive> {
        let Some(played) = self.sessions.get_mut(id) else {
            self.cursor.differs("a turn of a session that was opened", &format!("a turn of {id}"));
            return None;
        };
        self.turns += 1;
        self.cursor.begin_turn(cancel.clone());
        let sink: Arc<dyn OutcomeSink> = self.cursor.clone();
        let ports = Ports {
            route: played.route.clone(),
            tools: Arc::new(ReplayedTools::new(self.cursor.clone(), played.tools.clone())),
            tool_context: played.tool_context.clone(),
            ask: Arc::new(ReplayedAsk {
                cursor: self.cursor.clone(),
                is_watched: played.is_watched,
                live: self.around.live().map(|live| live.ask),
            }),
            transcript: Arc::new(WatchedTranscript {
                inner: Arc::new(self.around.store().clone()),
                sink: sink.clone(),
                state: self.state.clone(),
            }),
            mailbox: Arc::new(ReplayedMailbox {
                cursor: self.cursor.clone(),
                store: self.around.store().clone(),
            }),
            hooks: Arc::new(ReplayedHooks { cursor: self.cursor.clone(), listened: played.hooks.clone() }),
            engine: played.engine.clone(),
            summaries: Arc::new(ReplayedSummaries { cursor: self.cursor.clone(), window: played.summariser }),
            for_scripts: None,
            jitter: jitter(self.cursor.clone()),
            pause: pause(self.cursor.clone()),
            events: events.watched_by(Arc::new(WatchedEvents { sink, state: self.state.clone() })),
        };
        let report = run_turn(&mut played.session, input, &ports, &cancel).await;
        if self.cursor.is_live() {
            let lease = played.session.lease.clone();
            return Some(WentLive { report, session: lease.session.clone(), lease });
        }
        let state = self.state_hex();
        self.cursor.put(What::Ended(ended_line(&report, state)));
        self.check_store(id).await;
        None
    }

    /// Checks that the stored messages equal the history.
    async fn check_store(&self, id: &str) {
        let Some(played) = self.sessions.get(id).filter(|played| played.is_seeded) else { return };
        if self.cursor.ended().is_some() {
            return;
        }
        match self.around.store().load(&played.session.lease.session).await {
            Ok(stored) => {
                let stored = History::restore(stored.messages);
                if stored.messages() != played.session.history.messages() {
                    let text = |history: &History| {
                        history.messages().iter().map(|message| format!("{message:?}\n")).collect::<String>()
                    };
                    self.cursor.differs(&text(&played.session.history), &text(&stored));
                }
            }
            Err(error) => self.cursor.differs("the stored session", &error.to_string()),
        }
    }
}

/// The line for the end of a turn.
pub(crate) fn ended_line(report: &TurnReport, state: String) -> EndedLine {
    EndedLine {
        exit_reason: report.exit_reason.clone(),
        completed: report.completed,
        failed: report.failed,
        partial: report.partial,
        interrupted: report.interrupted,
        error: report.error.clone(),
        final_response: report.final_response.clone(),
        api_calls: report.api_calls,
        usage: report.usage,
        state,
    }
}

/// A channel without a reader.
pub(crate) fn unread() -> EventSink {
    events().0
}

pub(crate) fn setup(what: &str) -> RecordingError {
    RecordingError::Setup { what: what.to_owned() }
}

pub(crate) fn of_store(error: StoreError) -> RecordingError {
    setup(&error.to_string())
}

/// The difference that ended a replay, if any.
pub(crate) fn difference(cursor: &Cursor) -> Option<super::Difference> {
    match cursor.ended() {
        Some(Ended::Differs(difference)) => Some(difference),
        Some(Ended::RanOut) | None => None,
    }
}

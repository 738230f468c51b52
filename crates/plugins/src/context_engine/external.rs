//! A context engine that runs as a program, for one session.
//!
//! It is started on first use. After a failure the user sees one line and the built-in compressor takes over: a
//! broken engine neither loses nor blocks a session.

use super::checks;
use super::json_rpc::{Connection, Failure, Reply};
use super::plugin::Plugin;
use super::wire::{AssembleParams, CallTool, Initialize, Initialized, PROTOCOL, SentSoFar, ToolWire};
use hermes_context::{
    Answer, Assembled, Compressor, CompressorSettings, ContextEngine as _, Decision, EnginePort, Plan, View,
    Window,
};
use hermes_conversation::{BoxFuture, EventRelay, RawJson, Trigger, TurnEvent, Usage};
use hermes_exec::LineProgramSpec;
use hermes_guard::{Secrets, redact};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum bytes of one line of an engine.
const MOST_LINE: usize = 64 * 1024 * 1024;

/// The state of an external engine in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineStatus {
    /// The engine plans compactions from this number of tokens.
    pub threshold_tokens: Option<u64>,
    /// The engine failed and the compressor replaces it.
    #[serde(rename = "is_given_up")]
    pub has_failed: bool,
}

/// The model and the environment with which an engine is started.
pub struct LaunchContext {
    pub model: String,
    /// Environment variables without secrets.
    pub env: Vec<(String, String)>,
    pub secrets: Arc<Secrets>,
}

/// The engine of one session.
pub struct External {
    plugin: Plugin,
    launch: LaunchContext,
    state: Mutex<State>,
    /// Held during the start, so that the engine is started once.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    session: String,
    status: EngineStatus,
    connection: Option<Connection>,
    sent: SentSoFar,
    tools: Vec<ToolWire>,
}

impl External {
    pub fn new(plugin: Plugin, launch: LaunchContext, session: String) -> Self {
        let state = Mutex::new(State { session, ..State::default() });
        Self { plugin, launch, state, starting: tokio::sync::Mutex::default() }
    }

    pub fn name(&self) -> &str {
        &self.plugin.name
    }

    pub fn has_tools(&self) -> bool {
        self.plugin.has_tools
    }

    pub fn status(&self) -> EngineStatus {
        self.state().status
    }

    /// The tools of the engine, once it runs.
    pub fn tools(&self) -> Vec<ToolWire> {
        self.state().tools.clone()
    }

    /// Starts the engine, if it is not running. An error has been shown to the user.
    pub async fn ready(&self, window: &Window, events: &EventRelay) -> Result<(), ()> {
        match self.connect(window).await {
            Ok(_) => Ok(()),
            Err(why) => {
                self.notify_user(&self.mark_failed(&why), events).await;
                Err(())
            }
        }
    }

    /// Calls a tool of the engine. The error is sent to the model.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        events: &EventRelay,
    ) -> Result<Value, String> {
        let connection = self.state().connection.clone();
        let Some(connection) = connection.filter(|_| !self.status().has_failed) else {
            return Err(format!("the context engine `{}` is not running any more", self.name()));
        };
        match connection.request("call_tool", &CallTool { name, arguments }).await {
            Ok(Reply::Result(result)) => {
                serde_json::from_str(result.as_str()).map_err(|error| error.to_string())
            }
            Ok(Reply::Refused(why)) => Err(why),
            Err(why) => {
                let line = self.mark_failed(&why);
                self.notify_user(&line, events).await;
                Err(line)
            }
        }
    }

    /// Stops the program, and waits for its end.
    pub async fn shutdown(&self) {
        let connection = self.state().connection.take();
        if let Some(connection) = connection {
            connection.shutdown().await;
        }
    }

    /// Moves the engine to another session. The program of the old session ends; it is started again for the
    /// new one on first use.
    pub async fn move_to(&self, session: String) {
        self.state().session = session;
        self.shutdown().await;
    }

    async fn connect(&self, window: &Window) -> Result<Connection, Failure> {
        let _starting = self.starting.lock().await;
        if let Some(connection) = self.state().connection.clone() {
            return Ok(connection);
        }
        let (name, secrets) = (self.plugin.name.clone(), self.launch.secrets.clone());
        let program = LineProgramSpec {
            argv: self.plugin.argv.clone(),
            cwd: self.plugin.folder.clone(),
            env: self.launch.env.clone(),
            most_line: MOST_LINE,
            sandbox: None,
        };
        let connection = Connection::start(program, self.plugin.timeout, move |line| {
            tracing::info!(engine = name, said = redact(&secrets, line).as_ref(), "context engine");
        });
        // A caller that is cancelled before the first reply does not leave the program running.
        let stop = connection.shutdown_on_drop();
        let session = self.state().session.clone();
        let params = Initialize {
            protocol: PROTOCOL,
            session: &session,
            model: &self.launch.model,
            window: window.tokens,
            output: window.output,
            summariser_window: window.summariser,
        };
        let reply: Initialized =
            self.result("initialize", connection.request("initialize", &params).await?)?;
        let reply = checks::initialized(reply)?;
        tracing::info!(engine = self.plugin.name, says = reply.name, "context engine started");
        let mut state = self.state();
        state.status.threshold_tokens = reply.threshold_tokens;
        state.tools = reply.tools;
        state.sent = SentSoFar::default();
        state.connection = Some(connection.clone());
        stop.disarm();
        Ok(connection)
    }

    async fn plan(&self, view: &View<'_>) -> Result<Decision, Failure> {
        let connection = self.connect(&view.window).await?;
        // The reply to `initialize` may have set the threshold.
        if is_below(self.status(), view) {
            return Ok(Decision::Leave);
        }
        let reply = {
            // Sent and recorded under one lock, so that both sides agree.
            let mut state = self.state();
            let params = state.sent.plan(view);
            connection.request("plan", &params)
        };
        checks::decision(self.result("plan", reply.await?)?, view)
    }

    async fn assemble(&self, view: &View<'_>, plan: &Plan, answer: Answer<'_>) -> Result<Assembled, Failure> {
        let connection = self.state().connection.clone().ok_or("is gone")?;
        let reply = connection.request("assemble", &AssembleParams::of(plan, answer)).await?;
        checks::assembled(self.result("assemble", reply)?, view, plan, answer)
    }

    /// Parses the result of a request.
    fn result<T: DeserializeOwned>(&self, method: &str, reply: Reply) -> Result<T, Failure> {
        match reply {
            Reply::Result(result) => read(method, &result),
            Reply::Refused(why) => Err(format!("refused `{method}`: {}", redact(&self.launch.secrets, &why))),
        }
    }

    /// Marks the engine as failed for the rest of the session. Returns the line for the user.
    fn mark_failed(&self, why: &str) -> String {
        tracing::warn!(engine = self.plugin.name, why, "context engine given up");
        let mut state = self.state();
        state.status.has_failed = true;
        // Dropping the last connection ends the program.
        state.connection = None;
        format!(
            "the context engine `{}` {why}; using the built-in compressor for the rest of this session",
            self.plugin.name
        )
    }

    async fn notify_user(&self, line: &str, events: &EventRelay) {
        events.send(TurnEvent::Status(line.to_owned())).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read<T: DeserializeOwned>(method: &str, result: &RawJson) -> Result<T, Failure> {
    serde_json::from_str(result.as_str())
        .map_err(|error| format!("returned an invalid result for `{method}`: {error}"))
}

/// Returns true if a history is below the threshold of the engine.
fn is_below(status: EngineStatus, view: &View<'_>) -> bool {
    matches!(view.trigger, Trigger::Preflight | Trigger::Loop)
        && status.threshold_tokens.is_some_and(|threshold| view.tokens().value() < threshold)
}

/// The engine port of one turn.
pub struct ExternalPort {
    pub engine: Arc<External>,
    pub events: EventRelay,
    /// The replacement after a failure.
    pub compressor: Compressor,
    pub settings: CompressorSettings,
    /// A history is not compacted without a summary.
    pub keeps_whole: bool,
}

impl ExternalPort {
    /// Returns true if automatic compaction is disabled for this trigger.
    fn is_off(&self, view: &View<'_>) -> bool {
        !self.settings.enabled && !matches!(view.trigger, Trigger::Manual | Trigger::Overflow)
    }

    /// Handles a failure after the plan. On an overflow the compressor compacts at once, with excerpts;
    /// otherwise it plans the next compaction.
    fn rescue(&self, view: &View<'_>, line: &str) -> Result<Assembled, String> {
        if view.trigger != Trigger::Overflow || self.keeps_whole {
            return Err(line.to_owned());
        }
        match self.compressor.plan(view) {
            Decision::Shrink(plan) => self.compressor.assemble(view, &plan, Answer::Failed(line)),
            Decision::Stuck(why) => Err(why),
            Decision::Leave => Err(line.to_owned()),
        }
    }
}

impl EnginePort for ExternalPort {
    fn name(&self) -> &str {
        match self.engine.status().has_failed {
            true => self.compressor.name(),
            false => self.engine.name(),
        }
    }

    fn threshold(&self, window: &Window) -> Option<u64> {
        threshold(self.engine.status(), &self.compressor, window)
    }

    fn plan<'a>(&'a self, view: &'a View<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            let status = self.engine.status();
            if status.has_failed {
                return self.compressor.plan(view);
            }
            if self.is_off(view) || is_below(status, view) {
                return Decision::Leave;
            }
            match self.engine.plan(view).await {
                Ok(decision) => decision,
                Err(why) => {
                    self.engine.notify_user(&self.engine.mark_failed(&why), &self.events).await;
                    self.compressor.plan(view)
                }
            }
        })
    }

    fn assemble<'a>(
        &'a self,
        view: &'a View<'a>,
        plan: &'a Plan,
        answer: Answer<'a>,
    ) -> BoxFuture<'a, Result<Assembled, String>> {
        Box::pin(async move {
            if self.engine.status().has_failed {
                return self.compressor.assemble(view, plan, answer);
            }
            let why = match self.engine.assemble(view, plan, answer).await {
                Ok(assembled) => return Ok(assembled),
                Err(why) => why,
            };
            let line = self.engine.mark_failed(&why);
            let rescued = self.rescue(view, &line);
            // The caller reports the error itself.
            if rescued.as_ref().err() != Some(&line) {
                self.engine.notify_user(&line, &self.events).await;
            }
            rescued
        })
    }

    fn measured(&self, usage: &Usage) {
        let state = self.engine.state();
        if let Some(connection) = state.connection.as_ref().filter(|_| !state.status.has_failed) {
            connection.notify("usage", usage);
        }
    }
}

/// The number of tokens from which compactions are planned.
pub fn threshold(status: EngineStatus, compressor: &Compressor, window: &Window) -> Option<u64> {
    let own = status.threshold_tokens.filter(|_| !status.has_failed);
    own.or_else(|| compressor.threshold(window))
}

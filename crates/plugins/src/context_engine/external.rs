//! An engine of somebody else, in a program of its own, for one session.
//!
//! It is started when it is first needed. Whatever goes wrong with it is told in one line, and from then on
//! the built-in compressor does its work: a broken engine neither loses a conversation nor blocks it.

use super::checks;
use super::plugin::Plugin;
use super::talk::{Broken, Reply, Talk};
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

/// Bytes of one line that an engine may say.
const MOST_LINE: usize = 64 * 1024 * 1024;

/// What a session knows of its engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    /// From here on the engine wants to be asked.
    pub threshold_tokens: Option<u64>,
    /// The compressor works in its place.
    pub is_given_up: bool,
}

/// Where an engine runs.
pub struct Place {
    pub model: String,
    /// Without secrets.
    pub env: Vec<(String, String)>,
    pub secrets: Arc<Secrets>,
}

/// The engine of one session.
pub struct External {
    plugin: Plugin,
    place: Place,
    state: Mutex<State>,
    /// Held while it is started, so that it is started once.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    session: String,
    told: Told,
    talk: Option<Talk>,
    sent: SentSoFar,
    tools: Vec<ToolWire>,
}

impl External {
    pub fn new(plugin: Plugin, place: Place, session: String) -> Self {
        let state = Mutex::new(State { session, ..State::default() });
        Self { plugin, place, state, starting: tokio::sync::Mutex::default() }
    }

    pub fn name(&self) -> &str {
        &self.plugin.name
    }

    pub fn has_tools(&self) -> bool {
        self.plugin.has_tools
    }

    pub fn told(&self) -> Told {
        self.state().told
    }

    /// The tools that it offers, once it runs.
    pub fn tools(&self) -> Vec<ToolWire> {
        self.state().tools.clone()
    }

    /// Starts it, if it does not run. An error has been told.
    pub async fn ready(&self, window: &Window, events: &EventRelay) -> Result<(), ()> {
        match self.talk(window).await {
            Ok(_) => Ok(()),
            Err(why) => {
                self.tell(&self.give_up(&why), events).await;
                Err(())
            }
        }
    }

    /// Calls a tool of its. An error is for the model.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        events: &EventRelay,
    ) -> Result<Value, String> {
        let talk = self.state().talk.clone();
        let Some(talk) = talk.filter(|_| !self.told().is_given_up) else {
            return Err(format!("the context engine `{}` does not run any more", self.name()));
        };
        match talk.ask("call_tool", &CallTool { name, arguments }).await {
            Ok(Reply::Result(result)) => {
                serde_json::from_str(result.as_str()).map_err(|error| error.to_string())
            }
            Ok(Reply::Refused(why)) => Err(why),
            Err(why) => {
                let line = self.give_up(&why);
                self.tell(&line, events).await;
                Err(line)
            }
        }
    }

    /// Ends it, and waits for its end.
    pub async fn leave(&self) {
        let talk = self.state().talk.take();
        if let Some(talk) = talk {
            talk.leave().await;
        }
    }

    /// Another session goes on with the conversation. The program ends with the old one; when it is needed
    /// again it is started for the new one.
    pub async fn move_to(&self, session: String) {
        self.state().session = session;
        self.leave().await;
    }

    async fn talk(&self, window: &Window) -> Result<Talk, Broken> {
        let _starting = self.starting.lock().await;
        if let Some(talk) = self.state().talk.clone() {
            return Ok(talk);
        }
        let (name, secrets) = (self.plugin.name.clone(), self.place.secrets.clone());
        let program = LineProgramSpec {
            argv: self.plugin.argv.clone(),
            cwd: self.plugin.folder.clone(),
            env: self.place.env.clone(),
            most_line: MOST_LINE,
        };
        let talk = Talk::start(program, self.plugin.timeout, move |line| {
            tracing::info!(engine = name, said = redact(&secrets, line).as_ref(), "context engine");
        });
        // Whoever stops waiting for its first words does not leave it running beside the next one.
        let stop = talk.ends_unless_kept();
        let session = self.state().session.clone();
        let params = Initialize {
            protocol: PROTOCOL,
            session: &session,
            model: &self.place.model,
            window: window.tokens,
            output: window.output,
            summariser_window: window.summariser,
        };
        let said: Initialized = self.result("initialize", talk.ask("initialize", &params).await?)?;
        let said = checks::initialized(said)?;
        tracing::info!(engine = self.plugin.name, says = said.name, "context engine started");
        let mut state = self.state();
        state.told.threshold_tokens = said.threshold_tokens;
        state.tools = said.tools;
        state.sent = SentSoFar::default();
        state.talk = Some(talk.clone());
        stop.disarm();
        Ok(talk)
    }

    async fn plan(&self, view: &View<'_>) -> Result<Decision, Broken> {
        let talk = self.talk(&view.window).await?;
        // It may have said just now from where on it wants to be asked.
        if is_below(self.told(), view) {
            return Ok(Decision::Leave);
        }
        let reply = {
            // Said and noted in one breath, so that both sides know the same.
            let mut state = self.state();
            let params = state.sent.plan(view);
            talk.ask("plan", &params)
        };
        checks::decision(self.result("plan", reply.await?)?, view)
    }

    async fn assemble(&self, view: &View<'_>, plan: &Plan, answer: Answer<'_>) -> Result<Assembled, Broken> {
        let talk = self.state().talk.clone().ok_or("is gone")?;
        let reply = talk.ask("assemble", &AssembleParams::of(plan, answer)).await?;
        checks::assembled(self.result("assemble", reply)?, view, plan, answer)
    }

    /// The result of a request in the shape that it must have.
    fn result<T: DeserializeOwned>(&self, method: &str, reply: Reply) -> Result<T, Broken> {
        match reply {
            Reply::Result(result) => read(method, &result),
            Reply::Refused(why) => Err(format!("refused `{method}`: {}", redact(&self.place.secrets, &why))),
        }
    }

    /// It is not asked any more in this session. The line that the person is told.
    fn give_up(&self, why: &str) -> String {
        tracing::warn!(engine = self.plugin.name, why, "context engine given up");
        let mut state = self.state();
        state.told.is_given_up = true;
        // Without anybody to speak with, the program is ended.
        state.talk = None;
        format!(
            "the context engine `{}` {why}; the built-in compressor takes its place for the rest of this session",
            self.plugin.name
        )
    }

    async fn tell(&self, line: &str, events: &EventRelay) {
        events.send(TurnEvent::Status(line.to_owned())).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read<T: DeserializeOwned>(method: &str, result: &RawJson) -> Result<T, Broken> {
    serde_json::from_str(result.as_str())
        .map_err(|error| format!("gave an answer to `{method}` that cannot be read: {error}"))
}

/// Whether an engine said that it need not be asked about so little.
fn is_below(told: Told, view: &View<'_>) -> bool {
    matches!(view.trigger, Trigger::Preflight | Trigger::Loop)
        && told.threshold_tokens.is_some_and(|threshold| view.tokens().value() < threshold)
}

/// The engine as one turn has it.
pub struct ExternalPort {
    pub engine: Arc<External>,
    pub events: EventRelay,
    /// What takes its place.
    pub compressor: Compressor,
    pub settings: CompressorSettings,
    /// A history without a summary stays whole.
    pub keeps_whole: bool,
}

impl ExternalPort {
    /// Whether compactions happen by themselves at all.
    fn is_off(&self, view: &View<'_>) -> bool {
        !self.settings.enabled && !matches!(view.trigger, Trigger::Manual | Trigger::Overflow)
    }

    /// What is done when the engine fails after it has planned. Where the model waits for room it is made
    /// at once, with excerpts; otherwise the next look at the history is the compressor's.
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
        match self.engine.told().is_given_up {
            true => self.compressor.name(),
            false => self.engine.name(),
        }
    }

    fn threshold(&self, window: &Window) -> Option<u64> {
        threshold(self.engine.told(), &self.compressor, window)
    }

    fn plan<'a>(&'a self, view: &'a View<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            let told = self.engine.told();
            if told.is_given_up {
                return self.compressor.plan(view);
            }
            if self.is_off(view) || is_below(told, view) {
                return Decision::Leave;
            }
            match self.engine.plan(view).await {
                Ok(decision) => decision,
                Err(why) => {
                    self.engine.tell(&self.engine.give_up(&why), &self.events).await;
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
            if self.engine.told().is_given_up {
                return self.compressor.assemble(view, plan, answer);
            }
            let why = match self.engine.assemble(view, plan, answer).await {
                Ok(assembled) => return Ok(assembled),
                Err(why) => why,
            };
            let line = self.engine.give_up(&why);
            let rescued = self.rescue(view, &line);
            // A failure is told by whoever hears of it.
            if rescued.as_ref().err() != Some(&line) {
                self.engine.tell(&line, &self.events).await;
            }
            rescued
        })
    }

    fn measured(&self, usage: &Usage) {
        let state = self.engine.state();
        if let Some(talk) = state.talk.as_ref().filter(|_| !state.told.is_given_up) {
            talk.tell("usage", usage);
        }
    }
}

/// From how many tokens on somebody looks at a history.
pub fn threshold(told: Told, compressor: &Compressor, window: &Window) -> Option<u64> {
    let own = told.threshold_tokens.filter(|_| !told.is_given_up);
    own.or_else(|| compressor.threshold(window))
}

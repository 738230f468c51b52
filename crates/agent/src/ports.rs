//! The handles that a turn needs: models, tools, store, hooks and events.

use hermes_context::{EnginePort, Summarise};
use hermes_conversation::{BoxFuture, EventSink, Hooks, Mailbox, Transcript};
use hermes_tools::{AskUser, ToolContext, Toolbox};
use hermes_wire::ModelRoute;
use std::sync::Arc;
use std::time::Duration;

/// Waits for so long.
pub type Pause = Arc<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>;

/// Everything outside the turn, behind seams that tests and recorders can take the place of.
pub struct Ports {
    pub route: Arc<dyn ModelRoute>,
    pub tools: Arc<dyn Toolbox>,
    pub tool_context: Arc<ToolContext>,
    pub ask: Arc<dyn AskUser>,
    pub transcript: Arc<dyn Transcript>,
    pub mailbox: Arc<dyn Mailbox>,
    pub hooks: Arc<dyn Hooks>,
    pub engine: Arc<dyn EnginePort>,
    /// Who writes summaries.
    pub summaries: Arc<dyn Summarise>,
    /// A number in 0..1 for waits that must not fall in step; fixed in tests.
    pub jitter: Arc<dyn Fn() -> f64 + Send + Sync>,
    /// The wait between retries; a replay does not wait.
    pub pause: Pause,
    pub events: EventSink,
    /// The ports of calls that scripts make, where a recorder or a replay stands before the others. A replay has the
    /// result of the script and repeats none of its calls.
    pub for_scripts: Option<ScriptPorts>,
}

/// The ports that judge, approve and run the calls of scripts.
#[derive(Clone)]
pub struct ScriptPorts {
    pub tools: Arc<dyn Toolbox>,
    pub ask: Arc<dyn AskUser>,
    pub hooks: Arc<dyn Hooks>,
}

impl Ports {
    /// The same ports for the calls of a script.
    pub(crate) fn scripted(&self) -> Self {
        let ScriptPorts { tools, ask, hooks } = self.script_ports();
        Self {
            tools,
            ask,
            hooks,
            route: self.route.clone(),
            tool_context: self.tool_context.clone(),
            transcript: self.transcript.clone(),
            mailbox: self.mailbox.clone(),
            engine: self.engine.clone(),
            summaries: self.summaries.clone(),
            jitter: self.jitter.clone(),
            pause: self.pause.clone(),
            events: self.events.second(),
            for_scripts: None,
        }
    }

    /// The ports of calls that scripts make.
    pub fn script_ports(&self) -> ScriptPorts {
        self.for_scripts.clone().unwrap_or_else(|| ScriptPorts {
            tools: self.tools.clone(),
            ask: self.ask.clone(),
            hooks: self.hooks.clone(),
        })
    }
}

/// Waits by the clock.
pub fn sleep() -> Pause {
    Arc::new(|time| Box::pin(tokio::time::sleep(time)))
}

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
}

/// Waits by the clock.
pub fn sleep() -> Pause {
    Arc::new(|time| Box::pin(tokio::time::sleep(time)))
}

//! What a turn needs from the world.

use hermes_context::ContextEngine;
use hermes_conversation::{EventSink, Hooks, Mailbox, Transcript};
use hermes_tools::{AskUser, Registry, ToolContext};
use hermes_wire::ModelRoute;
use std::sync::Arc;

/// Everything outside the turn, behind seams that tests and recorders can take the place of.
pub struct Ports {
    pub route: Arc<dyn ModelRoute>,
    pub tools: Arc<Registry>,
    pub tool_context: Arc<ToolContext>,
    pub ask: Arc<dyn AskUser>,
    pub transcript: Arc<dyn Transcript>,
    pub mailbox: Arc<dyn Mailbox>,
    pub hooks: Arc<dyn Hooks>,
    pub engine: Arc<dyn ContextEngine>,
    /// A number in 0..1 for waits that must not fall in step; fixed in tests.
    pub jitter: Arc<dyn Fn() -> f64 + Send + Sync>,
    pub events: EventSink,
}

//! Seams that later parts of Hermes plug into: hooks.

use crate::BoxFuture;

/// A moment at which outside code is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum HookPoint {
    BeforeTool { name: String, arguments: String },
    AfterTool { name: String, failed: bool },
    TurnEnded,
}

/// What outside code wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookVerdict {
    GoOn,
    Block { reason: String },
}

/// Outside code that watches a turn. It must not fail the turn: an error is `GoOn`.
pub trait Hooks: Send + Sync {
    fn fire(&self, point: HookPoint) -> BoxFuture<'_, HookVerdict>;
}

/// No outside code.
#[derive(Debug, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn fire(&self, _: HookPoint) -> BoxFuture<'_, HookVerdict> {
        Box::pin(async { HookVerdict::GoOn })
    }
}

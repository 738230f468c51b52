//! Seams that later parts of Hermes plug into: mail and hooks.

use crate::{BoxFuture, Lease, RecordError};

/// A place in a turn at which waiting mail may join the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryPoint {
    /// Before a model call, after the newest tool result.
    BeforeCall,
    /// After the turn's final answer.
    TurnEnd,
}

/// Something a person said while a turn was running.
#[derive(Debug, Clone, PartialEq)]
pub struct Mail {
    pub text: String,
}

/// What was said to a session while it was busy.
pub trait Mailbox: Send + Sync {
    /// Takes what is due at `point`. An item is handed out once.
    fn take<'a>(
        &'a self,
        lease: &'a Lease,
        point: DeliveryPoint,
    ) -> BoxFuture<'a, Result<Vec<Mail>, RecordError>>;
}

/// A mailbox that is always empty.
#[derive(Debug, Default)]
pub struct NoMail;

impl Mailbox for NoMail {
    fn take<'a>(&'a self, _: &'a Lease, _: DeliveryPoint) -> BoxFuture<'a, Result<Vec<Mail>, RecordError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

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

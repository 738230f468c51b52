//! Hooks: user-defined programs that run on turn events.

use crate::{BoxFuture, CallId, SessionId};
use std::path::PathBuf;

/// The events on which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HookEvent {
    PreToolCall,
    PostToolCall,
    PreLlmCall,
    PostLlmCall,
    SessionStart,
    SessionEnd,
}

impl HookEvent {
    pub const ALL: [Self; 6] = [
        Self::PreToolCall,
        Self::PostToolCall,
        Self::PreLlmCall,
        Self::PostLlmCall,
        Self::SessionStart,
        Self::SessionEnd,
    ];

    /// The name in settings and in the input of a hook.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreToolCall => "pre_tool_call",
            Self::PostToolCall => "post_tool_call",
            Self::PreLlmCall => "pre_llm_call",
            Self::PostLlmCall => "post_llm_call",
            Self::SessionStart => "on_session_start",
            Self::SessionEnd => "on_session_end",
        }
    }

    /// The event with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }

    /// Returns true for events of one tool call.
    pub fn is_tool_event(self) -> bool {
        matches!(self, Self::PreToolCall | Self::PostToolCall)
    }
}

/// One firing of a hook event.
#[derive(Debug, Clone, PartialEq)]
pub struct HookCall {
    pub session: SessionId,
    /// The working directory of the session.
    pub cwd: PathBuf,
    pub point: HookPoint,
}

/// A hook event with its data.
#[derive(Debug, Clone, PartialEq)]
pub enum HookPoint {
    /// A tool call is about to run; a hook may block it.
    BeforeTool {
        id: CallId,
        name: String,
        arguments: String,
    },
    AfterTool {
        id: CallId,
        name: String,
        arguments: String,
        result: String,
        status: ToolStatus,
        millis: u64,
    },
    /// The first model call of a turn is about to be made; a hook may add context to the prompt.
    BeforeModel {
        user_message: String,
        is_first_turn: bool,
        model: String,
    },
    /// A turn has its final reply.
    AfterModel {
        user_message: String,
        answer: String,
        model: String,
    },
    /// The first turn of a session begins.
    SessionStarted {
        model: String,
    },
    /// A turn has ended, successfully or not.
    SessionEnded {
        model: String,
        completed: bool,
        interrupted: bool,
        reason: String,
    },
}

impl HookPoint {
    pub fn event(&self) -> HookEvent {
        match self {
            Self::BeforeTool { .. } => HookEvent::PreToolCall,
            Self::AfterTool { .. } => HookEvent::PostToolCall,
            Self::BeforeModel { .. } => HookEvent::PreLlmCall,
            Self::AfterModel { .. } => HookEvent::PostLlmCall,
            Self::SessionStarted { .. } => HookEvent::SessionStart,
            Self::SessionEnded { .. } => HookEvent::SessionEnd,
        }
    }
}

/// The status of a finished tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolStatus {
    Ok,
    Error,
    /// The call was not allowed to run.
    Blocked,
    /// The user stopped the turn.
    Cancelled,
}

impl ToolStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Blocked => "blocked",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The decision of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookVerdict {
    Continue,
    /// Blocks the tool call. Has an effect on [`HookEvent::PreToolCall`] only.
    Block {
        reason: String,
    },
    /// Adds text to the prompt. Has an effect on [`HookEvent::PreLlmCall`] only.
    Context {
        text: String,
    },
}

/// Runs hooks. A failing hook must not fail the turn: an error is `Continue`.
pub trait Hooks: Send + Sync {
    /// Returns true if a hook is configured for the event; otherwise the caller need not build a [`HookCall`].
    fn wants(&self, event: HookEvent) -> bool;

    /// Runs the hooks of the event. Dropping the future stops them.
    fn fire(&self, call: HookCall) -> BoxFuture<'_, HookVerdict>;
}

/// Hooks of a session without hooks.
#[derive(Debug, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn wants(&self, _: HookEvent) -> bool {
        false
    }

    fn fire(&self, _: HookCall) -> BoxFuture<'_, HookVerdict> {
        Box::pin(async { HookVerdict::Continue })
    }
}

//! Seams that later parts of Hermes plug into: hooks.

use crate::{BoxFuture, CallId, SessionId};
use std::path::PathBuf;

/// The moments at which outside code is asked or told.
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

    /// The name in settings and in what outside code is told.
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

    /// The event of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }

    /// Whether it is about one call of a tool.
    pub fn is_tool_event(self) -> bool {
        matches!(self, Self::PreToolCall | Self::PostToolCall)
    }
}

/// A moment, and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct HookCall {
    pub session: SessionId,
    /// Where the session stands.
    pub cwd: PathBuf,
    pub point: HookPoint,
}

/// A moment, with what there is to know about it.
#[derive(Debug, Clone, PartialEq)]
pub enum HookPoint {
    /// A call is about to run; it may be blocked.
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
    /// The first request of a turn is about to be made; words may be added to the user's.
    BeforeModel {
        user_message: String,
        is_first_turn: bool,
        model: String,
    },
    /// A turn has its answer.
    AfterModel {
        user_message: String,
        answer: String,
        model: String,
    },
    /// The first turn of a session begins.
    SessionStarted {
        model: String,
    },
    /// A turn is over, however it ended.
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

/// How a call of a tool ended, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolStatus {
    Ok,
    Error,
    /// It was not allowed to run.
    Blocked,
    /// The person stopped the turn.
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

/// What outside code wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookVerdict {
    Continue,
    /// The call must not run. Means something before a tool only.
    Block {
        reason: String,
    },
    /// Words for the model, beside the user's. Means something before a model only.
    Context {
        text: String,
    },
}

/// Outside code that watches a turn. It must not fail the turn: an error is `Continue`.
pub trait Hooks: Send + Sync {
    /// Whether anything listens; otherwise the moment need not be described.
    fn wants(&self, event: HookEvent) -> bool;

    /// Lets outside code know. Dropping the future ends what it started.
    fn fire(&self, call: HookCall) -> BoxFuture<'_, HookVerdict>;
}

/// No outside code.
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

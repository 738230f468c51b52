//! The lines of a recording. They are documented in docs/recording.md.

use super::engine_line::EngineLine;
use hermes_agent::StopChecks;
use hermes_agent::loop_guard::LoopLimits;
use hermes_context::{Past, Summary, SummaryFailure};
use hermes_conversation::{
    AssistantMessage, CallId, Content, Disposition, Effect, FinishReason, IntentState, Mail, MailMode,
    Message, Node, Quirks, RawJson, RecordError, TurnEvent, Usage, UserMessage,
};
use hermes_plugins::context_engine::{EngineSettings, ToolWire};
use hermes_prompt::Layers;
use hermes_tools::Todo;
use hermes_wire::{CallState, Failure, ModelProfile};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The format of these lines. A line of another version is not read.
pub(crate) const VERSION: u32 = 2;

/// The first line of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) hermes_recording: u32,
    /// The program that wrote it.
    pub(crate) program: String,
}

/// Every other line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line<W = What> {
    /// Milliseconds since 1970.
    pub(crate) at: u64,
    /// The user's stop was first seen here.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) stopped: bool,
    pub(crate) what: W,
}

/// The owned content of a line.
pub(crate) type What = WhatOf<'static>;

/// The content of a line. Frequent lines borrow their data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WhatOf<'a> {
    /// The state of a session before its next turn.
    Session(Box<SessionLine>),
    Turn {
        session: String,
        input: UserMessage,
        /// The queued messages that are part of `input`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mail: Vec<MailLine>,
    },
    /// Queued messages that were delivered; an empty mailbox is not recorded.
    Mail(Vec<MailLine>),
    /// The model with which a turn began: whether it is the first one, and its index in the route.
    Restored {
        first: bool,
        at: usize,
    },
    Request(RequestLine),
    Reply(ReplyLine),
    /// A random number for a wait.
    Jitter {
        number: f64,
    },
    /// A wait is over.
    Waited {
        #[serde(default, skip_serializing_if = "is_default")]
        dropped: bool,
    },
    /// The search for another key; `None` if the turn was stopped meanwhile.
    Key {
        found: Option<bool>,
    },
    Judged(JudgedLine<'a>),
    /// An approval request; `None` if the turn was stopped meanwhile.
    Approval {
        call: CallId,
        answer: Option<Answer>,
    },
    /// A decision without the user on a call that needs approval.
    Review {
        call: CallId,
        answer: ReviewLine,
    },
    /// A request about several calls; `None` if the turn was stopped meanwhile.
    BatchApproval {
        answer: Option<BatchLine>,
    },
    Tool(ToolLine<'a>),
    /// Results of one reply that were too long together, as they were shortened.
    Fitted(Vec<FittedLine>),
    /// The verdict of a hook; `Continue` is not recorded.
    Hook {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        block: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
    /// A summary; `None` if the turn was stopped meanwhile.
    Summary {
        answer: Option<Result<Summary, SummaryFailure>>,
    },
    /// A decision of an external engine; `None` if the turn was stopped meanwhile.
    Engine {
        answer: Option<EngineLine>,
    },
    /// Only the stop was seen here.
    Stop,
    Commit(CommitLine),
    /// The first and last message that each new summary covers. The ids are those of the store, and the
    /// lossless engine sends them to the model.
    Originals(Vec<(i64, i64)>),
    Event(EventLine),
    Ended(EndedLine),
}

/// A queued message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MailLine {
    pub(crate) mode: MailMode,
    pub(crate) text: String,
}

impl MailLine {
    pub(crate) fn all(mail: &[Mail]) -> Vec<Self> {
        mail.iter().map(|mail| Self { mode: mail.mode, text: mail.text.clone() }).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionLine {
    pub(crate) id: String,
    pub(crate) source: String,
    pub(crate) cwd: String,
    /// The layers of the system prompt, if it was assembled in this run.
    pub(crate) layers: Option<Layers>,
    pub(crate) system: String,
    /// Additional system text of every request, which is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) more_system: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) prefill: Vec<Message>,
    /// The session's model and its fallbacks.
    pub(crate) stops: Vec<ModelProfile>,
    pub(crate) limits: LimitsLine,
    pub(crate) toolsets: Vec<String>,
    pub(crate) disabled_toolsets: Vec<String>,
    /// The tools by name, those that wait in the catalogue among them; older recordings have all of the toolsets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<Vec<String>>,
    /// Those that wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) waiting: Vec<String>,
    /// The tools of an external engine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) engine_tools: Vec<ToolWire>,
    /// True if a user is there to answer questions.
    pub(crate) is_watched: bool,
    /// The events that have hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hooks: Vec<String>,
    pub(crate) quirks: Quirks,
    /// The context engine and its state, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<ContextLine>,
    pub(crate) history: Vec<Message>,
}

/// The context engine of a session and the results of earlier compactions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ContextLine {
    pub(crate) engine: EngineSettings,
    pub(crate) past: Past,
    pub(crate) nodes: Vec<Node>,
    pub(crate) pins: Vec<String>,
    pub(crate) todos: Vec<Todo>,
    /// The context window of the model that writes summaries.
    pub(crate) summariser: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LimitsLine {
    pub(crate) max_iterations: u32,
    pub(crate) attempts: u32,
    pub(crate) keys: u32,
    pub(crate) continuations: u32,
    pub(crate) empty_retries: u32,
    pub(crate) cut_calls: u32,
    #[serde(default)]
    pub(crate) compactions: u32,
    pub(crate) backoff: Duration,
    #[serde(default)]
    pub(crate) loops: LoopLimits,
    #[serde(default)]
    pub(crate) stop_checks: StopChecks,
}

/// A request's body: as many bytes of the one before, and the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RequestLine {
    /// Counting from 1.
    pub(crate) number: u64,
    pub(crate) prefix: usize,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) rest: String,
    /// In its place, where the rest is some more messages at the end of the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) more: Vec<RawJson>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReplyLine {
    pub(crate) number: u64,
    pub(crate) outcome: Outcome,
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// No reply began.
    Failed(Failure),
    /// The turn was stopped before a reply began.
    Dropped,
    /// The bytes that came.
    Body {
        status: u16,
        streamed: bool,
        body: Body,
        end: End,
        /// The sizes of the received chunks; only for a dropped reply.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        chunks: Vec<usize>,
    },
    /// The decoded events, recorded if the bytes contain a secret, perhaps split.
    Decoded { said: Vec<Said>, end: End },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Body {
    Text(String),
    /// The lines of a stream that was read to its end; see `sse_lines`.
    Lines(Vec<RawJson>),
    /// Bytes that are not text.
    Base64(String),
}

/// The end of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// All needed bytes were read.
    Complete,
    /// The connection failed.
    Failed(Failure),
    /// The turn was stopped after so many pieces.
    Dropped { after: usize },
}

/// A piece of a reply that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Said {
    Text(String),
    Reasoning(String),
    ToolPreparing(String),
    Finished {
        message: Box<AssistantMessage>,
        calls: Vec<CallState>,
        finish: FinishReason,
        usage: Option<Usage>,
    },
    Failed(Failure),
}

/// The verdict on a tool call before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct JudgedLine<'a> {
    pub(crate) call: Cow<'a, CallId>,
    /// The tool's name, which may have been repaired.
    pub(crate) name: Cow<'a, str>,
    pub(crate) effect: Cow<'a, Effect>,
    pub(crate) verdict: VerdictLine<'a>,
    pub(crate) concurrency: ConcurrencyLine<'a>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VerdictLine<'a> {
    Run,
    Ask { what: Cow<'a, str>, cwd: Cow<'a, Path> },
    Refuse { text: Cow<'a, str>, decision: Cow<'a, str> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConcurrencyLine<'a> {
    Free,
    Reads(Cow<'a, [PathBuf]>),
    Writes(Cow<'a, [PathBuf]>),
    Kin,
    Alone,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Allowed,
    AllowedForSession,
    AllowedAlways,
    Denied,
    DeniedBecause(String),
    TimedOut,
    #[serde(rename = "nobody")]
    NoUser,
    Stopped,
}

/// A decision of a model or of a setting instead of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReviewLine {
    Smart,
    Sandbox,
    Advice(String),
}

/// An answer about several calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BatchLine {
    AllOnce,
    OneByOne,
    Each(Answer),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToolLine<'a> {
    pub(crate) call: Cow<'a, CallId>,
    /// The number of earlier calls with this id: servers repeat ids.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) again: usize,
    pub(crate) name: Cow<'a, str>,
    pub(crate) state: IntentState,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) failed: bool,
    pub(crate) millis: u64,
    pub(crate) content: Cow<'a, Content>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) api_content: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) disposition: Option<Disposition>,
    /// The new working directory, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<PathBuf>,
}

/// A result that was shortened after the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FittedLine {
    /// Its place among the results that were looked at together.
    pub(crate) place: usize,
    pub(crate) content: Content,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) api_content: Option<String>,
}

/// A transaction of the session store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CommitLine {
    pub(crate) what: String,
    /// The checksum of the stored data and of the events before it, in 64 bits.
    pub(crate) sum: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<RecordError>,
}

/// An event for the front end. Events of every step are in the checksum of the next commit instead: other
/// lines hold their content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EventLine {
    Accepted,
    Text(String),
    Reasoning(String),
    Retracted,
    ApprovalAsked { id: CallId, what: String, cwd: String },
    MailDelivered(MailLine),
    Status(String),
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EndedLine {
    pub(crate) exit_reason: String,
    pub(crate) completed: bool,
    pub(crate) failed: bool,
    pub(crate) partial: bool,
    pub(crate) interrupted: bool,
    pub(crate) error: Option<String>,
    pub(crate) final_response: Option<String>,
    pub(crate) api_calls: u32,
    pub(crate) usage: Usage,
    /// The digest over everything that was stored in this run.
    pub(crate) state: String,
}

impl WhatOf<'_> {
    /// The name of the kind, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Turn { .. } => "turn",
            Self::Mail(_) => "mail",
            Self::Restored { .. } => "restored",
            Self::Request(_) => "request",
            Self::Reply(_) => "reply",
            Self::Jitter { .. } => "jitter",
            Self::Waited { .. } => "waited",
            Self::Key { .. } => "key",
            Self::Judged(_) => "judged",
            Self::Approval { .. } => "approval",
            Self::Review { .. } => "review",
            Self::BatchApproval { .. } => "batch approval",
            Self::Tool(_) => "tool",
            Self::Hook { .. } => "hook",
            Self::Fitted(_) => "fitted",
            Self::Summary { .. } => "summary",
            Self::Engine { .. } => "engine",
            Self::Stop => "stop",
            Self::Commit(_) => "commit",
            Self::Originals(_) => "originals",
            Self::Event(_) => "event",
            Self::Ended(_) => "ended",
        }
    }
}

impl EventLine {
    /// `None` for events that do not come from the turn itself, or that are only in a checksum.
    pub(crate) fn of(event: &TurnEvent) -> Option<Self> {
        Some(match event {
            TurnEvent::Subagent { .. }
            | TurnEvent::MailAccepted { .. }
            | TurnEvent::HookAsked { .. }
            | TurnEvent::CallDecided { .. }
            | TurnEvent::BatchAsked { .. }
            | TurnEvent::ClarifyAsked { .. }
            | TurnEvent::Thinking { .. }
            | TurnEvent::ToolPreparing { .. }
            | TurnEvent::ToolStarted { .. }
            | TurnEvent::ToolFinished { .. }
            | TurnEvent::Compacted(_)
            | TurnEvent::StepFinished { .. } => return None,
            TurnEvent::MailDelivered { mode, text, .. } => {
                Self::MailDelivered(MailLine { mode: *mode, text: text.clone() })
            }
            TurnEvent::Accepted => Self::Accepted,
            TurnEvent::Text(text) => Self::Text(text.clone()),
            TurnEvent::Reasoning(text) => Self::Reasoning(text.clone()),
            TurnEvent::Retracted => Self::Retracted,
            TurnEvent::ApprovalAsked { id, what, cwd, .. } => {
                Self::ApprovalAsked { id: id.clone(), what: what.clone(), cwd: cwd.clone() }
            }
            TurnEvent::Status(text) => Self::Status(text.clone()),
        })
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

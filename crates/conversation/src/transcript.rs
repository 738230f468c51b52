//! The interface through which the agent records a turn.
//!
//! The order of the calls is the durability rule: the user's message before any model call, the assistant's
//! message and the intents before any tool call, the results before the next model call. A tool can only be
//! run with a [`StartPermit`], and only a commit issues one, so code that runs an unrecorded call does not
//! compile.

use crate::{
    AssistantMessage, Bill, BoxFuture, CallId, Compaction, IntentId, Lease, MailId, Message, Node, SessionId,
    ToolMessage, TraceSpan, TurnId, Usage, UserMessage,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// The record of a session.
///
/// Each method is one transaction, fenced by the lease, and durable when it returns.
pub trait Transcript: Send + Sync {
    /// Records the user's message and opens a turn.
    fn open_turn<'a>(
        &'a self,
        lease: &'a Lease,
        opening: Opening,
    ) -> BoxFuture<'a, Result<OpenTurn, RecordError>>;

    /// Records the text that is sent instead of the message that opened the turn. Must be the first call in a turn.
    fn annotate<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        sent: &'a str,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Records a reply that calls tools, with one intent per call, in call order.
    fn plan<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        reply: &'a AssistantMessage,
        spent: Option<&'a SpentCall>,
        intents: &'a [Intent],
    ) -> BoxFuture<'a, Result<Permits, RecordError>>;

    /// Records results and decisions, and starts the calls named in `start`.
    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        settlement: Settlement,
    ) -> BoxFuture<'a, Result<Vec<StartPermit>, RecordError>>;

    /// Records messages that the agent itself adds during a turn.
    fn extend<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        messages: &'a [Message],
        spent: Option<&'a SpentCall>,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Records a call that a script makes, with its final verdict, before it runs. Returns its id, and the permit if
    /// its state is [`IntentState::Started`].
    fn begin_inner<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        call: InnerCall,
    ) -> BoxFuture<'a, Result<(IntentId, Option<StartPermit>), RecordError>>;

    /// Records the end of a call that a script made.
    fn end_inner<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        end: InnerEnd,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Notes the process group that runs an intent. Survives a kill of this process; need not survive a power
    /// cut, which ends the group too.
    fn note_process<'a>(
        &'a self,
        intent: IntentId,
        mark: &'a ProcessMark,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Notes the file change of an intent before it is made. Survives a kill of this process; after a power cut
    /// the outcome is unknown.
    fn note_change<'a>(
        &'a self,
        intent: IntentId,
        change: &'a FileChange,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Takes or extends the compaction lock of the session; false while another program holds it.
    /// [`Transcript::compact`] releases it.
    fn lock_compaction<'a>(&'a self, _lease: &'a Lease) -> BoxFuture<'a, Result<bool, RecordError>> {
        Box::pin(async { Ok(true) })
    }

    /// Releases the compaction lock after a compaction that failed or was not needed.
    fn unlock_compaction<'a>(&'a self, _lease: &'a Lease) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async { Ok(()) })
    }

    /// Opens an epoch: the messages of the compaction are sent from now on; the replaced ones stay in the record.
    /// Returns the numbered nodes. Outside a turn, `turn` is `None`.
    fn compact<'a>(
        &'a self,
        lease: &'a Lease,
        turn: Option<&'a OpenTurn>,
        compaction: &'a Compaction,
    ) -> BoxFuture<'a, Result<Vec<Node>, RecordError>>;

    /// Records the end of a turn. Steering messages that found no tool result stay queued for the next turn.
    fn close<'a>(
        &'a self,
        lease: &'a Lease,
        turn: OpenTurn,
        closing: Closing,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Notes a finished call for the trace. Never waits and never fails: the span is written by a later commit, and
    /// is lost if the process is killed before.
    fn note_span(&self, _span: TraceSpan) {}
}

/// The start of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    pub message: UserMessage,
    /// Queued messages that the message contains; delivered by this commit.
    pub mail: Vec<MailId>,
    /// The time of the message in seconds since 1970; `None` is now.
    pub at: Option<f64>,
}

impl From<UserMessage> for Opening {
    fn from(message: UserMessage) -> Self {
        Self { message, mail: Vec::new(), at: None }
    }
}

/// An open turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    pub id: TurnId,
    pub session: SessionId,
}

/// A tool call, recorded before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    pub call_id: CallId,
    pub tool: String,
    pub arguments: String,
    pub effect: Effect,
    pub state: IntentState,
    /// The verdict of the gate: `allowed`, `asked`, `denied`, `invalid`.
    pub decision: &'static str,
}

/// A call that a script makes while its own call runs.
#[derive(Debug, Clone, PartialEq)]
pub struct InnerCall {
    /// The call of the script.
    pub parent: IntentId,
    /// Its number within the script, from 1.
    pub number: u64,
    pub intent: Intent,
    /// The decision about it, if a rule was about it; its `intent` is filled in by the record.
    pub decided: Option<Decided>,
}

/// The end of a call that a script made. Its result belongs to the script and is not a message.
#[derive(Debug, Clone, PartialEq)]
pub struct InnerEnd {
    pub intent: IntentId,
    pub state: IntentState,
    /// The beginning of the result, for a crash before the script ends.
    pub result: String,
}

/// The possible effect of a tool call, as the gate judges it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Writes these paths, and notes every change before it is made ([`Transcript::note_change`]).
    Write(Vec<PathBuf>),
    /// May do anything.
    Any,
}

/// The state of a recorded tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// Recorded, not started.
    Planned,
    /// May be running, or may have run.
    Started,
    Done,
    Failed,
    /// Rejected; never started.
    Refused,
    /// Started, with unknown outcome.
    Unknown,
}

/// The result of [`Transcript::plan`]: the ids of all intents, and permits for the started ones.
#[derive(Debug, Default)]
pub struct Permits {
    pub ids: Vec<IntentId>,
    /// In the order of the intents; `None` for those that were not started.
    pub started: Vec<Option<StartPermit>>,
}

/// The right to run one recorded call, once. Cannot be copied.
#[derive(Debug)]
pub struct StartPermit {
    intent: IntentId,
}

impl StartPermit {
    /// Issues a permit. Only a [`Transcript`] may call this, after its commit.
    pub fn issue(intent: IntentId) -> Self {
        Self { intent }
    }

    pub fn intent(&self) -> IntentId {
        self.intent
    }
}

/// Results to record, in call order, and the calls to start next.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settlement {
    pub results: Vec<Settled>,
    pub start: Vec<IntentId>,
    /// Decisions since the last commit: answers to approval requests, and calls that a rule was about.
    pub decided: Vec<Decided>,
    /// The new working directory, if these calls changed it.
    pub cwd: Option<PathBuf>,
    /// Queued messages that the last result contains; delivered by this commit.
    pub mail: Vec<MailId>,
}

/// A decision about a call, for the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub intent: IntentId,
    /// As in [`Intent::decision`].
    pub decision: &'static str,
    /// The source of the decision, for instance `user` or `command_allowlist`.
    pub by: &'static str,
    /// The calls that an approval covers: `once`, `session` or `always`.
    pub scope: Option<&'static str>,
    /// The approval keys of the rules that matched.
    pub rules: Vec<String>,
    /// Approval was requested for it.
    pub was_asked: bool,
}

/// The end of one tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    pub intent: IntentId,
    pub state: IntentState,
    pub message: ToolMessage,
}

/// Usage and cost of model calls, recorded in the commit of the message that they produced.
#[derive(Debug, Clone, PartialEq)]
pub struct SpentCall {
    /// The number of model calls with a reply.
    pub calls: u64,
    pub usage: Usage,
    pub model: String,
    pub provider: String,
    pub base_url: String,
    /// The name of an auxiliary task; empty for the conversation itself.
    pub task: String,
    pub bill: Bill,
}

impl SpentCall {
    /// Adds calls of the same model.
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.usage += other.usage;
        self.bill += other.bill;
    }
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Closing {
    /// The final message; `None` if the history already ends with an assistant message.
    pub message: Option<AssistantMessage>,
    pub spent: Option<SpentCall>,
    pub exit_reason: String,
}

/// A process group, identified so that a reused id is not mistaken for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessMark {
    pub group: u32,
    /// Start time of the group's leader in clock ticks since boot.
    pub started: u64,
    pub boot: String,
}

/// An atomic change of one file, with the result of the call that makes it. After a crash, the content of the file
/// shows whether the change was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: PathBuf,
    /// The place of the file, if it is not on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// SHA-256 of the content before, as 64 hex digits; `None` if there was no file.
    pub before: Option<String>,
    /// SHA-256 of the content after.
    pub after: String,
    /// The result of the call.
    pub result: String,
}

impl FileChange {
    /// The SHA-256 of `bytes` in hex.
    pub fn digest(bytes: &[u8]) -> String {
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Compares with the digest of the current content (`None` if there is no file). Returns true if the change was
    /// made, false if not, and `None` if the file was changed by another process too.
    pub fn was_made(&self, now: Option<&str>) -> Option<bool> {
        match now {
            now if now == Some(&self.after) => Some(true),
            now if now == self.before.as_deref() => Some(false),
            _ => None,
        }
    }
}

/// A failure to write the record. The turn stops: no further model call or tool call is made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordError {
    #[error("session {session} was taken over by another process")]
    Fenced { session: SessionId },
    #[error("the session store failed: {cause}")]
    Store { cause: String },
}

impl IntentState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Started => "started",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "planned" => Self::Planned,
            "started" => Self::Started,
            "done" => Self::Done,
            "failed" => Self::Failed,
            "refused" => Self::Refused,
            "unknown" => Self::Unknown,
            _ => return None,
        })
    }
}

impl Effect {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write(_) => "write",
            Self::Any => "any",
        }
    }
}

//! The record of a turn, as the agent sees it.
//!
//! The order of the calls below is the durability rule: the user's message before any request,
//! the assistant's message and the intents before any tool, the results before the next
//! request. A tool can only be run with a [`StartPermit`], and a permit only comes out of a
//! commit, so code that runs something unrecorded does not compile.

use crate::{
    AssistantMessage, Bill, BoxFuture, CallId, Compaction, IntentId, Lease, MailId, Message, Node, SessionId,
    ToolMessage, TraceSpan, TurnId, Usage, UserMessage,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Where what was said is kept.
///
/// Each method is one transaction, fenced by the lease, durable when it returns.
pub trait Transcript: Send + Sync {
    /// Records what the user said and opens a turn.
    fn open_turn<'a>(
        &'a self,
        lease: &'a Lease,
        opening: Opening,
    ) -> BoxFuture<'a, Result<OpenTurn, RecordError>>;

    /// Records what is sent in place of the words that opened the turn, before anything else is in it.
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

    /// Records messages the agent itself adds in the middle of a turn.
    fn extend<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        messages: &'a [Message],
        spent: Option<&'a SpentCall>,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Notes which process group carries out an intent. Survives the death of this process;
    /// need not survive a power cut, which ends the group too.
    fn note_process<'a>(
        &'a self,
        intent: IntentId,
        mark: &'a ProcessMark,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Notes which change to a file carries out an intent, before the change is made. Survives the
    /// death of this process; after a power cut the outcome is unknown.
    fn note_change<'a>(
        &'a self,
        intent: IntentId,
        change: &'a FileChange,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Takes the right to compact the session, or keeps it for longer; false while another program has it.
    /// [`Transcript::compact`] gives it back.
    fn lock_compaction<'a>(&'a self, _lease: &'a Lease) -> BoxFuture<'a, Result<bool, RecordError>> {
        Box::pin(async { Ok(true) })
    }

    /// Gives the right to compact back where nothing came of it.
    fn unlock_compaction<'a>(&'a self, _lease: &'a Lease) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async { Ok(()) })
    }

    /// Opens an epoch: other messages take the place of those that are sent, which stay in the record. Gives
    /// back the nodes as they are numbered. Outside a turn, `turn` is `None`.
    fn compact<'a>(
        &'a self,
        lease: &'a Lease,
        turn: Option<&'a OpenTurn>,
        compaction: &'a Compaction,
    ) -> BoxFuture<'a, Result<Vec<Node>, RecordError>>;

    /// Records the end of a turn. Mail that was to steer it and found no tool result is queued.
    fn close<'a>(
        &'a self,
        lease: &'a Lease,
        turn: OpenTurn,
        closing: Closing,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Takes note of what something took. It never waits and never fails: what is noted goes along
    /// with a later commit, and may be lost with the process.
    fn note_span(&self, _span: TraceSpan) {}
}

/// What starts a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    pub message: UserMessage,
    /// Mail that the message holds; delivered by this commit.
    pub mail: Vec<MailId>,
    /// When it was said, in seconds since 1970, where that is not now.
    pub at: Option<f64>,
}

impl From<UserMessage> for Opening {
    fn from(message: UserMessage) -> Self {
        Self { message, mail: Vec::new(), at: None }
    }
}

/// A turn that has been opened and not yet closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    pub id: TurnId,
    pub session: SessionId,
}

/// One call as it will be run, recorded before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    pub call_id: CallId,
    pub tool: String,
    pub arguments: String,
    pub effect: Effect,
    pub state: IntentState,
    /// How the gate came to its verdict, in a word: `allowed`, `asked`, `denied`, `invalid`.
    pub decision: &'static str,
}

/// What a call can do to the world, as the gate judges it.
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

/// Where a call is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// Recorded; nothing has happened.
    Planned,
    /// May be running, or may have run.
    Started,
    Done,
    Failed,
    /// Never started, by decision.
    Refused,
    /// Started, and nobody knows how it ended.
    Unknown,
}

/// What a plan gives back: every intent's id, and permits for those already started.
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
    /// Only a [`Transcript`] issues permits, after its commit.
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
    /// Intents a person decided on since the plan, with the decision's word.
    pub decided: Vec<(IntentId, &'static str)>,
    /// Where the session stands now, if these calls moved it.
    pub cwd: Option<PathBuf>,
    /// Mail that the last of the results carries; delivered by this commit.
    pub mail: Vec<MailId>,
}

/// The end of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    pub intent: IntentId,
    pub state: IntentState,
    pub message: ToolMessage,
}

/// What one model call cost, to be counted in the commit of the message it produced.
#[derive(Debug, Clone, PartialEq)]
pub struct SpentCall {
    /// How many requests were answered.
    pub calls: u64,
    pub usage: Usage,
    pub model: String,
    pub provider: String,
    pub base_url: String,
    /// What a side task was for; empty for the conversation itself.
    pub task: String,
    pub bill: Bill,
}

impl SpentCall {
    /// Adds another call of the same model to these.
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.usage += other.usage;
        self.bill += other.bill;
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Closing {
    /// The final message; `None` when the history already ends with an assistant's.
    pub message: Option<AssistantMessage>,
    pub spent: Option<SpentCall>,
    pub exit_reason: String,
}

/// A process group, named so that a reused id is not mistaken for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessMark {
    pub group: u32,
    /// Start time of the group's leader in clock ticks since boot.
    pub started: u64,
    pub boot: String,
}

/// A change to one file that is made at once or not at all, with what is said when it was made. After
/// a crash the file tells which of the two happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: PathBuf,
    /// Names the content before, as 64 hex digits of SHA-256; `None` where there was no file.
    pub before: Option<String>,
    /// Names the content after.
    pub after: String,
    /// The result of the call.
    pub result: String,
}

impl FileChange {
    /// Names a content.
    pub fn digest(bytes: &[u8]) -> String {
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether the change was made, told from what the file holds now (`None` if there is none); `None`
    /// if somebody else was there too.
    pub fn was_made(&self, now: Option<&str>) -> Option<bool> {
        match now {
            now if now == Some(&self.after) => Some(true),
            now if now == self.before.as_deref() => Some(false),
            _ => None,
        }
    }
}

/// Why the record could not be written. The turn stops: nothing more is asked or run.
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

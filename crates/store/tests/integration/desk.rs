//! A database in a temporary directory, with shortcuts for writing to it.

use hermes_conversation::{
    AssistantMessage, Bill, CallId, Closing, Compaction, CompactionReport, Content, Effect, Intent,
    IntentState, KeptCounts, Lease, Message, NewNode, Node, OpenTurn, Opening, Owner, SessionId, SpentCall,
    SummaryBy, TokenCount, ToolCall, Transcript, Trigger, Usage, UserMessage,
};
use hermes_store::{Clock, ExportFilter, ExportFormat, NewSession, RecoveryTexts, SessionDb};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Desk {
    pub(crate) db: SessionDb,
    pub(crate) path: PathBuf,
    _dir: Arc<tempfile::TempDir>,
}

/// A clock that advances by one second with every read.
pub(crate) fn ticking() -> Clock {
    let ticks = AtomicU64::new(1_000);
    Arc::new(move || f64::from(u32::try_from(ticks.fetch_add(1, Ordering::Relaxed)).unwrap()))
}

pub(crate) fn session(id: &str) -> NewSession {
    NewSession {
        id: SessionId::new(id),
        source: "cli".into(),
        model: "m".into(),
        provider: "p".into(),
        base_url: "http://localhost".into(),
        system_prompt: "be kind".into(),
        cwd: Some("/tmp".into()),
        parent: None,
        delegating_call: None,
        model_config: serde_json::Map::new(),
    }
}

pub(crate) fn owner(pid: u32) -> Owner {
    Owner { pid, started: 1, boot: "b".into() }
}

pub(crate) fn call(id: &str) -> ToolCall {
    ToolCall::new(CallId::new(id), "terminal", r#"{"command":"ls"}"#)
}

pub(crate) fn reply(ids: &[&str]) -> AssistantMessage {
    AssistantMessage { calls: ids.iter().map(|id| call(id)).collect(), ..AssistantMessage::default() }
}

pub(crate) fn intent(id: &str, state: IntentState) -> Intent {
    Intent {
        call_id: CallId::new(id),
        tool: "terminal".into(),
        arguments: r#"{"command":"ls"}"#.into(),
        effect: Effect::Any,
        state,
        decision: "allowed",
    }
}

pub(crate) fn spent(input: u64) -> SpentCall {
    SpentCall {
        calls: 1,
        usage: Usage { input, output: 2, cache_read: 3, cache_write: 4, reasoning: 5 },
        model: "m".into(),
        provider: "p".into(),
        base_url: "http://localhost".into(),
        task: String::new(),
        bill: Bill::default(),
    }
}

pub(crate) fn opening(text: &str) -> Opening {
    Opening::from(UserMessage { content: Content::text(text), api_content: None })
}

pub(crate) fn closing(text: &str) -> Closing {
    Closing {
        message: Some(AssistantMessage { text: text.into(), ..AssistantMessage::default() }),
        spent: None,
        exit_reason: "text_response".into(),
    }
}

pub(crate) fn texts() -> RecoveryTexts {
    RecoveryTexts {
        unknown: "unknown".into(),
        not_started: "not started".into(),
        closing: "interrupted".into(),
    }
}

/// A compaction that keeps the last `tail` messages.
pub(crate) fn compaction(messages: &[Message], tail: usize, nodes: &[(&[u32], &str)]) -> Compaction {
    Compaction {
        messages: messages.iter().cloned().map(Arc::new).collect(),
        tail,
        nodes: nodes
            .iter()
            .map(|(children, text)| NewNode { children: children.to_vec(), text: (*text).to_owned() })
            .collect(),
        report: CompactionReport {
            engine: "compressor".into(),
            trigger: Trigger::Manual,
            by: SummaryBy::Excerpts,
            messages_before: 9,
            messages_after: messages.len() as u64,
            tokens_before: TokenCount::Estimated(90),
            tokens_after: TokenCount::Estimated(9),
            seconds: 0.5,
            cost_usd: None,
            kept: KeptCounts { tail: tail as u64, ..KeptCounts::default() },
        },
    }
}

impl Desk {
    /// Opens an epoch outside a turn.
    pub(crate) async fn compact(
        &self,
        lease: &Lease,
        messages: &[Message],
        tail: usize,
        nodes: &[(&[u32], &str)],
    ) -> Vec<Node> {
        self.db.compact(lease, None, &compaction(messages, tail, nodes)).await.unwrap()
    }

    pub(crate) fn new() -> Self {
        let dir = Arc::new(tempfile::tempdir().unwrap());
        let path = dir.path().join("state.db");
        let db = SessionDb::open(&path, ticking()).unwrap();
        Self { db, path, _dir: dir }
    }

    /// Opens the same file again.
    pub(crate) fn again(&self) -> Self {
        Self {
            db: SessionDb::open(&self.path, ticking()).unwrap(),
            path: self.path.clone(),
            _dir: self._dir.clone(),
        }
    }

    /// Opens a connection like another program.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        let db = rusqlite::Connection::open(&self.path).unwrap();
        db.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
        db
    }

    pub(crate) async fn lease(&self, id: &str) -> Lease {
        let taken = self.db.acquire(session(id), owner(1)).await;
        taken.unwrap().lease
    }

    pub(crate) async fn open(&self, lease: &Lease, text: &str) -> OpenTurn {
        self.db.open_turn(lease, opening(text)).await.unwrap()
    }

    /// Records a whole turn without tools.
    pub(crate) async fn say(&self, lease: &Lease, question: &str, answer: &str) {
        let turn = self.open(lease, question).await;
        self.db.close(lease, turn, closing(answer)).await.unwrap();
    }

    pub(crate) async fn messages(&self, id: &str) -> Vec<Message> {
        self.db.load(&SessionId::new(id)).await.unwrap().messages
    }

    /// Returns an export as text.
    pub(crate) async fn export(&self, filter: ExportFilter, format: ExportFormat) -> String {
        let (_, bytes) = self.db.export(filter, format, Vec::new()).await.unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Returns all sessions of an export.
    pub(crate) async fn exported(&self) -> Vec<Value> {
        let text = self.export(ExportFilter::default(), ExportFormat::Json).await;
        serde_json::from_str(&text).unwrap()
    }
}

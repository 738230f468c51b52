//! A process that writes turns into its session, one transaction after the other, and says on
//! standard output what the store has acknowledged.

use super::lifeline::Lifeline;
use super::rows::Row;
use crate::flags::Flags;
use crate::random::Random;
use anyhow::{Context, Result};
use hermes_conversation::{
    AssistantMessage, Bill, CallId, Closing, Content, Effect, Intent, IntentId, IntentState, Lease, Message,
    OpenTurn, Opening, SessionId, Settled, Settlement, SpentCall, ToolCall, ToolMessage, Transcript, Usage,
    UserMessage,
};
use hermes_store::{Clock, NewSession, RecoveryTexts, SessionDb, StoreError};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// What a recovery writes; the only stored messages that are not rows.
pub(super) const RECOVERED: [&str; 3] = ["outcome unknown", "was not run", "interrupted"];
/// The most rows that one transaction of a writer holds.
pub(super) const MOST_PER_COMMIT: u32 = 2;
const TOOL: &str = "terminal";

/// The `__store-writer DATABASE WRITER LIFE SEED` side.
pub(crate) fn child(mut flags: Flags) -> Result<()> {
    let lifeline = Lifeline::watch();
    let path: PathBuf = flags.next().context("a writer needs a database")?.into();
    let mut number =
        || flags.next().context("a writer needs three numbers")?.parse::<u32>().map_err(anyhow::Error::from);
    let (writer, life, seed) = (number()?, number()?, number()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let none_yet = Row { writer, life, number: 0 };
        let db = SessionDb::open(&path, clock())?;
        let lease = start(&db, none_yet).await?;
        crate::say("ready\n")?;
        lifeline.wait_to_begin()?;
        let random = Random::new(u64::from(seed) << 32 | u64::from(writer) << 16 | u64::from(life));
        let mut pen = Pen { db, lease, last: none_yet, random };
        while !lifeline.is_stopping() {
            pen.turn().await?;
        }
        pen.db.release(&pen.lease).await?;
        let stats = pen.db.stats();
        crate::say(&format!("commits {} {}\n", stats.commits, stats.full_commits))
    })
}

pub(super) fn clock() -> Clock {
    Arc::new(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.map_or(0.0, |now| now.as_secs_f64())
    })
}

/// What every start does: take the session, and close what the last owner left open.
async fn start(db: &SessionDb, row: Row) -> Result<Lease, StoreError> {
    let id = SessionId::new(row.session());
    let owner = hermes_store::this_process();
    let acquired = match db.acquire_existing(id.clone(), owner.clone()).await {
        Err(StoreError::UnknownSession { .. }) => db.acquire(session(id.clone()), owner).await?,
        acquired => acquired?,
    };
    let [unknown, not_started, closing] = RECOVERED.map(str::to_owned);
    db.recover(&acquired.lease, RecoveryTexts { unknown, not_started, closing }, Vec::new()).await?;
    db.load(&id).await?;
    Ok(acquired.lease)
}

fn session(id: SessionId) -> NewSession {
    NewSession {
        id,
        source: "cli".into(),
        model: "m".into(),
        provider: "p".into(),
        base_url: "http://localhost".into(),
        system_prompt: "You are a careful assistant.".into(),
        cwd: Some("/tmp".into()),
        parent: None,
        delegating_call: None,
        model_config: serde_json::Map::new(),
    }
}

struct Pen {
    db: SessionDb,
    lease: Lease,
    last: Row,
    random: Random,
}

impl Pen {
    /// A turn with a few tool calls, as an agent would record it.
    async fn turn(&mut self) -> Result<()> {
        let (start, text) = self.write();
        let message = UserMessage { content: Content::text(text), api_content: None };
        let turn = self.db.open_turn(&self.lease, Opening::from(message)).await?;
        self.acknowledge(1, start)?;
        for _ in 0..self.random.below(4) {
            let ids = self.plan(&turn).await?;
            self.settle(&turn, ids).await?;
        }
        if self.random.chance(0.2) {
            let (start, text) = self.write();
            self.db.extend(&self.lease, &turn, &[Message::user(text)], None).await?;
            self.acknowledge(1, start)?;
        }
        let (start, text) = self.write();
        let message = Some(AssistantMessage { text, ..AssistantMessage::default() });
        let closing = Closing { message, spent: Some(spent()), exit_reason: "text_response".into() };
        self.db.close(&self.lease, turn, closing).await?;
        self.acknowledge(1, start)?;
        if self.random.chance(0.05) {
            // Leaving programs do this; here it lets kills meet the index being written.
            self.db.drain(Duration::from_millis(20)).await?;
        }
        Ok(())
    }

    async fn plan(&mut self, turn: &OpenTurn) -> Result<Vec<(IntentId, CallId)>> {
        let (start, text) = self.write();
        let calls: Vec<_> = (0..=self.random.below(MOST_PER_COMMIT as usize))
            .map(|n| ToolCall::new(CallId::new(format!("{}-{n}", self.last)), TOOL, r#"{"command":"ls"}"#))
            .collect();
        let intents: Vec<_> = calls.iter().map(intent).collect();
        let names: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
        let reply = AssistantMessage { text, calls, ..AssistantMessage::default() };
        let permits = self.db.plan(&self.lease, turn, &reply, Some(&spent()), &intents).await?;
        self.acknowledge(1, start)?;
        Ok(permits.ids.into_iter().zip(names).collect())
    }

    async fn settle(&mut self, turn: &OpenTurn, ids: Vec<(IntentId, CallId)>) -> Result<()> {
        let (count, start) = (u32::try_from(ids.len())?, Instant::now());
        let settled = ids.into_iter().map(|(intent, call)| {
            let message = ToolMessage::new(call, TOOL, self.write().1);
            Settled { intent, state: IntentState::Done, message }
        });
        let settlement = Settlement { results: settled.collect(), ..Settlement::default() };
        self.db.settle(&self.lease, turn, settlement).await?;
        self.acknowledge(count, start)
    }

    /// The next row's text, and when it began.
    fn write(&mut self) -> (Instant, String) {
        self.last.number += 1;
        (Instant::now(), self.last.text())
    }

    /// Only ever called with rows that the store has answered for.
    fn acknowledge(&self, count: u32, start: Instant) -> Result<()> {
        crate::say(&format!("ack {} {count} {}\n", self.last.number, start.elapsed().as_micros()))
    }
}

fn intent(call: &ToolCall) -> Intent {
    Intent {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        arguments: call.arguments.clone(),
        effect: Effect::Any,
        state: IntentState::Started,
        decision: "allowed",
    }
}

fn spent() -> SpentCall {
    SpentCall {
        calls: 1,
        usage: Usage { input: 900, output: 80, ..Usage::default() },
        model: "m".into(),
        provider: "p".into(),
        base_url: "http://localhost".into(),
        task: String::new(),
        bill: Bill::default(),
    }
}

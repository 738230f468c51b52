//! The trace of a turn: its model calls and tool calls with times and results.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::record::lease;
use crate::sessions::rows::counts::count;
use crate::sessions::{Liveness, SessionDb};
use hermes_conversation::{IntentState, MessageId, SessionId, TurnId, Usage};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

/// A turn with its model calls and tool calls. Times are in seconds since 1970.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnTrace {
    pub session: SessionId,
    /// Row id, which the log uses.
    pub id: TurnId,
    /// Number within the session, from 1.
    pub number: u64,
    /// Number of turns of the session.
    pub turns: u64,
    pub started_at: f64,
    /// Time of closing. Crash recovery closes the turn of a killed process.
    pub closed_at: Option<f64>,
    pub end: TraceEnd,
    /// Ordered by start.
    pub calls: Vec<TracedCall>,
    pub tools: Vec<TracedTool>,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceEnd {
    Closed {
        exit_reason: String,
    },
    /// The process was killed at an unknown time.
    Killed,
    /// The process is working on it.
    Running,
}

/// A model call.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedCall {
    pub model: String,
    pub provider: String,
    pub started_at: f64,
    pub ended_at: f64,
    pub attempt: u64,
    /// `replied`, `failed` or `stopped`.
    pub outcome: String,
    /// The finish reason, or the class of the fault.
    pub why: String,
    pub first_byte_ms: Option<u64>,
    pub usage: Option<Usage>,
    pub cost_usd: Option<f64>,
    pub cost_status: Option<String>,
    /// The text that had arrived when the user stopped the call.
    pub partial: Option<String>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedTool {
    pub tool: String,
    pub call_id: String,
    pub state: IntentState,
    pub decision: String,
    pub planned_at: f64,
    /// `None` if it was never started.
    pub started_at: Option<f64>,
    /// `None` if the end is unknown.
    pub ended_at: Option<f64>,
}

/// The exit reason that crash recovery records.
pub(crate) const KILLED: &str = "interrupted_by_crash";

impl SessionDb {
    /// Returns the trace of the turn with this number, or of the newest one. `None` if there is no such turn.
    pub async fn trace(
        &self,
        session: &SessionId,
        number: Option<u64>,
    ) -> Result<Option<TurnTrace>, StoreError> {
        let (session, is_alive) = (session.clone(), self.is_alive);
        self.read(move |db| trace(db, &session, number, is_alive)).await
    }
}

impl SessionDb {
    /// Returns the texts of replies that the user stopped, each with the message that closed its turn.
    pub async fn partial_replies(&self, id: &SessionId) -> Result<Vec<(MessageId, String)>, StoreError> {
        let id = id.clone();
        self.read(move |db| partials(db, &id).doing("read the stopped replies")).await
    }
}

fn partials(db: &Connection, id: &SessionId) -> rusqlite::Result<Vec<(MessageId, String)>> {
    let mut find = db.prepare_cached(
        "SELECT (SELECT MAX(message_id) FROM hx_message_ext WHERE turn = t.id AND made = 0), s.detail
         FROM hx_turns AS t JOIN hx_spans AS s ON s.turn = t.id AND s.kind = 'model'
         WHERE t.session = ?1 AND s.detail LIKE '%\"outcome\":\"stopped\"%' ORDER BY t.seq, s.n",
    )?;
    let rows = find.query_map([id.as_str()], |row| {
        let detail: Value = serde_json::from_str(&row.get::<_, String>(1)?).unwrap_or_default();
        Ok((row.get::<_, Option<i64>>(0)?, detail["partial"].as_str().map(str::to_owned)))
    })?;
    let known = |(message, text): (Option<i64>, Option<String>)| Some((MessageId(message?), text?));
    rows.filter_map(|row| row.map(known).transpose()).collect()
}

fn trace(
    db: &Connection,
    session: &SessionId,
    number: Option<u64>,
    is_alive: Liveness,
) -> Result<Option<TurnTrace>, StoreError> {
    let Some(found) = turn(db, session, number).doing("find a turn")? else {
        return Ok(None);
    };
    let end = match (found.is_open, found.exit_reason.as_deref()) {
        (false, Some(KILLED)) => TraceEnd::Killed,
        (false, reason) => TraceEnd::Closed { exit_reason: reason.unwrap_or_default().to_owned() },
        (true, _) if lease::holder(db, session, is_alive)?.is_some() => TraceEnd::Running,
        (true, _) => TraceEnd::Killed,
    };
    Ok(Some(TurnTrace {
        session: session.clone(),
        id: found.id,
        number: found.number,
        turns: found.turns,
        started_at: found.started_at,
        closed_at: found.closed_at,
        end,
        calls: calls(db, found.id).doing("read the calls of a turn")?,
        tools: tools(db, found.id).doing("read the tools of a turn")?,
    }))
}

struct TurnRow {
    id: TurnId,
    number: u64,
    turns: u64,
    is_open: bool,
    exit_reason: Option<String>,
    started_at: f64,
    closed_at: Option<f64>,
}

fn turn(db: &Connection, session: &SessionId, number: Option<u64>) -> rusqlite::Result<Option<TurnRow>> {
    db.prepare_cached(
        "SELECT id, seq, (SELECT MAX(seq) FROM hx_turns WHERE session = ?1), state = 'open', exit_reason,
                started_at, ended_at
         FROM hx_turns WHERE session = ?1 AND seq = COALESCE(?2, seq) ORDER BY seq DESC LIMIT 1",
    )?
    .query_row(params![session.as_str(), number.map(crate::sessions::rows::counts::stored)], |row| {
        Ok(TurnRow {
            id: TurnId(row.get(0)?),
            number: count(row, 1)?,
            turns: count(row, 2)?,
            is_open: row.get(3)?,
            exit_reason: row.get(4)?,
            started_at: row.get(5)?,
            closed_at: row.get(6)?,
        })
    })
    .optional()
}

fn calls(db: &Connection, turn: TurnId) -> rusqlite::Result<Vec<TracedCall>> {
    db.prepare_cached(
        "SELECT name, started_at, ended_at, detail FROM hx_spans
         WHERE turn = ?1 AND kind = 'model' ORDER BY started_at, n",
    )?
    .query_map([turn.0], call)?
    .collect()
}

/// Reads a model call. Missing fields are left out: other versions may have other fields.
fn call(row: &Row<'_>) -> rusqlite::Result<TracedCall> {
    let detail: Value = serde_json::from_str(&row.get::<_, String>(3)?).unwrap_or_default();
    let text = |name: &str| detail[name].as_str().unwrap_or_default().to_owned();
    Ok(TracedCall {
        model: row.get(0)?,
        provider: text("provider"),
        started_at: row.get(1)?,
        ended_at: row.get(2)?,
        attempt: detail["attempt"].as_u64().unwrap_or(1),
        outcome: text("outcome"),
        why: text("why"),
        first_byte_ms: detail["first_byte_ms"].as_u64(),
        usage: serde_json::from_value(detail["usage"].clone()).ok(),
        cost_usd: detail["cost_usd"].as_f64(),
        cost_status: detail["cost_status"].as_str().map(str::to_owned),
        partial: detail["partial"].as_str().map(str::to_owned),
    })
}

fn tools(db: &Connection, turn: TurnId) -> rusqlite::Result<Vec<TracedTool>> {
    db.prepare_cached(
        "SELECT tool, call_id, state, decision, created_at, started_at, ended_at
         FROM hx_intents WHERE turn = ?1 ORDER BY id",
    )?
    .query_map([turn.0], tool)?
    .collect()
}

fn tool(row: &Row<'_>) -> rusqlite::Result<TracedTool> {
    let state = IntentState::parse(&row.get::<_, String>(2)?).unwrap_or(IntentState::Unknown);
    Ok(TracedTool {
        tool: row.get(0)?,
        call_id: row.get(1)?,
        state,
        decision: row.get(3)?,
        planned_at: row.get(4)?,
        started_at: row.get(5)?,
        // Crash recovery recorded the time of recovery, which is not the end of the call.
        ended_at: row.get::<_, Option<f64>>(6)?.filter(|_| state != IntentState::Unknown),
    })
}

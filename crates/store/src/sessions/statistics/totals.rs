//! Totals of the store: sessions, messages, calls and tokens, by model, source and day.
//!
//! The numbers come from the counters of the sessions, so that a large store answers at once; `verify` checks
//! the counters. A session counts for the day of its start.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::rows::counts::count;
use rusqlite::{Connection, Row};

/// Number of days in the list by day, including today.
const DAYS: u32 = 14;

/// Totals of some sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub sessions: u64,
    pub messages: u64,
    pub tool_calls: u64,
    pub api_calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    pub reasoning_tokens: u64,
}

/// A tally of a model, source or day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTally {
    pub name: String,
    pub tally: Tally,
}

/// Totals of the store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistics {
    pub total: Tally,
    /// Sessions and messages count for the session's current model; tokens and calls for the model that was
    /// called.
    pub by_model: Vec<NamedTally>,
    pub by_source: Vec<NamedTally>,
    /// The last 14 local days with a new session, newest first.
    pub by_day: Vec<NamedTally>,
    /// Size of the database.
    pub bytes: u64,
    /// Size of the write-ahead log.
    pub log_bytes: u64,
}

impl SessionDb {
    /// Returns the totals of the store.
    pub async fn statistics(&self) -> Result<Statistics, StoreError> {
        let now = self.now();
        self.read(move |db| {
            let mut statistics = counted(db, now).doing("count the sessions")?;
            let path = db.path().unwrap_or_default();
            statistics.bytes = size(path);
            statistics.log_bytes = size(&format!("{path}-wal"));
            Ok(statistics)
        })
        .await
    }
}

/// Every session as a row of numbers, with the names that [`SUMS`] uses. The counters of a compacted
/// session count active messages only, so its original messages are counted instead.
const OF_SESSIONS: &str = "SELECT id, source, started_at, COALESCE(model, 'unknown') AS model, 1 AS sessions,
    CASE WHEN id IN (SELECT session FROM hx_compactions) THEN
        (SELECT COUNT(*) FROM messages AS m WHERE m.session_id = sessions.id AND NOT EXISTS
             (SELECT 1 FROM hx_message_ext AS x WHERE x.message_id = m.id AND x.made = 1))
    ELSE message_count END AS messages,
    CASE WHEN id IN (SELECT session FROM hx_compactions) THEN
        (SELECT SUM(CASE WHEN COALESCE(m.tool_calls, '') = '' THEN 0
                         WHEN json_valid(m.tool_calls) AND json_type(m.tool_calls) = 'array'
                             THEN json_array_length(m.tool_calls) ELSE 1 END)
         FROM messages AS m WHERE m.session_id = sessions.id AND NOT EXISTS
             (SELECT 1 FROM hx_message_ext AS x WHERE x.message_id = m.id AND x.made = 1))
    ELSE tool_call_count END AS tools,
    api_call_count AS calls, input_tokens AS input,
    output_tokens AS output, cache_read_tokens AS cache_read, cache_write_tokens AS cache_write,
    reasoning_tokens AS reasoning FROM sessions";

const SUMS: &str = "SUM(sessions), SUM(messages), SUM(tools), SUM(calls), SUM(input), SUM(output),
    SUM(cache_read), SUM(cache_write), SUM(reasoning)";

fn counted(db: &Connection, now: f64) -> rusqlite::Result<Statistics> {
    let total = db.query_row(&format!("SELECT '', {SUMS} FROM ({OF_SESSIONS})"), [], named)?;
    let by_source = format!(
        "SELECT source, {SUMS} FROM ({OF_SESSIONS}) GROUP BY source ORDER BY SUM(messages) DESC, source"
    );
    let by_day = format!(
        "SELECT date(started_at, 'unixepoch', 'localtime') AS day, {SUMS} FROM ({OF_SESSIONS})
         WHERE day > date(?1, 'unixepoch', 'localtime', '-{DAYS} days') GROUP BY day ORDER BY day DESC"
    );
    Ok(Statistics {
        total: total.tally,
        by_model: db.prepare(&by_model())?.query_map([], named)?.collect::<rusqlite::Result<_>>()?,
        by_source: db.prepare(&by_source)?.query_map([], named)?.collect::<rusqlite::Result<_>>()?,
        by_day: db.prepare(&by_day)?.query_map([now], named)?.collect::<rusqlite::Result<_>>()?,
        ..Statistics::default()
    })
}

/// Splits sessions by model if their usage is stored by model.
fn by_model() -> String {
    let unless_split = "CASE WHEN id IN (SELECT session_id FROM session_model_usage) THEN 0 ELSE";
    format!(
        "SELECT model, {SUMS} FROM (
             SELECT model, sessions, messages, tools, {unless_split} calls END AS calls,
                 {unless_split} input END AS input, {unless_split} output END AS output,
                 {unless_split} cache_read END AS cache_read, {unless_split} cache_write END AS cache_write,
                 {unless_split} reasoning END AS reasoning
             FROM ({OF_SESSIONS})
             UNION ALL
             SELECT model, 0, 0, 0, api_call_count, input_tokens, output_tokens, cache_read_tokens,
                 cache_write_tokens, reasoning_tokens FROM session_model_usage)
         GROUP BY model ORDER BY SUM(input) + SUM(output) DESC, model"
    )
}

fn named(row: &Row<'_>) -> rusqlite::Result<NamedTally> {
    let tally = Tally {
        sessions: count(row, 1)?,
        messages: count(row, 2)?,
        tool_calls: count(row, 3)?,
        api_calls: count(row, 4)?,
        input_tokens: count(row, 5)?,
        output_tokens: count(row, 6)?,
        cache_read_tokens: count(row, 7)?,
        cache_write_tokens: count(row, 8)?,
        reasoning_tokens: count(row, 9)?,
    };
    Ok(NamedTally { name: crate::sessions::rows::decode::text(row, 0)?.unwrap_or_default(), tally })
}

fn size(path: &str) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

//! Adds messages to a session, with everything that must change in the same transaction: the
//! order, the counters, the outbox of the search index.

use super::artifacts;
use super::encode::Columns;
use super::numbers::stored;
use super::sums;
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::{MessageId, SessionId, TurnId};
use rusqlite::{Connection, params};

/// Where and when a message is added. A summary belongs to no turn when none is open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub session: &'a SessionId,
    pub turn: Option<TurnId>,
    pub at: f64,
}

/// Adds one message at the end of the session.
pub(crate) fn message(db: &Connection, place: Place<'_>, columns: &Columns) -> Result<MessageId, StoreError> {
    insert_shared(db, place, columns).doing("record a message")?;
    let id = db.last_insert_rowid();
    insert_own(db, place, columns, id).doing("record a message")?;
    queue(db, id, "put").doing("queue a message for the index")?;
    artifacts::note(db, place.session, columns).doing("note the files of a message")?;
    db.prepare_cached(
        "UPDATE sessions SET message_count = COALESCE(message_count, 0) + 1,
                             tool_call_count = COALESCE(tool_call_count, 0) + ?2 WHERE id = ?1",
    )
    .and_then(|mut count| count.execute(params![place.session.as_str(), stored(columns.call_count)]))
    .doing("count a message")?;
    Ok(MessageId(id))
}

fn insert_shared(db: &Connection, place: Place<'_>, columns: &Columns) -> rusqlite::Result<usize> {
    db.prepare_cached(
        "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name,
             effect_disposition, timestamp, finish_reason, reasoning, reasoning_content,
             reasoning_details, codex_reasoning_items, codex_message_items, api_content)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?
    .execute(params![
        place.session.as_str(),
        columns.role,
        columns.content,
        columns.tool_call_id,
        columns.tool_calls,
        columns.tool_name,
        columns.effect_disposition,
        place.at,
        columns.finish_reason,
        columns.reasoning,
        columns.reasoning_content,
        columns.reasoning_details,
        columns.codex_reasoning_items,
        columns.codex_message_items,
        columns.api_content,
    ])
}

/// The number is taken inside the write transaction, and the unique index on it would refuse a
/// second message in the same place.
fn insert_own(db: &Connection, place: Place<'_>, columns: &Columns, id: i64) -> rusqlite::Result<usize> {
    db.prepare_cached(
        "INSERT INTO hx_message_ext (message_id, session, seq, turn, issuer, anthropic_blocks, plain, sum)
         VALUES (?1, ?2, (SELECT COALESCE(MAX(seq), 0) + 1 FROM hx_message_ext WHERE session = ?2), ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        id,
        place.session.as_str(),
        place.turn.map(|turn| turn.0),
        columns.issuer,
        columns.anthropic_blocks,
        columns.plain,
        sums::of_columns(columns),
    ])
}

/// Tells the indexer that a message came (`put`) or went (`drop`).
pub(crate) fn queue(db: &Connection, message: i64, op: &'static str) -> rusqlite::Result<usize> {
    db.prepare_cached("INSERT INTO hx_outbox (message_id, op) VALUES (?1, ?2)")?.execute(params![message, op])
}

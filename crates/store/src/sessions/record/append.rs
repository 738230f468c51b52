//! Adds messages to a session, with everything that must change in the same transaction: the
//! order, the counters, the outbox of the search index.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::artifacts;
use crate::sessions::rows::checksum;
use crate::sessions::rows::counts::stored;
use crate::sessions::rows::encode::Columns;
use hermes_conversation::{MessageId, SessionId, TurnId};
use rusqlite::{Connection, params};

/// Where and when a message is added. A summary belongs to no turn when none is open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub session: &'a SessionId,
    pub turn: Option<TurnId>,
    pub at: f64,
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Somebody,
    /// A compaction; if it is a copy, of this message.
    Compaction(Option<MessageId>),
}

/// Adds one message at the end of the session.
pub(crate) fn message(db: &Connection, place: Place<'_>, columns: &Columns) -> Result<MessageId, StoreError> {
    let id = insert(db, place, columns, Origin::Somebody)?;
    queue(db, id.0, "put").doing("queue a message for the index")?;
    Ok(id)
}

/// Adds a message that a compaction wrote. It is not indexed: what it repeats is found where it was said.
pub(crate) fn made(
    db: &Connection,
    place: Place<'_>,
    columns: &Columns,
    copy_of: Option<MessageId>,
) -> Result<MessageId, StoreError> {
    insert(db, place, columns, Origin::Compaction(copy_of))
}

fn insert(
    db: &Connection,
    place: Place<'_>,
    columns: &Columns,
    origin: Origin,
) -> Result<MessageId, StoreError> {
    insert_shared(db, place, columns).doing("record a message")?;
    let id = db.last_insert_rowid();
    insert_own(db, place, columns, id, origin).doing("record a message")?;
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
fn insert_own(
    db: &Connection,
    place: Place<'_>,
    columns: &Columns,
    id: i64,
    origin: Origin,
) -> rusqlite::Result<usize> {
    let (made, copy_of) = match origin {
        Origin::Somebody => (false, None),
        Origin::Compaction(copy_of) => (true, copy_of),
    };
    db.prepare_cached(
        "INSERT INTO hx_message_ext (message_id, session, seq, turn, issuer, anthropic_blocks, plain, sum, made, copy_of)
         VALUES (?1, ?2, (SELECT COALESCE(MAX(seq), 0) + 1 FROM hx_message_ext WHERE session = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        id,
        place.session.as_str(),
        place.turn.map(|turn| turn.0),
        columns.issuer,
        columns.anthropic_blocks,
        columns.plain,
        checksum::of_columns(columns),
        made,
        copy_of.map(|original| original.0),
    ])
}

/// Tells the indexer that a message came (`put`) or went (`drop`).
pub(crate) fn queue(db: &Connection, message: i64, op: &'static str) -> rusqlite::Result<usize> {
    db.prepare_cached("INSERT INTO hx_outbox (message_id, op) VALUES (?1, ?2)")?.execute(params![message, op])
}

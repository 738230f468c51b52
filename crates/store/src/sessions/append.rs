//! Adds messages to a session, with everything that must change in the same transaction: the
//! order, the counters, the outbox of the search index.

use super::artifacts;
use super::encode::Columns;
use super::numbers::stored;
use super::sums;
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::{MessageId, SessionId, SpentCall, TurnId};
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

/// Counts what a model call cost.
pub(crate) fn spent(
    db: &Connection,
    session: &SessionId,
    call: &SpentCall,
    at: f64,
) -> Result<(), StoreError> {
    let usage = &call.usage;
    db.prepare_cached(
        "UPDATE sessions SET api_call_count = COALESCE(api_call_count, 0) + ?9,
             input_tokens = COALESCE(input_tokens, 0) + ?2,
             output_tokens = COALESCE(output_tokens, 0) + ?3,
             cache_read_tokens = COALESCE(cache_read_tokens, 0) + ?4,
             cache_write_tokens = COALESCE(cache_write_tokens, 0) + ?5,
             reasoning_tokens = COALESCE(reasoning_tokens, 0) + ?6,
             billing_provider = COALESCE(billing_provider, ?7),
             billing_base_url = COALESCE(billing_base_url, ?8)
         WHERE id = ?1",
    )
    .and_then(|mut count| {
        count.execute(params![
            session.as_str(),
            stored(usage.input),
            stored(usage.output),
            stored(usage.cache_read),
            stored(usage.cache_write),
            stored(usage.reasoning),
            call.provider,
            call.base_url,
            stored(call.calls),
        ])
    })
    .doing("count what a call cost")?;
    spent_by_model(db, session, call, at).doing("count what a call cost")?;
    Ok(())
}

fn spent_by_model(
    db: &Connection,
    session: &SessionId,
    call: &SpentCall,
    at: f64,
) -> rusqlite::Result<usize> {
    let usage = &call.usage;
    db.prepare_cached(
        "INSERT INTO session_model_usage (session_id, model, billing_provider, billing_base_url,
             billing_mode, task, api_call_count, input_tokens, output_tokens, cache_read_tokens,
             cache_write_tokens, reasoning_tokens, first_seen, last_seen)
         VALUES (?1, ?2, ?3, ?4, '', '', ?11, ?5, ?6, ?7, ?8, ?9, ?10, ?10)
         ON CONFLICT DO UPDATE SET
             api_call_count = api_call_count + excluded.api_call_count,
             input_tokens = input_tokens + excluded.input_tokens,
             output_tokens = output_tokens + excluded.output_tokens,
             cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
             cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
             reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
             last_seen = excluded.last_seen",
    )?
    .execute(params![
        session.as_str(),
        call.model,
        call.provider,
        call.base_url,
        stored(usage.input),
        stored(usage.output),
        stored(usage.cache_read),
        stored(usage.cache_write),
        stored(usage.reasoning),
        at,
        stored(call.calls),
    ])
}

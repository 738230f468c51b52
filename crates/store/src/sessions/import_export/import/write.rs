//! Writes the rows of an imported session.
//!
//! Our own columns are restored, with new sequence numbers. A turn that was open when it was exported is open
//! again, so that a resume closes it like after a crash.

use super::row::{OwnFields, Table, row_for};
use super::{Ids, Session, epochs, trust};
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::listing::titles::{numbered, titles_like};
use crate::sessions::record::append;
use crate::sessions::rows::checksum;
use crate::sessions::{artifacts, lineage};
use hermes_conversation::SessionId;
use rusqlite::types::Value as Stored;
use rusqlite::{Connection, params};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Messages with larger ids get new ones, because no id may follow the maximum.
const LARGEST_ID: i64 = 1 << 53;

/// Deletes our rows of a session that the Python release deleted.
const LEFTOVERS: [&str; 16] = [
    "DELETE FROM hx_artifacts WHERE session = ?1",
    "DELETE FROM hx_message_ext WHERE session = ?1",
    "DELETE FROM hx_inner_calls WHERE intent IN (SELECT id FROM hx_intents WHERE session = ?1)",
    "DELETE FROM hx_intents WHERE session = ?1",
    "DELETE FROM hx_decisions WHERE session = ?1",
    "DELETE FROM hx_spans WHERE turn IN (SELECT id FROM hx_turns WHERE session = ?1)",
    "DELETE FROM hx_turns WHERE session = ?1",
    "DELETE FROM hx_mailbox WHERE session = ?1",
    "DELETE FROM hx_processes WHERE session = ?1 AND ended_at IS NOT NULL",
    "DELETE FROM hx_delegations WHERE session = ?1",
    "DELETE FROM hx_session_ext WHERE session = ?1",
    "DELETE FROM hx_prompts WHERE session = ?1",
    "DELETE FROM hx_nodes WHERE session = ?1",
    "DELETE FROM hx_compactions WHERE session = ?1",
    "DELETE FROM hx_pins WHERE session = ?1",
    "DELETE FROM hx_leases WHERE session = ?1",
];

/// Writes a session; `before` are the message ids of its ancestors. Returns `None` if the session exists.
pub(super) fn session(db: &Connection, session: &Session, before: &Ids) -> Result<Option<Ids>, StoreError> {
    let is_known = db
        .prepare_cached("SELECT 1 FROM sessions WHERE id = ?1")
        .and_then(|mut find| find.exists([&session.id]))
        .doing("find a session")?;
    if is_known {
        return Ok(None);
    }
    for leftover in LEFTOVERS {
        db.execute(leftover, [&session.id]).doing("delete leftover rows of a session")?;
    }
    insert_session(db, session).doing("import a session")?;
    insert_usage(db, session).doing("import a session's costs")?;
    let turns = insert_turns(db, session).doing("import a turn")?;
    let mut ids = before.clone();
    ids.extend(insert_messages(db, session, &turns).doing("import a message")?);
    epochs::insert(db, session, &ids).doing("import a compaction")?;
    insert_mail(db, session).doing("import queued mail")?;
    trust::mark(db, &session.id).doing("mark an imported session")?;
    count_messages(db, session).doing("count the messages")?;
    Ok(Some(ids))
}

/// Counts the messages, if the file has no counters.
fn count_messages(db: &Connection, session: &Session) -> rusqlite::Result<()> {
    for (column, sql) in [
        ("message_count", "SELECT COUNT(*) FROM messages WHERE session_id = ?1 AND active = 1"),
        (
            "tool_call_count",
            "SELECT COALESCE(SUM(CASE WHEN json_type(tool_calls) = 'array' THEN json_array_length(tool_calls) ELSE 1 END), 0)
             FROM messages WHERE session_id = ?1 AND active = 1 AND json_valid(tool_calls)",
        ),
    ] {
        if !session.columns.contains_key(column) {
            db.execute(&format!("UPDATE sessions SET {column} = ({sql}) WHERE id = ?1"), [&session.id])?;
        }
    }
    Ok(())
}

fn insert_session(db: &Connection, session: &Session) -> rusqlite::Result<()> {
    let mut row = row_for(db, Table::Sessions, &session.columns)?;
    if let Some(title) = session.columns.get("title").and_then(Value::as_str) {
        row.set("title", Stored::Text(free_title(db, title)?));
    }
    row.set("parent_session_id", parent(db, session)?.map_or(Stored::Null, Stored::Text));
    row.insert(db)?;
    if let Some(quirks) = session.columns.get("hx_quirks").and_then(Value::as_str) {
        db.prepare_cached("INSERT INTO hx_session_ext (session, quirks) VALUES (?1, ?2)")?
            .execute([session.id.as_str(), quirks])?;
    }
    Ok(())
}

/// Returns the parent, if it exists.
fn parent(db: &Connection, session: &Session) -> rusqlite::Result<Option<String>> {
    let Some(parent) = session.parent() else { return Ok(None) };
    let is_there = db.prepare_cached("SELECT 1 FROM sessions WHERE id = ?1")?.exists([parent])?;
    let is_fine = is_there && !lineage::would_create_cycle(db, &session.id, parent)?;
    Ok(is_fine.then(|| parent.to_owned()))
}

/// Returns the title, numbered if another session has it.
fn free_title(db: &Connection, title: &str) -> rusqlite::Result<String> {
    let taken = db.prepare_cached("SELECT 1 FROM sessions WHERE title = ?1")?.exists([title])?;
    if !taken {
        return Ok(title.to_owned());
    }
    let base = numbered(title).0;
    let highest = titles_like(db, base)?.iter().map(|(_, title)| numbered(title).1).max();
    Ok(format!("{base} #{}", highest.unwrap_or(1).saturating_add(1)))
}

pub(super) fn objects<'a>(
    columns: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    columns.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

fn insert_usage(db: &Connection, session: &Session) -> rusqlite::Result<()> {
    for usage in objects(&session.columns, "session_model_usage") {
        let mut row = row_for(db, Table::Usage, usage)?;
        row.set("session_id", Stored::Text(session.id.clone()));
        row.insert(db)?;
    }
    Ok(())
}

/// Ids of turns by number.
type Turns = HashMap<i64, i64>;

/// Inserts the turns, without owner and lease, which are needed only for open turns.
fn insert_turns(db: &Connection, session: &Session) -> rusqlite::Result<Turns> {
    let mut turns = Turns::new();
    for turn in objects(&session.columns, "hx_turns") {
        let mut row = row_for(db, Table::Turns, turn)?;
        row.unset("id");
        row.set("session", Stored::Text(session.id.clone()));
        row.set("owner", Stored::Text(String::new()));
        row.set("generation", Stored::Integer(0));
        row.insert(db)?;
        turns.extend(turn.get("seq").and_then(Value::as_i64).map(|seq| (seq, db.last_insert_rowid())));
    }
    Ok(turns)
}

/// Inserts queued mail. It is held until the user trusts it; nothing else about it is read from the file.
fn insert_mail(db: &Connection, session: &Session) -> rusqlite::Result<()> {
    for mail in objects(&session.columns, "hx_waiting_mail") {
        let mut row = row_for(db, Table::Mailbox, mail)?;
        for column in ["id", "state", "turn", "message", "delivered_at"] {
            row.unset(column);
        }
        row.set("session", Stored::Text(session.id.clone()));
        row.set("state", Stored::Text("held".to_owned()));
        row.insert(db)?;
    }
    Ok(())
}

fn insert_messages(db: &Connection, session: &Session, turns: &Turns) -> rusqlite::Result<Ids> {
    let keeps_ids = are_free(db, session)?;
    let mut ids = Ids::new();
    let mut seq = 0;
    for message in &session.messages {
        let mut row = row_for(db, Table::Messages, message)?;
        row.set("session_id", Stored::Text(session.id.clone()));
        if !keeps_ids {
            row.unset("id");
        }
        row.insert(db)?;
        let id = db.last_insert_rowid();
        ids.extend(message.get("id").and_then(Value::as_i64).map(|known| (known, id)));
        let mut is_generated = false;
        if let Some(own) = OwnFields::of(message).filter(OwnFields::is_ours) {
            seq += 1;
            insert_own(db, &own, &session.id, (id, seq), turns)?;
            checksum::record(db, id)?;
            is_generated = own.is_generated();
        }
        if !is_generated {
            append::queue(db, id, "put")?;
        }
        artifacts::note_row(db, id)?;
    }
    Ok(ids)
}

/// Returns true if the messages can keep their ids. Ids of messages that the Python release deleted are not
/// free while our row of them exists.
fn are_free(db: &Connection, session: &Session) -> rusqlite::Result<bool> {
    let mut taken = db.prepare_cached(
        "SELECT 1 FROM messages WHERE id = ?1 UNION ALL SELECT 1 FROM hx_message_ext WHERE message_id = ?1",
    )?;
    let mut last = parent_start(db, session)?;
    for message in &session.messages {
        let Some(id) = message.get("id").and_then(Value::as_i64) else { return Ok(false) };
        if id <= last || id > LARGEST_ID || taken.exists([id])? {
            return Ok(false);
        }
        last = id;
    }
    Ok(true)
}

/// Returns the first message id of the parent. If the parent's messages got new, larger ids, this session
/// needs new ones, too, because ids define the order.
fn parent_start(db: &Connection, session: &Session) -> rusqlite::Result<i64> {
    let line = lineage::continuation_chain(db, &SessionId::new(session.id.clone()))?;
    let mut first = db.prepare_cached("SELECT COALESCE(MIN(id), 0) FROM messages WHERE session_id = ?1")?;
    let all: rusqlite::Result<Vec<i64>> =
        line.iter().map(|id| first.query_row([id.as_str()], |row| row.get(0))).collect();
    Ok(all?.into_iter().max().unwrap_or_default())
}

fn insert_own(
    db: &Connection,
    own: &OwnFields<'_>,
    session: &str,
    (id, seq): (i64, i64),
    turns: &Turns,
) -> rusqlite::Result<()> {
    let turn = own.turn().and_then(|seq| turns.get(&seq));
    let (issuer, blocks) = (own.field("issuer"), own.field("anthropic_blocks"));
    db.prepare_cached(
        "INSERT INTO hx_message_ext (message_id, session, seq, turn, issuer, anthropic_blocks, plain, made)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![id, session, seq, turn, issuer, blocks, own.is_plain(), own.is_generated()])?;
    Ok(())
}

//! Deletes a session.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::record::{append, lease};
use crate::sessions::{Liveness, SessionDb, artifacts, lineage};
use hermes_conversation::SessionId;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Deletes the rows of a session in all tables. Other children stay, without a parent.
const TRACES: [&str; 19] = [
    "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?1",
    "DELETE FROM hx_message_ext WHERE session = ?1",
    "DELETE FROM hx_inner_calls WHERE intent IN (SELECT id FROM hx_intents WHERE session = ?1)",
    "DELETE FROM hx_intents WHERE session = ?1",
    "DELETE FROM hx_decisions WHERE session = ?1",
    "DELETE FROM hx_spans WHERE turn IN (SELECT id FROM hx_turns WHERE session = ?1)",
    "DELETE FROM hx_turns WHERE session = ?1",
    "DELETE FROM hx_mailbox WHERE session = ?1",
    // One that runs stays in the list, so that it can be ended.
    "DELETE FROM hx_processes WHERE session = ?1 AND ended_at IS NOT NULL",
    "DELETE FROM hx_delegations WHERE session = ?1",
    "DELETE FROM hx_session_ext WHERE session = ?1",
    "DELETE FROM hx_prompts WHERE session = ?1",
    "DELETE FROM hx_nodes WHERE session = ?1",
    "DELETE FROM hx_compactions WHERE session = ?1",
    "DELETE FROM hx_pins WHERE session = ?1",
    "DELETE FROM hx_leases WHERE session = ?1",
    "DELETE FROM messages WHERE session_id = ?1",
    "DELETE FROM session_model_usage WHERE session_id = ?1",
    "DELETE FROM compression_locks WHERE session_id = ?1",
];

impl SessionDb {
    /// Deletes a session, its messages, the files that only they mention, and the sessions of its sub-agents.
    /// Refused while a live process holds one of them.
    pub async fn delete(&self, id: &SessionId) -> Result<(), StoreError> {
        let (id, is_alive) = (id.clone(), self.is_alive);
        let (released, adopted) = self.write(Level::Full, move |db| delete(db, &id, is_alive)).await?;
        self.remove_unmentioned(released).await;
        self.index_from(adopted).await
    }
}

/// Returns the files that the deleted sessions mentioned, and the first message that became an original.
fn delete(
    db: &Connection,
    id: &SessionId,
    is_alive: Liveness,
) -> Result<(BTreeSet<String>, Option<i64>), StoreError> {
    let sub_agents = sub_agents(db, id).doing("find a session's sub-agents")?;
    for session in sub_agents.iter().chain([id]) {
        if let Some(owner) = lease::holder(db, session, is_alive)? {
            return Err(StoreError::Busy { session: session.clone(), pid: owner.pid });
        }
    }
    let mut files = artifacts::release(db, id)?;
    for sub_agent in &sub_agents {
        files.extend(artifacts::release(db, sub_agent)?);
        remove(db, sub_agent)?;
    }
    let adopted = adopt_copies(db, id).doing("keep copied messages")?;
    match remove(db, id)? {
        0 => Err(StoreError::UnknownSession { wanted: id.to_string() }),
        _ => Ok((files, adopted)),
    }
}

/// Turns the newest copy of each deleted original in another session into an original, which searches find.
fn adopt_copies(db: &Connection, id: &SessionId) -> rusqlite::Result<Option<i64>> {
    let copies: Vec<(i64, i64)> = db
        .prepare(
            "SELECT MAX(x.message_id), x.copy_of FROM hx_message_ext AS x JOIN messages AS m ON m.id = x.copy_of
             WHERE m.session_id = ?1 AND x.session <> ?1 GROUP BY x.copy_of ORDER BY 1",
        )?
        .query_map([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for &(newest, original) in &copies {
        db.execute("UPDATE hx_message_ext SET copy_of = ?1 WHERE copy_of = ?2", [newest, original])?;
        db.execute("UPDATE hx_message_ext SET made = 0, copy_of = NULL WHERE message_id = ?1", [newest])?;
        append::queue(db, newest, "put")?;
    }
    Ok(copies.first().map(|(newest, _)| *newest))
}

/// Returns the sub-agents of a session, and theirs.
fn sub_agents(db: &Connection, id: &SessionId) -> rusqlite::Result<Vec<SessionId>> {
    let mark = lineage::marker("s", "_delegate_from");
    db.prepare(&format!(
        "WITH RECURSIVE line(id) AS (
             SELECT ?1
             UNION
             SELECT s.id FROM line JOIN sessions AS s ON s.parent_session_id = line.id WHERE {mark} IS NOT NULL)
         SELECT id FROM line WHERE id <> ?1"
    ))?
    .query_map([id.as_str()], |row| row.get(0).map(|id: String| SessionId::new(id)))?
    .collect()
}

fn remove(db: &Connection, id: &SessionId) -> Result<usize, StoreError> {
    for message in messages(db, id).doing("read a session's messages")? {
        append::queue(db, message, "drop").doing("queue a message for the index")?;
    }
    for trace in TRACES {
        db.execute(trace, [id.as_str()]).doing("delete a session")?;
    }
    db.execute("DELETE FROM sessions WHERE id = ?1", [id.as_str()]).doing("delete a session")
}

fn messages(db: &Connection, id: &SessionId) -> rusqlite::Result<Vec<i64>> {
    db.prepare("SELECT id FROM messages WHERE session_id = ?1")?
        .query_map([id.as_str()], |row| row.get(0))?
        .collect()
}

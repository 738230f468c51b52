//! Removes a session for good.

use super::writer::Level;
use super::{Liveness, SessionDb, append, artifacts, lease, lineage};
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::SessionId;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// What is known about a session only through its id. Other children stay, without a parent.
const TRACES: [&str; 12] = [
    "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?1",
    "DELETE FROM hx_message_ext WHERE session = ?1",
    "DELETE FROM hx_intents WHERE session = ?1",
    "DELETE FROM hx_spans WHERE turn IN (SELECT id FROM hx_turns WHERE session = ?1)",
    "DELETE FROM hx_turns WHERE session = ?1",
    "DELETE FROM hx_mailbox WHERE session = ?1",
    "DELETE FROM hx_session_ext WHERE session = ?1",
    "DELETE FROM hx_prompts WHERE session = ?1",
    "DELETE FROM hx_leases WHERE session = ?1",
    "DELETE FROM messages WHERE session_id = ?1",
    "DELETE FROM session_model_usage WHERE session_id = ?1",
    "DELETE FROM compression_locks WHERE session_id = ?1",
];

impl SessionDb {
    /// Removes a session, its messages, the files that only they mention, and the sessions of helpers
    /// that worked for it. Refused while a live process holds one of them.
    pub async fn delete(&self, id: &SessionId) -> Result<(), StoreError> {
        let (id, is_alive) = (id.clone(), self.is_alive);
        let released = self.write(Level::Full, move |db| delete(db, &id, is_alive)).await?;
        self.remove_unmentioned(released).await;
        Ok(())
    }
}

/// The names of the files that the removed sessions mentioned.
fn delete(db: &Connection, id: &SessionId, is_alive: Liveness) -> Result<BTreeSet<String>, StoreError> {
    let helpers = helpers(db, id).doing("look for a session's helpers")?;
    for session in helpers.iter().chain([id]) {
        if let Some(owner) = lease::holder(db, session, is_alive)? {
            return Err(StoreError::Busy { session: session.clone(), pid: owner.pid });
        }
    }
    let mut files = artifacts::release(db, id)?;
    for helper in &helpers {
        files.extend(artifacts::release(db, helper)?);
        remove(db, helper)?;
    }
    match remove(db, id)? {
        0 => Err(StoreError::UnknownSession { wanted: id.to_string() }),
        _ => Ok(files),
    }
}

/// The children that carry the mark of a delegation, and theirs.
fn helpers(db: &Connection, id: &SessionId) -> rusqlite::Result<Vec<SessionId>> {
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

//! End of a session: time and reason.
//!
//! The first reason stays: closing a compacted session later must not overwrite it. Resuming begins by
//! reopening.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use hermes_conversation::SessionId;
use rusqlite::{Connection, params};

impl SessionDb {
    /// Ends a session. Returns false if it has already ended or does not exist.
    pub async fn end(&self, id: &SessionId, reason: &str) -> Result<bool, StoreError> {
        let (id, reason, now) = (id.clone(), reason.to_owned(), self.now());
        self.write(Level::Normal, move |db| end(db, &id, &reason, now).doing("end a session")).await
    }

    /// Ends a session because the user starts a new one; `reason` is `session_reset` or a more specific
    /// one. It replaces a reason that only says that a program closed the session.
    pub async fn end_for_reset(&self, id: &SessionId, reason: &str) -> Result<bool, StoreError> {
        let (id, reason, now) = (id.clone(), reason.to_owned(), self.now());
        self.write(Level::Normal, move |db| {
            let changed = db
                .execute(
                    "UPDATE sessions SET ended_at = ?3, end_reason = ?2
                     WHERE id = ?1 AND (ended_at IS NULL OR end_reason IN ('agent_close', 'ws_orphan_reap'))",
                    params![id.as_str(), reason, now],
                )
                .doing("end a session")?;
            Ok(changed == 1)
        })
        .await
    }

    /// Removes the end of a session.
    pub async fn reopen(&self, id: &SessionId) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(Level::Normal, move |db| reopen(db, &id)).await
    }
}

pub(crate) fn end(db: &Connection, id: &SessionId, reason: &str, now: f64) -> rusqlite::Result<bool> {
    let changed = db
        .prepare_cached(
            "UPDATE sessions SET ended_at = ?3, end_reason = ?2 WHERE id = ?1 AND ended_at IS NULL",
        )?
        .execute(params![id.as_str(), reason, now])?;
    Ok(changed == 1)
}

pub(crate) fn reopen(db: &Connection, id: &SessionId) -> Result<(), StoreError> {
    let reopened = db
        .prepare_cached("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?1")
        .and_then(|mut reopen| reopen.execute([id.as_str()]))
        .doing("reopen a session")?;
    match reopened {
        0 => Err(StoreError::UnknownSession { wanted: id.to_string() }),
        _ => Ok(()),
    }
}

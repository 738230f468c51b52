//! Replaces or clears the messages of a session.
//!
//! Each operation is one transaction, so a session never has half of its messages. Afterwards the counters
//! equal the active messages. Compactions are `epoch`'s work.

use super::append::{self, Place};
use super::lease;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::rows::encode::{self, Columns};
use crate::sessions::{SessionDb, artifacts};
use hermes_conversation::{Lease, Message, SessionId};
use rusqlite::Connection;

impl SessionDb {
    /// Deletes the active messages and appends `messages`, which belong to the open turn, if any. Rewound and
    /// summarised messages stay, and so do the files that the deleted messages mention: they are removed with
    /// the session.
    pub async fn replace(&self, lease: &Lease, messages: &[Message]) -> Result<(), StoreError> {
        let columns: Vec<Columns> = messages.iter().map(encode::columns).collect();
        let (lease, at) = (lease.clone(), self.now());
        self.write(Level::Full, move |db| {
            lease::fence(db, &lease)?;
            let session = &lease.session;
            remove(db, session, "m.active = 1")?;
            renumber(db, session).doing("renumber the messages")?;
            reset_counters(db, session).doing("count the messages")?;
            let turn = lease::newest_open_turn(db, session).doing("find an unfinished turn")?;
            let place = Place { session, turn: turn.map(|turn| turn.id), at };
            for columns in &columns {
                append::message(db, place, columns)?;
            }
            Ok(())
        })
        .await
    }

    /// Deletes all messages of a session, and the record of its turns and compactions. Costs stay counted.
    /// Refused while another live process holds the session.
    pub async fn clear(&self, id: &SessionId) -> Result<(), StoreError> {
        let (id, is_alive) = (id.clone(), self.is_alive);
        let cleared = self.write(Level::Full, move |db| {
            lease::require_free(db, &id, is_alive)?;
            if reset_counters(db, &id).doing("count the messages")? == 0 {
                return Err(StoreError::UnknownSession { wanted: id.to_string() });
            }
            let files = artifacts::release(db, &id)?;
            remove(db, &id, "TRUE")?;
            for trace in [
                "DELETE FROM hx_message_ext WHERE session = ?1",
                "DELETE FROM hx_intents WHERE session = ?1",
                "DELETE FROM hx_decisions WHERE session = ?1",
                "DELETE FROM hx_turns WHERE session = ?1",
                "DELETE FROM hx_nodes WHERE session = ?1",
                "DELETE FROM hx_compactions WHERE session = ?1",
                "DELETE FROM hx_pins WHERE session = ?1",
            ] {
                db.execute(trace, [id.as_str()]).doing("clear a session")?;
            }
            Ok(files)
        });
        self.remove_unmentioned(cleared.await?).await;
        Ok(())
    }
}

/// Sets the counters to zero; appended messages count themselves.
pub(crate) fn reset_counters(db: &Connection, session: &SessionId) -> rusqlite::Result<usize> {
    db.execute("UPDATE sessions SET message_count = 0, tool_call_count = 0 WHERE id = ?1", [session.as_str()])
}

/// Deletes the messages that match `which`, with our columns, and queues them for the indexer.
fn remove(db: &Connection, session: &SessionId, which: &'static str) -> Result<(), StoreError> {
    for (sql, doing) in [
        (
            format!(
                "INSERT INTO hx_outbox (message_id, op) SELECT m.id, 'drop' FROM messages AS m WHERE m.session_id = ?1 AND {which}"
            ),
            "queue messages for the index",
        ),
        (
            format!(
                "DELETE FROM hx_message_ext WHERE message_id IN (SELECT m.id FROM messages AS m WHERE m.session_id = ?1 AND {which})"
            ),
            "delete messages",
        ),
        (format!("DELETE FROM messages AS m WHERE m.session_id = ?1 AND {which}"), "delete messages"),
    ] {
        db.execute(&sql, [session.as_str()]).doing(doing)?;
    }
    Ok(())
}

/// Renumbers the remaining messages without gaps, in two steps, because two messages must never have the
/// same number.
fn renumber(db: &Connection, session: &SessionId) -> rusqlite::Result<()> {
    db.execute("UPDATE hx_message_ext SET seq = -seq WHERE session = ?1", [session.as_str()])?;
    db.execute(
        "UPDATE hx_message_ext AS x SET seq = r.place
         FROM (SELECT message_id, ROW_NUMBER() OVER (ORDER BY seq DESC) AS place
               FROM hx_message_ext WHERE session = ?1) AS r
         WHERE x.message_id = r.message_id",
        [session.as_str()],
    )?;
    Ok(())
}

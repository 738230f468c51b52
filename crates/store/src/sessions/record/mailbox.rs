//! The mailbox: messages to a busy session, stored first and delivered once.
//!
//! Any process may post, with or without the session's lease. Only the lease holder delivers: mail is marked
//! in the transaction of the message it joins, so after a crash it is either in the history or still queued.

use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::{SessionDb, StoreError};
use hermes_conversation::{
    BoxFuture, DeliveryPoint, Lease, Mail, MailId, MailMode, Mailbox, MessageId, RecordError, SessionId,
    TurnId,
};
use rusqlite::{Connection, Row, params};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Sessions that may have steering mail. A turn asks after every batch of calls, and almost always there is
/// none, so this saves a read: mail posted through this handle is noted at once, mail of other processes by
/// the next plan.
#[derive(Debug, Default)]
pub(crate) struct Hints(Mutex<HashSet<SessionId>>);

impl Hints {
    pub(crate) fn note(&self, session: &SessionId) {
        self.with(|hints| hints.insert(session.clone()));
    }

    /// Clears the hint before the read, so that mail that arrives during it is noted again.
    fn take(&self, session: &SessionId) -> bool {
        self.with(|hints| hints.remove(session))
    }

    fn with(&self, act: impl FnOnce(&mut HashSet<SessionId>) -> bool) -> bool {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl SessionDb {
    /// Queues a message; it is durable when this returns. The session must exist.
    pub async fn post(&self, session: &SessionId, mode: MailMode, text: &str) -> Result<MailId, StoreError> {
        let (to, text, now) = (session.clone(), text.to_owned(), self.now());
        let posted = self.write(Level::Full, move |db| {
            let kept = db
                .prepare_cached(
                    "INSERT INTO hx_mailbox (session, mode, text, created_at)
                     SELECT id, ?2, ?3, ?4 FROM sessions WHERE id = ?1",
                )
                .and_then(|mut keep| keep.execute(params![to.as_str(), mode.as_str(), text, now]))
                .doing("queue a message for a session")?;
            match kept {
                0 => Err(StoreError::UnknownSession { wanted: to.to_string() }),
                _ => Ok(MailId(db.last_insert_rowid())),
            }
        });
        let id = posted.await?;
        self.shared.hints.note(session);
        Ok(id)
    }

    /// Returns the queued mail of a session, oldest first.
    pub async fn waiting(&self, session: &SessionId) -> Result<Vec<Mail>, StoreError> {
        let session = session.clone();
        self.read(move |db| waiting(db, &session).doing("read the mailbox")).await
    }
}

impl Mailbox for SessionDb {
    fn waiting<'a>(
        &'a self,
        lease: &'a Lease,
        point: DeliveryPoint,
    ) -> BoxFuture<'a, Result<Vec<Mail>, RecordError>> {
        Box::pin(async move {
            if point == DeliveryPoint::ToolResult && !self.shared.hints.take(&lease.session) {
                return Ok(Vec::new());
            }
            let mut mail = self.waiting(&lease.session).await?;
            mail.retain(|mail| point.takes(mail.mode));
            if !mail.is_empty() {
                // The mail stays queued until it is delivered.
                self.shared.hints.note(&lease.session);
            }
            Ok(mail)
        })
    }
}

fn waiting(db: &Connection, session: &SessionId) -> rusqlite::Result<Vec<Mail>> {
    db.prepare_cached(
        "SELECT id, mode, text FROM hx_mailbox WHERE session = ?1 AND state = 'waiting' ORDER BY id",
    )?
    .query_map([session.as_str()], from_row)?
    .collect()
}

/// Reads a row. An unknown mode is queued like any other message.
fn from_row(row: &Row<'_>) -> rusqlite::Result<Mail> {
    let mode: String = row.get(1)?;
    Ok(Mail {
        id: MailId(row.get(0)?),
        mode: MailMode::parse(&mode).unwrap_or(MailMode::Queue),
        text: row.get(2)?,
    })
}

/// Returns true if steering mail is queued for the session.
pub(crate) fn may_steer(db: &Connection, session: &SessionId) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM hx_mailbox WHERE session = ?1 AND state = 'waiting' AND mode = 'steer'")?
        .exists([session.as_str()])
}

/// Marks mail as part of a message, in the transaction that writes the message. Fails if the mail was
/// delivered before.
pub(crate) fn deliver(
    db: &Connection,
    session: &SessionId,
    mail: &[MailId],
    turn: TurnId,
    message: Option<MessageId>,
    now: f64,
) -> Result<(), StoreError> {
    for &id in mail {
        let marked = db
            .prepare_cached(
                "UPDATE hx_mailbox SET state = 'delivered', turn = ?3, message = ?4, delivered_at = ?5
                 WHERE id = ?1 AND session = ?2 AND state = 'waiting'",
            )
            .and_then(|mut mark| {
                mark.execute(params![id.0, session.as_str(), turn.0, message.map(|message| message.0), now])
            })
            .doing("deliver a message")?;
        if marked != 1 || message.is_none() {
            return Err(StoreError::MailNotDelivered { mail: id });
        }
    }
    Ok(())
}

/// Turns undelivered steering mail into prompts for the next turn.
pub(crate) fn queue_steering(db: &Connection, session: &SessionId) -> rusqlite::Result<usize> {
    db.prepare_cached(
        "UPDATE hx_mailbox SET mode = 'queue' WHERE session = ?1 AND state = 'waiting' AND mode = 'steer'",
    )?
    .execute([session.as_str()])
}

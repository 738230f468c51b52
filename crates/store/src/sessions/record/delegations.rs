//! Sub-agents that work in the background, and their reports.

use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::{SessionDb, StoreError};
use hermes_conversation::{CallId, MailMode, Owner, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Seconds for which ended rows are kept.
const KEPT: f64 = 7.0 * 24.0 * 60.0 * 60.0;

/// A sub-agent that is about to work in the background.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDelegation {
    pub id: String,
    /// The session that gets its report.
    pub session: SessionId,
    /// The call that started it.
    pub call: CallId,
    /// The session of the sub-agent.
    pub child: SessionId,
    pub goal: String,
    /// The process that it runs in.
    pub owner: Owner,
}

impl SessionDb {
    /// Records sub-agents before they begin. Forgets those that ended long ago.
    pub async fn begin_delegations(&self, all: Vec<NewDelegation>) -> Result<(), StoreError> {
        let now = self.now();
        self.write(Level::Full, move |db| begin(db, &all, now).doing("record a sub-agent")).await
    }

    /// Records the end of a sub-agent once, and its report in the same transaction. Returns the session for which the
    /// report was queued.
    pub async fn end_delegation(
        &self,
        id: &str,
        status: &str,
        notice: &str,
    ) -> Result<Option<SessionId>, StoreError> {
        let (id, status, notice, now) = (id.to_owned(), status.to_owned(), notice.to_owned(), self.now());
        let told = self
            .write(Level::Full, move |db| {
                end(db, &id, &status, &notice, now).doing("record the end of a sub-agent")
            })
            .await?;
        if let Some(session) = &told {
            self.shared.hints.note(session);
        }
        Ok(told)
    }

    /// The unfinished background sub-agents of a session, oldest first.
    pub async fn unfinished_delegations(
        &self,
        session: &SessionId,
    ) -> Result<Vec<NewDelegation>, StoreError> {
        let session = session.as_str().to_owned();
        self.read(move |db| {
            db.prepare_cached(
                "SELECT id, session, call, child, goal, pid, started, boot FROM hx_delegations
                 WHERE session = ?1 AND ended_at IS NULL ORDER BY number",
            )
            .and_then(|mut select| select.query_map([session], from_row)?.collect())
            .doing("list the background sub-agents")
        })
        .await
    }

    /// The session learns of the sub-agents of a call by its result: no message follows.
    pub async fn withdraw_delegations(&self, session: &SessionId, call: &CallId) -> Result<(), StoreError> {
        let (session, call, now) = (session.as_str().to_owned(), call.as_str().to_owned(), self.now());
        self.write(Level::Full, move |db| {
            db.prepare_cached(
                "UPDATE hx_delegations SET ended_at = ?3, status = 'withdrawn'
                 WHERE session = ?1 AND call = ?2 AND ended_at IS NULL",
            )
            .and_then(|mut update| update.execute(params![session, call, now]))
            .doing("withdraw the reports of sub-agents")?;
            Ok(())
        })
        .await
    }
}

fn begin(db: &Connection, all: &[NewDelegation], now: f64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM hx_delegations WHERE ended_at < ?1")?.execute([now - KEPT])?;
    let mut insert = db.prepare_cached(
        "INSERT INTO hx_delegations (id, session, call, child, goal, pid, started, boot, started_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for NewDelegation { id, session, call, child, goal, owner } in all {
        insert.execute(params![
            id,
            session.as_str(),
            call.as_str(),
            child.as_str(),
            goal,
            owner.pid,
            owner.started.cast_signed(),
            owner.boot,
            now
        ])?;
    }
    Ok(())
}

/// The session for which a message was queued.
fn end(
    db: &Connection,
    id: &str,
    status: &str,
    notice: &str,
    now: f64,
) -> rusqlite::Result<Option<SessionId>> {
    let ended = db
        .prepare_cached(
            "UPDATE hx_delegations SET ended_at = ?2, status = ?3 WHERE id = ?1 AND ended_at IS NULL",
        )?
        .execute(params![id, now, status])?;
    if ended == 0 {
        return Ok(None);
    }
    let queued = db
        .prepare_cached(
            "INSERT INTO hx_mailbox (session, mode, text, created_at)
             SELECT s.id, ?2, ?3, ?4 FROM sessions s JOIN hx_delegations d ON d.session = s.id WHERE d.id = ?1",
        )?
        .execute(params![id, MailMode::Queue.as_str(), notice, now])?;
    if queued == 0 {
        return Ok(None);
    }
    db.prepare_cached("SELECT session FROM hx_delegations WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()
        .map(|session: Option<String>| session.map(SessionId::new))
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<NewDelegation> {
    Ok(NewDelegation {
        id: row.get(0)?,
        session: SessionId::new(row.get::<_, String>(1)?),
        call: CallId::new(row.get::<_, String>(2)?),
        child: SessionId::new(row.get::<_, String>(3)?),
        goal: row.get(4)?,
        owner: Owner { pid: row.get(5)?, started: row.get::<_, i64>(6)?.cast_unsigned(), boot: row.get(7)? },
    })
}

//! Commands that run in the background, and the notices of their ends.

use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::{SessionDb, StoreError};
use hermes_conversation::{MailMode, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Seconds for which ended processes are kept; the supervisor keeps their output as long.
const KEPT: f64 = 7.0 * 24.0 * 60.0 * 60.0;

/// A background process that is about to start.
#[derive(Debug, Clone, PartialEq)]
pub struct NewProcess {
    pub id: String,
    pub session: SessionId,
    /// The key of its command at the supervisor.
    pub key: String,
    pub command: String,
    pub cwd: String,
    pub pid: u32,
    pub has_terminal: bool,
    /// A message tells the session of its end.
    pub notifies: bool,
    /// A message tells the session of output with one of these texts.
    pub patterns: Vec<String>,
}

/// A background process.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredProcess {
    /// Counts all processes of the home.
    pub number: i64,
    pub process: NewProcess,
    /// Seconds since 1970.
    pub started_at: f64,
    /// `None` until its end is known.
    pub end: Option<ProcessEnd>,
}

/// The end of a background process.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessEnd {
    /// Seconds since 1970.
    pub at: f64,
    pub exit_code: i32,
    /// `exited`, `killed`, `timed_out` or `lost`.
    pub reason: String,
}

const COLUMNS: &str = "number, id, session, key, command, cwd, pid, terminal, notifies, patterns, started_at, \
ended_at, exit_code, reason";

impl SessionDb {
    /// Records a process before its first instruction. Forgets those that ended long ago.
    pub async fn begin_process(&self, process: NewProcess) -> Result<i64, StoreError> {
        let now = self.now();
        self.write(Level::Full, move |db| {
            let doing = "record a background process";
            db.prepare_cached("DELETE FROM hx_processes WHERE ended_at < ?1")
                .and_then(|mut old| old.execute([now - KEPT]))
                .doing(doing)?;
            let NewProcess { id, session, key, command, cwd, pid, has_terminal, notifies, patterns } =
                process;
            let patterns = serde_json::to_string(&patterns).unwrap_or_default();
            db.prepare_cached(
                "INSERT INTO hx_processes
                   (id, session, key, command, cwd, pid, terminal, notifies, patterns, started_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )
            .and_then(|mut insert| {
                let values = params![
                    id,
                    session.as_str(),
                    key,
                    command,
                    cwd,
                    pid,
                    has_terminal,
                    notifies,
                    patterns,
                    now
                ];
                insert.execute(values)
            })
            .doing(doing)?;
            Ok(db.last_insert_rowid())
        })
        .await
    }

    /// The processes of a session, or of all; oldest first.
    pub async fn processes(&self, session: Option<&SessionId>) -> Result<Vec<StoredProcess>, StoreError> {
        let session = session.map(|session| session.as_str().to_owned());
        self.read(move |db| {
            db.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM hx_processes WHERE ?1 IS NULL OR session = ?1 ORDER BY number"
            ))
            .and_then(|mut select| select.query_map([session], from_row)?.collect())
            .doing("list the background processes")
        })
        .await
    }

    /// The process with this id, if there is one.
    pub async fn process(&self, id: &str) -> Result<Option<StoredProcess>, StoreError> {
        let id = id.to_owned();
        self.read(move |db| {
            db.prepare_cached(&format!("SELECT {COLUMNS} FROM hx_processes WHERE id = ?1"))
                .and_then(|mut select| select.query_row([id], from_row).optional())
                .doing("find a background process")
        })
        .await
    }

    /// Records the end of a process once, and the notice of it in the same transaction if the session wants one. Returns
    /// the session for which a notice was queued.
    pub async fn end_process(
        &self,
        id: &str,
        exit_code: i32,
        reason: &str,
        notice: &str,
    ) -> Result<Option<SessionId>, StoreError> {
        let (id, reason, notice, now) = (id.to_owned(), reason.to_owned(), notice.to_owned(), self.now());
        let (session, queued) = self
            .write(Level::Full, move |db| {
                end(db, &id, exit_code, &reason, &notice, now).doing("record the end of a process")
            })
            .await?;
        let told = session.filter(|_| queued).map(SessionId::new);
        if let Some(session) = &told {
            self.shared.hints.note(session);
        }
        Ok(told)
    }

    /// The session has learned of the end of a process: a notice that it has not received is withdrawn.
    pub async fn withdraw_process_notice(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(Level::Full, move |db| {
            db.prepare_cached(
                "DELETE FROM hx_mailbox WHERE state = 'waiting'
                   AND id = (SELECT mail FROM hx_processes WHERE id = ?1)",
            )
            .and_then(|mut delete| delete.execute([&id]))
            .and_then(|_| {
                db.prepare_cached("UPDATE hx_processes SET notifies = 0 WHERE id = ?1")?.execute([&id])
            })
            .doing("withdraw the notice of a process")?;
            Ok(())
        })
        .await
    }

    /// From now on a message tells the session of the end of a process, and none of its output.
    pub async fn notify_of_end(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(Level::Full, move |db| {
            db.prepare_cached("UPDATE hx_processes SET notifies = 1, patterns = '[]' WHERE id = ?1")
                .and_then(|mut update| update.execute([&id]))
                .doing("change the notices of a process")?;
            Ok(())
        })
        .await
    }
}

/// The session of the process, and whether a notice was queued for it.
fn end(
    db: &Connection,
    id: &str,
    exit_code: i32,
    reason: &str,
    notice: &str,
    now: f64,
) -> rusqlite::Result<(Option<String>, bool)> {
    let ended = db
        .prepare_cached(
            "UPDATE hx_processes SET ended_at = ?2, exit_code = ?3, reason = ?4
             WHERE id = ?1 AND ended_at IS NULL",
        )?
        .execute(params![id, now, exit_code, reason])?;
    let session: Option<String> = db
        .prepare_cached("SELECT session FROM hx_processes WHERE id = ?1 AND notifies = 1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let Some(session) = session.filter(|_| ended == 1) else { return Ok((None, false)) };
    let queued = db
        .prepare_cached(
            "INSERT INTO hx_mailbox (session, mode, text, created_at)
             SELECT id, ?2, ?3, ?4 FROM sessions WHERE id = ?1",
        )?
        .execute(params![session, MailMode::Queue.as_str(), notice, now])?;
    if queued == 1 {
        let mail = db.last_insert_rowid();
        db.prepare_cached("UPDATE hx_processes SET mail = ?2 WHERE id = ?1")?.execute(params![id, mail])?;
    }
    Ok((Some(session), queued == 1))
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredProcess> {
    let (session, patterns): (String, String) = (row.get(2)?, row.get(9)?);
    let end = match row.get::<_, Option<f64>>(11)? {
        Some(at) => Some(ProcessEnd {
            at,
            exit_code: row.get::<_, Option<i32>>(12)?.unwrap_or(-1),
            reason: row.get::<_, Option<String>>(13)?.unwrap_or_default(),
        }),
        None => None,
    };
    Ok(StoredProcess {
        number: row.get(0)?,
        process: NewProcess {
            id: row.get(1)?,
            session: SessionId::new(session),
            key: row.get(3)?,
            command: row.get(4)?,
            cwd: row.get(5)?,
            pid: row.get(6)?,
            has_terminal: row.get(7)?,
            notifies: row.get(8)?,
            patterns: serde_json::from_str(&patterns).unwrap_or_default(),
        },
        started_at: row.get(10)?,
        end,
    })
}

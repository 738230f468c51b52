//! Merges the search index and frees disk space.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::begin_write::locked;
use crate::sessions::connection::connect;
use crate::sessions::connection::lock_wait::{WRITE_WAIT, retry_while_locked};
use crate::sessions::connection::write_queue::WriteQueue;
use crate::sessions::connection::writer::Level;
use crate::sessions::record::process;
use crate::sessions::{Liveness, SessionDb};
use hermes_conversation::{Owner, SessionId};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Long enough for any outbox; a broken index fails at once.
const CATCH_UP: Duration = Duration::from_secs(3_600);

/// The result of [`optimize`](SessionDb::optimize): sizes of the file with its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Optimized {
    pub bytes_before: u64,
    pub bytes_after: u64,
}

impl SessionDb {
    /// Merges the index and frees unused pages. Refused while another live process holds a session, which
    /// would have to wait.
    pub async fn optimize(&self) -> Result<Optimized, StoreError> {
        let is_alive = self.is_alive;
        let path = self
            .read(move |db| {
                refuse_if_used(db, is_alive)?;
                Ok(PathBuf::from(db.path().unwrap_or_default()))
            })
            .await?;
        let bytes_before = size(&path);
        self.drain(CATCH_UP).await?;
        self.write(Level::Normal, move |db| {
            // Checked again with the write lock, under which leases are taken.
            refuse_if_used(db, is_alive)?;
            db.execute_batch(
                "INSERT INTO messages_fts(messages_fts) VALUES ('optimize');
                 INSERT INTO messages_fts_trigram(messages_fts_trigram) VALUES ('optimize');",
            )
            .doing("merge the search index")
        })
        .await?;
        let file = path.clone();
        let vacuumed = tokio::task::spawn_blocking(move || vacuum(&file)).await;
        vacuumed.unwrap_or(Err(StoreError::Stopped))?;
        let pairs = self.shared.pairs.clone();
        self.read(move |db| {
            pairs.tidy(db);
            Ok(())
        })
        .await?;
        Ok(Optimized { bytes_before, bytes_after: size(&path) })
    }
}

/// Vacuums the file on a connection of its own, because `VACUUM` cannot run in a transaction.
fn vacuum(path: &Path) -> Result<(), StoreError> {
    let db = connect::writer(path)?;
    let mut queue = WriteQueue::for_writes(path);
    let Ok(_turn) = queue.enter(Instant::now() + WRITE_WAIT) else {
        return Err(locked(&db, path, WRITE_WAIT));
    };
    retry_while_locked(WRITE_WAIT, || db.execute_batch("VACUUM")).doing("vacuum the database")?;
    // A log in use is truncated later.
    let truncated = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    if let Err(error) = truncated {
        tracing::debug!(%error, "the log was not truncated");
    }
    Ok(())
}

fn refuse_if_used(db: &Connection, is_alive: Liveness) -> Result<(), StoreError> {
    let me = process::this_process();
    let holders = holders(db).doing("read the leases")?;
    match holders.into_iter().find(|(_, owner)| *owner != me && is_alive(owner)) {
        Some((session, owner)) => Err(StoreError::Busy { session, pid: owner.pid }),
        None => Ok(()),
    }
}

fn holders(db: &Connection) -> rusqlite::Result<Vec<(SessionId, Owner)>> {
    db.prepare("SELECT session, pid, started, boot FROM hx_leases WHERE held = 1")?
        .query_map([], |row| {
            let started = row.get::<_, i64>(2)?.cast_unsigned();
            let owner = Owner { pid: row.get(1)?, started, boot: row.get(3)? };
            Ok((SessionId::new(row.get::<_, String>(0)?), owner))
        })?
        .collect()
}

fn size(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    [path, Path::new(&log)].iter().map(|path| std::fs::metadata(path).map_or(0, |file| file.len())).sum()
}

//! Begins a write transaction: first the queue of our own processes, then SQLite's lock.
//!
//! The holder of the queue can be blocked only by a program without the queue (the Python release); then it
//! retries.

use super::lock_holder;
use super::lock_wait::{is_locked, retry_while_locked};
use super::write_queue::{QueueTurn, WriteQueue};
use super::writer::step;
use crate::StoreError;
use crate::error::Doing;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Begins a write transaction. The caller keeps the queue turn until the transaction has ended.
pub(crate) fn begin(
    db: &Connection,
    queue: &mut WriteQueue,
    path: &Path,
    max_wait: Duration,
) -> Result<QueueTurn, StoreError> {
    let deadline = Instant::now() + max_wait;
    let Ok(turn) = queue.enter(deadline) else {
        return Err(locked(db, path, max_wait));
    };
    let mut tries = 0;
    let begun = retry_while_locked(deadline.saturating_duration_since(Instant::now()), || {
        tries += 1;
        step(db, "BEGIN IMMEDIATE")
    });
    if tries > 1 {
        // The holder may be one of ours, queued on a lock file that was removed and created again.
        queue.reopen();
    }
    match begun {
        Err(error) if is_locked(&error) => Err(locked(db, path, max_wait)),
        begun => begun.doing("begin a write").map(|()| turn),
    }
}

/// Builds the error for a database that stayed locked. It names the writer, else the holder of the queue;
/// without information from the kernel, a process with an open session.
pub(crate) fn locked(db: &Connection, path: &Path, max_wait: Duration) -> StoreError {
    let file = real_path(db, path);
    let holder = match lock_holder::locks() {
        Some(locks) => lock_holder::of_database(&locks, &file)
            .or_else(|| lock_holder::of_queue(&locks, WriteQueue::for_writes(&file).path())),
        None => session_owner(db),
    };
    StoreError::Locked { path: path.to_owned(), seconds: max_wait.as_secs(), holder }
}

/// Returns the path that SQLite uses, which follows links.
pub(crate) fn real_path(db: &Connection, path: &Path) -> PathBuf {
    db.path().map_or_else(|| path.to_owned(), PathBuf::from)
}

fn session_owner(db: &Connection) -> Option<u32> {
    let newest = db.query_row(
        "SELECT pid FROM hx_leases WHERE held = 1 AND pid <> ?1 ORDER BY taken_at DESC LIMIT 1",
        [std::process::id()],
        |row| row.get(0),
    );
    newest.ok()
}

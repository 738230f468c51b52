//! Begins a write: first the queue of our own processes, then SQLite's lock.
//!
//! With the turn in hand, only a program that does not know the queue (the Python release) can
//! have the database locked; it is waited out by asking again.

use super::lock_holder;
use super::lock_wait::{insist, is_locked};
use super::write_queue::{Queue, Turn};
use super::writer::step;
use crate::StoreError;
use crate::error::Doing;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Begins a transaction that writes. The turn is to be kept until it has ended.
pub(crate) fn begin(
    db: &Connection,
    queue: &mut Queue,
    path: &Path,
    patience: Duration,
) -> Result<Turn, StoreError> {
    let deadline = Instant::now() + patience;
    let Ok(turn) = queue.enter(deadline) else {
        return Err(locked(db, path, patience));
    };
    let mut tries = 0;
    let begun = insist(deadline.saturating_duration_since(Instant::now()), || {
        tries += 1;
        step(db, "BEGIN IMMEDIATE")
    });
    if tries > 1 {
        // Perhaps it was one of ours after all, queueing on a file that was removed and made anew.
        queue.open_again();
    }
    match begun {
        Err(error) if is_locked(&error) => Err(locked(db, path, patience)),
        begun => begun.doing("begin a write").map(|()| turn),
    }
}

/// The error of a database that stayed locked for so long. Names who writes to it, or else who has
/// the turn. Where the kernel does not tell, a process with an open session is the best guess.
pub(crate) fn locked(db: &Connection, path: &Path, patience: Duration) -> StoreError {
    let file = real_path(db, path);
    let holder = match lock_holder::locks() {
        Some(locks) => lock_holder::of_database(&locks, &file)
            .or_else(|| lock_holder::of_queue(&locks, Queue::to_write(&file).path())),
        None => someone_with_a_session(db),
    };
    StoreError::Locked { path: path.to_owned(), seconds: patience.as_secs(), holder }
}

/// SQLite follows links, so its own idea of the path is where its files are.
pub(crate) fn real_path(db: &Connection, path: &Path) -> PathBuf {
    db.path().map_or_else(|| path.to_owned(), PathBuf::from)
}

fn someone_with_a_session(db: &Connection) -> Option<u32> {
    let newest = db.query_row(
        "SELECT pid FROM hx_leases WHERE held = 1 AND pid <> ?1 ORDER BY taken_at DESC LIMIT 1",
        [std::process::id()],
        |row| row.get(0),
    );
    newest.ok()
}

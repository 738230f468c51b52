//! Keeps the write-ahead log short.
//!
//! A checkpoint copies what is in the log to the main file. It disturbs nobody and waits for a
//! pause; only when that does not come, or other processes fill the log too, it is done at once.
//! Cutting the log keeps everybody waiting, so one process at a time does it, in its turn. And it
//! makes the next commits slower: a log that is written over from its beginning is synced faster
//! than one that grows. So it is not cut while there is work, unless it is huge.

use super::lock_wait::is_locked;
use super::write_queue::Queue;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Commits after which a checkpoint is due. It waits for a pause, so that no turn waits for it.
pub(crate) const DUE: u32 = 50;
/// Commits after which it waits no longer.
pub(crate) const OVERDUE: u32 = 150;
/// The first process to open a database reads its whole log, so a log larger than this is cut
/// in a pause, once all of it is checkpointed.
pub(crate) const LARGE: u64 = 1 << 20;
/// A log larger than this is checkpointed by a program that leaves, because runs that are too
/// short for a pause would let it grow without end. It is also cut at the cost of other writers,
/// who would otherwise never let it be checkpointed to its end.
pub(crate) const TOO_LARGE_TO_LEAVE: u64 = 4 << 20;
/// A log larger than this waits for no pause: other processes fill it too.
const HUGE: u64 = 8 << 20;
/// How long cutting it waits for its turn.
const CUT_PATIENCE: Duration = Duration::from_secs(1);

/// What else is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The next job is there, or will be at once.
    Busy,
    /// Nobody waits.
    Idle,
}

/// The write-ahead log of a database that is being written to.
pub(crate) struct Log {
    /// Some network filesystems have none.
    path: Option<PathBuf>,
    commits: u32,
    cutters: Queue,
}

impl Log {
    pub(crate) fn of(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push("-wal");
        let mut log = Self { path: Some(path.into()), commits: 0, cutters: Queue::to_cut(database) };
        match log.length() {
            None => log.path = None,
            // Someone left it behind.
            Some(length) if length > LARGE => log.commits = DUE,
            Some(_) => {}
        }
        log
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Counts a commit.
    pub(crate) fn grew(&mut self) {
        self.commits += 1;
    }

    pub(crate) fn is_due(&self) -> bool {
        self.commits >= DUE
    }

    pub(crate) fn is_overdue(&self) -> bool {
        self.commits >= OVERDUE || self.is_due() && self.is_longer_than(HUGE)
    }

    pub(crate) fn is_too_large_to_leave(&self) -> bool {
        self.is_longer_than(TOO_LARGE_TO_LEAVE)
    }

    /// Checkpoints what can be, and cuts the log if it is time for it. `queue` is that of writers.
    pub(crate) fn checkpoint(&mut self, db: &Connection, queue: &mut Queue, moment: Moment) {
        self.commits = 0;
        match self.checkpoint_and_cut(db, queue, moment) {
            Ok(()) => {}
            // Someone else reads or writes: there will be another pause.
            Err(error) if is_locked(&error) => {}
            Err(error) => tracing::warn!(%error, "the write-ahead log could not be checkpointed"),
        }
    }

    fn checkpoint_and_cut(
        &mut self,
        db: &Connection,
        queue: &mut Queue,
        moment: Moment,
    ) -> rusqlite::Result<()> {
        let Some(is_whole) = checkpoint_what_is_free(db)? else { return Ok(()) };
        let most = match moment {
            Moment::Busy => HUGE,
            Moment::Idle if is_whole => LARGE,
            Moment::Idle => TOO_LARGE_TO_LEAVE,
        };
        if !self.is_longer_than(most) {
            return Ok(());
        }
        let Some(_cutter) = self.cutters.try_enter() else { return Ok(()) };
        let Ok(_turn) = queue.enter(Instant::now() + CUT_PATIENCE) else { return Ok(()) };
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    fn is_longer_than(&self, length: u64) -> bool {
        self.length().is_some_and(|now| now > length)
    }

    fn length(&self) -> Option<u64> {
        std::fs::metadata(self.path.as_ref()?).ok().map(|log| log.len())
    }
}

/// Whether that was all of the log; nothing when another process is at it.
fn checkpoint_what_is_free(db: &Connection) -> rusqlite::Result<Option<bool>> {
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (is_taken, pages, done): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((!is_taken).then_some(pages == done))
    })
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;

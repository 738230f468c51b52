//! Checkpoints keep the write-ahead log short.
//!
//! A checkpoint copies the log to the main file. It blocks no other process and waits for a pause; without a
//! pause, or if other processes fill the log, it runs at once. Truncating the log blocks all writers, so one
//! process at a time does it, under a lock. It also makes the next commits slower: a log that is overwritten
//! from its beginning is synced faster than one that grows. So a log is truncated only while idle, unless it
//! is huge.

use super::lock_wait::is_locked;
use super::write_queue::WriteQueue;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Commits after which a checkpoint is due. It waits for a pause, so that no turn waits for it.
pub(crate) const DUE: u32 = 50;
/// Commits after which a checkpoint no longer waits for a pause.
pub(crate) const OVERDUE: u32 = 150;
/// The first process that opens a database reads its whole log, so a log larger than this is truncated in a
/// pause, once all of it is checkpointed.
pub(crate) const LARGE: u64 = 1 << 20;
/// A log larger than this is checkpointed when a program exits, because runs without a pause would let it
/// grow without end. It is truncated even if other writers have to wait, because otherwise they might never
/// let the checkpoint complete.
pub(crate) const MAX_LEFT_BEHIND: u64 = 4 << 20;
/// A log larger than this does not wait for a pause: other processes fill it, too.
const HUGE: u64 = 8 << 20;
/// Maximum wait for the truncation lock.
const TRUNCATE_WAIT: Duration = Duration::from_secs(1);

/// The load of the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriterLoad {
    /// More jobs are queued or expected.
    Busy,
    /// No job is queued.
    Idle,
}

/// The write-ahead log of a database that is being written to.
pub(crate) struct Log {
    /// `None` on file systems without a write-ahead log.
    path: Option<PathBuf>,
    commits: u32,
    truncation_queue: WriteQueue,
}

impl Log {
    pub(crate) fn of(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push("-wal");
        let mut log = Self {
            path: Some(path.into()),
            commits: 0,
            truncation_queue: WriteQueue::for_truncation(database),
        };
        match log.length() {
            None => log.path = None,
            // An earlier process left a large log.
            Some(length) if length > LARGE => log.commits = DUE,
            Some(_) => {}
        }
        log
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Counts a commit.
    pub(crate) fn count_commit(&mut self) {
        self.commits += 1;
    }

    pub(crate) fn is_due(&self) -> bool {
        self.commits >= DUE
    }

    pub(crate) fn is_overdue(&self) -> bool {
        self.commits >= OVERDUE || self.is_due() && self.is_longer_than(HUGE)
    }

    pub(crate) fn is_too_large_to_leave_behind(&self) -> bool {
        self.is_longer_than(MAX_LEFT_BEHIND)
    }

    /// Checkpoints as much as possible, and truncates the log if it is large. `queue` is that of writers.
    pub(crate) fn checkpoint(&mut self, db: &Connection, queue: &mut WriteQueue, load: WriterLoad) {
        self.commits = 0;
        match self.checkpoint_and_truncate(db, queue, load) {
            Ok(()) => {}
            // Another process reads or writes: the next pause will do.
            Err(error) if is_locked(&error) => {}
            Err(error) => tracing::warn!(%error, "cannot checkpoint the write-ahead log"),
        }
    }

    fn checkpoint_and_truncate(
        &mut self,
        db: &Connection,
        queue: &mut WriteQueue,
        load: WriterLoad,
    ) -> rusqlite::Result<()> {
        let Some(is_whole) = checkpoint_passive(db)? else { return Ok(()) };
        let most = match load {
            WriterLoad::Busy => HUGE,
            WriterLoad::Idle if is_whole => LARGE,
            WriterLoad::Idle => MAX_LEFT_BEHIND,
        };
        if !self.is_longer_than(most) {
            return Ok(());
        }
        let Some(_truncation_turn) = self.truncation_queue.try_enter() else { return Ok(()) };
        let Ok(_turn) = queue.enter(Instant::now() + TRUNCATE_WAIT) else { return Ok(()) };
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    fn is_longer_than(&self, length: u64) -> bool {
        self.length().is_some_and(|now| now > length)
    }

    fn length(&self) -> Option<u64> {
        std::fs::metadata(self.path.as_ref()?).ok().map(|log| log.len())
    }
}

/// Runs a passive checkpoint. Returns true if all of the log was copied, `None` if another process is
/// checkpointing.
fn checkpoint_passive(db: &Connection) -> rusqlite::Result<Option<bool>> {
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (is_taken, pages, done): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((!is_taken).then_some(pages == done))
    })
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;

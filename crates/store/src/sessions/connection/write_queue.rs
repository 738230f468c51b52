//! A queue in which the processes of this program write one after the other.
//!
//! SQLite has no queue: a process that finds the database locked has to retry. So a writer first takes an
//! advisory lock on a file beside the database, and the kernel wakes the next one as soon as it is
//! released, also when its holder is killed. Only programs without the queue can then block the holder. If
//! the lock file is not available, writers go on without: the queue shortens waits and is not needed for
//! correctness.
//!
//! The lock is `flock`: it belongs to the open file, so two handles of one process exclude each other, too,
//! and closing one does not release the other's.

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A lock file beside the database, opened on demand.
#[derive(Debug)]
pub(crate) struct WriteQueue {
    path: PathBuf,
    file: LockFile,
}

#[derive(Debug)]
enum LockFile {
    NotOpened,
    Opened(Arc<OwnedFd>),
    /// The file system has no such locks, or the file cannot be created.
    Missing,
}

/// The turn in the queue, released when it is dropped.
#[derive(Debug)]
#[must_use = "dropping it releases the turn"]
pub(crate) struct QueueTurn(Option<Arc<OwnedFd>>);

/// The turn did not come before the deadline.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QueueTimeout;

impl WriteQueue {
    /// The queue of writers of `database`.
    pub(crate) fn for_writes(database: &Path) -> Self {
        Self::new(database, ".hermes-queue")
    }

    /// The queue for truncating its log.
    pub(crate) fn for_truncation(database: &Path) -> Self {
        Self::new(database, ".hermes-checkpoint")
    }

    fn new(database: &Path, ending: impl AsRef<OsStr>) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push(ending);
        Self { path: path.into(), file: LockFile::NotOpened }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until `deadline` for the turn.
    pub(crate) fn enter(&mut self, deadline: Instant) -> Result<QueueTurn, QueueTimeout> {
        match self.try_enter() {
            Some(turn) => Ok(turn),
            None => self.wait(deadline),
        }
    }

    /// Takes the turn if it is free. Without a lock file it always is.
    pub(crate) fn try_enter(&mut self) -> Option<QueueTurn> {
        let Some(file) = self.file() else { return Some(QueueTurn(None)) };
        match lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Some(QueueTurn(Some(file))),
            Err(Errno::WOULDBLOCK) => None,
            Err(error) => Some(self.disable(error)),
        }
    }

    /// Waits on a thread of its own, because `flock` has no timeout: after the deadline the receiver is gone,
    /// and a lock that the thread gets later is dropped, which releases it.
    fn wait(&mut self, deadline: Instant) -> Result<QueueTurn, QueueTimeout> {
        let max_wait = deadline.saturating_duration_since(Instant::now());
        if max_wait == Duration::ZERO {
            return Err(QueueTimeout);
        }
        // A second open file: the lock belongs to the open file, and the first one may be used again before
        // that thread ends.
        let file = match open_file(&self.path) {
            Ok(file) => Arc::new(file),
            Err(error) => return Ok(self.disable(error)),
        };
        let (hand_over, handed_over) = channel();
        let waiting = move || {
            let locked = lock(&file, FlockOperation::LockExclusive);
            let _ = hand_over.send(locked.map(|()| QueueTurn(Some(file))));
        };
        if std::thread::Builder::new().name("hermes-queue".into()).spawn(waiting).is_err() {
            return Ok(QueueTurn(None));
        }
        match handed_over.recv_timeout(max_wait) {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(error)) => Ok(self.disable(error)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(QueueTimeout),
        }
    }

    /// Opens the lock file again next time, in case it was removed.
    pub(crate) fn reopen(&mut self) {
        if matches!(self.file, LockFile::Opened(_)) {
            self.file = LockFile::NotOpened;
        }
    }

    fn file(&mut self) -> Option<Arc<OwnedFd>> {
        match &self.file {
            LockFile::Opened(file) => return Some(file.clone()),
            LockFile::Missing => return None,
            LockFile::NotOpened => {}
        }
        match open_file(&self.path) {
            Ok(file) => {
                let file = Arc::new(file);
                self.file = LockFile::Opened(file.clone());
                Some(file)
            }
            Err(error) => {
                drop(self.disable(error));
                None
            }
        }
    }

    fn disable(&mut self, error: Errno) -> QueueTurn {
        tracing::warn!(path = %self.path.display(), %error, "no queue for writers; waits may be longer");
        self.file = LockFile::Missing;
        QueueTurn(None)
    }
}

impl Drop for QueueTurn {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            // Explicit, because a child process that is being started may hold a copy of the file.
            let _ = flock(file, FlockOperation::Unlock);
        }
    }
}

fn open_file(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    open(path, flags, Mode::RUSR | Mode::WUSR)
}

fn lock(file: &OwnedFd, operation: FlockOperation) -> Result<(), Errno> {
    loop {
        match flock(file, operation) {
            Err(Errno::INTR) => {}
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
#[path = "write_queue_tests.rs"]
mod tests;

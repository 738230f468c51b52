//! Lets the processes of this program write one after the other.
//!
//! SQLite knows no queue: who finds the database locked has to ask again later. So a writer first
//! takes an advisory lock on a file beside the database, and the kernel wakes the next one the
//! moment it is given back, also when its holder was killed. Whoever has it can be kept waiting
//! only by programs that do not know the queue. A queue that cannot be had is done without: it
//! spares waiting, and never decides what is right.
//!
//! The lock is `flock`: it belongs to the open file, so two handles of one process exclude each
//! other too, and closing one does not free the other's.

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A lock file beside the database, opened when it is first needed.
#[derive(Debug)]
pub(crate) struct Queue {
    path: PathBuf,
    file: Lane,
}

#[derive(Debug)]
enum Lane {
    NotOpened,
    Opened(Arc<OwnedFd>),
    /// This filesystem has no such locks, or the file cannot be made.
    Missing,
}

/// The right to go on, given back when it is dropped.
#[derive(Debug)]
#[must_use = "dropping it gives the place away"]
pub(crate) struct Turn(Option<Arc<OwnedFd>>);

/// The turn did not come in time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLate;

impl Queue {
    /// The queue of those who want to write to `database`.
    pub(crate) fn to_write(database: &Path) -> Self {
        Self::new(database, ".hermes-queue")
    }

    /// The queue of those who want to cut its log.
    pub(crate) fn to_cut(database: &Path) -> Self {
        Self::new(database, ".hermes-checkpoint")
    }

    fn new(database: &Path, ending: impl AsRef<OsStr>) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push(ending);
        Self { path: path.into(), file: Lane::NotOpened }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until `deadline` for the turn.
    pub(crate) fn enter(&mut self, deadline: Instant) -> Result<Turn, TooLate> {
        match self.try_enter() {
            Some(turn) => Ok(turn),
            None => self.wait(deadline),
        }
    }

    /// Takes the turn if nobody has it. Without a queue it is always one's turn.
    pub(crate) fn try_enter(&mut self) -> Option<Turn> {
        let Some(file) = self.file() else { return Some(Turn(None)) };
        match lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Some(Turn(Some(file))),
            Err(Errno::WOULDBLOCK) => None,
            Err(error) => Some(self.do_without(error)),
        }
    }

    /// Waits on a thread of its own, because `flock` has no time limit: who gives up just stops
    /// listening, and what the thread gets after that is dropped, which gives it back.
    fn wait(&mut self, deadline: Instant) -> Result<Turn, TooLate> {
        let patience = deadline.saturating_duration_since(Instant::now());
        if patience == Duration::ZERO {
            return Err(TooLate);
        }
        // Opened anew: the lock belongs to the open file, and the one kept here may be asked again
        // before that thread ends.
        let file = match open_file(&self.path) {
            Ok(file) => Arc::new(file),
            Err(error) => return Ok(self.do_without(error)),
        };
        let (hand_over, handed_over) = channel();
        let waiting = move || {
            let locked = lock(&file, FlockOperation::LockExclusive);
            let _ = hand_over.send(locked.map(|()| Turn(Some(file))));
        };
        if std::thread::Builder::new().name("hermes-queue".into()).spawn(waiting).is_err() {
            return Ok(Turn(None));
        }
        match handed_over.recv_timeout(patience) {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(error)) => Ok(self.do_without(error)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(TooLate),
        }
    }

    /// Looks for the file again next time, should somebody have removed it.
    pub(crate) fn open_again(&mut self) {
        if matches!(self.file, Lane::Opened(_)) {
            self.file = Lane::NotOpened;
        }
    }

    fn file(&mut self) -> Option<Arc<OwnedFd>> {
        match &self.file {
            Lane::Opened(file) => return Some(file.clone()),
            Lane::Missing => return None,
            Lane::NotOpened => {}
        }
        match open_file(&self.path) {
            Ok(file) => {
                let file = Arc::new(file);
                self.file = Lane::Opened(file.clone());
                Some(file)
            }
            Err(error) => {
                drop(self.do_without(error));
                None
            }
        }
    }

    fn do_without(&mut self, error: Errno) -> Turn {
        tracing::warn!(path = %self.path.display(), %error, "no queue for writers; waits may be longer");
        self.file = Lane::Missing;
        Turn(None)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            // Said aloud, because a child being started may hold a copy of the file for a moment.
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

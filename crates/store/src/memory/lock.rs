//! The lock that whoever changes a memory file holds: `flock` on a file beside it, as in the Python
//! release. The memory file itself is replaced by each change, so it cannot be what is locked.

use super::MemoryError;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A change takes milliseconds; whoever has the lock for so long is stuck.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(15);

/// The right to change a file, given back when it is dropped, also by dying.
#[derive(Debug)]
pub(super) struct Lock(OwnedFd);

impl Drop for Lock {
    fn drop(&mut self) {
        // Said aloud, because a child being started may hold a copy of the file for a moment.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Waits for the lock, at most as long as `max_wait`.
pub(super) fn take(path: &Path, max_wait: Duration) -> Result<Lock, MemoryError> {
    let failed = |error: Errno| MemoryError::io("lock", path)(error.into());
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = open(path, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
    match uninterrupted(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => return Ok(Lock(file)),
        Err(Errno::WOULDBLOCK) => {}
        Err(error) => return Err(failed(error)),
    }
    // On a thread of its own, because `flock` knows no time limit: who gives up stops listening, and
    // what the thread gets after that is dropped, which gives it back.
    let (hand_over, handed_over) = channel();
    let waiting = move || {
        let locked = uninterrupted(&file, FlockOperation::LockExclusive);
        let _ = hand_over.send(locked.map(|()| Lock(file)));
    };
    let thread = std::thread::Builder::new().name("hermes-memory".into()).spawn(waiting);
    thread.map_err(MemoryError::io("lock", path))?;
    match handed_over.recv_timeout(max_wait) {
        Ok(locked) => locked.map_err(failed),
        Err(_) => Err(MemoryError::Busy { path: path.to_owned(), seconds: max_wait.as_secs() }),
    }
}

fn uninterrupted(file: &OwnedFd, operation: FlockOperation) -> Result<(), Errno> {
    loop {
        match flock(file, operation) {
            Err(Errno::INTR) => {}
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_one_waits_and_gives_up_in_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("MEMORY.md.lock");
        let first = take(&path, Duration::ZERO).unwrap();
        let refused = take(&path, Duration::from_millis(20)).unwrap_err();
        assert!(matches!(refused, MemoryError::Busy { .. }), "{refused}");
        drop(first);
        take(&path, Duration::from_secs(10)).unwrap();
    }
}

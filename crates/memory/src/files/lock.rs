//! The lock of a memory file: `flock` on a file beside it, as in the Python release. The memory file itself
//! is replaced by each change, so it cannot be locked.

use super::MemoryError;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Maximum wait. A change takes milliseconds; a process that holds the lock longer is stuck.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(15);

/// The lock, released on drop and when the process dies.
#[derive(Debug)]
pub(super) struct Lock(OwnedFd);

impl Drop for Lock {
    fn drop(&mut self) {
        // Explicit, because a child process that is being started may hold a copy of the file.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Waits for the lock, at most `max_wait`.
pub(super) fn take(path: &Path, max_wait: Duration) -> Result<Lock, MemoryError> {
    let failed = |error: Errno| MemoryError::io("lock", path)(error.into());
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = open(path, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
    match uninterrupted(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => return Ok(Lock(file)),
        Err(Errno::WOULDBLOCK) => {}
        Err(error) => return Err(failed(error)),
    }
    // On a thread of its own, because `flock` has no timeout: after the wait the receiver is gone, and a
    // lock that the thread gets later is dropped, which releases it.
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
    fn second_lock_waits_and_times_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("MEMORY.md.lock");
        let first = take(&path, Duration::ZERO).unwrap();
        let refused = take(&path, Duration::from_millis(20)).unwrap_err();
        assert!(matches!(refused, MemoryError::Busy { .. }), "{refused}");
        drop(first);
        take(&path, Duration::from_secs(10)).unwrap();
    }
}

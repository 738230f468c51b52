//! The lock for changes of `auth.json`: `flock` on `auth.lock`, as in the Python release.

use super::AuthError;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// The held lock. It is released by dropping it, and by the end of the process.
#[derive(Debug)]
pub(super) struct Lock(OwnedFd);

impl Drop for Lock {
    fn drop(&mut self) {
        // Unlocked explicitly, because a starting child may hold a copy of the file for a moment.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Waits for the lock up to a time limit.
pub(super) fn take(path: &Path, patience: Duration) -> Result<Lock, AuthError> {
    let failed = |error: Errno| AuthError::io("lock", path)(error.into());
    let file = open_file(path).map_err(failed)?;
    match lock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => return Ok(Lock(file)),
        Err(Errno::WOULDBLOCK) => {}
        Err(error) => return Err(failed(error)),
    }
    // On a thread of its own, because `flock` has no time limit. After a timeout the thread drops the lock when it
    // gets it.
    let (hand_over, handed_over) = channel();
    let waiting = move || {
        let locked = lock(&file, FlockOperation::LockExclusive);
        let _ = hand_over.send(locked.map(|()| Lock(file)));
    };
    let thread = std::thread::Builder::new().name("hermes-auth".into()).spawn(waiting);
    thread.map_err(AuthError::io("lock", path))?;
    match handed_over.recv_timeout(patience) {
        Ok(locked) => locked.map_err(failed),
        Err(_) => {
            let holder = holder(path).map_or_else(|| "another process".to_owned(), named);
            Err(AuthError::Busy { path: path.to_owned(), holder, waited: patience.as_secs() })
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

/// Reads of the kernel's list until the lock is in it. The list is read in pieces, and a lock of any other process
/// that is released meanwhile can hide one.
const LOOKS: usize = 20;

/// Returns the process that has the lock, from the kernel's own list, if there is one.
fn holder(path: &Path) -> Option<u32> {
    let inode = path.metadata().ok()?.ino().to_string();
    (0..LOOKS).find_map(|_| holder_in(&std::fs::read_to_string("/proc/locks").ok()?, &inode))
}

/// Parses lines like `7: FLOCK  ADVISORY  WRITE 4242 fe:00:123 0 EOF`; a waiting process has an arrow in the
/// second column.
fn holder_in(list: &str, inode: &str) -> Option<u32> {
    list.lines().find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let &[_, "FLOCK", _, _, pid, file, ..] = words.as_slice() else { return None };
        let is_it = file.rsplit(':').next() == Some(inode);
        pid.parse().ok().filter(|pid| is_it && *pid > 0)
    })
}

fn named(pid: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    match name.trim() {
        "" => format!("process {pid}"),
        name => format!("process {pid} ({name})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holder_is_the_process_with_the_lock_not_a_waiting_one() {
        let list = "\
1: POSIX  ADVISORY  WRITE 11 fe:00:500 0 EOF
2: -> FLOCK  ADVISORY  WRITE 14 fe:00:502 0 EOF
3: FLOCK  ADVISORY  WRITE 16 fe:00:502 0 EOF
4: FLOCK  ADVISORY  WRITE 0 fe:00:503 0 EOF
";
        for (inode, want) in [("500", None), ("502", Some(16)), ("503", None), ("9", None)] {
            assert_eq!(holder_in(list, inode), want, "{inode}");
        }
    }

    #[test]
    fn second_process_waits_and_names_the_holder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("auth.lock");
        let first = take(&path, Duration::ZERO).unwrap();
        let refused = take(&path, Duration::from_millis(20)).unwrap_err().to_string();
        assert!(refused.contains("auth.lock is in use by "), "{refused}");
        if cfg!(target_os = "linux") {
            assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        }
        drop(first);
        take(&path, Duration::from_secs(10)).unwrap();
    }
}

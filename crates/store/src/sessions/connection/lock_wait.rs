//! Waits out a database that a program outside of our queue has locked.
//!
//! Waits are random, so that two writers do not back off in step, and end by the clock rather
//! than after a number of tries.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

/// How long a write waits for the lock before it becomes an error.
pub(crate) const WRITE_PATIENCE: Duration = Duration::from_secs(30);

const SHORTEST_MS: u64 = 20;
const LONGEST_MS: u64 = 150;

/// Repeats `attempt` while it reports a lock, at most for `patience`.
pub(crate) fn insist<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let deadline = Instant::now() + patience;
    loop {
        match attempt() {
            Err(error) if is_locked(&error) && Instant::now() < deadline => pause(),
            outcome => return outcome,
        }
    }
}

pub(crate) fn is_locked(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

fn pause() {
    // A fresh `RandomState` is seeded differently every time: enough to break a tie.
    let noise = RandomState::new().build_hasher().finish();
    let wait = SHORTEST_MS + noise % (LONGEST_MS - SHORTEST_MS + 1);
    std::thread::park_timeout(Duration::from_millis(wait));
}

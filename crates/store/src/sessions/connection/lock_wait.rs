//! Retries while a program outside our queue has the database locked.
//!
//! Pauses are random, so that two writers do not retry in step, and end by the clock rather than after a
//! number of attempts.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

/// Maximum wait of a write for the lock.
pub(crate) const WRITE_WAIT: Duration = Duration::from_secs(30);

const MIN_PAUSE_MS: u64 = 20;
const MAX_PAUSE_MS: u64 = 150;

/// Repeats `attempt` while the database is locked, at most for `max_wait`.
pub(crate) fn retry_while_locked<T>(
    max_wait: Duration,
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let deadline = Instant::now() + max_wait;
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
    // A new `RandomState` has a new seed, which is random enough here.
    let noise = RandomState::new().build_hasher().finish();
    let wait = MIN_PAUSE_MS + noise % (MAX_PAUSE_MS - MIN_PAUSE_MS + 1);
    std::thread::park_timeout(Duration::from_millis(wait));
}

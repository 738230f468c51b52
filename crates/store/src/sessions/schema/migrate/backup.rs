//! Backs up the database before an upgrade. The copy is kept.

use crate::StoreError;
use crate::sessions::connection::connect::{connect, create_empty};
use crate::sessions::connection::lock_wait::{WRITE_WAIT, retry_while_locked};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Copies the database at `path` to `target`. An unfinished copy is removed.
///
/// Uses a connection of its own: SQLite does not copy from one with a write transaction.
pub(super) fn fill(target: &Path, path: &Path) -> rusqlite::Result<()> {
    let copied = connect(path).and_then(|source| copy(&source, target));
    if copied.is_err() {
        // No connection uses it any more.
        let _ = std::fs::remove_file(target);
    }
    copied
}

fn copy(source: &Connection, target: &Path) -> rusqlite::Result<()> {
    let mut target = connect(target)?;
    let backup = Backup::new(source, &mut target)?;
    retry_while_locked(WRITE_WAIT, || match backup.step(-1)? {
        StepResult::Done => Ok(()),
        _ => Err(busy()),
    })
}

fn busy() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None)
}

/// Creates a private empty file beside `path`. A second one within a second gets another name.
pub(super) fn new_file(path: &Path, version: i64, now: i64) -> Result<PathBuf, StoreError> {
    let mut attempt = 1;
    loop {
        let target = named(path, version, now, attempt);
        match create_empty(&target) {
            Ok(()) => return Ok(target),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
            Err(error) => return Err(StoreError::Create { path: target, cause: error.to_string() }),
        }
    }
}

fn named(path: &Path, version: i64, now: i64, attempt: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".bak-v{version}-{now}"));
    if attempt > 1 {
        name.push(format!("-{attempt}"));
    }
    name.into()
}

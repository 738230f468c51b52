//! Opens connections; creates a missing file and upgrades an old one.
//!
//! Only SQLite opens the database files: closing any other handle of this process on them would drop
//! SQLite's locks. A new file is therefore created without opening it.

use super::begin_write::{begin, locked, real_path};
use super::lock_wait::{WRITE_WAIT, is_locked, retry_while_locked};
use super::write_queue::WriteQueue;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::schema::{self, migrate};
use crate::sessions::search::full_text::Reindexed;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// The first library version without a known WAL-reset corruption.
const OLDEST_LIBRARY: i32 = 3_051_003;
/// Short on purpose: `lock_wait` does the waiting.
const DRIVER_WAIT: Duration = Duration::from_millis(10);
/// In WAL mode a reader never waits for the writer, only for a rare recovery.
pub(crate) const READER_WAIT: Duration = Duration::from_secs(5);
const STATEMENTS_KEPT: usize = 64;

/// Opens the write connection and makes sure that the file has our tables.
pub(crate) fn writer(path: &Path) -> Result<Connection, StoreError> {
    open_writer(path).map(|(db, _)| db)
}

/// Like [`writer`], and returns the part of the search index that was rebuilt.
pub(crate) fn open_writer(path: &Path) -> Result<(Connection, Option<Reindexed>), StoreError> {
    if rusqlite::version_number() < OLDEST_LIBRARY {
        return Err(StoreError::LibraryTooOld { found: rusqlite::version() });
    }
    create_private_file(path)?;
    let db = connect(path).map_err(|error| unusable(path, error))?;
    let found =
        retry_while_locked(WRITE_WAIT, || schema::inspect(&db)).map_err(|error| refused(&db, path, error))?;
    schema::accept(&found, path)?;
    prepare_writer(&db).map_err(|error| refused(&db, path, error))?;
    let is_old = schema::is_old(&found);
    if is_old {
        migrate::upgrade(&db, path)?;
    }
    let reindexed = if is_old || !schema::is_complete(&found) { create_tables(&db, path)? } else { None };
    Ok((db, reindexed))
}

/// Opens a read-only connection.
pub(crate) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let db = connect(path).map_err(|error| unusable(path, error))?;
    db.pragma_update(None, "query_only", true).doing("prepare a reader")?;
    db.busy_timeout(READER_WAIT).doing("prepare a reader")?;
    Ok(db)
}

pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(DRIVER_WAIT)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // Otherwise statements are prepared again for every other bound value.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Checkpoints run while the writer is idle, not when a connection closes.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(db)
}

pub(crate) fn prepare_writer(db: &Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    let mode: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        let mode: String = retry_while_locked(WRITE_WAIT, || {
            db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        })?;
        if mode != "wal" {
            tracing::warn!(mode, "this file system has no write-ahead log; writes will be slower");
        }
    }
    // The pragma returns its new value.
    db.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))
}

fn create_tables(db: &Connection, path: &Path) -> Result<Option<Reindexed>, StoreError> {
    let _turn = begin(db, &mut WriteQueue::for_writes(&real_path(db, path)), path, WRITE_WAIT)?;
    match schema::complete(db, path) {
        Ok(reindexed) => {
            retry_while_locked(WRITE_WAIT, || db.execute_batch("COMMIT")).doing("create the tables")?;
            Ok(reindexed)
        }
        Err(error) => {
            // The first error is returned; an open transaction ends with `db`.
            let _ = db.execute_batch("ROLLBACK");
            Err(error)
        }
    }
}

fn refused(db: &Connection, path: &Path, error: rusqlite::Error) -> StoreError {
    if is_locked(&error) { locked(db, path, WRITE_WAIT) } else { unusable(path, error) }
}

/// Creates the file with a private mode before `-wal` and `-shm` exist, which take their mode from it.
fn create_private_file(path: &Path) -> Result<(), StoreError> {
    let failed =
        |cause: std::io::Error| StoreError::Create { path: path.to_owned(), cause: cause.to_string() };
    match std::fs::metadata(path) {
        Ok(file) if file.len() > 0 => Ok(()),
        Ok(_) => std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).map_err(failed),
        Err(error) if error.kind() == ErrorKind::NotFound => match create_empty(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made.map_err(failed),
        },
        Err(error) => Err(failed(error)),
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn create_empty(path: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    Ok(mknodat(CWD, path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0)?)
}

/// Other systems cannot create a regular file without opening it; a new file has no locks to lose.
#[cfg(not(target_os = "linux"))]
pub(crate) fn create_empty(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
}

pub(crate) fn unusable(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::Corrupt { path, source: error.into() }
        }
        _ => StoreError::Open { path, source: error.into() },
    }
}

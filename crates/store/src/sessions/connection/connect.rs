//! Opens connections, makes the file if there is none and has an old one upgraded.
//!
//! Only SQLite ever opens the database files: closing any other handle of this process on them
//! would drop SQLite's locks. A new file is therefore made without opening it.

use super::begin_write::{begin, locked, real_path};
use super::lock_wait::{WRITE_PATIENCE, insist, is_locked};
use super::write_queue::Queue;
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
/// Short on purpose: the waiting is done by `patience`.
const DRIVER_WAIT: Duration = Duration::from_millis(10);
/// A reader never has to wait for the writer in WAL mode, only for a rare recovery.
pub(crate) const READER_WAIT: Duration = Duration::from_secs(5);
const STATEMENTS_KEPT: usize = 64;

/// The connection that writes, on a file that is known to have our tables.
pub(crate) fn writer(path: &Path) -> Result<Connection, StoreError> {
    open_writer(path).map(|(db, _)| db)
}

/// The same, with the part of the search index that had to be made anew for it.
pub(crate) fn open_writer(path: &Path) -> Result<(Connection, Option<Reindexed>), StoreError> {
    if rusqlite::version_number() < OLDEST_LIBRARY {
        return Err(StoreError::LibraryTooOld { found: rusqlite::version() });
    }
    make_private_file(path)?;
    let db = connect(path).map_err(|error| unusable(path, error))?;
    let found = insist(WRITE_PATIENCE, || schema::inspect(&db)).map_err(|error| refused(&db, path, error))?;
    schema::accept(&found, path)?;
    prepare_writer(&db).map_err(|error| refused(&db, path, error))?;
    let is_old = schema::is_old(&found);
    if is_old {
        migrate::upgrade(&db, path)?;
    }
    let reindexed = if is_old || !schema::is_complete(&found) { make_tables(&db, path)? } else { None };
    Ok((db, reindexed))
}

/// A connection that only reads.
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
    // Otherwise statements with bound values are parsed anew for every other value.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Checkpoints happen in the writer's idle moments, not when someone leaves.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(db)
}

pub(crate) fn prepare_writer(db: &Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    let mode: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        let mode: String = insist(WRITE_PATIENCE, || {
            db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        })?;
        if mode != "wal" {
            tracing::warn!(mode, "this filesystem has no write-ahead log; writing will be slower");
        }
    }
    // Answers with the value it now has.
    db.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))
}

fn make_tables(db: &Connection, path: &Path) -> Result<Option<Reindexed>, StoreError> {
    let _turn = begin(db, &mut Queue::to_write(&real_path(db, path)), path, WRITE_PATIENCE)?;
    match schema::complete(db, path) {
        Ok(reindexed) => {
            insist(WRITE_PATIENCE, || db.execute_batch("COMMIT")).doing("create the tables")?;
            Ok(reindexed)
        }
        Err(error) => {
            // The error that matters is the first one; an open transaction ends with `db`.
            let _ = db.execute_batch("ROLLBACK");
            Err(error)
        }
    }
}

fn refused(db: &Connection, path: &Path, error: rusqlite::Error) -> StoreError {
    if is_locked(&error) { locked(db, path, WRITE_PATIENCE) } else { unusable(path, error) }
}

/// SQLite gives `-wal` and `-shm` the mode of the main file, so it is set before they exist.
fn make_private_file(path: &Path) -> Result<(), StoreError> {
    let failed =
        |cause: std::io::Error| StoreError::Create { path: path.to_owned(), cause: cause.to_string() };
    match std::fs::metadata(path) {
        Ok(file) if file.len() > 0 => Ok(()),
        Ok(_) => std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).map_err(failed),
        Err(error) if error.kind() == ErrorKind::NotFound => match make_empty(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made.map_err(failed),
        },
        Err(error) => Err(failed(error)),
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn make_empty(path: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    Ok(mknodat(CWD, path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0)?)
}

/// Elsewhere a regular file cannot be made without opening it; a file that did not exist has no
/// locks to lose.
#[cfg(not(target_os = "linux"))]
pub(crate) fn make_empty(path: &Path) -> std::io::Result<()> {
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

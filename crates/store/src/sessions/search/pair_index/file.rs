//! The file of the pair index.

use super::IndexPosition;
use crate::sessions::connection::connect;
use crate::sessions::connection::lock_wait::is_locked;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Format version; changes whenever a message would get other index terms.
const FORMAT: i64 = 1;
/// The tables. `last_session` and `last_at` identify the message `last`, to detect a database that was
/// restored to an older state.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS about (
        format INTEGER NOT NULL, last INTEGER NOT NULL, hidden INTEGER NOT NULL,
        last_session TEXT, last_at REAL
    );
    CREATE VIRTUAL TABLE IF NOT EXISTS pairs USING fts5(
        words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
    );";

#[derive(Debug, Clone)]
pub(crate) struct PairFile {
    path: Arc<PathBuf>,
}

impl PairFile {
    pub(super) fn beside(database: &Path) -> Self {
        let name = match database.file_stem().and_then(|stem| stem.to_str()) {
            None | Some("state") => "search.db".to_owned(),
            Some(other) => format!("{other}.search.db"),
        };
        Self { path: Arc::new(database.with_file_name(name)) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the inode of the file, or `None` if it does not exist.
    pub(super) fn inode(&self) -> Option<u64> {
        std::fs::metadata(&*self.path).ok().filter(|file| file.len() > 0).map(|file| file.ino())
    }

    /// Opens a write connection. A file of another format or program is replaced.
    pub(super) fn open(&self) -> rusqlite::Result<Connection> {
        let opened = self.try_open().and_then(|db| known(&db).map(|_| db));
        match opened {
            Err(error) if is_damage(&error) => {
                self.discard();
                self.try_open()
            }
            opened => opened,
        }
    }

    fn try_open(&self) -> rusqlite::Result<Connection> {
        if !self.path.exists() {
            // SQLite gives the log the mode of the file. If this fails, opening reports the reason.
            let _ = connect::create_empty(&self.path);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&*self.path, flags)?;
        // If another process is updating the index, this one does not wait.
        db.busy_timeout(std::time::Duration::ZERO)?;
        db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        // Messages that a power cut loses are added again.
        db.pragma_update(None, "synchronous", "NORMAL")?;
        let is_ours = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'pairs'")?.exists([])?;
        if !is_ours {
            db.execute_batch(&format!(
                "BEGIN IMMEDIATE; {TABLES}
                 INSERT INTO about (format, last, hidden) SELECT {FORMAT}, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM about);
                 COMMIT;"
            ))?;
        }
        Ok(db)
    }

    /// Removes the file. Open connections continue to read the old content.
    pub(super) fn discard(&self) {
        // The log first: left beside a new file, it would be applied to it.
        for suffix in ["-wal", "-shm", ""] {
            let mut path = self.path.as_os_str().to_owned();
            path.push(suffix);
            if let Err(error) = std::fs::remove_file(&path)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!(%error, path = %Path::new(&path).display(), "cannot remove the pair index");
            }
        }
    }

    /// Removes the file if it caused the error. A reader of the index also reads the database, which may be
    /// the damaged one.
    pub(super) fn discard_if_damaged(&self, error: &rusqlite::Error) {
        if is_damage(error) && !self.is_sound() {
            self.discard();
        }
    }

    fn is_sound(&self) -> bool {
        let examined = self
            .open()
            .and_then(|db| db.execute_batch("INSERT INTO pairs(pairs) VALUES ('integrity-check')"));
        match examined {
            Ok(()) => true,
            // Another process is using it and will notice damage itself.
            Err(error) => is_locked(&error),
        }
    }
}

/// Returns the last message in the index, on a connection with its tables.
pub(super) fn known(db: &Connection) -> rusqlite::Result<IndexPosition> {
    db.prepare_cached("SELECT last, hidden FROM about WHERE format = ?1")?
        .query_row([FORMAT], |row| Ok(IndexPosition { last: row.get(0)?, hidden: row.get(1)? }))
}

/// Returns true for errors that a new file may resolve.
fn is_damage(error: &rusqlite::Error) -> bool {
    // A missing table has an unknown error code.
    let codes = [ErrorCode::DatabaseCorrupt, ErrorCode::NotADatabase, ErrorCode::Unknown];
    matches!(error, rusqlite::Error::QueryReturnedNoRows)
        || error.sqlite_error_code().is_some_and(|code| codes.contains(&code))
}

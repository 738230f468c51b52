//! The pair index: finds text that the shared indexes cannot find, such as terms of one or two characters in
//! scripts without spaces, short terms with punctuation, and text that is hidden by its stored form.
//!
//! It is a separate file that holds only data derived from the database: it may be deleted at any time, and
//! an unreadable file is rebuilt. It contains all messages up to some row id and catches up by itself, also
//! with messages of the Python release; until then a search compares the rest.

mod catch_up;
mod file;
pub(crate) mod grams;
pub(crate) mod readable_text;

use crate::sessions::connection::connect;
use file::PairFile;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum idle connections.
const KEPT: usize = 2;

/// The last message in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct IndexPosition {
    /// The last row id in the index.
    pub last: i64,
    /// Number of messages with hidden text in the index.
    pub hidden: i64,
}

#[derive(Debug, Clone)]
pub(crate) struct PairIndex {
    database: Arc<PathBuf>,
    file: PairFile,
    idle: Arc<Mutex<Vec<Attached>>>,
}

/// A reader of the database with the index attached.
#[derive(Debug)]
struct Attached {
    db: Connection,
    inode: u64,
}

impl PairIndex {
    pub(crate) fn beside(database: &Path) -> Self {
        Self {
            database: Arc::new(database.to_owned()),
            file: PairFile::beside(database),
            idle: Arc::default(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Runs `work` on one consistent view of database and index. `None` without a readable index.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection, IndexPosition) -> rusqlite::Result<T>,
    ) -> Option<T> {
        match self.try_read(work) {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%error, path = %self.path().display(), "cannot read the pair index");
                self.file.discard_if_damaged(&error);
                None
            }
        }
    }

    fn try_read<T>(
        &self,
        work: impl FnOnce(&Connection, IndexPosition) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        let Some(inode) = self.file.inode() else { return Ok(None) };
        let attached = match self.idle(inode) {
            Some(attached) => attached,
            None => Attached { db: self.attach()?, inode },
        };
        attached.db.execute_batch("BEGIN")?;
        let outcome = file::known(&attached.db).and_then(|known| work(&attached.db, known));
        // A connection that cannot end its transaction is not kept.
        if attached.db.execute_batch("COMMIT").is_ok() && outcome.is_ok() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < KEPT {
                idle.push(attached);
            }
        }
        outcome.map(Some)
    }

    /// Returns an idle connection to the current file; connections to a replaced file are closed.
    fn idle(&self, inode: u64) -> Option<Attached> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|attached| attached.inode == inode);
        idle.pop()
    }

    fn attach(&self) -> rusqlite::Result<Connection> {
        let db = connect::connect(&self.database)?;
        db.execute("ATTACH DATABASE ?1 AS own", [self.path().to_string_lossy()])?;
        db.pragma_update(None, "query_only", true)?;
        db.busy_timeout(connect::READER_WAIT)?;
        Ok(db)
    }
}

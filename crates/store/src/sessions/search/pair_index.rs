//! An index of our own, for what the shared ones cannot find: words of one or two characters in
//! scripts without spaces, short words with signs in them, and text that its stored form hides.
//!
//! It lives in a file of its own that holds nothing which is not in the database: it may be
//! deleted at any time, and what cannot be read is made anew. It knows all messages up to some
//! row id and catches up by itself, also with what the other program wrote; until it has, the
//! search compares the rest.

mod catch_up;
mod file;
pub(crate) mod grams;
pub(crate) mod readable_text;

use crate::sessions::connection::connect;
use file::PairFile;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Idle connections kept for later.
const KEPT: usize = 2;

/// How far the index has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct IndexPosition {
    /// The last row it knows.
    pub last: i64,
    /// How many messages with hidden text it knows.
    pub hidden: i64,
}

#[derive(Debug, Clone)]
pub(crate) struct PairIndex {
    database: Arc<PathBuf>,
    file: PairFile,
    idle: Arc<Mutex<Vec<Attached>>>,
}

/// A reader of the database that sees the index too.
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

    /// Runs `work` on one consistent view of database and index. `None` when there is no index
    /// that can be read.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection, IndexPosition) -> rusqlite::Result<T>,
    ) -> Option<T> {
        match self.try_read(work) {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%error, path = %self.path().display(), "the index of pairs cannot be read");
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

    /// A kept connection to the file that is there now; those to a file that was replaced go.
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

//! Tells what a file holds, and makes the tables it should hold.
//!
//! The shared schema is made in one piece and never altered; our own tables are only ever added.

use super::numbers::stored;
use crate::StoreError;
use crate::error::Doing;
use rusqlite::Connection;
use std::path::Path;

/// The version of the shared schema, as the Python release 0.19 writes it.
pub(crate) const VERSION: i64 = 22;

const SHARED: &str = include_str!("schema.sql");
const OWN: &str = include_str!("own_tables.sql");

/// What a file turned out to hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No tables at all: a new file, or one whose maker died before it made any.
    Nothing,
    /// Tables, but not ours.
    Foreign,
    /// The shared schema; `complete` when all our own tables are there too.
    Schema { version: i64, complete: bool },
}

/// Looks without writing. Cheap: two small reads.
pub(crate) fn inspect(db: &Connection) -> rusqlite::Result<Found> {
    let (all, marked, own): (i64, i64, i64) = db.query_row(
        "SELECT COUNT(*), COALESCE(SUM(name = 'schema_version'), 0), COALESCE(SUM(substr(name, 1, 3) = 'hx_'), 0)
         FROM sqlite_master",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    if all == 0 {
        return Ok(Found::Nothing);
    }
    if marked == 0 {
        return Ok(Found::Foreign);
    }
    let version =
        db.query_row("SELECT COALESCE(MAX(version), 0) FROM schema_version", [], |row| row.get(0))?;
    let complete = own >= stored(OWN.matches("IF NOT EXISTS").count());
    Ok(Found::Schema { version, complete })
}

/// Refuses what this build cannot use.
pub(crate) fn accept(found: &Found, path: &Path) -> Result<(), StoreError> {
    let path = path.to_owned();
    match *found {
        Found::Nothing => Ok(()),
        Found::Foreign => Err(StoreError::Foreign { path }),
        Found::Schema { version, .. } if version < VERSION => {
            Err(StoreError::SchemaTooOld { path, found: version, needs: VERSION })
        }
        Found::Schema { version, .. } if version > VERSION => {
            Err(StoreError::SchemaTooNew { path, found: version, newest: VERSION })
        }
        Found::Schema { .. } => Ok(()),
    }
}

/// Whether [`complete`] has anything to do.
pub(crate) fn is_complete(found: &Found) -> bool {
    matches!(found, Found::Schema { complete: true, .. })
}

/// Makes what is missing. Runs inside a write transaction and looks again there, because another
/// process may have been quicker.
pub(crate) fn complete(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = inspect(db).doing("read the schema")?;
    accept(&found, path)?;
    if found == Found::Nothing {
        db.execute_batch(SHARED).doing("create the schema")?;
    }
    db.execute_batch(OWN).doing("create the tables")
}

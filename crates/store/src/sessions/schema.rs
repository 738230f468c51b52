//! Recognises the contents of a file, and creates its tables.
//!
//! The shared schema is created as a whole; `migrate` upgrades an older one. Our own tables are only added.

pub(super) mod migrate;

use super::rows::counts::stored;
use super::search::full_text::{self, Reindexed};
use crate::StoreError;
use crate::error::Doing;
use rusqlite::Connection;
use std::path::Path;

/// The version of the shared schema, as the Python release 0.19 writes it.
pub(crate) const VERSION: i64 = 22;

pub(crate) const TABLES: &str = include_str!("schema/tables.sql");
pub(crate) const INDEXES: &str = include_str!("schema/indexes.sql");
pub(crate) const FULL_TEXT: &str = include_str!("schema/full_text.sql");
pub(crate) const TRIGRAM_TRIGGERS: &str = include_str!("schema/trigram_triggers.sql");
const OWN: &str = include_str!("schema/own_tables.sql");

/// The contents of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileContents {
    /// No tables: a new file, or one whose creator died early.
    Nothing,
    /// Tables of another program.
    Foreign,
    /// A numbered schema: ours if it has sessions, `complete` with all our own tables, and `aligned` if its
    /// triggers keep NUL bytes out of the trigram table.
    Schema { version: i64, has_sessions: bool, complete: bool, aligned: bool },
}

/// Inspects a file with two small reads.
pub(crate) fn inspect(db: &Connection) -> rusqlite::Result<FileContents> {
    let (all, marked, core, own, grown, aligned): (i64, i64, i64, i64, i64, i64) = db.query_row(
        // By name first: every other test of a row reads its whole text.
        "SELECT COUNT(*), COALESCE(SUM(name = 'schema_version'), 0),
                COALESCE(SUM(type = 'table' AND name IN ('sessions', 'messages')), 0),
                COALESCE(SUM(name GLOB 'hx_*'), 0),
                COALESCE(SUM(CASE name
                    WHEN 'hx_message_ext' THEN instr(sql, 'sum INTEGER') > 0
                        AND instr(sql, 'made INTEGER') > 0 AND instr(sql, 'copy_of INTEGER') > 0
                    WHEN 'hx_session_ext' THEN instr(sql, 'ineffective INTEGER') > 0
                        AND instr(sql, 'imported INTEGER') > 0
                    ELSE 0 END), 0),
                COALESCE(SUM(CASE name
                    WHEN 'messages_fts_trigram_insert' THEN type = 'trigger' AND instr(sql, 'AS BLOB') > 0
                    WHEN 'messages_fts_trigram_update' THEN type = 'trigger' AND instr(sql, 'AS BLOB') > 0
                    ELSE 0 END), 0)
         FROM sqlite_master",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?)),
    )?;
    if all == 0 {
        return Ok(FileContents::Nothing);
    }
    if marked == 0 {
        return Ok(FileContents::Foreign);
    }
    let version =
        db.query_row("SELECT COALESCE(MAX(version), 0) FROM schema_version", [], |row| row.get(0))?;
    let aligned = aligned == 2;
    let complete = own >= stored(OWN.matches("IF NOT EXISTS").count()) && grown == 2 && aligned;
    Ok(FileContents::Schema { version, has_sessions: core == 2, complete, aligned })
}

/// Returns an error for contents that this build cannot use.
pub(crate) fn accept(found: &FileContents, path: &Path) -> Result<(), StoreError> {
    let path = path.to_owned();
    match *found {
        FileContents::Nothing => Ok(()),
        FileContents::Foreign => Err(StoreError::Foreign { path }),
        // Other programs also have a table with this name.
        FileContents::Schema { version, has_sessions: false, .. } if version < VERSION => {
            Err(StoreError::SchemaTooOld { path, found: version, needs: VERSION })
        }
        FileContents::Schema { version, .. } if version > VERSION => {
            Err(StoreError::SchemaTooNew { path, found: version, newest: VERSION })
        }
        FileContents::Schema { .. } => Ok(()),
    }
}

/// Returns true if the file needs an upgrade.
pub(crate) fn is_old(found: &FileContents) -> bool {
    matches!(*found, FileContents::Schema { version, .. } if version < VERSION)
}

/// Returns true if [`complete`] has nothing to do.
pub(crate) fn is_complete(found: &FileContents) -> bool {
    matches!(found, FileContents::Schema { complete: true, .. })
}

/// Creates missing tables. Runs inside a write transaction and inspects the file again, because another
/// process may have done it.
pub(crate) fn complete(db: &Connection, path: &Path) -> Result<Option<Reindexed>, StoreError> {
    let found = inspect(db).doing("read the schema")?;
    accept(&found, path)?;
    if found == FileContents::Nothing {
        for script in [TABLES, INDEXES, FULL_TEXT, TRIGRAM_TRIGGERS] {
            db.execute_batch(script).doing("create the schema")?;
        }
        db.execute("INSERT INTO schema_version VALUES (?1)", [VERSION]).doing("create the schema")?;
    }
    // First, because an index may use one of them.
    add_columns(db).doing("create the tables")?;
    db.execute_batch(OWN).doing("create the tables")?;
    match found {
        FileContents::Schema { aligned: false, .. } => full_text::align(db),
        _ => Ok(None),
    }
}

/// Columns that are missing in the tables of earlier builds.
const ADDED: [(&str, &str, &str); 5] = [
    ("hx_message_ext", "sum", "INTEGER"),
    ("hx_message_ext", "made", "INTEGER NOT NULL DEFAULT 0"),
    ("hx_message_ext", "copy_of", "INTEGER"),
    ("hx_session_ext", "ineffective", "INTEGER NOT NULL DEFAULT 0"),
    ("hx_session_ext", "imported", "INTEGER NOT NULL DEFAULT 0"),
];

/// Adds missing columns to existing tables; new tables are created with all columns.
fn add_columns(db: &Connection) -> rusqlite::Result<()> {
    let mut known = db.prepare("SELECT name FROM pragma_table_info(?1)")?;
    for (table, column, kind) in ADDED {
        let names: Vec<String> =
            known.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        if !names.is_empty() && !names.iter().any(|name| name == column) {
            db.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {kind}"))?;
        }
    }
    Ok(())
}

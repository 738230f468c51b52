//! Adds the columns of later versions.

use super::steps::OldFile;
use crate::sessions::schema;
use rusqlite::{Connection, Result};

/// A column as `PRAGMA table_info` describes it.
pub(super) struct Column {
    pub(super) name: String,
    kind: String,
    not_null: bool,
    default: Option<String>,
    pub(super) in_key: bool,
}

/// Compares every table with its declaration and adds missing columns.
pub(super) fn reconcile(old: &OldFile<'_>) -> Result<()> {
    // SQLite reads the declarations, so that no SQL is parsed here.
    let declared = Connection::open_in_memory()?;
    declared.execute_batch(schema::TABLES)?;
    for table in tables(&declared)? {
        let present = columns(old.db, &table)?;
        for column in columns(&declared, &table)? {
            if !present.iter().any(|other| other.name.eq_ignore_ascii_case(&column.name)) {
                old.db.execute_batch(&column.addition_to(&table))?;
            }
        }
    }
    Ok(())
}

pub(super) fn columns(db: &Connection, table: &str) -> Result<Vec<Column>> {
    db.prepare("SELECT name, type, \"notnull\", dflt_value, pk > 0 FROM pragma_table_info(?1)")?
        .query_map([table], |row| {
            Ok(Column {
                name: row.get(0)?,
                kind: row.get(1)?,
                not_null: row.get(2)?,
                default: row.get(3)?,
                in_key: row.get(4)?,
            })
        })?
        .collect()
}

fn tables(db: &Connection) -> Result<Vec<String>> {
    db.prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )?
    .query_map([], |row| row.get(0))?
    .collect()
}

impl Column {
    /// Returns the statement that adds the column. Existing rows need a value, so a column without a default
    /// cannot be NOT NULL.
    fn addition_to(&self, table: &str) -> String {
        let mut sql = format!("ALTER TABLE {table} ADD COLUMN {} {}", self.name, self.kind);
        if let Some(default) = &self.default {
            let not_null = if self.not_null { " NOT NULL" } else { "" };
            sql.push_str(&format!("{not_null} DEFAULT {default}"));
        }
        sql
    }
}

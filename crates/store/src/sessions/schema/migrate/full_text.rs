//! The two full-text tables. Before version 11 there was one, without stored text.
//!
//! `search::full_text::align` creates the triggers of the trigram table; it runs on every file without them.

use super::steps::OldFile;
use crate::sessions::rows::counts::stored;
use crate::sessions::schema;
use rusqlite::{Connection, Result};

const TABLES: [&str; 2] = ["messages_fts", "messages_fts_trigram"];
const EVENTS: [&str; 3] = ["insert", "delete", "update"];

/// Recreates the other triggers, and the tables, too, unless both are intact.
pub(super) fn renew(old: &OldFile<'_>) -> Result<()> {
    let rely = old.version >= 11 && is_whole(old.db)?;
    for table in TABLES {
        for event in EVENTS {
            old.db.execute_batch(&format!("DROP TRIGGER IF EXISTS {table}_{event}"))?;
        }
        if !rely {
            old.db.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
        }
    }
    old.db.execute_batch(schema::FULL_TEXT)?;
    if rely { Ok(()) } else { fill(old.db) }
}

/// Returns true if both tables store their text and no trigger is missing. A table without one of its
/// triggers has missed messages.
fn is_whole(db: &Connection) -> Result<bool> {
    let (tables, triggers): (i64, i64) = db.query_row(
        "SELECT COUNT(*) FILTER (WHERE type = 'table' AND name IN ('messages_fts', 'messages_fts_trigram')
                                 AND replace(sql, ' ', '') NOT LIKE '%content=%'),
                COUNT(*) FILTER (WHERE type = 'trigger' AND name LIKE 'messages\\_fts\\_%' ESCAPE '\\')
         FROM sqlite_master",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(tables == stored(TABLES.len()) && triggers >= stored(TABLES.len() * EVENTS.len()))
}

fn fill(db: &Connection) -> Result<()> {
    let text = "COALESCE(content, '') || ' ' || COALESCE(tool_name, '') || ' ' || COALESCE(tool_calls, '')";
    db.execute_batch(&format!(
        "INSERT INTO messages_fts (rowid, content) SELECT id, {text} FROM messages;
         INSERT INTO messages_fts_trigram (rowid, content)
         SELECT id, CASE instr(text, char(0)) WHEN 0 THEN text
             ELSE CAST(substr(CAST(text AS BLOB), 1, instr(CAST(text AS BLOB), x'00') - 1) AS TEXT) END
         FROM (SELECT id, {text} AS text FROM messages);"
    ))
}

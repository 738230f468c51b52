//! The steps of an upgrade, in order. Each is idempotent.

use super::{columns, full_text, gateway, titles, usage};
use crate::sessions::schema;
use rusqlite::{Connection, Result};
use std::path::Path;

/// The file that is being upgraded.
pub(super) struct OldFile<'a> {
    pub(super) db: &'a Connection,
    pub(super) version: i64,
    /// The directory of the file.
    pub(super) home: &'a Path,
}

pub(super) struct Step {
    /// Description that follows "failed to".
    pub(super) doing: &'static str,
    pub(super) run: fn(&OldFile<'_>) -> Result<()>,
}

pub(super) const STEPS: [Step; 11] = [
    Step { doing: "create the missing tables", run: |old| old.db.execute_batch(schema::TABLES) },
    Step { doing: "rebuild the table of usage by model", run: usage::rebuild },
    Step { doing: "add the missing columns", run: columns::reconcile },
    Step { doing: "show hidden messages", run: show_messages },
    Step { doing: "mark delegated sessions", run: mark_delegated },
    Step { doing: "copy the gateway's chats", run: gateway::back_fill },
    Step { doing: "fill in the usage by model", run: usage::back_fill },
    Step { doing: "number equal titles", run: titles::make_unique },
    Step { doing: "create the indexes", run: |old| old.db.execute_batch(schema::INDEXES) },
    Step { doing: "rebuild the search index", run: full_text::renew },
    Step { doing: "record the new version", run: note_version },
];

/// Sets missing values of `active`. Some releases added the column without its default, so that later rows
/// have no value and are hidden.
fn show_messages(old: &OldFile<'_>) -> Result<()> {
    old.db.execute_batch("UPDATE messages SET active = 1 WHERE active IS NULL")
}

/// Marks delegated sessions. Before version 16 they had no mark; branches and continuations after a
/// compaction are recognised by the end reason of the parent.
///
/// The Python release also guesses which sessions lost their parent. A wrong guess hides a session of the
/// user from every list, so that is not done here.
fn mark_delegated(old: &OldFile<'_>) -> Result<()> {
    if old.version >= 16 {
        return Ok(());
    }
    old.db.execute_batch(
        "UPDATE sessions AS child
         SET model_config = json_set(COALESCE(model_config, '{}'), '$._delegate_from', parent_session_id)
         WHERE parent_session_id IS NOT NULL
           AND CASE WHEN json_valid(COALESCE(model_config, '{}'))
                    THEN model_config ->> '$._delegate_from' IS NULL AND model_config ->> '$._branched_from' IS NULL
                    ELSE 0 END
           AND NOT EXISTS (
               SELECT 1 FROM sessions AS parent WHERE parent.id = child.parent_session_id
                 AND (parent.end_reason = 'compression'
                      OR (parent.end_reason = 'branched' AND child.started_at >= parent.ended_at)))",
    )
}

/// Records the version; the table has exactly one row.
fn note_version(old: &OldFile<'_>) -> Result<()> {
    old.db.execute("DELETE FROM schema_version", [])?;
    old.db.execute("INSERT INTO schema_version VALUES (?1)", [schema::VERSION])?;
    Ok(())
}

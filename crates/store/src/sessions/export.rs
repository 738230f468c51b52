//! Whole sessions as JSON, one value per session, with every column the database has.

use super::decode::lenient;
use super::encode::PARTS_MARK;
use super::{SessionDb, decode};
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::SessionId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::{Map, Value};

/// Columns that hold JSON; they are exported as values.
pub(crate) const JSON_COLUMNS: [&str; 4] =
    ["tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items"];

/// Which sessions to export; the default is all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExportFilter {
    pub session: Option<SessionId>,
    pub source: Option<String>,
}

impl SessionDb {
    /// The sessions' rows, each with its messages under `messages`, oldest session first.
    pub async fn export(&self, filter: ExportFilter) -> Result<Vec<Value>, StoreError> {
        let sessions = self.read(move |db| sessions(db, &filter).doing("read the sessions")).await?;
        let mut exported = Vec::with_capacity(sessions.len());
        // A view per session: a long export does not hold back checkpoints.
        for mut session in sessions {
            let id = session.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            let messages = self.read(move |db| messages(db, &id).doing("read a session's messages")).await?;
            session.insert("messages".to_owned(), messages.into());
            exported.push(Value::Object(session));
        }
        Ok(exported)
    }
}

fn sessions(db: &Connection, filter: &ExportFilter) -> rusqlite::Result<Vec<Map<String, Value>>> {
    db.prepare(
        "SELECT * FROM sessions WHERE (?1 IS NULL OR id = ?1) AND (?2 IS NULL OR source = ?2)
         ORDER BY started_at, id",
    )?
    .query_map((filter.session.as_ref().map(SessionId::as_str), &filter.source), all_columns)?
    .collect()
}

fn messages(db: &Connection, session: &str) -> rusqlite::Result<Vec<Value>> {
    db.prepare("SELECT * FROM messages WHERE session_id = ?1 ORDER BY id")?
        .query_map([session], |row| all_columns(row).map(|columns| Value::Object(parsed(columns))))?
        .collect()
}

fn all_columns(row: &Row<'_>) -> rusqlite::Result<Map<String, Value>> {
    let names = row.as_ref().column_names();
    names
        .enumerate()
        .map(|(place, name)| {
            let value = match row.get_ref(place)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => number.into(),
                ValueRef::Text(_) | ValueRef::Blob(_) => decode::text(row, place)?.into(),
            };
            Ok((name.to_owned(), value))
        })
        .collect()
}

fn parsed(mut columns: Map<String, Value>) -> Map<String, Value> {
    for name in JSON_COLUMNS {
        replace(&mut columns, name, lenient);
    }
    replace(&mut columns, "content", |text| lenient(text.strip_prefix(PARTS_MARK)?));
    columns
}

/// Puts a better value in place of a text, if there is one.
fn replace(columns: &mut Map<String, Value>, name: &str, better: impl Fn(&str) -> Option<Value>) {
    if let Some(value) = columns.get_mut(name)
        && let Some(better) = value.as_str().and_then(better)
    {
        *value = better;
    }
}

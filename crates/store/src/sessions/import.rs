//! Puts exported sessions into the store.
//!
//! The opposite of `export`: the same columns, message ids included where they are still free, so
//! that exporting again gives the same JSON. A session is written whole or not at all. Imported
//! messages look like the other program's: without the notes we keep about our own.

use super::decode::lenient;
use super::encode::PARTS_MARK;
use super::export::JSON_COLUMNS;
use super::titles::{numbered, titles_like};
use super::writer::Level;
use super::{SessionDb, append};
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::SessionId;
use rusqlite::types::Value as Stored;
use rusqlite::{Connection, params, params_from_iter};
use serde_json::{Map, Value};
use std::fmt;

/// The most bytes of a file that is imported.
pub const MAX_IMPORT: usize = 25 << 20;
const MAX_SESSIONS: usize = 500;
const MAX_SESSION_BYTES: usize = 5 << 20;
const MAX_SESSION_MESSAGES: usize = 10_000;
const MAX_MESSAGES: usize = 50_000;
/// Larger ids get a new one: the id after the largest possible one does not exist.
const LARGEST_ID: i64 = 1 << 53;

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    pub sessions: Vec<SessionId>,
    pub messages: u64,
    /// Sessions that were there already.
    pub skipped: Vec<SessionId>,
    /// Sessions that could not be imported, and of which nothing was written.
    pub problems: Vec<ImportProblem>,
}

/// What is wrong with one session of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportProblem {
    /// The line of a JSONL file, or the place in a JSON array, counting from 1.
    pub line: usize,
    pub text: String,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("the import has {found} {what}; at most {limit} are taken at once, so split it")]
    TooMuch { what: &'static str, found: usize, limit: usize },
    #[error("the import is not a JSON array: {cause}")]
    NotAnArray { cause: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SessionDb {
    /// Imports JSONL, or a JSON array, as [`export`](Self::export) gives it. Sessions whose id is
    /// known are left as they are.
    pub async fn import(&self, text: &str) -> Result<Imported, ImportError> {
        let (entries, problems) = understand(text)?;
        let mut imported = Imported { problems, ..Imported::default() };
        let mut children = Vec::new();
        for Entry { line, session } in entries {
            let (id, messages) = (SessionId::new(session.id.clone()), session.messages.len());
            children.extend(session.parent().map(|parent| (session.id.clone(), parent.to_owned())));
            match self.write(Level::Full, move |db| write(db, &session)).await {
                Ok(true) => {
                    imported.messages += u64::try_from(messages).unwrap_or_default();
                    imported.sessions.push(id);
                }
                Ok(false) => imported.skipped.push(id),
                // A value that the tables refuse is the session's fault; all else is the store's.
                Err(StoreError::Sqlite { source, .. }) if source.to_string().contains("constraint") => {
                    imported.problems.push(ImportProblem { line, text: source.to_string() });
                }
                Err(error) => return Err(error.into()),
            }
        }
        children.retain(|(child, _)| imported.sessions.iter().any(|id| id.as_str() == child));
        if !children.is_empty() {
            self.write(Level::Full, move |db| adopt(db, &children).doing("link the sessions")).await?;
        }
        imported.problems.sort_by_key(|problem| problem.line);
        Ok(imported)
    }
}

struct Entry {
    line: usize,
    session: Session,
}

/// A session that can be written.
struct Session {
    id: String,
    columns: Map<String, Value>,
    messages: Vec<Map<String, Value>>,
}

impl Session {
    fn parent(&self) -> Option<&str> {
        self.columns.get("parent_session_id").and_then(Value::as_str)
    }
}

fn understand(text: &str) -> Result<(Vec<Entry>, Vec<ImportProblem>), ImportError> {
    within("bytes", text.len(), MAX_IMPORT)?;
    let values = values(text)?;
    within("sessions", values.len(), MAX_SESSIONS)?;
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for (line, length, value) in values {
        match value.and_then(|value| session(value, length)) {
            Ok(session) => entries.push(Entry { line, session }),
            Err(text) => problems.push(ImportProblem { line, text }),
        }
    }
    let messages = entries.iter().map(|entry| entry.session.messages.len()).sum();
    within("messages", messages, MAX_MESSAGES)?;
    Ok((entries, problems))
}

fn within(what: &'static str, found: usize, limit: usize) -> Result<(), ImportError> {
    if found > limit { Err(ImportError::TooMuch { what, found, limit }) } else { Ok(()) }
}

/// Where a value stood, how long it was, and the value, or what is wrong with it.
type Read = (usize, usize, Result<Value, String>);

fn values(text: &str) -> Result<Vec<Read>, ImportError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('[') {
        let raw: Vec<&serde_json::value::RawValue> = serde_json::from_str(text)
            .map_err(|error| ImportError::NotAnArray { cause: error.to_string() })?;
        return Ok(raw.iter().enumerate().map(|(at, raw)| read(at, raw.get())).collect());
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    Ok(lines.map(|(at, line)| read(at, line)).collect())
}

fn read(at: usize, text: &str) -> Read {
    (at + 1, text.len(), lenient(text).ok_or_else(|| "not valid JSON".to_owned()))
}

fn session(value: Value, length: usize) -> Result<Session, String> {
    if length > MAX_SESSION_BYTES {
        return Err(format!("the session has {length} bytes, more than {MAX_SESSION_BYTES}"));
    }
    let Value::Object(mut columns) = value else {
        return Err("not a session, which is an object".to_owned());
    };
    let id = text_in(&columns, "id")?;
    text_in(&columns, "source")?;
    number_in(&columns, "started_at")?;
    let Some(Value::Array(messages)) = columns.shift_remove("messages") else {
        return Err("`messages` is not a list".to_owned());
    };
    if messages.len() > MAX_SESSION_MESSAGES {
        let count = messages.len();
        return Err(format!("the session has {count} messages, more than {MAX_SESSION_MESSAGES}"));
    }
    let messages = messages
        .into_iter()
        .enumerate()
        .map(|(at, value)| message(value).map_err(|problem| format!("message {}: {problem}", at + 1)));
    Ok(Session { id, columns, messages: messages.collect::<Result<_, _>>()? })
}

fn message(value: Value) -> Result<Map<String, Value>, String> {
    let Value::Object(columns) = value else { return Err("not an object".to_owned()) };
    text_in(&columns, "role")?;
    number_in(&columns, "timestamp")?;
    Ok(columns)
}

fn text_in(columns: &Map<String, Value>, name: &str) -> Result<String, String> {
    match columns.get(name).and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(format!("`{name}` is missing or not a text")),
    }
}

fn number_in(columns: &Map<String, Value>, name: &str) -> Result<(), String> {
    match columns.get(name).and_then(Value::as_f64) {
        Some(_) => Ok(()),
        None => Err(format!("`{name}` is missing or not a number")),
    }
}

/// What is left of a session that the other program deleted.
const LEFTOVERS: [&str; 5] = [
    "DELETE FROM hx_message_ext WHERE session = ?1",
    "DELETE FROM hx_intents WHERE session = ?1",
    "DELETE FROM hx_turns WHERE session = ?1",
    "DELETE FROM hx_session_ext WHERE session = ?1",
    "DELETE FROM hx_leases WHERE session = ?1",
];

/// Writes a session; `false` when its id is taken.
fn write(db: &Connection, session: &Session) -> Result<bool, StoreError> {
    let is_known = db
        .prepare_cached("SELECT 1 FROM sessions WHERE id = ?1")
        .and_then(|mut find| find.exists([&session.id]))
        .doing("look for a session")?;
    if is_known {
        return Ok(false);
    }
    for leftover in LEFTOVERS {
        db.execute(leftover, [&session.id]).doing("clear a session's place")?;
    }
    insert_session(db, session).doing("import a session")?;
    insert_messages(db, session).doing("import a message")?;
    Ok(true)
}

fn insert_session(db: &Connection, session: &Session) -> rusqlite::Result<()> {
    let mut row = row_for(db, Table::Sessions, &session.columns)?;
    // The parent may come later; `adopt` links them.
    row.set("parent_session_id", Stored::Null);
    if let Some(title) = session.columns.get("title").and_then(Value::as_str) {
        row.set("title", Stored::Text(free_title(db, title)?));
    }
    row.insert(db)
}

/// A title belongs to one session, so a second one is numbered.
fn free_title(db: &Connection, title: &str) -> rusqlite::Result<String> {
    let taken = db.prepare_cached("SELECT 1 FROM sessions WHERE title = ?1")?.exists([title])?;
    if !taken {
        return Ok(title.to_owned());
    }
    let base = numbered(title).0;
    let highest = titles_like(db, base)?.iter().map(|(_, title)| numbered(title).1).max();
    Ok(format!("{base} #{}", highest.unwrap_or(1).saturating_add(1)))
}

fn insert_messages(db: &Connection, session: &Session) -> rusqlite::Result<()> {
    let keeps_ids = are_free(db, session)?;
    for message in &session.messages {
        let mut row = row_for(db, Table::Messages, message)?;
        row.set("session_id", Stored::Text(session.id.clone()));
        if !keeps_ids {
            row.unset("id");
        }
        row.insert(db)?;
        let id = db.last_insert_rowid();
        db.prepare_cached("DELETE FROM hx_message_ext WHERE message_id = ?1")?.execute([id])?;
        append::queue(db, id, "put")?;
    }
    Ok(())
}

/// Whether the messages can have the ids they had, in the order they stand in.
fn are_free(db: &Connection, session: &Session) -> rusqlite::Result<bool> {
    let mut taken = db.prepare_cached("SELECT 1 FROM messages WHERE id = ?1")?;
    let mut last = 0;
    for message in &session.messages {
        let Some(id) = message.get("id").and_then(Value::as_i64) else { return Ok(false) };
        if id <= last || id > LARGEST_ID || taken.exists([id])? {
            return Ok(false);
        }
        last = id;
    }
    Ok(true)
}

fn adopt(db: &Connection, children: &[(String, String)]) -> rusqlite::Result<()> {
    let mut link = db.prepare(
        "UPDATE sessions SET parent_session_id = ?2 WHERE id = ?1 AND EXISTS (SELECT 1 FROM sessions WHERE id = ?2)",
    )?;
    for (child, parent) in children {
        link.execute(params![child, parent])?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Sessions,
    Messages,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sessions => "sessions",
            Self::Messages => "messages",
        })
    }
}

/// A row to be inserted. The names are columns of the table, never words from the file.
struct NewRow {
    table: Table,
    columns: Vec<(String, Stored)>,
}

/// The columns that both the table and the file have. A NULL where the table wants a value is left
/// to the column's default.
fn row_for(db: &Connection, table: Table, given: &Map<String, Value>) -> rusqlite::Result<NewRow> {
    let mut known =
        db.prepare_cached(&format!("SELECT name, \"notnull\" FROM pragma_table_info('{table}')"))?;
    let mut rows = known.query([])?;
    let mut columns = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, needs_value): (String, bool) = (row.get(0)?, row.get(1)?);
        match given.get(&name) {
            None => {}
            Some(Value::Null) if needs_value => {}
            Some(value) => {
                let stored = stored(table, &name, value);
                columns.push((name, stored));
            }
        }
    }
    Ok(NewRow { table, columns })
}

impl NewRow {
    fn unset(&mut self, column: &str) {
        self.columns.retain(|(name, _)| name != column);
    }

    fn set(&mut self, column: &str, value: Stored) {
        self.unset(column);
        self.columns.push((column.to_owned(), value));
    }

    fn insert(self, db: &Connection) -> rusqlite::Result<()> {
        let (names, values): (Vec<_>, Vec<_>) = self.columns.into_iter().unzip();
        let places = vec!["?"; names.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({places})", self.table, names.join(", "));
        db.prepare_cached(&sql)?.execute(params_from_iter(values))?;
        Ok(())
    }
}

/// The value from which `export` makes `value` again.
fn stored(table: Table, column: &str, value: &Value) -> Stored {
    let is_message = table == Table::Messages;
    match value {
        Value::Null => Stored::Null,
        Value::String(text) if is_message && JSON_COLUMNS.contains(&column) => {
            // A text that reads as JSON would come back as what it reads as.
            let reads_as_json = lenient::<Value>(text).is_some();
            Stored::Text(if reads_as_json { value.to_string() } else { text.clone() })
        }
        Value::String(text) if is_message && column == "content" => {
            let reads_as_parts = text.strip_prefix(PARTS_MARK).and_then(lenient::<Value>).is_some();
            Stored::Text(if reads_as_parts { format!("{PARTS_MARK}{value}") } else { text.clone() })
        }
        Value::String(text) => Stored::Text(text.clone()),
        other if is_message && JSON_COLUMNS.contains(&column) => Stored::Text(other.to_string()),
        other if is_message && column == "content" => Stored::Text(format!("{PARTS_MARK}{other}")),
        Value::Bool(yes) => Stored::Integer((*yes).into()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Stored::Integer(whole),
            None => number.as_f64().map_or(Stored::Null, Stored::Real),
        },
        Value::Array(_) | Value::Object(_) => Stored::Text(value.to_string()),
    }
}

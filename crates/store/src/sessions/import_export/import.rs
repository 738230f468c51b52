//! Imports exported sessions.
//!
//! The inverse of `export`: the same shared and own columns, with the same message ids if they are free, so
//! that a second export gives the same bytes. A session is written as a whole or not at all, and after its
//! parent. This module parses the file; `write` writes the rows.

mod epochs;
mod row;
mod trust;
mod write;

pub use trust::ImportedParts;

use crate::StoreError;
use crate::error::{Doing, with_causes};
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use crate::sessions::rows::decode::lenient;
use hermes_conversation::SessionId;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum bytes of an import.
pub const MAX_IMPORT: usize = 25 << 20;
const MAX_SESSIONS: usize = 500;
const MAX_SESSION_BYTES: usize = 5 << 20;
const MAX_SESSION_MESSAGES: usize = 10_000;
const MAX_MESSAGES: usize = 50_000;

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    pub sessions: Vec<SessionId>,
    pub messages: u64,
    /// Sessions that already exist.
    pub skipped: Vec<SessionId>,
    /// Invalid sessions, of which nothing was written.
    pub problems: Vec<ImportProblem>,
}

/// The problem of one session of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportProblem {
    /// The line of a JSONL file, or the position in a JSON array, from 1.
    pub line: usize,
    pub text: String,
}

/// Errors of an import as a whole; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("import too large: {found} {what}, the limit is {limit}; split the file")]
    TooMuch { what: &'static str, found: usize, limit: usize },
    #[error("the import is not a JSON array: {cause}")]
    NotAnArray { cause: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SessionDb {
    /// Imports JSONL or a JSON array, as [`export`](Self::export) writes it. Existing sessions are not
    /// changed.
    pub async fn import(&self, text: &str) -> Result<Imported, ImportError> {
        let (entries, problems) = parse(text)?;
        let mut imported = Imported { problems, ..Imported::default() };
        let mut placed: HashMap<String, Arc<Ids>> = HashMap::new();
        for Entry { line, session } in parents_first(entries) {
            let (id, messages) = (SessionId::new(session.id.clone()), session.messages.len());
            let before = session.parent().and_then(|parent| placed.get(parent)).cloned().unwrap_or_default();
            match self.write(Level::Full, move |db| write::session(db, &session, &before)).await {
                Ok(Some(ids)) => {
                    imported.messages += u64::try_from(messages).unwrap_or_default();
                    placed.insert(id.to_string(), Arc::new(ids));
                    imported.sessions.push(id);
                }
                Ok(None) => imported.skipped.push(id),
                Err(error) if error.is_refused_value() => {
                    imported.problems.push(ImportProblem { line, text: with_causes(&error) });
                }
                Err(error) => return Err(error.into()),
            }
        }
        imported.problems.sort_by_key(|problem| problem.line);
        self.index_imported(imported.sessions.clone()).await?;
        Ok(imported)
    }

    /// Restarts the pair index if it has passed the message id `first`.
    pub(crate) async fn index_from(&self, first: Option<i64>) -> Result<(), StoreError> {
        let pairs = self.shared.pairs.clone();
        self.read(move |_| {
            first.into_iter().for_each(|first| pairs.forget_if_past(first));
            Ok(())
        })
        .await
    }

    /// Restarts the pair index if imported messages have ids that it has passed.
    async fn index_imported(&self, sessions: Vec<SessionId>) -> Result<(), StoreError> {
        let pairs = self.shared.pairs.clone();
        self.read(move |db| {
            let mut first = db
                .prepare_cached("SELECT MIN(id) FROM messages WHERE session_id = ?1")
                .doing("read the imported messages")?;
            for session in &sessions {
                let lowest: Option<i64> = first
                    .query_row([session.as_str()], |row| row.get(0))
                    .doing("read the imported messages")?;
                lowest.into_iter().for_each(|lowest| pairs.forget_if_past(lowest));
            }
            Ok(())
        })
        .await
    }
}

/// Ids of messages in the store by their ids in the file, including those of ancestor sessions.
type Ids = HashMap<i64, i64>;

/// The columns of a message's row.
type Message = Map<String, Value>;

struct Entry {
    line: usize,
    session: Session,
}

/// A parsed session.
struct Session {
    id: String,
    /// All keys except the messages, including those of other tables.
    columns: Map<String, Value>,
    /// Active and inactive messages, in order.
    messages: Vec<Message>,
}

impl Session {
    fn parent(&self) -> Option<&str> {
        self.columns.get("parent_session_id").and_then(Value::as_str)
    }
}

fn parse(text: &str) -> Result<(Vec<Entry>, Vec<ImportProblem>), ImportError> {
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

/// Line and length of a value, and the value or its error.
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
        return Err("not a JSON object".to_owned());
    };
    let id = text_in(&columns, "id")?;
    text_in(&columns, "source")?;
    number_in(&columns, "started_at")?;
    let mut messages = messages_in(&mut columns, "messages")?.ok_or("`messages` is not a list")?;
    if let Some(inactive) = messages_in(&mut columns, "hx_inactive_messages")? {
        messages = in_order(messages, inactive);
    }
    if messages.len() > MAX_SESSION_MESSAGES {
        let count = messages.len();
        return Err(format!("the session has {count} messages, more than {MAX_SESSION_MESSAGES}"));
    }
    Ok(Session { id, columns, messages })
}

/// Removes and returns the messages under `key`; `None` if it is not a list.
fn messages_in(columns: &mut Map<String, Value>, key: &str) -> Result<Option<Vec<Message>>, String> {
    let Some(Value::Array(messages)) = columns.shift_remove(key) else { return Ok(None) };
    let messages = messages
        .into_iter()
        .enumerate()
        .map(|(at, value)| message(value).map_err(|problem| format!("message {}: {problem}", at + 1)));
    messages.collect::<Result<_, _>>().map(Some)
}

/// Sorts messages by id. Without ids, inactive messages come first and keep their order.
fn in_order(messages: Vec<Message>, mut inactive: Vec<Message>) -> Vec<Message> {
    inactive.extend(messages);
    let ids: Option<Vec<i64>> = inactive.iter().map(|one| one.get("id").and_then(Value::as_i64)).collect();
    if ids.is_some() {
        inactive.sort_by_key(|one| one.get("id").and_then(Value::as_i64));
    }
    inactive
}

/// Sorts sessions so that a parent comes before its children.
fn parents_first(entries: Vec<Entry>) -> Vec<Entry> {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, entry) in entries.iter().enumerate() {
        places.entry(entry.session.id.clone()).or_insert(place);
    }
    let parent = |place: usize| entries[place].session.parent().and_then(|id| places.get(id).copied());
    let mut order = Vec::with_capacity(entries.len());
    let mut is_placed = vec![false; entries.len()];
    for start in 0..entries.len() {
        let mut line = Vec::new();
        let mut next = Some(start);
        // A cycle ends where it began: that session is already placed.
        while let Some(place) = next.filter(|&place| !is_placed[place]) {
            is_placed[place] = true;
            line.push(place);
            next = parent(place);
        }
        order.extend(line.into_iter().rev());
    }
    let mut entries: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    order.into_iter().filter_map(|place| entries[place].take()).collect()
}

fn message(value: Value) -> Result<Message, String> {
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

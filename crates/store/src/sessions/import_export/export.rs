//! Exports whole sessions as JSON, with every shared column and our own.
//!
//! Rows are written as they are read, so an export needs little memory. Keys outside the shared format
//! (`session_model_usage`, `hx_*`, a message's `hx`) stand beside the others; the Python release ignores
//! them. `messages` are the active ones, as it expects; rewound and summarised rows are
//! `hx_inactive_messages`.

use super::column_json;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::rows::decode;
use crate::sessions::{SessionDb, lineage};
use hermes_conversation::SessionId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::{self, Write};

/// Selects the sessions to export; the default is all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExportFilter {
    pub session: Option<SessionId>,
    /// With `session`: includes its ancestors.
    pub lineage: bool,
    pub source: Option<String>,
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExportFormat {
    /// One session per line.
    #[default]
    Jsonl,
    /// One array.
    Json,
}

/// Errors of an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot write the export: {0}")]
    Write(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<serde_json::Error> for ExportError {
    fn from(error: serde_json::Error) -> Self {
        Self::Write(error.into())
    }
}

impl SessionDb {
    /// Returns the sessions that [`export`](Self::export) writes.
    pub async fn export_ids(&self, filter: ExportFilter) -> Result<Vec<SessionId>, StoreError> {
        let ids = self.read(move |db| chosen(db, &filter).doing("read the sessions")).await?;
        Ok(ids.into_iter().map(SessionId::new).collect())
    }

    /// Writes the sessions, oldest first, and returns their number. `out` is returned so that the caller can
    /// finish it.
    pub async fn export<W: Write + Send + 'static>(
        &self,
        filter: ExportFilter,
        format: ExportFormat,
        out: W,
    ) -> Result<(u64, W), ExportError> {
        let ids = self.read(move |db| chosen(db, &filter).doing("read the sessions")).await?;
        let mut sheet = SessionWriter { out, format, count: 0 };
        // One transaction per session, so that a long export does not block checkpoints.
        for id in ids {
            let added = self.read(move |db| Ok(sheet.add(db, &id).map(|()| sheet))).await?;
            sheet = added?;
        }
        sheet.finish()
    }
}

fn chosen(db: &Connection, filter: &ExportFilter) -> rusqlite::Result<Vec<String>> {
    let mut ids: Vec<String> = db
        .prepare(
            "SELECT id FROM sessions WHERE (?1 IS NULL OR id = ?1) AND (?2 IS NULL OR source = ?2)
             ORDER BY started_at, id",
        )?
        .query_map((filter.session.as_ref().map(SessionId::as_str), &filter.source), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if let Some(session) = filter.session.as_ref().filter(|_| filter.lineage && !ids.is_empty()) {
        let line = lineage::ancestors(db, session)?;
        ids.splice(0..0, line.into_iter().map(|id| id.as_str().to_owned()));
    }
    Ok(ids)
}

/// Writes sessions to `out`.
struct SessionWriter<W> {
    out: W,
    format: ExportFormat,
    count: u64,
}

impl<W: Write> SessionWriter<W> {
    /// Writes a session, unless it was deleted meanwhile.
    fn add(&mut self, db: &Connection, id: &str) -> Result<(), ExportError> {
        let row =
            db.query_row("SELECT * FROM sessions WHERE id = ?1", [id], |row| columns(row, 0)).optional();
        let Some(mut session) = row.doing("read a session")? else { return Ok(()) };
        notes(db, id, &mut session).doing("read a session")?;
        self.out.write_all(match (self.format, self.count) {
            (ExportFormat::Jsonl, _) => b"{",
            (ExportFormat::Json, 0) => b"[\n{",
            (ExportFormat::Json, _) => b",\n{",
        })?;
        for (key, value) in &session {
            self.key(key)?;
            self.value(value)?;
            self.out.write_all(b",")?;
        }
        let has_inactive = db
            .prepare_cached("SELECT 1 FROM messages WHERE session_id = ?1 AND active IS NOT 1")
            .and_then(|mut find| find.exists([id]))
            .doing("read a session's messages")?;
        if has_inactive {
            self.messages(db, id, "hx_inactive_messages", false)?;
            self.out.write_all(b",")?;
        }
        self.messages(db, id, "messages", true)?;
        self.out.write_all(match self.format {
            ExportFormat::Jsonl => b"}\n".as_slice(),
            ExportFormat::Json => b"}",
        })?;
        self.count += 1;
        Ok(())
    }

    fn messages(&mut self, db: &Connection, id: &str, key: &str, active: bool) -> Result<(), ExportError> {
        self.key(key)?;
        self.out.write_all(b"[")?;
        let mut find = db.prepare_cached(MESSAGES).doing("read a session's messages")?;
        let mut rows = find.query((id, active)).doing("read a session's messages")?;
        let mut is_first = true;
        while let Some(row) = rows.next().doing("read a session's messages")? {
            if !std::mem::take(&mut is_first) {
                self.out.write_all(b",")?;
            }
            self.value(&message(row).doing("read a session's messages")?)?;
        }
        Ok(self.out.write_all(b"]")?)
    }

    fn key(&mut self, key: &str) -> Result<(), ExportError> {
        self.value(&key)?;
        Ok(self.out.write_all(b":")?)
    }

    fn value(&mut self, value: &impl Serialize) -> Result<(), ExportError> {
        Ok(serde_json::to_writer(&mut self.out, value)?)
    }

    fn finish(mut self) -> Result<(u64, W), ExportError> {
        self.out.write_all(match (self.format, self.count) {
            (ExportFormat::Jsonl, _) => b"".as_slice(),
            (ExportFormat::Json, 0) => b"[]\n",
            (ExportFormat::Json, _) => b"\n]\n",
        })?;
        self.out.flush()?;
        Ok((self.count, self.out))
    }
}

/// Adds the session's rows of other tables. Owners of turns are left out: the process does not exist where
/// the export is imported.
fn notes(db: &Connection, id: &str, session: &mut Map<String, Value>) -> rusqlite::Result<()> {
    for (key, sql) in [
        (
            "session_model_usage",
            "SELECT * FROM session_model_usage WHERE session_id = ?1
             ORDER BY model, billing_provider, billing_base_url, billing_mode, task",
        ),
        (
            "hx_turns",
            "SELECT seq, state, exit_reason, started_at, ended_at FROM hx_turns WHERE session = ?1 ORDER BY seq",
        ),
        // Delivered mail is in the messages.
        (
            "hx_waiting_mail",
            "SELECT mode, text, created_at FROM hx_mailbox WHERE session = ?1 AND state IN ('waiting', 'held') ORDER BY id",
        ),
        (
            "hx_nodes",
            "SELECT number, level, children, first, last, messages, text FROM hx_nodes WHERE session = ?1
             ORDER BY number",
        ),
        (
            "hx_compactions",
            "SELECT number, at, report FROM hx_compactions WHERE session = ?1 ORDER BY number",
        ),
        ("hx_pins", "SELECT number, text, at FROM hx_pins WHERE session = ?1 ORDER BY number"),
    ] {
        let mut find = db.prepare_cached(sql)?;
        let rows = find.query_map([id], |row| columns(row, 0).map(Value::Object))?;
        let rows: Vec<Value> = rows.collect::<rusqlite::Result<_>>()?;
        if !rows.is_empty() {
            session.insert(key.to_owned(), rows.into());
        }
    }
    let quirks: Option<String> = db
        .prepare_cached("SELECT quirks FROM hx_session_ext WHERE session = ?1 AND quirks IS NOT NULL")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    session.extend(quirks.map(|quirks| ("hx_quirks".to_owned(), quirks.into())));
    Ok(())
}

/// Number of our own columns, at the end of each row of [`MESSAGES`].
const OWN_COLUMNS: usize = 7;
const MESSAGES: &str = "SELECT m.*, x.message_id IS NOT NULL, t.seq, x.issuer, x.anthropic_blocks, x.plain,
         x.made, x.copy_of
     FROM messages AS m LEFT JOIN hx_message_ext AS x ON x.message_id = m.id
         LEFT JOIN hx_turns AS t ON t.id = x.turn AND t.session = m.session_id
     WHERE m.session_id = ?1 AND (m.active IS 1) = ?2 ORDER BY m.id";

fn message(row: &Row<'_>) -> rusqlite::Result<Value> {
    let mut shared = columns(row, OWN_COLUMNS)?;
    let first = shared.len();
    let mut own = Map::new();
    let mut plain = false;
    if row.get(first)? {
        own.insert("turn".to_owned(), row.get::<_, Option<i64>>(first + 1)?.into());
        for (name, place) in [("issuer", first + 2), ("anthropic_blocks", first + 3)] {
            own.extend(decode::text(row, place)?.map(|text| (name.to_owned(), text.into())));
        }
        plain = row.get(first + 4)?;
        own.extend(plain.then(|| ("plain".to_owned(), true.into())));
        if row.get(first + 5)? {
            own.insert("made".to_owned(), true.into());
        }
        let copy_of: Option<i64> = row.get(first + 6)?;
        own.extend(copy_of.map(|original| ("copy_of".to_owned(), original.into())));
    }
    let texts = exchanged(&mut shared, plain);
    if !texts.is_empty() {
        own.insert("text".to_owned(), texts.into());
    }
    if !own.is_empty() {
        shared.insert("hx".to_owned(), own.into());
    }
    Ok(shared.into())
}

/// Replaces texts by values, and returns the texts that the values do not restore.
fn exchanged(columns: &mut Map<String, Value>, plain: bool) -> Map<String, Value> {
    let mut texts = Map::new();
    for (name, value) in columns.iter_mut().filter(|(name, _)| column_json::is_exchanged(name)) {
        let Value::String(text) = &*value else { continue };
        texts.extend(column_json::needed_text(name, text, plain).map(|text| (name.clone(), text.into())));
        *value = column_json::to_json(name, text, plain);
    }
    texts
}

/// Returns the columns of a row by name, without the last ones.
fn columns(row: &Row<'_>, but: usize) -> rusqlite::Result<Map<String, Value>> {
    let names = row.as_ref().column_names();
    let shared = names.len() - but;
    names
        .into_iter()
        .take(shared)
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

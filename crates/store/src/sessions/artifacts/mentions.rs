//! Mentions of files by sessions.
//!
//! The transaction of a message records its mentions. Other messages (of the Python release, or from before
//! this table) are scanned once, up to a mark, on demand; so a mentioned file never looks unused. Mentions
//! of deleted sessions are ignored.

use super::names::{may_mention, mentioned};
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::Liveness;
use crate::sessions::record::lease;
use crate::sessions::rows::decode;
use crate::sessions::rows::encode::Columns;
use hermes_conversation::SessionId;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::{BTreeMap, BTreeSet};

/// The columns of `messages` that can mention a file.
pub(crate) const COLUMNS: &str = "content, tool_calls, api_content";
const MARK: &str = "artifacts";

/// File names with the sessions that mention them.
pub(crate) type FileMentions = BTreeMap<String, BTreeSet<SessionId>>;

/// Records the mentions of a new message.
pub(crate) fn note(db: &Connection, session: &SessionId, columns: &Columns) -> rusqlite::Result<()> {
    let texts = [Some(&columns.content), columns.tool_calls.as_ref(), columns.api_content.as_ref()];
    for text in texts.into_iter().flatten() {
        insert(db, session.as_str(), &mentioned(text))?;
    }
    Ok(())
}

/// Records the mentions of a stored row.
pub(crate) fn note_row(db: &Connection, message: i64) -> rusqlite::Result<()> {
    let sql = format!("SELECT session_id, {COLUMNS} FROM messages WHERE id = ?1 AND {}", may_mention());
    let found = db.prepare_cached(&sql)?.query_row([message], mentions).optional()?;
    found.map_or(Ok(()), |(session, names)| insert(db, &session, &names))
}

/// Deletes a session's mentions, and returns the files. Its messages must still exist.
pub(crate) fn release(db: &Connection, session: &SessionId) -> Result<BTreeSet<String>, StoreError> {
    let mut names = of_messages(db, session).doing("find a session's files")?;
    names.extend(noted(db, session).doing("find a session's files")?);
    db.execute("DELETE FROM hx_artifacts WHERE session = ?1", [session.as_str()])
        .doing("delete a session's mentions")?;
    Ok(names)
}

fn of_messages(db: &Connection, session: &SessionId) -> rusqlite::Result<BTreeSet<String>> {
    let sql =
        format!("SELECT session_id, {COLUMNS} FROM messages WHERE session_id = ?1 AND {}", may_mention());
    let mut find = db.prepare(&sql)?;
    let found = find.query_map([session.as_str()], mentions)?.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(found.into_iter().flat_map(|(_, names)| names).collect())
}

fn noted(db: &Connection, session: &SessionId) -> rusqlite::Result<Vec<String>> {
    db.prepare_cached("SELECT name FROM hx_artifacts WHERE session = ?1")?
        .query_map([session.as_str()], |row| row.get(0))?
        .collect()
}

/// Returns the recorded mentions.
pub(crate) fn recorded(db: &Connection) -> rusqlite::Result<FileMentions> {
    let mut mentions = FileMentions::new();
    let mut find = db.prepare(
        "SELECT name, session FROM hx_artifacts WHERE session IN (SELECT id FROM sessions) ORDER BY name",
    )?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        mentions.entry(row.get(0)?).or_default().insert(SessionId::new(row.get::<_, String>(1)?));
    }
    Ok(mentions)
}

/// Mentions in messages after the mark.
#[derive(Debug)]
pub(crate) struct UnscannedMentions {
    mark: i64,
    last: i64,
    found: Vec<(String, BTreeSet<String>)>,
}

impl UnscannedMentions {
    pub(crate) fn is_empty(&self) -> bool {
        self.last <= self.mark
    }

    pub(crate) fn add_to(&self, mentions: &mut FileMentions) {
        for (session, names) in &self.found {
            for name in names {
                mentions.entry(name.clone()).or_default().insert(SessionId::new(session.clone()));
            }
        }
    }
}

/// Scans the messages after the mark; all messages without one.
pub(crate) fn unscanned(db: &Connection) -> rusqlite::Result<UnscannedMentions> {
    // A file that was never opened by this version has no such table.
    let mark = db.query_row("SELECT value FROM hx_marks WHERE name = ?1", [MARK], |row| row.get(0));
    let mark: i64 = mark.unwrap_or_default();
    let last: i64 = db.query_row("SELECT COALESCE(MAX(id), 0) FROM messages", [], |row| row.get(0))?;
    let sql = format!("SELECT session_id, {COLUMNS} FROM messages WHERE id > ?1 AND {}", may_mention());
    let found = db.prepare(&sql)?.query_map([mark], mentions)?.collect::<rusqlite::Result<_>>()?;
    Ok(UnscannedMentions { mark, last, found })
}

/// Records the mentions that [`unscanned`] found, and moves the mark. It is idempotent.
pub(crate) fn keep(db: &Connection, unscanned: &UnscannedMentions) -> rusqlite::Result<()> {
    for (session, names) in &unscanned.found {
        insert(db, session, names)?;
    }
    db.execute(
        "INSERT INTO hx_marks VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = MAX(value, excluded.value)",
        params![MARK, unscanned.last],
    )?;
    Ok(())
}

/// Returns the start of the oldest open turn of a live process. A file used since then may belong to a result
/// that is not stored yet.
pub(crate) fn in_use_since(db: &Connection, is_alive: Liveness) -> Result<Option<f64>, StoreError> {
    let open: Vec<(SessionId, f64)> = db
        .prepare("SELECT session, started_at FROM hx_turns WHERE state = 'open' ORDER BY started_at")
        .and_then(|mut find| {
            find.query_map([], |row| Ok((SessionId::new(row.get::<_, String>(0)?), row.get(1)?)))?.collect()
        })
        .doing("find open turns")?;
    for (session, started) in open {
        if lease::holder(db, &session, is_alive)?.is_some() {
            return Ok(Some(started));
        }
    }
    Ok(None)
}

fn mentions(row: &Row<'_>) -> rusqlite::Result<(String, BTreeSet<String>)> {
    let mut names = BTreeSet::new();
    for column in 1..=COLUMNS.split(", ").count() {
        names.extend(decode::text(row, column)?.map(|text| mentioned(&text)).unwrap_or_default());
    }
    Ok((decode::text(row, 0)?.unwrap_or_default(), names))
}

fn insert(db: &Connection, session: &str, names: &BTreeSet<String>) -> rusqlite::Result<()> {
    for name in names {
        db.prepare_cached("INSERT OR IGNORE INTO hx_artifacts VALUES (?1, ?2)")?.execute([session, name])?;
    }
    Ok(())
}

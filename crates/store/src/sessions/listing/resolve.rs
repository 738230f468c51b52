//! Finds a session by id, id prefix or title.

use super::titles;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use hermes_conversation::SessionId;
use rusqlite::{Connection, OptionalExtension, params};

/// Name for the session that was last active.
const LATEST: &str = "latest";
/// Maximum candidates in an error.
const NAMED: u32 = 8;

impl SessionDb {
    /// Returns the session with this id, or the only one with this id prefix, or the newest with this title;
    /// `latest` is the one that was last active.
    pub async fn resolve(&self, wanted: &str) -> Result<SessionId, StoreError> {
        let wanted = wanted.trim().to_owned();
        self.read(move |db| resolve(db, &wanted)).await
    }

    /// Returns the session with the newest message, of all sources or of one.
    pub async fn latest(&self, source: Option<&str>) -> Result<Option<SessionId>, StoreError> {
        let source = source.map(str::to_owned);
        self.read(move |db| latest(db, source.as_deref()).doing("find the latest session")).await
    }
}

fn resolve(db: &Connection, wanted: &str) -> Result<SessionId, StoreError> {
    let unknown = || StoreError::UnknownSession { wanted: wanted.to_owned() };
    if wanted.is_empty() {
        return Err(unknown());
    }
    let mut begun = beginning_with(db, wanted).doing("find a session")?;
    if let Some(exact) = begun.iter().position(|id| id.as_str() == wanted) {
        return Ok(begun.swap_remove(exact));
    }
    if wanted == LATEST {
        return latest(db, None).doing("find the latest session")?.ok_or_else(unknown);
    }
    if begun.len() == 1 {
        return Ok(begun.swap_remove(0));
    }
    let titled = titles::titles_like(db, wanted).doing("find a title")?;
    match titled.into_iter().next() {
        Some((id, _)) => Ok(id),
        None if begun.is_empty() => Err(unknown()),
        None => Err(StoreError::AmbiguousSession { wanted: wanted.to_owned(), candidates: begun }),
    }
}

/// Returns the sessions with this id prefix, the exact match first.
fn beginning_with(db: &Connection, prefix: &str) -> rusqlite::Result<Vec<SessionId>> {
    db.prepare_cached(
        "SELECT id FROM sessions WHERE substr(id, 1, length(?1)) = ?1 ORDER BY length(id), id LIMIT ?2",
    )?
    .query_map(params![prefix, NAMED], |row| Ok(SessionId::new(row.get::<_, String>(0)?)))?
    .collect()
}

fn latest(db: &Connection, source: Option<&str>) -> rusqlite::Result<Option<SessionId>> {
    db.prepare_cached(
        "SELECT id FROM (
             SELECT s.id, (SELECT MAX(m.timestamp) FROM messages AS m WHERE m.session_id = s.id) AS last
             FROM sessions AS s
             WHERE s.archived = 0 AND ((?1 IS NULL AND s.source <> 'tool') OR s.source = ?1))
         WHERE last IS NOT NULL ORDER BY last DESC, id DESC LIMIT 1",
    )?
    .query_row([source], |row| Ok(SessionId::new(row.get::<_, String>(0)?)))
    .optional()
}

//! Finds the session a person means.

use super::titles;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use hermes_conversation::SessionId;
use rusqlite::{Connection, OptionalExtension, params};

/// The word for the session that was last active.
const LATEST: &str = "latest";
/// How many candidates an error names.
const NAMED: u32 = 8;

impl SessionDb {
    /// The session with this id, or the only one whose id begins so, or the newest with this
    /// title; `latest` is the one that was last active.
    pub async fn resolve(&self, wanted: &str) -> Result<SessionId, StoreError> {
        let wanted = wanted.trim().to_owned();
        self.read(move |db| resolve(db, &wanted)).await
    }

    /// The session in which something was last said, of all sources or of one.
    pub async fn latest(&self, source: Option<&str>) -> Result<Option<SessionId>, StoreError> {
        let source = source.map(str::to_owned);
        self.read(move |db| latest(db, source.as_deref()).doing("look for the latest session")).await
    }
}

fn resolve(db: &Connection, wanted: &str) -> Result<SessionId, StoreError> {
    let unknown = || StoreError::UnknownSession { wanted: wanted.to_owned() };
    if wanted.is_empty() {
        return Err(unknown());
    }
    let mut begun = beginning_with(db, wanted).doing("look for a session")?;
    if let Some(exact) = begun.iter().position(|id| id.as_str() == wanted) {
        return Ok(begun.swap_remove(exact));
    }
    if wanted == LATEST {
        return latest(db, None).doing("look for the latest session")?.ok_or_else(unknown);
    }
    if begun.len() == 1 {
        return Ok(begun.swap_remove(0));
    }
    let titled = titles::titles_like(db, wanted).doing("look for a title")?;
    match titled.into_iter().next() {
        Some((id, _)) => Ok(id),
        None if begun.is_empty() => Err(unknown()),
        None => Err(StoreError::AmbiguousSession { wanted: wanted.to_owned(), candidates: begun }),
    }
}

/// An exact match comes first, because it is its own shortest extension.
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

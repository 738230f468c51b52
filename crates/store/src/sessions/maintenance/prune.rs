//! Finds and removes old sessions.
//!
//! Only ended sessions are removed, as in the Python release, unless all are requested: a session whose
//! process died never ends. The age counts from the last message and not, as there, from the start, so that
//! a session that is resumed every day stays.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::compaction::originals::is_original;
use crate::sessions::listing::preview;
use crate::sessions::record::lease;
use crate::sessions::rows::counts::count;
use crate::sessions::rows::decode;
use crate::sessions::{Liveness, SessionDb};
use hermes_conversation::SessionId;
use rusqlite::{Connection, Row, params};

const DAY: f64 = 86_400.0;

/// Selects old sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneFilter {
    pub older_than_days: u32,
    pub source: Option<String>,
    /// Only sessions that have ended.
    pub ended_only: bool,
}

impl Default for PruneFilter {
    fn default() -> Self {
        Self { older_than_days: 90, source: None, ended_only: true }
    }
}

/// A session that can be removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Prunable {
    pub id: SessionId,
    pub title: Option<String>,
    pub source: String,
    pub started_at: f64,
    pub last_active: f64,
    pub ended: bool,
    pub message_count: u64,
    /// Beginning of the first prompt.
    pub preview: String,
}

impl SessionDb {
    /// Returns the sessions that [`prune`](Self::prune) removes, oldest first, without those in use.
    pub async fn prunable(&self, filter: PruneFilter) -> Result<Vec<Prunable>, StoreError> {
        let before = self.now() - f64::from(filter.older_than_days) * DAY;
        let is_alive = self.is_alive;
        self.read(move |db| {
            let found = old_enough(db, &filter, before).doing("find old sessions")?;
            without_used(db, found, is_alive)
        })
        .await
    }

    /// Removes those of `chosen` that still match the filter, and returns them. Their children stay,
    /// without a parent.
    pub async fn prune(
        &self,
        filter: PruneFilter,
        chosen: &[SessionId],
    ) -> Result<Vec<SessionId>, StoreError> {
        // A session may have been resumed since the list was shown.
        let still: Vec<SessionId> = self.prunable(filter).await?.into_iter().map(|old| old.id).collect();
        let mut gone = Vec::new();
        for id in chosen.iter().filter(|id| still.contains(id)) {
            match self.delete(id).await {
                Ok(()) => gone.push(id.clone()),
                Err(StoreError::Busy { .. } | StoreError::UnknownSession { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(gone)
    }
}

fn old_enough(db: &Connection, filter: &PruneFilter, before: f64) -> rusqlite::Result<Vec<Prunable>> {
    db.prepare(&format!(
        "SELECT * FROM (
             SELECT s.id, s.title, s.source, s.started_at,
                    COALESCE((SELECT MAX(m.timestamp) FROM messages AS m WHERE m.session_id = s.id), s.started_at)
                        AS last_active,
                    s.ended_at IS NOT NULL AS ended, s.message_count,
                    (SELECT m.content FROM messages AS m
                     WHERE m.session_id = s.id AND m.role = 'user' AND m.content IS NOT NULL AND {}
                     ORDER BY m.id LIMIT 1)
             FROM sessions AS s WHERE s.started_at < ?1 AND (?2 IS NULL OR s.source = ?2))
         WHERE last_active < ?1 AND (ended OR NOT ?3) ORDER BY started_at, id",
        is_original("m")
    ))?
    .query_map(params![before, filter.source, filter.ended_only], prunable)?
    .collect()
}

fn prunable(row: &Row<'_>) -> rusqlite::Result<Prunable> {
    Ok(Prunable {
        id: SessionId::new(row.get::<_, String>(0)?),
        title: decode::text(row, 1)?,
        source: decode::text(row, 2)?.unwrap_or_default(),
        started_at: row.get(3)?,
        last_active: row.get(4)?,
        ended: row.get(5)?,
        message_count: count(row, 6)?,
        preview: preview(&decode::text(row, 7)?.unwrap_or_default()),
    })
}

fn without_used(
    db: &Connection,
    found: Vec<Prunable>,
    is_alive: Liveness,
) -> Result<Vec<Prunable>, StoreError> {
    let mut free = Vec::with_capacity(found.len());
    for session in found {
        if lease::holder(db, &session.id, is_alive)?.is_none() {
            free.push(session);
        }
    }
    Ok(free)
}

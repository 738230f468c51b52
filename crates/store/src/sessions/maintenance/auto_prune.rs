//! Removes old sessions from time to time, without being asked each time.
//!
//! Only ended sessions go: nobody is there to look at the list first. When it was last done stands
//! in `state_meta`, where the Python program keeps it too, so that one of all programs does it.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::{PruneFilter, SessionDb};
use hermes_conversation::SessionId;
use rusqlite::{Connection, OptionalExtension, params};

const LAST_TIME: &str = "last_auto_prune";
const HOUR: f64 = 3_600.0;
const DAY: f64 = 24.0 * HOUR;
/// An empty session of the terminal interface is forgotten after this long.
const GHOST_AGE: f64 = DAY;
/// A continuation that never called a model is not coming back after this long.
const ORPHAN_AGE: f64 = 7.0 * DAY;

/// How old sessions are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoPrune {
    pub retention_days: u32,
    pub min_interval_hours: u32,
    /// Give the space back when something was removed.
    pub vacuum: bool,
}

impl Default for AutoPrune {
    fn default() -> Self {
        Self { retention_days: 90, min_interval_hours: 24, vacuum: true }
    }
}

/// What an [`auto_prune`](SessionDb::auto_prune) did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutoPruned {
    /// Sessions that were older than wanted.
    pub old: Vec<SessionId>,
    /// Sessions in which nothing was ever said.
    pub ghosts: Vec<SessionId>,
    pub vacuumed: bool,
}

impl SessionDb {
    /// Removes old sessions if it is time to; `None` when it was done not long ago.
    pub async fn auto_prune(&self, settings: AutoPrune) -> Result<Option<AutoPruned>, StoreError> {
        let now = self.now();
        // Looking costs no write, and most of the time that is all.
        let is_due = self.read(move |db| is_due(db, settings, now).doing("read when it was last pruned"));
        if !is_due.await? {
            return Ok(None);
        }
        let is_mine = self.write(Level::Normal, move |db| claim(db, settings, now).doing("note a pruning"));
        if !is_mine.await? {
            return Ok(None);
        }
        let filter = PruneFilter {
            older_than_days: settings.retention_days,
            ended_only: true,
            ..PruneFilter::default()
        };
        let found: Vec<SessionId> =
            self.prunable(filter.clone()).await?.into_iter().map(|old| old.id).collect();
        let mut done = AutoPruned { old: self.prune(filter, &found).await?, ..AutoPruned::default() };
        done.ghosts = self.drop_ghosts(now).await?;
        self.write(Level::Normal, move |db| end_orphans(db, now).doing("end forgotten sessions")).await?;
        if settings.vacuum && !done.old.is_empty() {
            done.vacuumed = match self.optimize().await {
                Ok(_) => true,
                // Someone works: there will be another time.
                Err(StoreError::Busy { .. } | StoreError::Locked { .. }) => false,
                Err(error) => return Err(error),
            };
        }
        Ok(Some(done))
    }

    async fn drop_ghosts(&self, now: f64) -> Result<Vec<SessionId>, StoreError> {
        let found = self.read(move |db| ghosts(db, now).doing("look for empty sessions")).await?;
        let mut gone = Vec::new();
        for id in found {
            match self.delete(&id).await {
                Ok(()) => gone.push(id),
                Err(StoreError::Busy { .. } | StoreError::UnknownSession { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(gone)
    }
}

/// Whether the last time is long enough ago. A time that cannot be read is no time.
fn is_due(db: &Connection, settings: AutoPrune, now: f64) -> rusqlite::Result<bool> {
    let last: Option<String> = db
        .query_row("SELECT value FROM state_meta WHERE key = ?1", [LAST_TIME], |row| row.get(0))
        .optional()?
        .flatten();
    let last: Option<f64> = last.and_then(|text| text.trim().parse().ok());
    Ok(last.is_none_or(|last| now - last >= f64::from(settings.min_interval_hours) * HOUR))
}

/// Noted before it is done, under the write lock: of several programs one does it.
fn claim(db: &Connection, settings: AutoPrune, now: f64) -> rusqlite::Result<bool> {
    if !is_due(db, settings, now)? {
        return Ok(false);
    }
    db.execute(
        "INSERT INTO state_meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
        params![LAST_TIME, now.to_string()],
    )?;
    Ok(true)
}

fn ghosts(db: &Connection, now: f64) -> rusqlite::Result<Vec<SessionId>> {
    db.prepare(
        "SELECT s.id FROM sessions AS s
         WHERE s.source = 'tui' AND s.title IS NULL AND s.ended_at IS NOT NULL AND s.started_at < ?1
           AND NOT EXISTS (SELECT 1 FROM messages AS m WHERE m.session_id = s.id)",
    )?
    .query_map([now - GHOST_AGE], |row| row.get(0).map(|id: String| SessionId::new(id)))?
    .collect()
}

/// Ends continuations of compressed sessions that never came to life. Nothing of them is lost.
fn end_orphans(db: &Connection, now: f64) -> rusqlite::Result<usize> {
    db.execute(
        "UPDATE sessions SET ended_at = ?1, end_reason = 'orphaned_compression'
         WHERE COALESCE(api_call_count, 0) = 0 AND ended_at IS NULL AND end_reason IS NULL AND started_at < ?2
           AND id NOT IN (SELECT session FROM hx_leases WHERE held = 1)
           AND EXISTS (SELECT 1 FROM sessions AS p WHERE p.id = sessions.parent_session_id
                       AND p.end_reason = 'compression' AND p.ended_at IS NOT NULL)",
        params![now, now - ORPHAN_AGE],
    )
}

//! Removes old sessions automatically.
//!
//! Only ended sessions are removed, because no user reviews the list. The time of the last run is in
//! `state_meta`, which the Python release uses, too, so that only one program does it.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::{PruneFilter, SessionDb};
use hermes_conversation::SessionId;
use rusqlite::{Connection, OptionalExtension, params};

const LAST_TIME: &str = "last_auto_prune";
const HOUR: f64 = 3_600.0;
const DAY: f64 = 24.0 * HOUR;
/// Age at which an empty session of the terminal interface is deleted.
const GHOST_AGE: f64 = DAY;
/// Age at which a continuation without model calls is ended.
const ORPHAN_AGE: f64 = 7.0 * DAY;

/// Settings of automatic pruning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoPrune {
    pub retention_days: u32,
    pub min_interval_hours: u32,
    /// Frees disk space after sessions were removed.
    pub vacuum: bool,
}

impl Default for AutoPrune {
    fn default() -> Self {
        Self { retention_days: 90, min_interval_hours: 24, vacuum: true }
    }
}

/// The result of [`auto_prune`](SessionDb::auto_prune).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutoPruned {
    /// Sessions above the age limit.
    pub old: Vec<SessionId>,
    /// Sessions without messages.
    pub ghosts: Vec<SessionId>,
    pub vacuumed: bool,
}

impl SessionDb {
    /// Removes old sessions; `None` if the last run was less than the interval ago.
    pub async fn auto_prune(&self, settings: AutoPrune) -> Result<Option<AutoPruned>, StoreError> {
        let now = self.now();
        // Usually nothing is due, and the check needs no write.
        let is_due =
            self.read(move |db| is_due(db, settings, now).doing("read the time of the last pruning"));
        if !is_due.await? {
            return Ok(None);
        }
        let is_mine =
            self.write(Level::Normal, move |db| claim(db, settings, now).doing("record the pruning"));
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
        self.write(Level::Normal, move |db| end_orphans(db, now).doing("end orphaned sessions")).await?;
        if settings.vacuum && !done.old.is_empty() {
            done.vacuumed = match self.optimize().await {
                Ok(_) => true,
                // The store is in use: the next run will do it.
                Err(StoreError::Busy { .. } | StoreError::Locked { .. }) => false,
                Err(error) => return Err(error),
            };
        }
        Ok(Some(done))
    }

    async fn drop_ghosts(&self, now: f64) -> Result<Vec<SessionId>, StoreError> {
        let found = self.read(move |db| ghosts(db, now).doing("find empty sessions")).await?;
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

/// Returns true if the interval has passed. An unreadable time counts as none.
fn is_due(db: &Connection, settings: AutoPrune, now: f64) -> rusqlite::Result<bool> {
    let last: Option<String> = db
        .query_row("SELECT value FROM state_meta WHERE key = ?1", [LAST_TIME], |row| row.get(0))
        .optional()?
        .flatten();
    let last: Option<f64> = last.and_then(|text| text.trim().parse().ok());
    Ok(last.is_none_or(|last| now - last >= f64::from(settings.min_interval_hours) * HOUR))
}

/// Records the run before it starts, under the write lock, so that only one program does it.
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

/// Ends continuations of split sessions that were never used. Their data is kept.
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

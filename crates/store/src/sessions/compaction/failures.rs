//! Failures of earlier compactions, and the compaction lock of a session.
//!
//! The columns and the lock table are shared with the Python release, which respects them, too.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use crate::sessions::rows::counts::{count, stored};
use hermes_conversation::{Lease, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

/// Failures of the last compactions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CompactionFailures {
    /// End of the cooldown for automatic compactions, in seconds since 1970.
    pub until: Option<f64>,
    /// The error of the last failed compaction.
    pub error: Option<String>,
    /// Number of compactions in a row without a model's summary.
    pub fallback_streak: u32,
    /// Number of compactions in a row that freed too little.
    pub ineffective: u32,
}

impl SessionDb {
    /// Returns the failures of a session's last compactions; the default for an unknown session.
    pub async fn compaction_failures(&self, session: &SessionId) -> Result<CompactionFailures, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            let found = db
                .prepare_cached(
                    "SELECT s.compression_failure_cooldown_until, s.compression_failure_error,
                            s.compression_fallback_streak, x.ineffective
                     FROM sessions AS s LEFT JOIN hx_session_ext AS x ON x.session = s.id WHERE s.id = ?1",
                )
                .and_then(|mut find| {
                    find.query_row([session.as_str()], |row| {
                        Ok(CompactionFailures {
                            until: row.get(0)?,
                            error: row.get(1)?,
                            fallback_streak: u32::try_from(count(row, 2)?).unwrap_or(u32::MAX),
                            ineffective: u32::try_from(count(row, 3)?).unwrap_or(u32::MAX),
                        })
                    })
                    .optional()
                })
                .doing("read the compaction failures")?;
            Ok(found.unwrap_or_default())
        })
        .await
    }

    /// Records the failures of the last compactions.
    pub async fn record_compaction_failures(
        &self,
        lease: &Lease,
        trouble: &CompactionFailures,
    ) -> Result<(), StoreError> {
        let (lease, trouble) = (lease.clone(), trouble.clone());
        self.write(Level::Normal, move |db| {
            crate::sessions::record::lease::fence(db, &lease)?;
            let session = lease.session.as_str();
            db.execute(
                "UPDATE sessions SET compression_failure_cooldown_until = ?2, compression_failure_error = ?3,
                     compression_fallback_streak = ?4 WHERE id = ?1",
                params![session, trouble.until, trouble.error, trouble.fallback_streak],
            )
            .doing("record the compaction failures")?;
            db.execute(
                "INSERT INTO hx_session_ext (session, ineffective) VALUES (?1, ?2)
                 ON CONFLICT DO UPDATE SET ineffective = excluded.ineffective",
                params![session, stored(trouble.ineffective)],
            )
            .doing("record the compaction failures")?;
            Ok(())
        })
        .await
    }
}

/// The lock holder as the Python release reads it. All our processes are one holder: the session's lease
/// distinguishes them, and the lock of a killed process can be taken at once.
const HOLDER: &str = "hermes (rust)";

/// Duration of the lock in seconds; a longer compaction renews it.
const LOCK_SECONDS: f64 = 300.0;

/// Takes or renews the compaction lock. Returns false while the Python release holds it; an expired lock is
/// free.
pub(crate) fn hold(db: &Connection, session: &SessionId, now: f64) -> Result<bool, StoreError> {
    let taken = db
        .execute(
            "INSERT INTO compression_locks (session_id, holder, acquired_at, expires_at)
             VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (session_id) DO UPDATE SET holder = excluded.holder,
                 acquired_at = CASE holder WHEN excluded.holder THEN acquired_at ELSE excluded.acquired_at END,
                 expires_at = excluded.expires_at
             WHERE holder = excluded.holder OR expires_at < excluded.acquired_at",
            params![session.as_str(), HOLDER, now, now + LOCK_SECONDS],
        )
        .doing("lock a session for compaction")?;
    Ok(taken == 1)
}

/// Releases the compaction lock, unless another holder has it.
pub(crate) fn leave(db: &Connection, session: &SessionId) -> Result<(), StoreError> {
    db.execute(
        "DELETE FROM compression_locks WHERE session_id = ?1 AND holder = ?2",
        params![session.as_str(), HOLDER],
    )
    .doing("unlock a session")?;
    Ok(())
}

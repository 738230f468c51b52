//! What keeps a session from being compacted: failures that are waited out, and somebody who is at it.
//!
//! The columns and the table of locks are shared with the Python release, which minds them too.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use crate::sessions::rows::counts::{count, stored};
use hermes_conversation::{Lease, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

/// How the last compactions went.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trouble {
    /// None is tried by itself before then, in seconds since 1970.
    pub until: Option<f64>,
    /// Why the last one failed.
    pub error: Option<String>,
    /// How many in a row had to do without a summary by a model.
    pub fallback_streak: u32,
    /// How many in a row did not help.
    pub ineffective: u32,
}

impl SessionDb {
    /// How the last compactions of a session went; no trouble for an unknown one.
    pub async fn compaction_trouble(&self, session: &SessionId) -> Result<Trouble, StoreError> {
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
                        Ok(Trouble {
                            until: row.get(0)?,
                            error: row.get(1)?,
                            fallback_streak: u32::try_from(count(row, 2)?).unwrap_or(u32::MAX),
                            ineffective: u32::try_from(count(row, 3)?).unwrap_or(u32::MAX),
                        })
                    })
                    .optional()
                })
                .doing("read how compactions went")?;
            Ok(found.unwrap_or_default())
        })
        .await
    }

    /// Remembers how the last compactions went.
    pub async fn note_compaction_trouble(&self, lease: &Lease, trouble: &Trouble) -> Result<(), StoreError> {
        let (lease, trouble) = (lease.clone(), trouble.clone());
        self.write(Level::Normal, move |db| {
            crate::sessions::record::lease::fence(db, &lease)?;
            let session = lease.session.as_str();
            db.execute(
                "UPDATE sessions SET compression_failure_cooldown_until = ?2, compression_failure_error = ?3,
                     compression_fallback_streak = ?4 WHERE id = ?1",
                params![session, trouble.until, trouble.error, trouble.fallback_streak],
            )
            .doing("note how a compaction went")?;
            db.execute(
                "INSERT INTO hx_session_ext (session, ineffective) VALUES (?1, ?2)
                 ON CONFLICT DO UPDATE SET ineffective = excluded.ineffective",
                params![session, stored(trouble.ineffective)],
            )
            .doing("note how a compaction went")?;
            Ok(())
        })
        .await
    }
}

/// Who holds the right to compact, as the other program reads it. All our processes are one holder: the
/// session's lease tells them apart, and what a killed one held is ours again at once.
const HOLDER: &str = "hermes (rust)";

/// For how long nobody else compacts, in seconds; who is at it for longer says so again.
const HELD: f64 = 300.0;

/// Takes the right to compact a session, or prolongs it; false while the other program has it. One that ran
/// out is anybody's.
pub(crate) fn hold(db: &Connection, session: &SessionId, now: f64) -> Result<bool, StoreError> {
    let taken = db
        .execute(
            "INSERT INTO compression_locks (session_id, holder, acquired_at, expires_at)
             VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (session_id) DO UPDATE SET holder = excluded.holder,
                 acquired_at = CASE holder WHEN excluded.holder THEN acquired_at ELSE excluded.acquired_at END,
                 expires_at = excluded.expires_at
             WHERE holder = excluded.holder OR expires_at < excluded.acquired_at",
            params![session.as_str(), HOLDER, now, now + HELD],
        )
        .doing("lock a session for compacting")?;
    Ok(taken == 1)
}

/// Gives the right to compact back. Nothing happens if somebody else has it by now.
pub(crate) fn leave(db: &Connection, session: &SessionId) -> Result<(), StoreError> {
    db.execute(
        "DELETE FROM compression_locks WHERE session_id = ?1 AND holder = ?2",
        params![session.as_str(), HOLDER],
    )
    .doing("unlock a session")?;
    Ok(())
}

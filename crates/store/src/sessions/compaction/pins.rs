//! Pins: texts that no compaction removes from the context.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use hermes_conversation::SessionId;
use rusqlite::params;

/// A pinned text.
#[derive(Debug, Clone, PartialEq)]
pub struct Pin {
    /// Number within the session, from 1.
    pub number: u32,
    pub text: String,
    pub at: f64,
}

impl SessionDb {
    /// Pins a text and returns its number. The session must exist.
    pub async fn pin(&self, session: &SessionId, text: &str) -> Result<u32, StoreError> {
        let (session, text, now) = (session.clone(), text.to_owned(), self.now());
        self.write(Level::Full, move |db| {
            let is_known = db
                .prepare_cached("SELECT 1 FROM sessions WHERE id = ?1")
                .and_then(|mut find| find.exists([session.as_str()]))
                .doing("find a session")?;
            if !is_known {
                return Err(StoreError::UnknownSession { wanted: session.to_string() });
            }
            db.query_row(
                "INSERT INTO hx_pins (session, number, text, at)
                 SELECT ?1, COALESCE(MAX(number), 0) + 1, ?2, ?3 FROM hx_pins WHERE session = ?1
                 RETURNING number",
                params![session.as_str(), text, now],
                |row| row.get(0),
            )
            .doing("pin a text")
        })
        .await
    }

    /// Removes a pin; returns false if there is none with this number.
    pub async fn unpin(&self, session: &SessionId, number: u32) -> Result<bool, StoreError> {
        let session = session.clone();
        self.write(Level::Full, move |db| {
            let gone = db
                .execute(
                    "DELETE FROM hx_pins WHERE session = ?1 AND number = ?2",
                    params![session.as_str(), number],
                )
                .doing("unpin a text")?;
            Ok(gone == 1)
        })
        .await
    }

    /// Returns the pins of a session, ordered by number.
    pub async fn pins(&self, session: &SessionId) -> Result<Vec<Pin>, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            db.prepare_cached("SELECT number, text, at FROM hx_pins WHERE session = ?1 ORDER BY number")
                .and_then(|mut find| {
                    find.query_map([session.as_str()], |row| {
                        Ok(Pin { number: row.get(0)?, text: row.get(1)?, at: row.get(2)? })
                    })?
                    .collect()
                })
                .doing("read the pinned texts")
        })
        .await
    }
}

//! Archives sessions: hides them from lists without changing their messages.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use crate::sessions::lineage::may_continue;
use hermes_conversation::SessionId;
use rusqlite::params;

impl SessionDb {
    /// Hides a session from lists, or shows it again, together with all sessions of a split conversation.
    /// Returns their number.
    pub async fn archive(&self, id: &SessionId, archived: bool) -> Result<u64, StoreError> {
        let id = id.clone();
        self.write(Level::Normal, move |db| {
            let sql = format!(
                "WITH RECURSIVE
                     before(id) AS (
                         SELECT ?1
                         UNION
                         SELECT p.id FROM before JOIN sessions AS c ON c.id = before.id
                             JOIN sessions AS p ON p.id = c.parent_session_id
                         WHERE p.end_reason = 'compression' AND {continues}),
                     after(id) AS (
                         SELECT ?1
                         UNION
                         SELECT c.id FROM after JOIN sessions AS p ON p.id = after.id
                             JOIN sessions AS c ON c.parent_session_id = p.id
                         WHERE p.end_reason = 'compression' AND {continues})
                 UPDATE sessions SET archived = ?2
                 WHERE id IN (SELECT id FROM before UNION SELECT id FROM after)",
                continues = may_continue("c")
            );
            match db.execute(&sql, params![id.as_str(), archived]).doing("archive a session")? {
                0 => Err(StoreError::UnknownSession { wanted: id.to_string() }),
                changed => Ok(u64::try_from(changed).unwrap_or_default()),
            }
        })
        .await
    }
}

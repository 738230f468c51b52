//! The last messages of a session.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::compaction::originals::is_visible_original;
use crate::sessions::rows::counts::stored;
use crate::sessions::rows::decode;
use hermes_conversation::{Message, SessionId};
use rusqlite::{Connection, params};

impl SessionDb {
    /// Returns the last original messages of a session, in order, including summarised ones. Empty for an
    /// unknown session.
    pub async fn last_messages(&self, id: &SessionId, limit: usize) -> Result<Vec<Message>, StoreError> {
        let id = id.clone();
        self.read(move |db| last(db, &id, limit).doing("read the end of a session")).await
    }
}

/// Finds the ids first, so that the rest of a long session is not read.
fn last(db: &Connection, id: &SessionId, limit: usize) -> rusqlite::Result<Vec<Message>> {
    let sql = format!(
        "SELECT {} FROM messages AS m LEFT JOIN hx_message_ext AS x ON x.message_id = m.id
         WHERE m.id IN (SELECT s.id FROM messages AS s WHERE s.session_id = ?1 AND {} ORDER BY s.id DESC LIMIT ?2)
         ORDER BY m.id",
        decode::COLUMNS,
        is_visible_original("s")
    );
    let mut find = db.prepare_cached(&sql)?;
    let found = find.query_map(params![id.as_str(), stored(limit)], decode::message)?;
    found.filter_map(Result::transpose).collect()
}

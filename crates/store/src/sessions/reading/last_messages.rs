//! The end of a session, for a glance at it.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::compaction::originals::is_told;
use crate::sessions::rows::counts::stored;
use crate::sessions::rows::decode;
use hermes_conversation::{Message, SessionId};
use rusqlite::{Connection, params};

impl SessionDb {
    /// The last messages that were said in a session, in order, also those that a compaction has put away.
    /// One that does not exist has none.
    pub async fn last_messages(&self, id: &SessionId, limit: usize) -> Result<Vec<Message>, StoreError> {
        let id = id.clone();
        self.read(move |db| last(db, &id, limit).doing("read the end of a session")).await
    }
}

/// The ids are found first, so that the rest of a long session is not read.
fn last(db: &Connection, id: &SessionId, limit: usize) -> rusqlite::Result<Vec<Message>> {
    let sql = format!(
        "SELECT {} FROM messages AS m LEFT JOIN hx_message_ext AS x ON x.message_id = m.id
         WHERE m.id IN (SELECT s.id FROM messages AS s WHERE s.session_id = ?1 AND {} ORDER BY s.id DESC LIMIT ?2)
         ORDER BY m.id",
        decode::COLUMNS,
        is_told("s")
    );
    let mut find = db.prepare_cached(&sql)?;
    let found = find.query_map(params![id.as_str(), stored(limit)], decode::message)?;
    found.filter_map(Result::transpose).collect()
}

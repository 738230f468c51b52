//! Takes back what was said, and brings it back again.
//!
//! Nothing is deleted: messages that were taken back are no longer active, which hides them from
//! the model and from searches. The counters stay, as in the Python release, which would otherwise
//! take a session whose beginning was taken back for an empty one.

use super::lease;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::rows::decode;
use crate::sessions::{Liveness, SessionDb};
use hermes_conversation::{Content, Message, MessageId, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

/// What a rewind took back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewound {
    /// What the user had said, to be said differently.
    pub text: String,
    /// Messages that are no longer active.
    pub messages: u64,
    /// The message the session now ends with.
    pub last: Option<MessageId>,
}

impl SessionDb {
    /// Goes back to before a message of the user: it and all that follows are taken back. Refused
    /// while another live process holds the session, and while a turn is unfinished.
    pub async fn rewind(&self, id: &SessionId, to: MessageId) -> Result<Rewound, StoreError> {
        let (id, is_alive) = (id.clone(), self.is_alive);
        self.write(Level::Full, move |db| {
            require_rest(db, &id, is_alive)?;
            rewind(db, &id, to)
        })
        .await
    }

    /// Brings back what was taken back from `since` on, and tells how many messages that were.
    /// What a compaction put away stays there.
    pub async fn restore_rewound(&self, id: &SessionId, since: MessageId) -> Result<u64, StoreError> {
        let (id, is_alive) = (id.clone(), self.is_alive);
        self.write(Level::Full, move |db| {
            require_rest(db, &id, is_alive)?;
            let restored = restore(db, &id, since).doing("bring messages back")?;
            Ok(u64::try_from(restored).unwrap_or_default())
        })
        .await
    }
}

/// The past is not changed under a turn: its end would follow on something else than its beginning.
fn require_rest(db: &Connection, id: &SessionId, is_alive: Liveness) -> Result<(), StoreError> {
    lease::require_free(db, id, is_alive)?;
    match lease::newest_open_turn(db, id).doing("look for an unfinished turn")? {
        Some(_) => Err(StoreError::TurnOpen { session: id.clone() }),
        None => Ok(()),
    }
}

/// What a compaction has copied is brought back as its copy. What was said is then what it was before: put
/// away by a compaction of its own session, or still active in the session that this one continues.
fn restore(db: &Connection, id: &SessionId, since: MessageId) -> rusqlite::Result<usize> {
    let restored = db.execute(
        "UPDATE messages SET active = 1
         WHERE session_id = ?1 AND id >= ?2 AND active = 0 AND compacted = 0 AND NOT EXISTS
             (SELECT 1 FROM hx_message_ext AS x WHERE x.copy_of = messages.id AND x.session = ?1)",
        params![id.as_str(), since.0],
    )?;
    db.execute(
        "UPDATE messages SET
             compacted = EXISTS (SELECT 1 FROM hx_message_ext AS x
                                 WHERE x.copy_of = messages.id AND x.session = messages.session_id),
             active = NOT EXISTS (SELECT 1 FROM hx_message_ext AS x
                                  WHERE x.copy_of = messages.id AND x.session = messages.session_id)
         WHERE active = 0 AND compacted = 0 AND id IN
             (SELECT x.copy_of FROM hx_message_ext AS x JOIN messages AS m ON m.id = x.message_id
              WHERE x.session = ?1 AND x.message_id >= ?2 AND m.active = 1 AND x.copy_of IS NOT NULL)",
        params![id.as_str(), since.0],
    )?;
    Ok(restored)
}

fn rewind(db: &Connection, id: &SessionId, to: MessageId) -> Result<Rewound, StoreError> {
    let text = target(db, id, to)?;
    // With a copy goes what it is a copy of: the person takes back the words, not a row.
    db.execute(
        "UPDATE messages SET active = 0, compacted = 0 WHERE id IN
             (SELECT x.copy_of FROM hx_message_ext AS x JOIN messages AS m ON m.id = x.message_id
              WHERE x.session = ?1 AND m.id >= ?2 AND m.active = 1 AND x.copy_of IS NOT NULL)",
        params![id.as_str(), to.0],
    )
    .doing("take messages back")?;
    let messages = db
        .execute(
            "UPDATE messages SET active = 0 WHERE session_id = ?1 AND id >= ?2 AND active = 1",
            params![id.as_str(), to.0],
        )
        .doing("take messages back")?;
    db.execute(
        "UPDATE sessions SET rewind_count = COALESCE(rewind_count, 0) + 1 WHERE id = ?1",
        [id.as_str()],
    )
    .doing("count a rewind")?;
    let last: Option<i64> = db
        .query_row(
            "SELECT MAX(id) FROM messages WHERE session_id = ?1 AND active = 1",
            [id.as_str()],
            |row| row.get(0),
        )
        .doing("read a session's messages")?;
    Ok(Rewound { text, messages: u64::try_from(messages).unwrap_or_default(), last: last.map(MessageId) })
}

/// The words of the message, which must be an active one of the user.
fn target(db: &Connection, id: &SessionId, to: MessageId) -> Result<String, StoreError> {
    let refused = |why| StoreError::NotRewindable { session: id.clone(), message: to, why };
    let sql = format!(
        "SELECT {}, m.active FROM messages AS m LEFT JOIN hx_message_ext AS x ON x.message_id = m.id
         WHERE m.session_id = ?1 AND m.id = ?2",
        decode::COLUMNS
    );
    let found = db
        .query_row(&sql, params![id.as_str(), to.0], |row| {
            Ok((decode::message(row)?, row.get::<_, i64>("active")?))
        })
        .optional()
        .doing("read a message")?;
    match found {
        None => Err(refused("it has no such message")),
        Some((Some(Message::User(said)), 1)) => Ok(match said.content {
            Content::Text(text) => text,
            Content::Parts(parts) => decode::readable_text(parts.as_str()),
        }),
        Some((Some(Message::User(_)), _)) => Err(refused("that was taken back or put away before")),
        Some(_) => Err(refused("the user did not say that")),
    }
}

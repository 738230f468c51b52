//! Rewinds a session to before a message, and restores rewound messages.
//!
//! Nothing is deleted: rewound messages are inactive, which hides them from the model and from searches. The
//! counters stay, as in the Python release, which otherwise treats a session that was rewound to its
//! beginning as empty.

use super::lease;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::rows::decode;
use crate::sessions::{Liveness, SessionDb};
use hermes_conversation::{Content, Message, MessageId, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

/// The result of a rewind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewound {
    /// The text of the rewound prompt, for editing.
    pub text: String,
    /// Number of messages that became inactive.
    pub messages: u64,
    /// The last active message.
    pub last: Option<MessageId>,
}

impl SessionDb {
    /// Rewinds to before a user message: it and all later messages become inactive. Refused while another
    /// live process holds the session, and while a turn is unfinished.
    pub async fn rewind(&self, id: &SessionId, to: MessageId) -> Result<Rewound, StoreError> {
        let (id, is_alive) = (id.clone(), self.is_alive);
        self.write(Level::Full, move |db| {
            require_idle(db, &id, is_alive)?;
            rewind(db, &id, to)
        })
        .await
    }

    /// Restores rewound messages from `since` on, and returns their number. Summarised messages stay
    /// inactive.
    pub async fn restore_rewound(&self, id: &SessionId, since: MessageId) -> Result<u64, StoreError> {
        let (id, is_alive) = (id.clone(), self.is_alive);
        self.write(Level::Full, move |db| {
            require_idle(db, &id, is_alive)?;
            let restored = restore(db, &id, since).doing("restore messages")?;
            Ok(u64::try_from(restored).unwrap_or_default())
        })
        .await
    }
}

/// Returns an error if a turn is open: its end would follow other messages than its beginning.
fn require_idle(db: &Connection, id: &SessionId, is_alive: Liveness) -> Result<(), StoreError> {
    lease::require_free(db, id, is_alive)?;
    match lease::newest_open_turn(db, id).doing("find an unfinished turn")? {
        Some(_) => Err(StoreError::TurnOpen { session: id.clone() }),
        None => Ok(()),
    }
}

/// Restores a copied message as its copy. The original then has its former state: summarised in its own
/// session, or active in the session that this one continues.
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
    // The original of a rewound copy is rewound, too: the user rewinds a message, not a row.
    db.execute(
        "UPDATE messages SET active = 0, compacted = 0 WHERE id IN
             (SELECT x.copy_of FROM hx_message_ext AS x JOIN messages AS m ON m.id = x.message_id
              WHERE x.session = ?1 AND m.id >= ?2 AND m.active = 1 AND x.copy_of IS NOT NULL)",
        params![id.as_str(), to.0],
    )
    .doing("rewind messages")?;
    let messages = db
        .execute(
            "UPDATE messages SET active = 0 WHERE session_id = ?1 AND id >= ?2 AND active = 1",
            params![id.as_str(), to.0],
        )
        .doing("rewind messages")?;
    db.execute(
        "UPDATE sessions SET rewind_count = COALESCE(rewind_count, 0) + 1 WHERE id = ?1",
        [id.as_str()],
    )
    .doing("count the rewind")?;
    let last: Option<i64> = db
        .query_row(
            "SELECT MAX(id) FROM messages WHERE session_id = ?1 AND active = 1",
            [id.as_str()],
            |row| row.get(0),
        )
        .doing("read a session's messages")?;
    Ok(Rewound { text, messages: u64::try_from(messages).unwrap_or_default(), last: last.map(MessageId) })
}

/// Returns the text of the message, which must be an active user message.
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
        None => Err(refused("no such message")),
        Some((Some(Message::User(said)), 1)) => Ok(match said.content {
            Content::Text(text) => text,
            Content::Parts(parts) => decode::readable_text(parts.as_str()),
        }),
        Some((Some(Message::User(_)), _)) => Err(refused("the message was already rewound or summarised")),
        Some(_) => Err(refused("not a message of the user")),
    }
}

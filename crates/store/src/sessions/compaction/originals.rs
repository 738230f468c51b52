//! Original messages, as opposed to those that a compaction generated.
//!
//! A compaction replaces messages by others: summaries, and copies of the messages it keeps. A reader of the
//! record wants each original once; the conditions here select them. A conversation that continues in
//! another session after a compaction counts as one.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::reading::messages::{self, StoredMessage};
use crate::sessions::rows::counts::stored;
use crate::sessions::rows::decode;
use crate::sessions::search::SearchReport;
use crate::sessions::{SessionDb, lineage};
use hermes_conversation::{Message, MessageId, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

/// A range of original messages, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OriginalRange {
    pub first: MessageId,
    pub last: MessageId,
}

impl OriginalRange {
    /// All messages.
    pub const ALL: Self = Self { first: MessageId(0), last: MessageId(i64::MAX) };
}

/// Returns SQL that is true for an original message; `table` is an alias of `messages`. Summaries of the
/// Python release have no mark of ours and are recognised by their first line; its copies are not recognised.
pub(crate) fn is_original(table: &str) -> String {
    format!(
        "NOT EXISTS (SELECT 1 FROM hx_message_ext AS made WHERE made.message_id = {table}.id AND made.made = 1)
         AND NOT ((substr(ifnull({table}.content, ''), 1, 19) = '[CONTEXT COMPACTION'
                   OR substr(ifnull({table}.content, ''), 1, 18) = '[CONTEXT SUMMARY]:')
                  AND NOT EXISTS (SELECT 1 FROM hx_message_ext AS ours WHERE ours.message_id = {table}.id))"
    )
}

/// Returns SQL that is true for an original message that was not rewound.
pub(crate) fn is_visible_original(table: &str) -> String {
    format!(
        "({table}.active = 1 OR {table}.compacted = 1) AND {table}.role IN ('user', 'assistant', 'tool') AND {}",
        is_original(table)
    )
}

/// The sessions of one conversation, the first one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conversation(pub Vec<SessionId>);

impl Conversation {
    pub(crate) fn of(db: &Connection, session: &SessionId) -> Result<Self, StoreError> {
        lineage::continuation_chain(db, session).map(Self).doing("read the sessions of a conversation")
    }

    /// Returns the ids as one parameter, for `IN (SELECT value FROM json_each(?))`.
    pub(crate) fn parameter(&self) -> String {
        serde_json::json!(self.0).to_string()
    }
}

impl SessionDb {
    /// Returns the original messages in a range of a conversation, in order: at most `limit` messages after
    /// `after`. Empty for an unknown session.
    pub async fn originals(
        &self,
        session: &SessionId,
        range: OriginalRange,
        after: Option<MessageId>,
        limit: usize,
    ) -> Result<Vec<StoredMessage>, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            let conversation = Conversation::of(db, &session)?;
            page(db, &conversation, range, after, limit).doing("read the original messages")
        })
        .await
    }

    /// Returns an original message. The id of a copy gives the message it copies.
    pub async fn original(
        &self,
        session: &SessionId,
        message: MessageId,
    ) -> Result<Option<StoredMessage>, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            let conversation = Conversation::of(db, &session)?;
            let id = copied(db, message).doing("read the original messages")?;
            let found = page(db, &conversation, OriginalRange { first: id, last: id }, None, 1);
            Ok(found.doing("read the original messages")?.pop())
        })
        .await
    }

    /// Searches the messages of one conversation.
    pub async fn search_originals(
        &self,
        session: &SessionId,
        query: &str,
        limit: usize,
    ) -> Result<SearchReport, StoreError> {
        let id = session.clone();
        let conversation = self.read(move |db| Conversation::of(db, &id)).await?;
        self.search_conversation(query, conversation.0, limit).await
    }

    /// Returns the newest result of a tool in a conversation, summarised or not.
    pub async fn newest_result(
        &self,
        session: &SessionId,
        tool: &str,
    ) -> Result<Option<Message>, StoreError> {
        let (session, tool) = (session.clone(), tool.to_owned());
        self.read(move |db| {
            for session in Conversation::of(db, &session)?.0.iter().rev() {
                let found = newest_result(db, session, &tool).doing("find a tool's result")?;
                if found.is_some() {
                    return Ok(found);
                }
            }
            Ok(None)
        })
        .await
    }
}

fn page(
    db: &Connection,
    conversation: &Conversation,
    range: OriginalRange,
    after: Option<MessageId>,
    limit: usize,
) -> rusqlite::Result<Vec<StoredMessage>> {
    let first = after.map_or(range.first.0, |after| range.first.0.max(after.0.saturating_add(1)));
    let sql = format!(
        "{} WHERE m.session_id IN (SELECT value FROM json_each(?1)) AND m.id BETWEEN ?2 AND ?3 AND {}
         ORDER BY m.id LIMIT ?4",
        messages::select(),
        is_visible_original("m")
    );
    let mut find = db.prepare_cached(&sql)?;
    let found = find
        .query_map(params![conversation.parameter(), first, range.last.0, stored(limit)], messages::stored)?;
    found.filter_map(Result::transpose).collect()
}

fn copied(db: &Connection, message: MessageId) -> rusqlite::Result<MessageId> {
    let of: Option<Option<i64>> = db
        .prepare_cached("SELECT copy_of FROM hx_message_ext WHERE message_id = ?1")?
        .query_row([message.0], |row| row.get(0))
        .optional()?;
    Ok(of.flatten().map_or(message, MessageId))
}

/// Ordered by time, as the index on a session's messages is.
fn newest_result(db: &Connection, session: &SessionId, tool: &str) -> rusqlite::Result<Option<Message>> {
    let sql = format!(
        "SELECT {} FROM messages AS m LEFT JOIN hx_message_ext AS x ON x.message_id = m.id
         WHERE m.session_id = ?1 AND m.role = 'tool' AND m.tool_name = ?2 AND {}
         ORDER BY m.timestamp DESC, m.id DESC LIMIT 1",
        decode::COLUMNS,
        is_visible_original("m")
    );
    let mut find = db.prepare_cached(&sql)?;
    let found = find.query_row(params![session.as_str(), tool], decode::message).optional()?;
    Ok(found.flatten())
}

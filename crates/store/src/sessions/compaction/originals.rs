//! What somebody said, as against what a compaction wrote about it.
//!
//! A compaction puts messages away and writes others in their place: summaries, and copies of what it
//! keeps. Whoever looks for what was said wants every word once, and that is what the conditions here give.
//! A conversation that went on in another session after a compression counts as one.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::reading::messages::{self, StoredMessage};
use crate::sessions::rows::counts::stored;
use crate::sessions::rows::decode;
use crate::sessions::search::SearchReport;
use crate::sessions::{SessionDb, lineage};
use hermes_conversation::{Message, MessageId, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

/// A stretch of what was said, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OriginalRange {
    pub first: MessageId,
    pub last: MessageId,
}

impl OriginalRange {
    /// Everything.
    pub const ALL: Self = Self { first: MessageId(0), last: MessageId(i64::MAX) };
}

/// SQL that is true for a message (`table` is a name of `messages`) that somebody said. Summaries of the
/// Python release carry no mark of ours and are known by how they begin; its copies cannot be known.
pub(crate) fn is_original(table: &str) -> String {
    format!(
        "NOT EXISTS (SELECT 1 FROM hx_message_ext AS made WHERE made.message_id = {table}.id AND made.made = 1)
         AND NOT ((substr(ifnull({table}.content, ''), 1, 19) = '[CONTEXT COMPACTION'
                   OR substr(ifnull({table}.content, ''), 1, 18) = '[CONTEXT SUMMARY]:')
                  AND NOT EXISTS (SELECT 1 FROM hx_message_ext AS ours WHERE ours.message_id = {table}.id))"
    )
}

/// SQL that is true for a message that somebody said and nobody took back.
pub(crate) fn is_told(table: &str) -> String {
    format!(
        "({table}.active = 1 OR {table}.compacted = 1) AND {table}.role IN ('user', 'assistant', 'tool') AND {}",
        is_original(table)
    )
}

/// The sessions of one conversation, the first one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line(pub Vec<SessionId>);

impl Line {
    pub(crate) fn of(db: &Connection, session: &SessionId) -> Result<Self, StoreError> {
        lineage::compression_line(db, session).map(Self).doing("follow a session's line")
    }

    /// As one parameter, for `IN (SELECT value FROM json_each(?))`.
    pub(crate) fn parameter(&self) -> String {
        serde_json::json!(self.0).to_string()
    }
}

impl SessionDb {
    /// What was said in a stretch of a conversation, in order: at most `limit` messages after `after`.
    /// Empty for an unknown session.
    pub async fn originals(
        &self,
        session: &SessionId,
        range: OriginalRange,
        after: Option<MessageId>,
        limit: usize,
    ) -> Result<Vec<StoredMessage>, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            let line = Line::of(db, &session)?;
            page(db, &line, range, after, limit).doing("read what was said")
        })
        .await
    }

    /// One message that was said; asked for a copy, it gives what was copied.
    pub async fn original(
        &self,
        session: &SessionId,
        message: MessageId,
    ) -> Result<Option<StoredMessage>, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            let line = Line::of(db, &session)?;
            let id = copied(db, message).doing("read what was said")?;
            let found = page(db, &line, OriginalRange { first: id, last: id }, None, 1);
            Ok(found.doing("read what was said")?.pop())
        })
        .await
    }

    /// Finds messages of one conversation by what was said in them.
    pub async fn search_originals(
        &self,
        session: &SessionId,
        query: &str,
        limit: usize,
    ) -> Result<SearchReport, StoreError> {
        let id = session.clone();
        let line = self.read(move |db| Line::of(db, &id)).await?;
        self.search_line(query, line.0, limit).await
    }

    /// The newest result of a tool in a conversation, also if a compaction has put it away.
    pub async fn newest_result(
        &self,
        session: &SessionId,
        tool: &str,
    ) -> Result<Option<Message>, StoreError> {
        let (session, tool) = (session.clone(), tool.to_owned());
        self.read(move |db| {
            for session in Line::of(db, &session)?.0.iter().rev() {
                let found = newest_result(db, session, &tool).doing("look for a tool's result")?;
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
    line: &Line,
    range: OriginalRange,
    after: Option<MessageId>,
    limit: usize,
) -> rusqlite::Result<Vec<StoredMessage>> {
    let first = after.map_or(range.first.0, |after| range.first.0.max(after.0.saturating_add(1)));
    let sql = format!(
        "{} WHERE m.session_id IN (SELECT value FROM json_each(?1)) AND m.id BETWEEN ?2 AND ?3 AND {}
         ORDER BY m.id LIMIT ?4",
        messages::select(),
        is_told("m")
    );
    let mut find = db.prepare_cached(&sql)?;
    let found =
        find.query_map(params![line.parameter(), first, range.last.0, stored(limit)], messages::stored)?;
    found.filter_map(Result::transpose).collect()
}

fn copied(db: &Connection, message: MessageId) -> rusqlite::Result<MessageId> {
    let of: Option<Option<i64>> = db
        .prepare_cached("SELECT copy_of FROM hx_message_ext WHERE message_id = ?1")?
        .query_row([message.0], |row| row.get(0))
        .optional()?;
    Ok(of.flatten().map_or(message, MessageId))
}

/// By time, because that is what the index on a session's messages is ordered by.
fn newest_result(db: &Connection, session: &SessionId, tool: &str) -> rusqlite::Result<Option<Message>> {
    let sql = format!(
        "SELECT {} FROM messages AS m LEFT JOIN hx_message_ext AS x ON x.message_id = m.id
         WHERE m.session_id = ?1 AND m.role = 'tool' AND m.tool_name = ?2 AND {}
         ORDER BY m.timestamp DESC, m.id DESC LIMIT 1",
        decode::COLUMNS,
        is_told("m")
    );
    let mut find = db.prepare_cached(&sql)?;
    let found = find.query_row(params![session.as_str(), tool], decode::message).optional()?;
    Ok(found.flatten())
}

//! Summaries with the messages they cover, and one report per compaction.

use super::originals::{Conversation, is_visible_original};
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::rows::counts::{count, stored};
use crate::sessions::rows::decode;
use hermes_conversation::{CompactionReport, MessageId, NewNode, Node, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// The record of one compaction.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredCompaction {
    /// Number within the conversation, from 1.
    pub number: u32,
    pub at: f64,
    pub report: CompactionReport,
}

impl SessionDb {
    /// Returns the summaries of a conversation by number, including those of earlier sessions.
    pub async fn nodes(&self, session: &SessionId) -> Result<Vec<Node>, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            let conversation = Conversation::of(db, &session)?;
            known(db, &conversation).doing("read the summaries")
        })
        .await
    }

    /// Returns the last summarised message of a conversation, or zero.
    pub async fn last_summarised(&self, session: &SessionId) -> Result<MessageId, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            let conversation = Conversation::of(db, &session)?;
            let (_, last) = reached(db, &conversation).doing("read the summaries")?;
            Ok(MessageId(last))
        })
        .await
    }

    /// Returns the compactions of a conversation, the first one first. Unreadable reports are left out.
    pub async fn compactions(&self, session: &SessionId) -> Result<Vec<StoredCompaction>, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            let conversation = Conversation::of(db, &session)?;
            compactions(db, &conversation).doing("read the compactions of a session")
        })
        .await
    }

    /// Returns the number of compactions of a conversation.
    pub async fn latest_epoch_count(&self, session: &SessionId) -> Result<u64, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            let conversation = Conversation::of(db, &session)?;
            db.prepare_cached(
                "SELECT COUNT(*) FROM hx_compactions WHERE session IN (SELECT value FROM json_each(?1))",
            )
            .and_then(|mut find| find.query_row([conversation.parameter()], |row| count(row, 0)))
            .doing("count the compactions of a session")
        })
        .await
    }
}

/// Writes summaries of `session` and returns them with their numbers. A leaf covers the originals after the
/// last summary and before `bound`; without any, no leaf is written.
pub(crate) fn add(
    db: &Connection,
    conversation: &Conversation,
    session: &SessionId,
    new: &[NewNode],
    bound: Option<MessageId>,
) -> Result<Vec<Node>, StoreError> {
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let (mut number, mut covered) = reached(db, conversation).doing("read the summaries")?;
    let mut added = Vec::new();
    for new in new {
        let node = match new.children.as_slice() {
            [] => leaf(db, conversation, number + 1, covered, bound, &new.text)
                .doing("read the original messages")?,
            _ => Some(parent(db, conversation, session, number + 1, new)?),
        };
        if let Some(node) = node {
            insert(db, session, &node).doing("record a summary")?;
            (number, covered) = (node.number, covered.max(node.last.0));
            added.push(node);
        }
    }
    Ok(added)
}

/// Returns the highest number and the last summarised message.
fn reached(db: &Connection, conversation: &Conversation) -> rusqlite::Result<(u32, i64)> {
    db.prepare_cached(
        "SELECT COALESCE(MAX(number), 0), COALESCE(MAX(last), 0) FROM hx_nodes
         WHERE session IN (SELECT value FROM json_each(?1))",
    )?
    .query_row([conversation.parameter()], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Builds a leaf. Messages that were rewound during an earlier compaction and restored since are active and
/// older than the last summary: they belong to this leaf, too.
fn leaf(
    db: &Connection,
    conversation: &Conversation,
    number: u32,
    covered: i64,
    bound: Option<MessageId>,
    text: &str,
) -> rusqlite::Result<Option<Node>> {
    let sql = format!(
        "SELECT MIN(m.id), MAX(m.id), COUNT(*) FROM messages AS m
         WHERE m.session_id IN (SELECT value FROM json_each(?1)) AND m.id < ?3 AND {}
           AND (m.id > ?2 OR (m.active = 1 AND m.session_id = ?4 AND NOT EXISTS
                (SELECT 1 FROM hx_nodes AS n WHERE n.session IN (SELECT value FROM json_each(?1))
                     AND n.level = 0 AND m.id BETWEEN n.first AND n.last)))",
        is_visible_original("m")
    );
    let before = bound.map_or(i64::MAX, |bound| bound.0);
    let newest = conversation.0.last().map(SessionId::as_str);
    db.prepare_cached(&sql)?.query_row(params![conversation.parameter(), covered, before, newest], |row| {
        let (first, last): (Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?);
        let (Some(first), Some(last)) = (first, last) else { return Ok(None) };
        Ok(Some(Node {
            number,
            level: 0,
            children: Vec::new(),
            first: MessageId(first),
            last: MessageId(last),
            messages: count(row, 2)?,
            text: text.to_owned(),
        }))
    })
}

fn parent(
    db: &Connection,
    conversation: &Conversation,
    session: &SessionId,
    number: u32,
    new: &NewNode,
) -> Result<Node, StoreError> {
    let mut find = db
        .prepare_cached(
            "SELECT number, level, children, first, last, messages, '' FROM hx_nodes
             WHERE session IN (SELECT value FROM json_each(?1)) AND number = ?2",
        )
        .doing("read the summaries")?;
    let mut node = Node {
        number,
        level: 0,
        children: new.children.clone(),
        first: MessageId(i64::MAX),
        last: MessageId(0),
        messages: 0,
        text: new.text.clone(),
    };
    for &child in &new.children {
        let unknown = || StoreError::UnknownNode { session: session.clone(), number: child };
        let found = find.query_row(params![conversation.parameter(), child], self::node).optional();
        let child = found.doing("read the summaries")?.ok_or_else(unknown)?;
        node.level = node.level.max(child.level.saturating_add(1));
        node.first = MessageId(node.first.0.min(child.first.0));
        node.last = MessageId(node.last.0.max(child.last.0));
        node.messages = node.messages.saturating_add(child.messages);
    }
    Ok(node)
}

fn insert(db: &Connection, session: &SessionId, node: &Node) -> rusqlite::Result<usize> {
    db.prepare_cached(
        "INSERT INTO hx_nodes (session, number, level, children, first, last, messages, text)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        session.as_str(),
        node.number,
        node.level,
        serde_json::json!(node.children).to_string(),
        node.first.0,
        node.last.0,
        stored(node.messages),
        node.text,
    ])
}

/// Adds the record of a compaction.
pub(crate) fn report(
    db: &Connection,
    conversation: &Conversation,
    session: &SessionId,
    report: &CompactionReport,
    now: f64,
) -> Result<(), StoreError> {
    let text = serde_json::to_string(report).unwrap_or_default();
    db.prepare_cached(
        "INSERT INTO hx_compactions (session, number, at, report)
         SELECT ?2, COALESCE(MAX(number), 0) + 1, ?3, ?4 FROM hx_compactions
         WHERE session IN (SELECT value FROM json_each(?1))",
    )
    .and_then(|mut add| add.execute(params![conversation.parameter(), session.as_str(), now, text]))
    .doing("record a compaction")?;
    Ok(())
}

fn known(db: &Connection, conversation: &Conversation) -> rusqlite::Result<Vec<Node>> {
    db.prepare_cached(
        "SELECT number, level, children, first, last, messages, text FROM hx_nodes
         WHERE session IN (SELECT value FROM json_each(?1)) ORDER BY number",
    )?
    .query_map([conversation.parameter()], node)?
    .collect()
}

fn node(row: &Row<'_>) -> rusqlite::Result<Node> {
    Ok(Node {
        number: row.get(0)?,
        level: row.get(1)?,
        children: decode::text(row, 2)?.as_deref().and_then(decode::lenient).unwrap_or_default(),
        first: MessageId(row.get(3)?),
        last: MessageId(row.get(4)?),
        messages: count(row, 5)?,
        text: decode::text(row, 6)?.unwrap_or_default(),
    })
}

fn compactions(db: &Connection, conversation: &Conversation) -> rusqlite::Result<Vec<StoredCompaction>> {
    let mut find = db.prepare_cached(
        "SELECT number, at, report FROM hx_compactions
         WHERE session IN (SELECT value FROM json_each(?1)) ORDER BY number",
    )?;
    let mut rows = find.query([conversation.parameter()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let number = row.get(0)?;
        match decode::text(row, 2)?.as_deref().and_then(decode::lenient) {
            Some(report) => found.push(StoredCompaction { number, at: row.get(1)?, report }),
            None => tracing::warn!(number, "cannot read the report of a compaction"),
        }
    }
    Ok(found)
}

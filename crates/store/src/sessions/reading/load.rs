//! Loads a session with its active messages.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::rows::checksum;
use crate::sessions::rows::counts::count;
use crate::sessions::rows::decode::{self, lenient};
use hermes_conversation::{Message, MessageId, Quirks, SessionId, Usage};
use rusqlite::{Connection, OptionalExtension, Row};

/// A stored session.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    pub id: SessionId,
    pub title: Option<String>,
    pub source: String,
    pub model: Option<String>,
    pub provider: Option<String>,
    pub base_url: Option<String>,
    pub system_prompt: Option<String>,
    pub cwd: Option<String>,
    pub parent: Option<SessionId>,
    pub started_at: f64,
    pub quirks: Quirks,
    pub usage: Usage,
    pub api_calls: u64,
    /// Imported from a file, and not yet trusted by the user.
    pub is_imported: bool,
    /// The active messages in order, not yet repaired.
    pub messages: Vec<Message>,
    /// Messages with a wrong checksum: changed by the disk or by another program.
    pub changed: Vec<MessageId>,
}

impl SessionDb {
    /// Reads a session and its active messages.
    pub async fn load(&self, id: &SessionId) -> Result<StoredSession, StoreError> {
        let id = id.clone();
        self.read(move |db| {
            let stored = session(db, &id).doing("read a session")?;
            let mut stored = stored.ok_or_else(|| StoreError::UnknownSession { wanted: id.to_string() })?;
            messages(db, &mut stored).doing("read a session's messages")?;
            Ok(stored)
        })
        .await
    }
}

fn session(db: &Connection, id: &SessionId) -> rusqlite::Result<Option<StoredSession>> {
    db.prepare_cached(
        "SELECT s.id, s.title, s.source, s.model, s.billing_provider, s.billing_base_url, s.system_prompt,
                s.cwd, s.parent_session_id, s.started_at, x.quirks, s.input_tokens, s.output_tokens,
                s.cache_read_tokens, s.cache_write_tokens, s.reasoning_tokens, s.api_call_count, x.imported
         FROM sessions AS s LEFT JOIN hx_session_ext AS x ON x.session = s.id WHERE s.id = ?1",
    )?
    .query_row([id.as_str()], from_row)
    .optional()
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredSession> {
    Ok(StoredSession {
        id: SessionId::new(row.get::<_, String>(0)?),
        title: decode::text(row, 1)?,
        source: decode::text(row, 2)?.unwrap_or_default(),
        model: decode::text(row, 3)?,
        provider: decode::text(row, 4)?,
        base_url: decode::text(row, 5)?,
        system_prompt: decode::text(row, 6)?,
        cwd: decode::text(row, 7)?,
        parent: decode::text(row, 8)?.map(SessionId::new),
        started_at: row.get(9)?,
        quirks: decode::text(row, 10)?.as_deref().and_then(lenient).unwrap_or_default(),
        usage: Usage {
            input: count(row, 11)?,
            output: count(row, 12)?,
            cache_read: count(row, 13)?,
            cache_write: count(row, 14)?,
            reasoning: count(row, 15)?,
        },
        api_calls: count(row, 16)?,
        is_imported: row.get::<_, Option<i64>>(17)? == Some(1),
        messages: Vec::new(),
        changed: Vec::new(),
    })
}

fn messages(db: &Connection, stored: &mut StoredSession) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT {}, m.id, x.sum FROM messages AS m LEFT JOIN hx_message_ext AS x ON x.message_id = m.id
         WHERE m.session_id = ?1 AND m.active = 1 ORDER BY m.id",
        decode::COLUMNS
    );
    let (id, sum) = (decode::WIDTH, decode::WIDTH + 1);
    let mut find = db.prepare_cached(&sql)?;
    let mut rows = find.query([stored.id.as_str()])?;
    while let Some(row) = rows.next()? {
        stored.messages.extend(decode::message(row)?);
        if let Some(sum) = row.get::<_, Option<i64>>(sum)?
            && sum != checksum::of_row(row)?
        {
            stored.changed.push(MessageId(row.get(id)?));
        }
    }
    Ok(())
}

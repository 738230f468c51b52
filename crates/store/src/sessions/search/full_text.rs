//! Updates the full-text index.
//!
//! The transaction of a message only adds an entry to `hx_outbox`. The entries are processed here, in small
//! batches, by a search or when the program exits; never during a turn. If the index cannot be written, the
//! entries stay, and messages are recorded all the same.

mod align;
mod rebuild;

pub use align::Reindexed;
pub(crate) use align::align;

use super::pair_index::readable_text::{self, Readable};
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use rusqlite::{Connection, OptionalExtension, params};
use std::time::{Duration, Instant};

/// Entries per transaction, so that a message never waits long for the index.
const BATCH: u32 = 50;
/// Maximum time per transaction, because a single message may be large.
const BATCH_TIME: Duration = Duration::from_millis(20);

/// The result of [`drain`](SessionDb::drain).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drained {
    pub indexed: usize,
    /// True if the index contains every message.
    pub complete: bool,
}

impl SessionDb {
    /// Indexes queued messages for about `max`. An unwritable index is an error only here.
    pub async fn drain(&self, max: Duration) -> Result<Drained, StoreError> {
        // Usually the outbox is empty, and reading it needs no write.
        if self.read(is_empty).await? {
            return Ok(Drained { indexed: 0, complete: true });
        }
        self.index_for(max).await
    }

    /// Prepares the exit of the program: indexes queued messages for about `max`, and shortens the log so
    /// that the next start reads it quickly. Does not wait much longer for other programs.
    pub async fn leave(&self, max: Duration) {
        let tidy_up = async {
            // The next search updates the index.
            let _ = self.index_for(max).await;
            self.shared.writer.tidy().await;
        };
        let _ = tokio::time::timeout(max * 2, tidy_up).await;
    }

    async fn index_for(&self, max: Duration) -> Result<Drained, StoreError> {
        let deadline = Instant::now() + max;
        let mut drained = Drained::default();
        while !drained.complete {
            let batch = self.index_batch().await?;
            drained.indexed += batch.indexed;
            drained.complete = batch.complete;
            if Instant::now() >= deadline {
                break;
            }
        }
        Ok(drained)
    }

    /// Processes one batch. Deleted messages are also removed from the pair index.
    async fn index_batch(&self) -> Result<Drained, StoreError> {
        let Batch { drained, dropped } = self.write(Level::Normal, batch).await?;
        if !dropped.is_empty() {
            let pairs = self.shared.pairs.clone();
            let forgotten = tokio::task::spawn_blocking(move || pairs.forget(&dropped)).await;
            forgotten.map_err(|_| StoreError::Stopped)?;
        }
        Ok(drained)
    }
}

struct Batch {
    drained: Drained,
    dropped: Vec<i64>,
}

fn is_empty(db: &Connection) -> Result<bool, StoreError> {
    db.prepare_cached("SELECT NOT EXISTS (SELECT 1 FROM hx_outbox)")
        .and_then(|mut find| find.query_row([], |row| row.get(0)))
        .doing("read the index queue")
}

struct OutboxEntry {
    id: i64,
    message: i64,
    put: bool,
}

fn batch(db: &Connection) -> Result<Batch, StoreError> {
    let entries = oldest_entries(db).doing("read the index queue")?;
    let started = Instant::now();
    let mut indexed = 0;
    let mut dropped = Vec::new();
    for entry in &entries {
        reindex(db, entry).doing("update the search index")?;
        indexed += 1;
        dropped.extend((!entry.put).then_some(entry.message));
        if started.elapsed() > BATCH_TIME {
            break;
        }
    }
    Ok(Batch { drained: Drained { indexed, complete: is_empty(db)? }, dropped })
}

fn oldest_entries(db: &Connection) -> rusqlite::Result<Vec<OutboxEntry>> {
    db.prepare_cached("SELECT id, message_id, op = 'put' FROM hx_outbox ORDER BY id LIMIT ?1")?
        .query_map([BATCH], |row| {
            Ok(OutboxEntry { id: row.get(0)?, message: row.get(1)?, put: row.get(2)? })
        })?
        .collect()
}

/// Indexes one message. It is idempotent: the old index entry is removed first, and a deleted message gets
/// none.
fn reindex(db: &Connection, entry: &OutboxEntry) -> rusqlite::Result<()> {
    for table in ["messages_fts", "messages_fts_trigram"] {
        db.prepare_cached(&format!("DELETE FROM {table} WHERE rowid = ?1"))?.execute([entry.message])?;
    }
    if entry.put {
        db.prepare_cached(&format!("INSERT INTO messages_fts (rowid, content) {STORED}"))?
            .execute([entry.message])?;
        put_trigrams(db, entry.message)?;
    }
    db.prepare_cached("DELETE FROM hx_outbox WHERE id = ?1")?.execute(params![entry.id])?;
    Ok(())
}

/// The text of message `?1`, as the triggers of the shared schema build it.
const STORED: &str =
    "SELECT id, COALESCE(content, '') || ' ' || COALESCE(tool_name, '') || ' ' || COALESCE(tool_calls, '') AS text
     FROM messages WHERE id = ?1";

/// Indexes the readable form of a text with a NUL byte, whose trigrams depend on the SQLite version.
fn put_trigrams(db: &Connection, message: i64) -> rusqlite::Result<()> {
    let indexed_extent = db
        .prepare_cached(&format!(
            "INSERT INTO messages_fts_trigram (rowid, content) SELECT id, text FROM ({STORED}) WHERE instr(text, char(0)) = 0"
        ))?
        .execute([message])?;
    if indexed_extent == 1 {
        return Ok(());
    }
    let readable_text = db
        .prepare_cached(&format!("SELECT {} FROM messages AS m WHERE id = ?1", readable_text::COLUMNS))?
        .query_row([message], |row| Readable::from_row(row, 0))
        .optional()?;
    if let Some(readable_text) = readable_text {
        db.prepare_cached("INSERT INTO messages_fts_trigram (rowid, content) VALUES (?1, ?2)")?
            .execute(params![message, readable_text.text.replace('\0', " ")])?;
    }
    Ok(())
}

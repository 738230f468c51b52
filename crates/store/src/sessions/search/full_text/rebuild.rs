//! Rebuilds the full-text indexes from any state.
//!
//! One short transaction replaces the tables by empty ones and queues every message in the outbox; the
//! indexer does the rest in batches. A process that dies in between leaves queued entries, not gaps.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::rows::counts::stored;
use crate::sessions::{SessionDb, schema};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::path::Path;

impl SessionDb {
    /// Rebuilds all indexes and returns the number of messages. `progress` is called with the work done and
    /// the total.
    pub async fn reindex(&self, mut progress: impl FnMut(u64, u64)) -> Result<u64, StoreError> {
        let messages = self.write(Level::Normal, recreate_index).await?;
        // Every message is added to the shared indexes, and then to the pair index.
        let total = messages * 2;
        let mut done = 0;
        progress(0, total);
        loop {
            let worked_off = self.index_batch().await?;
            done += u64::try_from(worked_off.indexed).unwrap_or_default();
            progress(done.min(messages), total);
            if worked_off.complete {
                break;
            }
        }
        self.rebuild_pairs(|added| progress((messages + added).min(total), total)).await?;
        progress(total, total);
        Ok(messages)
    }

    async fn rebuild_pairs(&self, mut progress: impl FnMut(u64)) -> Result<(), StoreError> {
        let pairs = self.shared.pairs.clone();
        let (added, mut news) = tokio::sync::mpsc::unbounded_channel();
        let rebuilding = self.read(move |db| {
            // The receiver may be gone; the rebuild is finished all the same.
            pairs.rebuild(db, |count| {
                let _ = added.send(count);
            });
            Ok(())
        });
        tokio::pin!(rebuilding);
        loop {
            tokio::select! {
                outcome = &mut rebuilding => return outcome,
                Some(count) = news.recv() => progress(count),
            }
        }
    }
}

pub(super) fn recreate_index(db: &Connection) -> Result<u64, StoreError> {
    let model = Connection::open_in_memory().doing("prepare the index tables")?;
    schema::complete(&model, Path::new(":memory:"))?;
    for table in virtual_tables(&model).doing("read the index tables")? {
        replace(db, &model, &table).doing("replace the index tables")?;
    }
    restore_triggers(db, &model).doing("restore the index triggers")?;
    db.execute("DELETE FROM hx_outbox", []).doing("empty the index queue")?;
    let noted = db
        .execute(
            "INSERT INTO hx_outbox (message_id, op) SELECT id, 'put' FROM messages
             WHERE id NOT IN (SELECT message_id FROM hx_message_ext WHERE made = 1) ORDER BY id",
            [],
        )
        .doing("queue the messages for the index")?;
    Ok(stored(noted).cast_unsigned())
}

/// An object in `sqlite_master`, with the statement that creates it.
struct SchemaObject {
    name: String,
    sql: String,
}

fn virtual_tables(db: &Connection) -> rusqlite::Result<Vec<SchemaObject>> {
    schema_objects(
        db,
        "SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%' AND name LIKE ?1",
        "%",
    )
}

/// Returns the shadow tables of `index`.
fn shadow_tables(db: &Connection, index: &str) -> rusqlite::Result<Vec<SchemaObject>> {
    let sql = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name IN
                   (?1 || '_data', ?1 || '_idx', ?1 || '_content', ?1 || '_docsize', ?1 || '_config')";
    schema_objects(db, sql, index)
}

fn schema_objects(db: &Connection, sql: &str, name: &str) -> rusqlite::Result<Vec<SchemaObject>> {
    db.prepare(sql)?
        .query_map([name], |row| Ok(SchemaObject { name: row.get(0)?, sql: row.get(1)? }))?
        .collect()
}

/// Replaces an index. A damaged one cannot be dropped, so its shadow tables are first replaced by empty ones.
fn replace(db: &Connection, model: &Connection, index: &SchemaObject) -> rusqlite::Result<()> {
    let exists = exists(db, &index.name)?;
    for part in shadow_tables(model, &index.name)? {
        db.execute_batch(&format!("DROP TABLE IF EXISTS \"{}\"", part.name))?;
        if exists {
            db.execute_batch(&part.sql)?;
            copy_rows(db, model, &part.name)?;
        }
    }
    db.execute_batch(&format!("DROP TABLE IF EXISTS \"{}\"", index.name))?;
    db.execute_batch(&index.sql)
}

fn exists(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    db.prepare("SELECT 1 FROM sqlite_master WHERE name = ?1")?.exists([name])
}

fn copy_rows(db: &Connection, model: &Connection, table: &str) -> rusqlite::Result<()> {
    let mut read = model.prepare(&format!("SELECT * FROM \"{table}\""))?;
    let width = read.column_count();
    let places = vec!["?"; width].join(", ");
    let mut write = db.prepare(&format!("INSERT INTO \"{table}\" VALUES ({places})"))?;
    let mut rows = read.query([])?;
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (0..width).map(|place| row.get(place)).collect::<rusqlite::Result<_>>()?;
        write.execute(params_from_iter(values))?;
    }
    Ok(())
}

/// Creates missing triggers, which the Python release needs. Existing ones are kept.
fn restore_triggers(db: &Connection, model: &Connection) -> rusqlite::Result<()> {
    let all = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE ?1";
    for trigger in schema_objects(model, all, "messages_fts%")? {
        if !exists(db, &trigger.name)? {
            db.execute_batch(&trigger.sql)?;
        }
    }
    Ok(())
}

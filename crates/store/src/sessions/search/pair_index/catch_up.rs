//! Updates the pair index.

use super::readable_text::{self, Readable};
use super::{IndexPosition, PairIndex, file, grams};
use crate::sessions::connection::lock_wait::is_locked;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Messages per transaction.
const BATCH: u32 = 500;
/// Maximum time per transaction, because a single message may be large.
const BATCH_TIME: Duration = Duration::from_millis(50);

impl PairIndex {
    /// Adds new messages of `database`, until `deadline`. An error only leaves the index behind.
    pub(crate) fn catch_up(&self, database: &Connection, deadline: Instant) {
        self.advance(database, |_| Instant::now() < deadline);
    }

    /// Rebuilds the index; `progress` is called with the number of messages added.
    pub(crate) fn rebuild(&self, database: &Connection, mut progress: impl FnMut(u64)) {
        self.file.discard();
        self.advance(database, |added| {
            progress(added);
            true
        });
    }

    /// Removes deleted messages from the index, if it exists.
    pub(crate) fn forget(&self, messages: &[i64]) {
        if messages.is_empty() || self.file.inode().is_none() {
            return;
        }
        let forget = |db: &Connection| {
            db.execute_batch("BEGIN IMMEDIATE")?;
            for message in messages {
                db.prepare_cached("DELETE FROM pairs WHERE rowid = ?1")?.execute([message])?;
            }
            db.execute_batch("COMMIT")
        };
        let outcome = self.file.open().and_then(|db| {
            db.busy_timeout(Duration::from_secs(1))?;
            forget(&db)
        });
        if let Err(error) = outcome {
            // Searches skip them, and the next rebuild removes them.
            tracing::warn!(%error, "deleted messages stay in the pair index for now");
        }
    }

    /// Removes messages that the Python release deleted, and merges the index.
    pub(crate) fn tidy(&self, database: &Connection) {
        if self.file.inode().is_none() {
            return;
        }
        match self.gone(database) {
            Ok(gone) => self.forget(&gone),
            Err(error) => tracing::warn!(%error, "cannot compare the pair index"),
        }
        let merge = |db: &Connection| db.execute_batch("INSERT INTO pairs(pairs) VALUES ('optimize')");
        if let Err(error) = self.file.open().and_then(|db| merge(&db)) {
            tracing::warn!(%error, "cannot merge the pair index");
        }
    }

    /// Returns messages that are in the index but not in the database.
    fn gone(&self, database: &Connection) -> rusqlite::Result<Vec<i64>> {
        let ids = |db: &Connection, sql| -> rusqlite::Result<Vec<i64>> {
            db.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
        };
        let there: HashSet<i64> = ids(database, "SELECT id FROM messages")?.into_iter().collect();
        let mut known = ids(&self.file.open()?, "SELECT id FROM pairs_docsize")?;
        known.retain(|id| !there.contains(id));
        Ok(known)
    }

    /// Restarts the index if a message was added at an id that the index has passed.
    pub(crate) fn forget_if_past(&self, message: i64) {
        if self.read(|_, known| Ok(known.last)).is_some_and(|last| last >= message) {
            self.file.discard();
        }
    }

    /// `goes_on` is called after each batch with the total of messages added.
    fn advance(&self, database: &Connection, goes_on: impl FnMut(u64) -> bool) {
        let outcome = self.try_advance(database, goes_on);
        match outcome {
            Ok(()) => {}
            // Another process is updating it.
            Err(error) if is_locked(&error) => {}
            Err(error) => {
                tracing::warn!(%error, path = %self.path().display(), "cannot update the pair index");
                self.file.discard_if_damaged(&error);
            }
        }
    }

    fn try_advance(
        &self,
        database: &Connection,
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> rusqlite::Result<()> {
        let highest: i64 =
            database.query_row("SELECT COALESCE(MAX(id), 0) FROM messages", [], |row| row.get(0))?;
        if highest == 0 || self.read(|_, known| Ok(known.last)) == Some(highest) {
            return Ok(());
        }
        let index = self.file.open()?;
        let mut added = 0;
        loop {
            index.execute_batch("BEGIN IMMEDIATE")?;
            let last = batch(&index, database, &mut added)?;
            index.execute_batch("COMMIT")?;
            if last >= highest || !goes_on(added) {
                return Ok(());
            }
        }
    }
}

/// Adds one batch, and returns the last row id in the index.
fn batch(index: &Connection, database: &Connection, added: &mut u64) -> rusqlite::Result<i64> {
    let started = Instant::now();
    let mut known = file::known(index)?;
    if !continues(index, database, known)? {
        index.execute_batch(
            "INSERT INTO pairs(pairs) VALUES ('delete-all'); UPDATE about SET last = 0, hidden = 0;",
        )?;
        known = IndexPosition::default();
    }
    let mut add = index.prepare_cached("INSERT INTO pairs (rowid, words) VALUES (?1, ?2)")?;
    let mut newer = database.prepare_cached(&format!(
        "SELECT m.id, m.session_id, m.timestamp,
             EXISTS (SELECT 1 FROM hx_message_ext AS x WHERE x.message_id = m.id AND x.made = 1), {}
         FROM messages AS m WHERE m.id > ?1 ORDER BY m.id LIMIT ?2",
        readable_text::COLUMNS
    ))?;
    let mut rows = newer.query(params![known.last, BATCH])?;
    let mut last: Option<(String, f64)> = None;
    while let Some(row) = rows.next()? {
        known.last = row.get(0)?;
        *added += 1;
        // Generated messages are not indexed: searches find the originals.
        if !row.get::<_, bool>(3)? {
            let said = Readable::from_row(row, 4)?;
            known.hidden += i64::from(said.is_hidden);
            add.execute(params![known.last, grams::of_message(&said.text, said.is_hidden)])?;
        }
        last = Some((row.get(1)?, row.get(2)?));
        if started.elapsed() > BATCH_TIME {
            break;
        }
    }
    if let Some((session, at)) = last {
        index
            .prepare_cached("UPDATE about SET last = ?1, hidden = ?2, last_session = ?3, last_at = ?4")?
            .execute(params![known.last, known.hidden, session, at])?;
    }
    Ok(known.last)
}

/// Returns true if the index was built from this database. Row ids are never reused, so an id with another
/// message means that an older copy of the database was restored.
fn continues(index: &Connection, database: &Connection, known: IndexPosition) -> rusqlite::Result<bool> {
    if known.last == 0 {
        return Ok(true);
    }
    let given: i64 = database
        .query_row("SELECT seq FROM sqlite_sequence WHERE name = 'messages'", [], |row| row.get(0))
        .optional()?
        .unwrap_or_default();
    let remembered: (Option<String>, Option<f64>) =
        index
            .query_row("SELECT last_session, last_at FROM about", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found: Option<(Option<String>, Option<f64>)> = database
        .query_row("SELECT session_id, timestamp FROM messages WHERE id = ?1", [known.last], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    Ok(given >= known.last && found.is_none_or(|found| found == remembered))
}

//! Sessions with a long history.
//!
//! Creating 5,000 messages by conversation would take minutes, so they are written into the database of a
//! session that hermes created, in the same form.

use crate::home::Home;
use anyhow::{Context, Result};
use rusqlite::{Connection, Transaction, params};

/// The text of an earlier message, about 200 characters.
pub(crate) fn earlier_text(place: u32) -> String {
    format!("message {place}: {}", "some words of an earlier turn, \"quoted\" once; ".repeat(4))
}

/// Fills the only session of a home directory up to this many messages.
pub(super) fn fill(home: &Home, messages: u32) -> Result<()> {
    let path = home.hermes().join("state.db");
    let mut db = Connection::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
    let writing = db.transaction()?;
    append(&writing, messages)?;
    writing.commit()?;
    // Copies of this home directory should find a database, not a log to be replayed.
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

fn append(db: &Transaction<'_>, messages: u32) -> Result<()> {
    let (session, present, last): (String, u32, f64) = db.query_row(
        "SELECT session_id, COUNT(*), MAX(timestamp) FROM messages GROUP BY session_id",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let mut write = db.prepare(
        "INSERT INTO messages (session_id, role, content, timestamp, finish_reason) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut place = db.prepare(
        "INSERT INTO hx_message_ext (message_id, session, seq, turn, issuer)
         SELECT ?1, ?2, MAX(seq) + 1, MAX(turn), CASE ?3 WHEN 'assistant' THEN MAX(issuer) END
         FROM hx_message_ext WHERE session = ?2",
    )?;
    for number in present..messages {
        let (role, finish) = if number % 2 == 0 { ("user", None) } else { ("assistant", Some("stop")) };
        let at = last + f64::from(number) / 1000.0;
        write.execute(params![session, role, earlier_text(number), at, finish])?;
        place.execute(params![db.last_insert_rowid(), session, role])?;
    }
    db.execute("UPDATE sessions SET message_count = ?2 WHERE id = ?1", params![session, messages])?;
    Ok(())
}

//! Imports the compactions of a session: summaries, reports, pins, and links from copies to originals. They
//! refer to messages by the ids in the file, which may differ from those in the store.

use super::row::{OwnFields, Table, row_for};
use super::write::objects;
use super::{Ids, Session};
use crate::sessions::record::append;
use rusqlite::Connection;
use rusqlite::types::Value as Stored;
use serde_json::{Map, Value};
use std::collections::HashMap;

pub(super) fn insert(db: &Connection, session: &Session, ids: &Ids) -> rusqlite::Result<()> {
    for (table, key) in
        [(Table::Nodes, "hx_nodes"), (Table::Compactions, "hx_compactions"), (Table::Pins, "hx_pins")]
    {
        for given in objects(&session.columns, key) {
            let mut row = row_for(db, table, given)?;
            row.set("session", Stored::Text(session.id.clone()));
            if table == Table::Nodes {
                for end in ["first", "last"] {
                    row.set(end, Stored::Integer(id_of(given, end, ids)));
                }
            }
            row.insert(db)?;
        }
    }
    link_copies(db, session, ids)
}

/// Returns the id in the store. A message that is not in the file existed before, with the same id.
fn id_of(node: &Map<String, Value>, end: &str, ids: &Ids) -> i64 {
    let known = node.get(end).and_then(Value::as_i64).unwrap_or_default();
    ids.get(&known).copied().unwrap_or(known)
}

/// Links copies to originals, after all messages were inserted. A copy of a message in another session is
/// linked if both are equal. Otherwise the session was imported without its ancestor, and the newest copy
/// becomes the original.
fn link_copies(db: &Connection, session: &Session, ids: &Ids) -> rusqlite::Result<()> {
    let mut alone: HashMap<i64, i64> = HashMap::new();
    for message in session.messages.iter().rev() {
        let copy = message.get("id").and_then(Value::as_i64).and_then(|known| ids.get(&known));
        let of = OwnFields::of(message).filter(OwnFields::is_generated).and_then(|own| own.copy_of());
        let (Some(&copy), Some(of)) = (copy, of) else { continue };
        if let Some(inside) = ids.get(&of).or_else(|| alone.get(&of)) {
            link(db, copy, *inside)?;
        } else if says_the_same(db, copy, of)? {
            link(db, copy, of)?;
        } else {
            alone.insert(of, copy);
            db.prepare_cached("UPDATE hx_message_ext SET made = 0 WHERE message_id = ?1")?.execute([copy])?;
            append::queue(db, copy, "put")?;
        }
    }
    Ok(())
}

fn link(db: &Connection, copy: i64, original: i64) -> rusqlite::Result<usize> {
    db.prepare_cached("UPDATE hx_message_ext SET copy_of = ?2 WHERE message_id = ?1")?
        .execute([copy, original])
}

fn says_the_same(db: &Connection, copy: i64, other: i64) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "SELECT 1 FROM messages AS a JOIN messages AS b ON b.id = ?2
         WHERE a.id = ?1 AND a.session_id <> b.session_id AND a.role = b.role AND a.content IS b.content
           AND a.tool_calls IS b.tool_calls",
    )?
    .exists([copy, other])
}

//! The messages around a hit, for all hits in one statement.

use super::SearchHit;
use super::display_text::DisplayText;
use crate::sessions::compaction::originals::is_original;
use crate::sessions::rows::decode;
use rusqlite::Connection;
use std::collections::HashMap;

const MAX_CHARS: usize = 200;

/// A message near a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextMessage {
    pub role: String,
    /// The first 200 characters.
    pub text: String,
}

/// Returns the query. Neighbours are found by time, as the index on a session's messages is ordered.
fn around() -> String {
    format!(
        "SELECT h.value, m.role, m.content, m.tool_name, m.tool_calls
         FROM json_each(?1) AS h JOIN messages AS hit ON hit.id = h.value JOIN messages AS m ON m.id IN (
             (SELECT p.id FROM messages AS p WHERE p.session_id = hit.session_id
                 AND (p.timestamp, p.id) < (hit.timestamp, hit.id) AND (p.active = 1 OR p.compacted = 1) AND {}
              ORDER BY p.timestamp DESC, p.id DESC LIMIT 1),
             hit.id,
             (SELECT n.id FROM messages AS n WHERE n.session_id = hit.session_id
                 AND (n.timestamp, n.id) > (hit.timestamp, hit.id) AND (n.active = 1 OR n.compacted = 1) AND {}
              ORDER BY n.timestamp, n.id LIMIT 1))
         ORDER BY h.key, m.timestamp, m.id",
        is_original("p"),
        is_original("n")
    )
}

pub(super) fn add(db: &Connection, hits: &mut [SearchHit]) -> rusqlite::Result<()> {
    let ids: Vec<String> = hits.iter().map(|hit| hit.message.0.to_string()).collect();
    let mut found: HashMap<i64, Vec<ContextMessage>> = HashMap::new();
    let mut find = db.prepare_cached(&around())?;
    let mut rows = find.query([format!("[{}]", ids.join(","))])?;
    while let Some(row) = rows.next()? {
        let role = decode::text(row, 1)?.unwrap_or_default();
        let text = match DisplayText::from_row(row, &role, 2)? {
            Some(shown) => shown.text,
            None => decode::text(row, 2)?.unwrap_or_default(),
        };
        let text = text.chars().take(MAX_CHARS).collect();
        found.entry(row.get(0)?).or_default().push(ContextMessage { role, text });
    }
    for hit in hits {
        hit.context = found.remove(&hit.message.0).unwrap_or_default();
    }
    Ok(())
}

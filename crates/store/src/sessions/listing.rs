//! Sessions at a glance, newest activity first.

use super::encode::PARTS_MARK;
use super::numbers::{count, stored};
use super::{SessionDb, decode};
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::SessionId;
use rusqlite::{Connection, Row, params};

const PREVIEW: usize = 60;

/// Which sessions to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFilter {
    pub source: Option<String>,
    pub limit: usize,
    pub offset: usize,
}

impl Default for ListFilter {
    fn default() -> Self {
        Self { source: None, limit: 20, offset: 0 }
    }
}

/// One line of a list of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    pub id: SessionId,
    pub title: Option<String>,
    pub source: String,
    pub model: Option<String>,
    pub cwd: Option<String>,
    pub started_at: f64,
    pub last_active: f64,
    pub message_count: u64,
    pub tool_call_count: u64,
    /// The beginning of the first thing the user said.
    pub preview: String,
}

impl SessionDb {
    /// Lists sessions. Tools' own sessions, delegated ones, archived ones and those that went on
    /// under a new id after a compression are left out.
    pub async fn list(&self, filter: ListFilter) -> Result<Vec<SessionSummary>, StoreError> {
        self.read(move |db| list(db, &filter).doing("list the sessions")).await
    }
}

fn list(db: &Connection, filter: &ListFilter) -> rusqlite::Result<Vec<SessionSummary>> {
    db.prepare_cached(
        "SELECT s.id, s.title, s.source, s.model, s.cwd, s.started_at,
                COALESCE((SELECT MAX(m.timestamp) FROM messages AS m WHERE m.session_id = s.id), s.started_at)
                    AS last_active,
                COALESCE(s.message_count, 0), COALESCE(s.tool_call_count, 0),
                (SELECT m.content FROM messages AS m
                 WHERE m.session_id = s.id AND m.role = 'user' AND m.content IS NOT NULL ORDER BY m.id LIMIT 1)
         FROM sessions AS s
         WHERE s.archived = 0
           AND ((?1 IS NULL AND s.source <> 'tool') OR s.source = ?1)
           AND instr(COALESCE(s.model_config, ''), '\"_delegate_from\"') = 0
           AND NOT (s.end_reason IS 'compression'
                    AND EXISTS (SELECT 1 FROM sessions AS c WHERE c.parent_session_id = s.id
                                AND instr(COALESCE(c.model_config, ''), '\"_delegate_from\"') = 0))
         ORDER BY last_active DESC, s.id DESC LIMIT ?2 OFFSET ?3",
    )?
    .query_map(params![filter.source, stored(filter.limit), stored(filter.offset)], summary)?
    .collect()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    Ok(SessionSummary {
        id: SessionId::new(row.get::<_, String>(0)?),
        title: decode::text(row, 1)?,
        source: decode::text(row, 2)?.unwrap_or_default(),
        model: decode::text(row, 3)?,
        cwd: decode::text(row, 4)?,
        started_at: row.get(5)?,
        last_active: row.get(6)?,
        message_count: count(row, 7)?,
        tool_call_count: count(row, 8)?,
        preview: preview(&decode::text(row, 9)?.unwrap_or_default()),
    })
}

pub(crate) fn preview(content: &str) -> String {
    let text = match content.strip_prefix(PARTS_MARK) {
        Some(parts) => decode::readable_text(parts),
        None => content.to_owned(),
    };
    let line: String = text.trim().chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
    match line.char_indices().nth(PREVIEW) {
        Some((cut, _)) => format!("{}...", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_one_short_line() {
        let long = "é".repeat(61);
        for (content, want) in [
            ("hello", "hello".to_owned()),
            ("a\nb\r\nc", "a b  c".to_owned()),
            (&long, format!("{}...", "é".repeat(60))),
            ("\0json:[{\"type\":\"text\",\"text\":\"look\"}]", "look".to_owned()),
        ] {
            assert_eq!(preview(content), want);
        }
    }
}

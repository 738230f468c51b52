//! Lists sessions, newest activity first: one line per conversation.
//!
//! A conversation that was split by compactions consists of several sessions. It is listed once, as its last
//! session, with the start of the first.

pub(super) mod archive;
pub(super) mod resolve;
pub(super) mod titles;

use super::SessionDb;
use super::compaction::originals::is_original;
use super::lineage::{continuation_tip, marker, may_continue};
use super::rows::counts::{count, stored};
use super::rows::decode;
use super::rows::encode::PARTS_MARK;
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::{SessionId, shown_parts};
use rusqlite::{Connection, OptionalExtension, Row, params};

const PREVIEW: usize = 60;

/// The treatment of archived sessions in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Archived {
    #[default]
    Hidden,
    Only,
    Shown,
}

/// Selects the sessions to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFilter {
    /// Only this source. Without it, sessions of tools are left out.
    pub source: Option<String>,
    pub exclude_sources: Vec<String>,
    pub archived: Archived,
    /// Lists every session: also those of sub-agents, and each part of a split conversation.
    pub include_children: bool,
    pub limit: usize,
    pub offset: usize,
}

impl Default for ListFilter {
    fn default() -> Self {
        Self {
            source: None,
            exclude_sources: Vec::new(),
            archived: Archived::Hidden,
            include_children: false,
            limit: 20,
            offset: 0,
        }
    }
}

/// One line of a list of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    pub id: SessionId,
    /// The first session of the conversation, if it was split.
    pub root: Option<SessionId>,
    pub title: Option<String>,
    pub source: String,
    pub model: Option<String>,
    pub cwd: Option<String>,
    pub started_at: f64,
    pub last_active: f64,
    pub end_reason: Option<String>,
    pub archived: bool,
    pub message_count: u64,
    pub tool_call_count: u64,
    /// Beginning of the first prompt.
    pub preview: String,
}

impl SessionDb {
    /// Lists sessions. Of the sessions with a parent only branches are listed, unless the filter includes
    /// children.
    pub async fn list(&self, filter: ListFilter) -> Result<Vec<SessionSummary>, StoreError> {
        self.read(move |db| list(db, &filter).doing("list the sessions")).await
    }
}

fn list(db: &Connection, filter: &ListFilter) -> rusqlite::Result<Vec<SessionSummary>> {
    let mut lines = Vec::new();
    for id in chosen(db, filter)? {
        let Some(line) = summary(db, &id)? else { continue };
        let is_split = line.end_reason.as_deref() == Some("compression");
        lines.push(match is_split && !filter.include_children {
            true => continued(db, line)?,
            false => line,
        });
    }
    Ok(lines)
}

/// Returns the ids of the listed sessions, in order. Previews are read later, for few of them.
fn chosen(db: &Connection, filter: &ListFilter) -> rusqlite::Result<Vec<SessionId>> {
    // Branches from before the mark are recognised by the end reason of their parent.
    let sql = format!(
        "WITH RECURSIVE
             listed(id) AS (
                 SELECT s.id FROM sessions AS s LEFT JOIN sessions AS p ON p.id = s.parent_session_id
                 WHERE ((?1 IS NULL AND s.source IS NOT 'tool') OR s.source = ?1)
                   AND s.source NOT IN (SELECT value FROM json_each(?2))
                   AND (?3 IS NULL OR s.archived = ?3)
                   AND (?4 OR ({is_helper} IS NULL AND (p.id IS NULL OR {is_branch} IS NOT NULL
                        OR (p.end_reason = 'branched' AND s.started_at >= p.ended_at))))),
             line(first, id) AS (
                 SELECT s.id, s.id FROM listed JOIN sessions AS s ON s.id = listed.id
                 WHERE s.end_reason = 'compression' AND NOT ?4
                 UNION
                 SELECT line.first, c.id FROM line JOIN sessions AS p ON p.id = line.id
                     JOIN sessions AS c ON c.parent_session_id = p.id
                 WHERE p.end_reason = 'compression' AND {may_continue}),
             active(id, at) AS (
                 SELECT line.first, {last_active} FROM line JOIN sessions AS s ON s.id = line.id
                 UNION ALL
                 SELECT s.id, {last_active} FROM listed JOIN sessions AS s ON s.id = listed.id)
         SELECT id FROM active GROUP BY id ORDER BY MAX(at) DESC, id DESC LIMIT ?5 OFFSET ?6",
        is_helper = marker("s", "_delegate_from"),
        is_branch = marker("s", "_branched_from"),
        may_continue = may_continue("c"),
        last_active = LAST_ACTIVE,
    );
    let excluded = serde_json::json!(filter.exclude_sources).to_string();
    let archived = match filter.archived {
        Archived::Hidden => Some(false),
        Archived::Only => Some(true),
        Archived::Shown => None,
    };
    let (limit, offset) = (stored(filter.limit), stored(filter.offset));
    db.prepare_cached(&sql)?
        .query_map(
            params![filter.source, excluded, archived, filter.include_children, limit, offset],
            |row| row.get(0).map(|id: String| SessionId::new(id)),
        )?
        .collect()
}

const LAST_ACTIVE: &str =
    "COALESCE((SELECT MAX(m.timestamp) FROM messages AS m WHERE m.session_id = s.id), s.started_at)";

fn summary(db: &Connection, id: &SessionId) -> rusqlite::Result<Option<SessionSummary>> {
    db.prepare_cached(&format!(
        "SELECT s.id, s.title, s.source, s.model, s.cwd, s.started_at, {LAST_ACTIVE}, s.end_reason,
                s.archived, s.message_count, s.tool_call_count,
                (SELECT m.content FROM messages AS m
                 WHERE m.session_id = s.id AND m.role = 'user' AND m.content IS NOT NULL AND {said}
                 ORDER BY m.id LIMIT 1)
         FROM sessions AS s WHERE s.id = ?1",
        said = is_original("m")
    ))?
    .query_row([id.as_str()], from_row)
    .optional()
}

/// Replaces the line of a split session by that of its last session.
fn continued(db: &Connection, first: SessionSummary) -> rusqlite::Result<SessionSummary> {
    let tip = continuation_tip(db, first.id.clone())?;
    if tip == first.id {
        return Ok(first);
    }
    Ok(match summary(db, &tip)? {
        Some(tip) => SessionSummary {
            root: Some(first.id),
            source: first.source,
            started_at: first.started_at,
            // The last session may have no prompt of its own.
            preview: if tip.preview.is_empty() { first.preview } else { tip.preview },
            ..tip
        },
        None => first,
    })
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    Ok(SessionSummary {
        id: SessionId::new(row.get::<_, String>(0)?),
        root: None,
        title: decode::text(row, 1)?,
        source: decode::text(row, 2)?.unwrap_or_default(),
        model: decode::text(row, 3)?,
        cwd: decode::text(row, 4)?,
        started_at: row.get(5)?,
        last_active: row.get(6)?,
        end_reason: decode::text(row, 7)?,
        archived: row.get(8)?,
        message_count: count(row, 9)?,
        tool_call_count: count(row, 10)?,
        preview: preview(&decode::text(row, 11)?.unwrap_or_default()),
    })
}

pub(crate) fn preview(content: &str) -> String {
    let text = match content.strip_prefix(PARTS_MARK) {
        Some(parts) => shown_parts(parts),
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
    fn preview_is_one_short_line() {
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

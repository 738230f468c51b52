//! Finds messages by what was said in them.

mod context;

pub use context::ContextMessage;

use super::numbers::stored;
use super::query::{self, Group, Question, Term};
use super::{SessionDb, decode};
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::{MessageId, SessionId};
use rusqlite::{Connection, Row, params_from_iter};
use std::time::Duration;

/// How long a search may spend on indexing what is new.
const CATCH_UP: Duration = Duration::from_millis(200);
const BEFORE_HIT: usize = 40;
const SNIPPET: usize = 120;

/// In which order hits come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// The best first, or the newest where the index cannot tell.
    #[default]
    Rank,
    Newest,
    Oldest,
}

/// Which messages to look at, and how to show them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchFilter {
    pub limit: usize,
    pub sort: Sort,
    pub role: Option<String>,
    /// Only sessions stored under this tag.
    pub source: Option<String>,
    /// Whether hits come with the messages around them.
    pub with_context: bool,
}

impl Default for SearchFilter {
    fn default() -> Self {
        Self { limit: 20, sort: Sort::Rank, role: None, source: None, with_context: false }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchReport {
    pub hits: Vec<SearchHit>,
    /// False when there were messages the search could not see.
    pub complete: bool,
}

/// One message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    pub session: SessionId,
    pub message: MessageId,
    pub role: String,
    /// A piece of the message around the hit; words that matched stand between `>>>` and `<<<`.
    pub snippet: String,
    pub timestamp: f64,
    pub title: Option<String>,
    /// The message before, the hit itself and the message after, if they were asked for.
    pub context: Vec<ContextMessage>,
}

impl SessionDb {
    /// Finds messages of all sessions: the best first, or the newest first where the index cannot
    /// tell.
    pub async fn search(&self, query: &str, limit: usize) -> Result<SearchReport, StoreError> {
        self.search_with(query, SearchFilter { limit, ..SearchFilter::default() }).await
    }

    /// Finds messages that a filter lets through.
    pub async fn search_with(&self, query: &str, filter: SearchFilter) -> Result<SearchReport, StoreError> {
        let question = query::question(query);
        if question == Question::Nothing {
            return Ok(SearchReport { hits: Vec::new(), complete: true });
        }
        let caught_up = match self.drain(CATCH_UP).await {
            Ok(drained) => drained.complete,
            Err(error) => {
                tracing::warn!(%error, "the search index could not be brought up to date");
                false
            }
        };
        let query = query.to_owned();
        self.read(move |db| {
            let mut report = answer(db, question, &query, &filter, caught_up)?;
            if filter.with_context {
                context::add(db, &mut report.hits).doing("read the messages around the hits")?;
            }
            Ok(report)
        })
        .await
    }
}

fn answer(
    db: &Connection,
    question: Question,
    query: &str,
    filter: &SearchFilter,
    caught_up: bool,
) -> Result<SearchReport, StoreError> {
    let indexed = match question {
        Question::Nothing => return Ok(SearchReport::default()),
        Question::Words(text) => by_index(db, "messages_fts", text, filter),
        Question::Trigrams(text) => by_index(db, "messages_fts_trigram", text, filter),
        Question::Scan(groups) => return scanned(db, &groups, filter),
    };
    match indexed {
        Ok(hits) => Ok(SearchReport { hits, complete: caught_up }),
        Err(error) => {
            tracing::warn!(%error, "the search index cannot be read; comparing every message");
            scanned(db, &query::groups(query), filter)
        }
    }
}

fn scanned(db: &Connection, groups: &[Group], filter: &SearchFilter) -> Result<SearchReport, StoreError> {
    Ok(SearchReport { hits: by_scan(db, groups, filter).doing("search the messages")?, complete: true })
}

fn by_index(
    db: &Connection,
    table: &str,
    text: String,
    filter: &SearchFilter,
) -> rusqlite::Result<Vec<SearchHit>> {
    let mut values = vec![text];
    let also = filter.condition(&mut values);
    let order = filter.order().unwrap_or("rank");
    db.prepare_cached(&format!(
        "SELECT m.session_id, m.id, m.role, m.timestamp, s.title,
                snippet({table}, 0, '>>>', '<<<', '...', 40)
         FROM {table} JOIN messages AS m ON m.id = {table}.rowid JOIN sessions AS s ON s.id = m.session_id
         WHERE {table} MATCH ? AND (m.active = 1 OR m.compacted = 1){also}
         ORDER BY {order} LIMIT {}",
        stored(filter.limit)
    ))?
    .query_map(params_from_iter(values), |row| hit(row, |text| text))?
    .collect()
}

impl SearchFilter {
    /// What else must be true of a message, as SQL.
    fn condition(&self, values: &mut Vec<String>) -> String {
        let mut sql = String::new();
        for (test, value) in [(" AND m.role = ?", &self.role), (" AND s.source = ?", &self.source)] {
            if let Some(value) = value {
                sql.push_str(test);
                values.push(value.clone());
            }
        }
        sql
    }

    fn order(&self) -> Option<&'static str> {
        match self.sort {
            Sort::Rank => None,
            Sort::Newest => Some("m.timestamp DESC, m.id DESC"),
            Sort::Oldest => Some("m.timestamp, m.id"),
        }
    }
}

/// `instr` sees what follows the NUL in structured content, `LIKE` does not mind letter case.
const OCCURS: &str = "(m.content LIKE ? ESCAPE '\\' OR instr(m.content, ?) > 0 \
     OR m.tool_name LIKE ? ESCAPE '\\' OR m.tool_calls LIKE ? ESCAPE '\\')";

fn by_scan(db: &Connection, groups: &[Group], filter: &SearchFilter) -> rusqlite::Result<Vec<SearchHit>> {
    let mut values = Vec::new();
    let alternatives: Vec<_> = groups.iter().map(|group| condition(group, &mut values)).collect();
    let also = filter.condition(&mut values);
    let sql = format!(
        "SELECT m.session_id, m.id, m.role, m.timestamp, s.title,
                COALESCE(m.content, '') || ' ' || COALESCE(m.tool_name, '') || ' ' || COALESCE(m.tool_calls, '')
         FROM messages AS m JOIN sessions AS s ON s.id = m.session_id
         WHERE (m.active = 1 OR m.compacted = 1) AND ({}){also} ORDER BY {} LIMIT {}",
        alternatives.join(" OR "),
        filter.order().unwrap_or("m.id DESC"),
        stored(filter.limit)
    );
    let first = groups.first().and_then(|group| group.wanted.first());
    let around = |text: String| snippet(&text, first.map_or("", |term| &term.text));
    db.prepare(&sql)?.query_map(params_from_iter(values), |row| hit(row, around))?.collect()
}

/// One group as SQL. A missing column makes a comparison NULL, which must not decide for a NOT.
fn condition(group: &Group, values: &mut Vec<String>) -> String {
    let mut occurs = |term: &Term| {
        let pattern = format!("%{}%", escaped(&term.text));
        values.extend([pattern.clone(), term.text.clone(), pattern.clone(), pattern]);
        format!("COALESCE({OCCURS}, 0)")
    };
    let mut parts: Vec<_> = group.wanted.iter().map(&mut occurs).collect();
    parts.extend(group.unwanted.iter().map(|term| format!("NOT {}", occurs(term))));
    format!("({})", parts.join(" AND "))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

fn hit(row: &Row<'_>, shorten: impl Fn(String) -> String) -> rusqlite::Result<SearchHit> {
    Ok(SearchHit {
        session: SessionId::new(row.get::<_, String>(0)?),
        message: MessageId(row.get(1)?),
        role: row.get(2)?,
        timestamp: row.get(3)?,
        title: decode::text(row, 4)?,
        snippet: shorten(decode::text(row, 5)?.unwrap_or_default()),
        context: Vec::new(),
    })
}

/// The text around the first occurrence of `term`.
fn snippet(text: &str, term: &str) -> String {
    let at = text.find(term).unwrap_or_default();
    let before = text[..at].chars().count();
    let skipped = before.saturating_sub(BEFORE_HIT);
    let piece: String = text.chars().skip(skipped).take(SNIPPET).collect();
    let head = if skipped > 0 { "..." } else { "" };
    let tail = if text.chars().count() > skipped + SNIPPET { "..." } else { "" };
    format!("{head}{}{tail}", piece.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_surrounds_the_hit() {
        let long = format!("{}中文{}", "a".repeat(100), "b".repeat(200));
        let want = format!("...{}中文{}...", "a".repeat(40), "b".repeat(78));
        for (text, term, want) in [("short 中文", "中文", "short 中文"), (&long, "中文", &want)] {
            assert_eq!(snippet(text, term), want);
        }
    }
}

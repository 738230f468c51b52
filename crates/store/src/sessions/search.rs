//! Finds messages by what was said in them.

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
}

impl SessionDb {
    /// Finds messages of all sessions: the best first, or the newest first where the index cannot
    /// tell.
    pub async fn search(&self, query: &str, limit: usize) -> Result<SearchReport, StoreError> {
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
        self.read(move |db| answer(db, question, &query, limit, caught_up)).await
    }
}

fn answer(
    db: &Connection,
    question: Question,
    query: &str,
    limit: usize,
    caught_up: bool,
) -> Result<SearchReport, StoreError> {
    let indexed = match question {
        Question::Nothing => return Ok(SearchReport::default()),
        Question::Words(text) => by_index(db, "messages_fts", &text, limit),
        Question::Trigrams(text) => by_index(db, "messages_fts_trigram", &text, limit),
        Question::Scan(groups) => return scanned(db, &groups, limit),
    };
    match indexed {
        Ok(hits) => Ok(SearchReport { hits, complete: caught_up }),
        Err(error) => {
            tracing::warn!(%error, "the search index cannot be read; comparing every message");
            scanned(db, &query::groups(query), limit)
        }
    }
}

fn scanned(db: &Connection, groups: &[Group], limit: usize) -> Result<SearchReport, StoreError> {
    Ok(SearchReport { hits: by_scan(db, groups, limit).doing("search the messages")?, complete: true })
}

fn by_index(db: &Connection, table: &str, text: &str, limit: usize) -> rusqlite::Result<Vec<SearchHit>> {
    db.prepare_cached(&format!(
        "SELECT m.session_id, m.id, m.role, m.timestamp, s.title,
                snippet({table}, 0, '>>>', '<<<', '...', 40)
         FROM {table} JOIN messages AS m ON m.id = {table}.rowid JOIN sessions AS s ON s.id = m.session_id
         WHERE {table} MATCH ?1 AND (m.active = 1 OR m.compacted = 1)
         ORDER BY {table}.rank LIMIT ?2"
    ))?
    .query_map((text, stored(limit)), |row| hit(row, |text| text))?
    .collect()
}

/// `instr` sees what follows the NUL in structured content, `LIKE` does not mind letter case.
const OCCURS: &str = "(m.content LIKE ? ESCAPE '\\' OR instr(m.content, ?) > 0 \
     OR m.tool_name LIKE ? ESCAPE '\\' OR m.tool_calls LIKE ? ESCAPE '\\')";

fn by_scan(db: &Connection, groups: &[Group], limit: usize) -> rusqlite::Result<Vec<SearchHit>> {
    let mut values = Vec::new();
    let alternatives: Vec<_> = groups.iter().map(|group| condition(group, &mut values)).collect();
    let sql = format!(
        "SELECT m.session_id, m.id, m.role, m.timestamp, s.title,
                COALESCE(m.content, '') || ' ' || COALESCE(m.tool_name, '') || ' ' || COALESCE(m.tool_calls, '')
         FROM messages AS m JOIN sessions AS s ON s.id = m.session_id
         WHERE (m.active = 1 OR m.compacted = 1) AND ({}) ORDER BY m.id DESC LIMIT {limit}",
        alternatives.join(" OR ")
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

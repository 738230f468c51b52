//! Which sessions come from which.
//!
//! A session names the one it comes from: it went on there after a compression, branched off it,
//! or works for it. Links are data, and data can be wrong, so every walk has an end even where the
//! links go in circles.

use super::SessionDb;
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::{CallId, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashSet;

/// The longest line of parents, of whatever kind, that is followed.
const MAX_LINE: usize = 100;
/// How far a resume looks for a descendant with messages.
const MAX_RESUME: usize = 32;

impl SessionDb {
    /// The sessions this one comes from: the first one first, its parent last.
    pub async fn ancestors(&self, id: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let id = id.clone();
        self.read(move |db| ancestors(db, &id).doing("follow a session's line")).await
    }

    /// All sessions that come from this one, directly or not, oldest first.
    pub async fn descendants(&self, id: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let id = id.clone();
        self.read(move |db| descendants(db, &id).doing("follow a session's line")).await
    }

    /// Where a session went on after its compressions; itself if it was not compressed.
    pub async fn compression_tip(&self, id: &SessionId) -> Result<SessionId, StoreError> {
        let id = id.clone();
        self.read(move |db| compression_tip(db, id).doing("follow a session's line")).await
    }

    /// The session to continue when this one is asked for: where it went on, down to the newest
    /// continuation in which something was said.
    pub async fn resolve_resume(&self, id: &SessionId) -> Result<SessionId, StoreError> {
        let id = id.clone();
        self.read(move |db| resolve_resume(db, id).doing("follow a session's line")).await
    }
}

impl SessionDb {
    /// The helpers of a call, in the order in which they were made.
    pub async fn helpers(&self, session: &SessionId, call: &CallId) -> Result<Vec<SessionId>, StoreError> {
        let (session, call) = (session.clone(), call.clone());
        self.read(move |db| {
            let sql = format!(
                "SELECT id FROM sessions AS s WHERE parent_session_id = ?1 AND {} = ?2 ORDER BY started_at, rowid",
                marker("s", "_delegate_call")
            );
            let found = db.prepare_cached(&sql).and_then(|mut find| {
                find.query_map([session.as_str(), call.as_str()], |row| Ok(SessionId::new(row.get::<_, String>(0)?)))?
                    .collect()
            });
            found.doing("look for helpers")
        })
        .await
    }
}

/// SQL for a marker in a session's `model_config`; NULL where there is none or the text is no JSON.
pub(crate) fn marker(table: &str, name: &str) -> String {
    format!(
        "CASE WHEN json_valid({table}.model_config) THEN json_extract({table}.model_config, '$.{name}') END"
    )
}

/// SQL that is true for a child that may continue its parent: no branch, no helper, no tool.
pub(crate) fn may_continue(child: &str) -> String {
    format!(
        "{} IS NULL AND {} IS NULL AND {child}.source IS NOT 'tool'",
        marker(child, "_branched_from"),
        marker(child, "_delegate_from")
    )
}

/// SQL that begins a query about `crew(id)`: the session `?1`, those it works for, and all their helpers.
/// Branches and continuations are no part of it. `UNION` drops what was seen before, so circles end.
pub(crate) fn crew() -> String {
    let works_for = marker("s", "_delegate_from");
    format!(
        "WITH RECURSIVE above(id) AS (
             SELECT ?1
             UNION
             SELECT s.parent_session_id FROM above JOIN sessions AS s ON s.id = above.id
             WHERE s.parent_session_id IS NOT NULL AND {works_for} IS NOT NULL),
         crew(id) AS (
             SELECT id FROM above
             UNION
             SELECT s.id FROM crew JOIN sessions AS s ON s.parent_session_id = crew.id
             WHERE {works_for} IS NOT NULL)"
    )
}

pub(crate) fn ancestors(db: &Connection, id: &SessionId) -> rusqlite::Result<Vec<SessionId>> {
    let mut find = db.prepare_cached("SELECT parent_session_id FROM sessions WHERE id = ?1")?;
    let mut line = vec![id.as_str().to_owned()];
    while line.len() < MAX_LINE {
        let parent: Option<Option<String>> = find.query_row([line.last()], |row| row.get(0)).optional()?;
        match parent.flatten() {
            Some(parent) if !line.contains(&parent) => line.push(parent),
            _ => break,
        }
    }
    Ok(line.into_iter().skip(1).rev().map(SessionId::new).collect())
}

/// The sessions of which this one is the continuation after compressions, and itself, the first one first.
pub(crate) fn compression_line(db: &Connection, id: &SessionId) -> rusqlite::Result<Vec<SessionId>> {
    let mut find = db.prepare_cached(&format!(
        "SELECT p.id FROM sessions AS c JOIN sessions AS p ON p.id = c.parent_session_id
         WHERE c.id = ?1 AND p.end_reason = 'compression' AND {}",
        may_continue("c")
    ))?;
    let mut line = vec![id.clone()];
    let mut parent = find.query_row([id.as_str()], named).optional()?;
    let mut known = HashSet::from([id.clone()]);
    while let Some(next) = parent.filter(|next| known.insert(next.clone())) {
        parent = find.query_row([next.as_str()], named).optional()?;
        line.push(next);
    }
    line.reverse();
    Ok(line)
}

/// `UNION` drops what was seen before, so circles end.
fn descendants(db: &Connection, id: &SessionId) -> rusqlite::Result<Vec<SessionId>> {
    db.prepare_cached(
        "WITH RECURSIVE line(id) AS (
             SELECT ?1
             UNION
             SELECT s.id FROM line JOIN sessions AS s ON s.parent_session_id = line.id)
         SELECT s.id FROM line JOIN sessions AS s ON s.id = line.id WHERE s.id <> ?1
         ORDER BY s.started_at, s.id",
    )?
    .query_map([id.as_str()], named)?
    .collect()
}

/// A child that went on compressing is preferred to one that lives, and both to one that ended:
/// such a one was made by a race and left.
pub(crate) fn compression_tip(db: &Connection, id: SessionId) -> rusqlite::Result<SessionId> {
    let mut find = db.prepare_cached(&format!(
        "SELECT c.id FROM sessions AS p JOIN sessions AS c ON c.parent_session_id = p.id
         WHERE p.id = ?1 AND p.end_reason = 'compression' AND {}
         ORDER BY CASE WHEN c.end_reason = 'compression' THEN 0 WHEN c.ended_at IS NULL THEN 1 ELSE 2 END,
             COALESCE((SELECT MAX(m.timestamp) FROM messages AS m WHERE m.session_id = c.id), c.started_at) DESC,
             c.started_at DESC, c.id DESC
         LIMIT 1",
        may_continue("c")
    ))?;
    // A conversation is gone on with where it ended, however often it was compressed.
    let mut known = HashSet::from([id.clone()]);
    let mut tip = id;
    while let Some(child) = find.query_row([tip.as_str()], named).optional()? {
        if !known.insert(child.clone()) {
            break;
        }
        tip = child;
    }
    Ok(tip)
}

pub(crate) fn resolve_resume(db: &Connection, id: SessionId) -> rusqlite::Result<SessionId> {
    let tip = compression_tip(db, id)?;
    let mut says_something = db.prepare_cached("SELECT 1 FROM messages WHERE session_id = ?1")?;
    let mut newest_child = db.prepare_cached(&format!(
        "SELECT c.id FROM sessions AS c WHERE c.parent_session_id = ?1 AND {}
         ORDER BY c.started_at DESC, c.id DESC LIMIT 1",
        may_continue("c")
    ))?;
    let mut line = vec![tip.clone()];
    let mut best = tip.clone();
    let mut current = tip;
    while line.len() <= MAX_RESUME {
        if says_something.exists([current.as_str()])? {
            best = current.clone();
        }
        match newest_child.query_row([current.as_str()], named).optional()? {
            Some(child) if !line.contains(&child) => {
                line.push(child.clone());
                current = child;
            }
            _ => break,
        }
    }
    Ok(best)
}

/// Whether making `parent` the parent of `child` would close a circle.
pub(crate) fn would_circle(db: &Connection, child: &str, parent: &str) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "WITH RECURSIVE line(id) AS (
             SELECT ?2
             UNION
             SELECT s.parent_session_id FROM line JOIN sessions AS s ON s.id = line.id
             WHERE s.parent_session_id IS NOT NULL)
         SELECT 1 FROM line WHERE id = ?1",
    )?
    .exists(params![child, parent])
}

fn named(row: &Row<'_>) -> rusqlite::Result<SessionId> {
    row.get(0).map(|id: String| SessionId::new(id))
}

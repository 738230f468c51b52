//! Parents and children of sessions.
//!
//! A session names its parent: it continues the parent after a compaction, is a branch of it, or a sub-agent.
//! Links can be wrong, so every walk ends even if they form a cycle.

use super::SessionDb;
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::{CallId, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashSet;

/// Maximum number of ancestors that are followed.
const MAX_LINE: usize = 100;
/// Maximum depth at which a resume searches for a descendant with messages.
const MAX_RESUME: usize = 32;

impl SessionDb {
    /// Returns the ancestors of a session: the first one first, its parent last.
    pub async fn ancestors(&self, id: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let id = id.clone();
        self.read(move |db| ancestors(db, &id).doing("read the lineage of a session")).await
    }

    /// Returns all descendants of a session, oldest first.
    pub async fn descendants(&self, id: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let id = id.clone();
        self.read(move |db| descendants(db, &id).doing("read the lineage of a session")).await
    }

    /// Returns the session that continues this one after its compactions; itself if it was not split.
    pub async fn continuation_tip(&self, id: &SessionId) -> Result<SessionId, StoreError> {
        let id = id.clone();
        self.read(move |db| continuation_tip(db, id).doing("read the lineage of a session")).await
    }

    /// Returns the session to resume for this one: its newest continuation with messages.
    pub async fn resolve_resume(&self, id: &SessionId) -> Result<SessionId, StoreError> {
        let id = id.clone();
        self.read(move |db| resolve_resume(db, id).doing("read the lineage of a session")).await
    }
}

impl SessionDb {
    /// Returns the sub-agent sessions of a tool call, in order of creation.
    pub async fn sub_agents(&self, session: &SessionId, call: &CallId) -> Result<Vec<SessionId>, StoreError> {
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
            found.doing("find sub-agents")
        })
        .await
    }
}

/// Returns SQL for a marker in a session's `model_config`; NULL if it is missing or the JSON is invalid.
pub(crate) fn marker(table: &str, name: &str) -> String {
    format!(
        "CASE WHEN json_valid({table}.model_config) THEN json_extract({table}.model_config, '$.{name}') END"
    )
}

/// Returns SQL that is true for a child that may continue its parent: not a branch, sub-agent or tool
/// session.
pub(crate) fn may_continue(child: &str) -> String {
    format!(
        "{} IS NULL AND {} IS NULL AND {child}.source IS NOT 'tool'",
        marker(child, "_branched_from"),
        marker(child, "_delegate_from")
    )
}

/// Returns SQL that begins a query about `tree(id)`: the session `?1`, the sessions it is delegated from, and
/// all their sub-agents, without branches and continuations. `UNION` drops duplicates, so cycles end.
pub(crate) fn delegation_tree() -> String {
    let is_delegated = marker("s", "_delegate_from");
    format!(
        "WITH RECURSIVE above(id) AS (
             SELECT ?1
             UNION
             SELECT s.parent_session_id FROM above JOIN sessions AS s ON s.id = above.id
             WHERE s.parent_session_id IS NOT NULL AND {is_delegated} IS NOT NULL),
         tree(id) AS (
             SELECT id FROM above
             UNION
             SELECT s.id FROM tree JOIN sessions AS s ON s.parent_session_id = tree.id
             WHERE {is_delegated} IS NOT NULL)"
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

/// Returns the sessions that this one continues after compactions, and itself, the first one first.
pub(crate) fn continuation_chain(db: &Connection, id: &SessionId) -> rusqlite::Result<Vec<SessionId>> {
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

/// `UNION` drops duplicates, so cycles end.
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

/// Prefers a child that was split again to one that is open, and both to one that has ended: the latter was
/// created by a race and abandoned.
pub(crate) fn continuation_tip(db: &Connection, id: SessionId) -> rusqlite::Result<SessionId> {
    let mut find = db.prepare_cached(&format!(
        "SELECT c.id FROM sessions AS p JOIN sessions AS c ON c.parent_session_id = p.id
         WHERE p.id = ?1 AND p.end_reason = 'compression' AND {}
         ORDER BY CASE WHEN c.end_reason = 'compression' THEN 0 WHEN c.ended_at IS NULL THEN 1 ELSE 2 END,
             COALESCE((SELECT MAX(m.timestamp) FROM messages AS m WHERE m.session_id = c.id), c.started_at) DESC,
             c.started_at DESC, c.id DESC
         LIMIT 1",
        may_continue("c")
    ))?;
    // Follows any number of splits.
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
    let tip = continuation_tip(db, id)?;
    let mut has_messages = db.prepare_cached("SELECT 1 FROM messages WHERE session_id = ?1")?;
    let mut newest_child = db.prepare_cached(&format!(
        "SELECT c.id FROM sessions AS c WHERE c.parent_session_id = ?1 AND {}
         ORDER BY c.started_at DESC, c.id DESC LIMIT 1",
        may_continue("c")
    ))?;
    let mut line = vec![tip.clone()];
    let mut best = tip.clone();
    let mut current = tip;
    while line.len() <= MAX_RESUME {
        if has_messages.exists([current.as_str()])? {
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

/// Returns true if making `parent` the parent of `child` would create a cycle.
pub(crate) fn would_create_cycle(db: &Connection, child: &str, parent: &str) -> rusqlite::Result<bool> {
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

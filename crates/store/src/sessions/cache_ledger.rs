//! The cache ledger of a session: how each request related to the one before it, and what the provider said
//! it had kept. It is part of what is noted of model calls.

use super::SessionDb;
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::{CacheEntry, PrefixDigest, SessionId, Usage};
use rusqlite::{Connection, Row};
use serde::Deserialize;

/// One request of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerEntry {
    /// The turn, counting from 1.
    pub turn: u64,
    /// Seconds since 1970.
    pub at: f64,
    pub provider: String,
    pub model: String,
    /// Whether a reply came; without one nothing is known of what was kept.
    pub was_answered: bool,
    pub usage: Option<Usage>,
    pub cache: CacheEntry,
}

/// What was sent last to a model, for a process that goes on with the session.
#[derive(Debug, Clone, PartialEq)]
pub struct LastSent {
    pub provider: String,
    pub model: String,
    pub has_tools: bool,
    pub mark: PrefixDigest,
}

/// As much of what is noted as is looked at here.
#[derive(Deserialize)]
struct Detail {
    provider: String,
    outcome: String,
    usage: Option<Usage>,
    cache: Option<CacheEntry>,
}

impl SessionDb {
    /// The requests of a session, oldest first. Those of versions that kept no ledger are left out.
    pub async fn cache_ledger(&self, session: &SessionId) -> Result<Vec<LedgerEntry>, StoreError> {
        let session = session.clone();
        self.read(move |db| entries(db, &session).doing("read the cache ledger")).await
    }

    /// What was sent last to each model of a session.
    pub async fn last_sent(&self, session: &SessionId) -> Result<Vec<LastSent>, StoreError> {
        let session = session.clone();
        self.read(move |db| last_sent(db, &session).doing("read what was sent last")).await
    }
}

const ROWS: &str = "SELECT t.seq, s.started_at, s.name, s.detail FROM hx_turns AS t
     JOIN hx_spans AS s ON s.turn = t.id AND s.kind = 'model' WHERE t.session = ?1";

fn entries(db: &Connection, session: &SessionId) -> rusqlite::Result<Vec<LedgerEntry>> {
    let mut rows = db.prepare_cached(&format!("{ROWS} ORDER BY t.seq, s.n"))?;
    let rows = rows.query_map([session.as_str()], entry)?;
    rows.filter_map(Result::transpose).collect()
}

/// Far more than the models of one session.
const LOOKED_AT: usize = 64;

fn last_sent(db: &Connection, session: &SessionId) -> rusqlite::Result<Vec<LastSent>> {
    let mut rows = db.prepare_cached(&format!("{ROWS} ORDER BY t.seq DESC, s.n DESC LIMIT {LOOKED_AT}"))?;
    let mut found: Vec<LastSent> = Vec::new();
    for row in rows.query_map([session.as_str()], entry)? {
        let Some(LedgerEntry { provider, model, cache, .. }) = row? else { continue };
        let last = LastSent { provider, model, has_tools: cache.has_tools, mark: cache.mark };
        let is_known = |other: &LastSent| {
            (&other.provider, &other.model, other.has_tools) == (&last.provider, &last.model, last.has_tools)
        };
        if !found.iter().any(is_known) {
            found.push(last);
        }
    }
    Ok(found)
}

/// `None` for a request of which the ledger says nothing.
fn entry(row: &Row<'_>) -> rusqlite::Result<Option<LedgerEntry>> {
    let detail = serde_json::from_str::<Detail>(&row.get::<_, String>(3)?).ok();
    let turn = super::numbers::count(row, 0)?;
    let (at, model) = (row.get(1)?, row.get(2)?);
    Ok(detail.and_then(|detail| {
        Some(LedgerEntry {
            turn,
            at,
            provider: detail.provider,
            model,
            was_answered: detail.outcome == "replied",
            usage: detail.usage,
            cache: detail.cache?,
        })
    }))
}

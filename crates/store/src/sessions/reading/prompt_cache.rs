//! The cache ledger of a session: for each request its relation to the previous one, and the provider's cache
//! hits. It is stored with the observations of model calls.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use hermes_conversation::{CacheEntry, PrefixMark, SessionId, Usage};
use rusqlite::{Connection, Row};
use serde::Deserialize;

/// One request of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheLedgerEntry {
    /// The turn, counting from 1.
    pub turn: u64,
    /// Seconds since 1970.
    pub at: f64,
    pub provider: String,
    pub model: String,
    /// True if a reply arrived; cache hits are unknown otherwise.
    pub was_answered: bool,
    pub usage: Option<Usage>,
    pub cache: CacheEntry,
}

/// The last request to a model, for a process that resumes the session.
#[derive(Debug, Clone, PartialEq)]
pub struct LastSent {
    pub provider: String,
    pub model: String,
    pub has_tools: bool,
    pub mark: PrefixMark,
}

/// The fields of an observation that are read here.
#[derive(Deserialize)]
struct Detail {
    provider: String,
    outcome: String,
    usage: Option<Usage>,
    cache: Option<CacheEntry>,
}

impl SessionDb {
    /// Returns the requests of a session, oldest first. Requests of versions without a ledger are left out.
    pub async fn cache_ledger(&self, session: &SessionId) -> Result<Vec<CacheLedgerEntry>, StoreError> {
        let session = session.clone();
        self.read(move |db| entries(db, &session).doing("read the cache ledger")).await
    }

    /// Returns the last request to each model of a session.
    pub async fn last_sent(&self, session: &SessionId) -> Result<Vec<LastSent>, StoreError> {
        let session = session.clone();
        self.read(move |db| last_sent(db, &session).doing("read the last requests")).await
    }
}

const ROWS: &str = "SELECT t.seq, s.started_at, s.name, s.detail FROM hx_turns AS t
     JOIN hx_spans AS s ON s.turn = t.id AND s.kind = 'model' WHERE t.session = ?1";

fn entries(db: &Connection, session: &SessionId) -> rusqlite::Result<Vec<CacheLedgerEntry>> {
    let mut rows = db.prepare_cached(&format!("{ROWS} ORDER BY t.seq, s.n"))?;
    let rows = rows.query_map([session.as_str()], entry)?;
    rows.filter_map(Result::transpose).collect()
}

/// Requests to search; far more than the models of one session.
const LOOKED_AT: usize = 64;

fn last_sent(db: &Connection, session: &SessionId) -> rusqlite::Result<Vec<LastSent>> {
    let mut rows = db.prepare_cached(&format!("{ROWS} ORDER BY t.seq DESC, s.n DESC LIMIT {LOOKED_AT}"))?;
    let mut found: Vec<LastSent> = Vec::new();
    for row in rows.query_map([session.as_str()], entry)? {
        let Some(CacheLedgerEntry { provider, model, cache, .. }) = row? else { continue };
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

/// Reads a row; `None` for a request without a ledger entry.
fn entry(row: &Row<'_>) -> rusqlite::Result<Option<CacheLedgerEntry>> {
    let detail = serde_json::from_str::<Detail>(&row.get::<_, String>(3)?).ok();
    let turn = crate::sessions::rows::counts::count(row, 0)?;
    let (at, model) = (row.get(1)?, row.get(2)?);
    Ok(detail.and_then(|detail| {
        Some(CacheLedgerEntry {
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

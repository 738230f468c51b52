//! Full-text search over messages.

pub(super) mod characters;
mod comparison;
mod context;
mod display_text;
mod filter;
pub(super) mod full_text;
pub(super) mod pair_index;
mod plan;
pub(super) mod query;
mod run;
mod snippet;

pub use context::ContextMessage;
pub use filter::{SearchFilter, Sort};

use super::SessionDb;
use super::rows::decode;
use crate::StoreError;
use crate::error::Doing;
use filter::Scope;
use hermes_conversation::{MessageId, SessionId};
use pair_index::{IndexPosition, PairIndex};
use plan::{Plan, Table};
use query::{Group, Kind};
use run::{Rows, Search};
use rusqlite::{Connection, Row};
use std::time::{Duration, Instant};

/// Maximum time that a search spends on indexing new messages.
const CATCH_UP: Duration = Duration::from_millis(200);
/// Up to this many messages outside the index are compared one by one.
const FEW: i64 = 2_000;

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchReport {
    pub hits: Vec<SearchHit>,
    /// False if some messages were not searched.
    pub complete: bool,
    /// No exact match was found; the hits differ from the query in punctuation.
    pub loosened: bool,
}

/// One message found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    pub session: SessionId,
    pub message: MessageId,
    pub role: String,
    /// The text around the match; matching terms are between `>>>` and `<<<`.
    pub snippet: String,
    pub timestamp: f64,
    pub tool_name: Option<String>,
    pub title: Option<String>,
    pub source: String,
    pub model: Option<String>,
    pub session_started: f64,
    /// The message before, the hit itself and the message after, if requested.
    pub context: Vec<ContextMessage>,
}

impl SessionDb {
    /// Searches the messages of all sessions: best match first, or newest first if the index cannot rank.
    pub async fn search(&self, query: &str, limit: usize) -> Result<SearchReport, StoreError> {
        self.search_with(query, SearchFilter { limit, ..SearchFilter::default() }).await
    }

    /// Searches the messages that match a filter.
    pub async fn search_with(&self, query: &str, filter: SearchFilter) -> Result<SearchReport, StoreError> {
        self.search_in(query, Scope { filter, sessions: Vec::new() }).await
    }

    /// Searches the messages of one conversation, which may have several sessions.
    pub(super) async fn search_conversation(
        &self,
        query: &str,
        line: Vec<SessionId>,
        limit: usize,
    ) -> Result<SearchReport, StoreError> {
        let filter = SearchFilter { limit, ..SearchFilter::default() };
        self.search_in(query, Scope { filter, sessions: line }).await
    }

    async fn search_in(&self, query: &str, scope: Scope) -> Result<SearchReport, StoreError> {
        let groups = query::groups(query);
        if groups.is_empty() || scope.filter.limit == 0 {
            return Ok(SearchReport { complete: true, ..SearchReport::default() });
        }
        let deadline = Instant::now() + CATCH_UP;
        let caught_up = match self.drain(CATCH_UP).await {
            Ok(drained) => drained.complete,
            Err(error) => {
                tracing::warn!(%error, "cannot update the search index");
                false
            }
        };
        let pairs = self.shared.pairs.clone();
        self.read(move |db| {
            if needs_pair_index(&groups) {
                pairs.catch_up(db, deadline);
            }
            let mut report = answer(db, &pairs, &groups, &scope, caught_up)?;
            if report.hits.is_empty()
                && let Some(loose) = query::relaxed(&groups)
            {
                report = answer(db, &pairs, &loose, &scope, caught_up)?;
                report.loosened = true;
            }
            if scope.filter.with_context {
                context::add(db, &mut report.hits).doing("read the messages around the hits")?;
            }
            Ok(report)
        })
        .await
    }
}

/// Returns true if the query needs the pair index. The shared indexes find terms of ASCII letters in any
/// message.
fn needs_pair_index(groups: &[Group]) -> bool {
    let mut terms = groups.iter().flat_map(|group| group.wanted.iter().chain(&group.unwanted));
    terms.any(|term| term.kind != Kind::Word || !term.text.is_ascii())
}

fn answer(
    db: &Connection,
    pairs: &PairIndex,
    groups: &[Group],
    scope: &Scope,
    caught_up: bool,
) -> Result<SearchReport, StoreError> {
    let search = Search { plan: Plan::new(groups), groups, scope };
    let found = if needs_pair_index(groups) {
        let with_pairs = pairs.read(|db, known| by_all_indexes(db, &search, known));
        with_pairs.map_or_else(|| without_pair_index(db, &search), Ok)
    } else {
        search.by_plan(db, Rows::All).map(|hits| (hits, true))
    };
    let (hits, complete) = match found {
        Ok((hits, complete)) => (hits, complete && caught_up),
        Err(error) => {
            tracing::warn!(%error, "cannot read the search index; comparing every message");
            (search.by_comparing(db, Rows::All).doing("search the messages")?, true)
        }
    };
    Ok(SearchReport { hits: search.arranged(hits), complete, loosened: false })
}

/// Hits, and true if no message was skipped.
type IndexedHits = rusqlite::Result<(Vec<SearchHit>, bool)>;

/// Searches with all indexes. The pair index finds short terms and text that is hidden from the others;
/// messages that it does not contain yet are compared.
fn by_all_indexes(db: &Connection, search: &Search<'_>, known: IndexPosition) -> IndexedHits {
    let highest: i64 = db.query_row("SELECT COALESCE(MAX(id), 0) FROM messages", [], |row| row.get(0))?;
    let unknown = highest - known.last;
    if search.plan.uses(Table::Pairs) {
        let mut hits = search.by_comparing(db, Rows::After(known.last))?;
        if hits.len() < search.scope.filter.needed() || search.scope.filter.sort != Sort::Rank {
            hits.extend(search.by_plan(db, Rows::UpTo(known.last))?);
            hits.extend(search.by_hidden(db, known)?);
        }
        return Ok((hits, true));
    }
    let mut hits = search.by_plan(db, Rows::All)?;
    hits.extend(search.by_hidden(db, known)?);
    if unknown <= FEW {
        hits.extend(search.by_comparing(db, Rows::HiddenAfter(known.last))?);
    }
    Ok((hits, unknown <= FEW))
}

fn without_pair_index(db: &Connection, search: &Search<'_>) -> IndexedHits {
    if search.plan.uses(Table::Pairs) {
        return Ok((search.by_comparing(db, Rows::All)?, true));
    }
    Ok((search.by_plan(db, Rows::All)?, true))
}

/// The columns of [`hit`], in this order.
const HIT_COLUMNS: &str =
    "m.session_id, m.id, m.role, m.timestamp, m.tool_name, s.title, s.source, s.model, s.started_at";
const HIT_WIDTH: usize = 9;
/// The index of the role in these columns.
const ROLE: usize = 2;

fn hit(row: &Row<'_>, snippet: String) -> rusqlite::Result<SearchHit> {
    Ok(SearchHit {
        session: SessionId::new(decode::text(row, 0)?.unwrap_or_default()),
        message: MessageId(row.get(1)?),
        role: decode::text(row, 2)?.unwrap_or_default(),
        timestamp: row.get::<_, Option<f64>>(3)?.unwrap_or_default(),
        tool_name: decode::text(row, 4)?,
        title: decode::text(row, 5)?,
        source: decode::text(row, 6)?.unwrap_or_default(),
        model: decode::text(row, 7)?,
        session_started: row.get::<_, Option<f64>>(8)?.unwrap_or_default(),
        snippet,
        context: Vec::new(),
    })
}

//! Filter and order of a search.

use crate::sessions::compaction::originals::is_original;
use hermes_conversation::SessionId;
use rusqlite::types::Value;

/// The order of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Best match first, or newest first if the index cannot rank.
    #[default]
    Rank,
    Newest,
    Oldest,
}

/// Selects the messages to search, and the form of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchFilter {
    pub limit: usize,
    /// Hits to skip.
    pub offset: usize,
    pub sort: Sort,
    pub role: Option<String>,
    /// Only sessions of this source.
    pub source: Option<String>,
    /// No sessions of these sources.
    pub excluded_sources: Vec<String>,
    pub session: Option<SessionId>,
    /// Only messages from this time on, in seconds since 1970.
    pub since: Option<f64>,
    /// Only messages before this time.
    pub until: Option<f64>,
    /// Adds the messages around each hit.
    pub with_context: bool,
}

impl Default for SearchFilter {
    fn default() -> Self {
        Self {
            limit: 20,
            offset: 0,
            sort: Sort::Rank,
            role: None,
            source: None,
            excluded_sources: Vec::new(),
            session: None,
            since: None,
            until: None,
            with_context: false,
        }
    }
}

/// A filter, and the sessions of one conversation if the search is limited to it.
pub(super) struct Scope {
    pub(super) filter: SearchFilter,
    pub(super) sessions: Vec<SessionId>,
}

impl Scope {
    /// Returns the conditions on a message, as SQL about `m` and `s`.
    pub(super) fn condition(&self, values: &mut Vec<Value>) -> String {
        let condition = self.filter.condition(values);
        if self.sessions.is_empty() {
            return condition;
        }
        values.push(Value::from(serde_json::json!(self.sessions).to_string()));
        format!("{condition} AND m.session_id IN (SELECT value FROM json_each(?))")
    }
}

impl SearchFilter {
    /// Returns the number of hits that fill the page.
    pub(super) fn needed(&self) -> usize {
        self.limit.saturating_add(self.offset)
    }

    fn condition(&self, values: &mut Vec<Value>) -> String {
        let mut sql = format!("(m.active = 1 OR m.compacted = 1) AND {}", is_original("m"));
        let mut add = |test: &str, value: Option<Value>| {
            if let Some(value) = value {
                sql.push_str(test);
                values.push(value);
            }
        };
        add(" AND m.role = ?", self.role.clone().map(Value::from));
        add(" AND s.source = ?", self.source.clone().map(Value::from));
        for source in &self.excluded_sources {
            add(" AND s.source <> ?", Some(Value::from(source.clone())));
        }
        add(" AND m.session_id = ?", self.session.as_ref().map(|id| Value::from(id.as_str().to_owned())));
        add(" AND m.timestamp >= ?", self.since.map(Value::from));
        add(" AND m.timestamp < ?", self.until.map(Value::from));
        sql
    }

    /// Returns the order as SQL; `ranked` is the order by relevance.
    pub(super) fn order(&self, ranked: &'static str) -> &'static str {
        match self.sort {
            Sort::Rank => ranked,
            Sort::Newest => "m.timestamp DESC, m.id DESC",
            Sort::Oldest => "m.timestamp, m.id",
        }
    }
}

//! Which messages a search looks at, and in which order it gives them.

use crate::sessions::compaction::originals::is_original;
use hermes_conversation::SessionId;
use rusqlite::types::Value;

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
#[derive(Debug, Clone, PartialEq)]
pub struct SearchFilter {
    pub limit: usize,
    /// Hits to pass over first.
    pub offset: usize,
    pub sort: Sort,
    pub role: Option<String>,
    /// Only sessions stored under this tag.
    pub source: Option<String>,
    /// No sessions stored under these tags.
    pub excluded_sources: Vec<String>,
    pub session: Option<SessionId>,
    /// Only messages of this time or later, in seconds since 1970.
    pub since: Option<f64>,
    /// Only messages before this time.
    pub until: Option<f64>,
    /// Whether hits come with the messages around them.
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

/// A filter, and the sessions of one conversation if only that is searched.
pub(super) struct Scope {
    pub(super) filter: SearchFilter,
    pub(super) sessions: Vec<SessionId>,
}

impl Scope {
    /// What else must be true of a message, as SQL about `m` and `s`.
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
    /// How many hits must be found to fill the page.
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

    /// The order as SQL; `ranked` is what is best where the relevance counts.
    pub(super) fn order(&self, ranked: &'static str) -> &'static str {
        match self.sort {
            Sort::Rank => ranked,
            Sort::Newest => "m.timestamp DESC, m.id DESC",
            Sort::Oldest => "m.timestamp, m.id",
        }
    }
}

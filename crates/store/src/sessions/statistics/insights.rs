//! Activity in a period: messages, model calls, tool calls and costs, by model, source and time.
//!
//! A message counts if it was written in the period. Tokens are stored only as totals per session and
//! model, so they count in full if the total last grew in the period, or, for a session without such
//! totals, if the session started in it. Rewound messages count, too: they were paid for. Time zones are
//! left to the caller.

mod costs;
mod gather;
mod sessions;

pub use costs::CostSummary;

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use gather::Gathered;
use hermes_conversation::{SessionId, Usage};
use rusqlite::Connection;
use std::ops::AddAssign;

/// Longest pause between two messages that counts as activity, in seconds.
pub const LONGEST_PAUSE: f64 = 600.0;

/// Selects a period and sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct InsightsFilter {
    /// Start, in seconds since 1970; included.
    pub since: f64,
    /// End; excluded.
    pub until: f64,
    /// Only sessions of this source.
    pub source: Option<String>,
    /// Number of sessions with the most tokens to return.
    pub top: usize,
}

impl Default for InsightsFilter {
    fn default() -> Self {
        Self { since: 0.0, until: f64::MAX, source: None, top: 5 }
    }
}

/// Messages by role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageCounts {
    pub user: u64,
    pub assistant: u64,
    pub tool: u64,
    pub other: u64,
}

impl MessageCounts {
    pub fn total(&self) -> u64 {
        self.user + self.assistant + self.tool + self.other
    }
}

impl AddAssign for MessageCounts {
    fn add_assign(&mut self, other: Self) {
        self.user += other.user;
        self.assistant += other.assistant;
        self.tool += other.tool;
        self.other += other.other;
    }
}

/// A named count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    pub name: String,
    pub count: u64,
}

/// Activity of a model, or of all sessions of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    pub name: String,
    pub sessions: u64,
    pub messages: u64,
    pub api_calls: u64,
    pub usage: Usage,
}

/// Messages of one quarter of an hour. Time zone offsets are whole quarters, so these can be grouped by local
/// hours and days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quarter {
    /// Start, in seconds since 1970.
    pub at: i64,
    pub messages: u64,
}

/// Activity of one session in the period.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionUse {
    pub id: SessionId,
    pub title: Option<String>,
    /// Beginning of the first prompt.
    pub preview: String,
    pub source: String,
    pub started_at: f64,
    pub messages: u64,
    pub api_calls: u64,
    pub usage: Usage,
    /// Seconds between adjacent messages, without pauses over [`LONGEST_PAUSE`].
    pub active_seconds: f64,
}

/// Decisions about calls that were not harmless.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovalCounts {
    /// Approval requests.
    pub asked: u64,
    /// Calls that did not run because of a decision.
    pub denied: u64,
    /// Requests by rule. The name of a rule is the entry of `command_allowlist` that ends its requests.
    pub rules: Vec<Count>,
}

/// Activity in a period. Lists begin with the largest item.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Insights {
    /// Sessions with a message or a model call in the period, or started in it.
    pub sessions: u64,
    pub messages: MessageCounts,
    pub tool_calls: u64,
    pub api_calls: u64,
    pub usage: Usage,
    pub cost: CostSummary,
    /// Total of all sessions; parallel sessions count twice.
    pub active_seconds: f64,
    /// By tokens. `messages` is zero: messages are not stored by model.
    pub models: Vec<Share>,
    /// By messages.
    pub sources: Vec<Share>,
    pub tools: Vec<Count>,
    /// Exit reasons of turns; `open` for unfinished ones.
    pub turn_exits: Vec<Count>,
    pub approvals: ApprovalCounts,
    /// End reasons of sessions that ended in the period.
    pub session_ends: Vec<Count>,
    /// Ordered by time, without quarters that have no message.
    pub quarters: Vec<Quarter>,
    pub top_sessions: Vec<SessionUse>,
    /// The session with the most active time.
    pub longest: Option<SessionUse>,
}

impl Insights {
    /// Returns the share of input tokens that came from a cache: cache reads divided by fresh input, cache
    /// reads and cache writes. `None` without input.
    pub fn cache_hit_rate(&self) -> Option<f64> {
        let read = self.usage.prompt();
        (read > 0).then(|| self.usage.cache_read as f64 / read as f64)
    }
}

impl SessionDb {
    /// Returns the activity in a period.
    pub async fn insights(&self, filter: InsightsFilter) -> Result<Insights, StoreError> {
        self.read(move |db| insights(db, &filter).doing("read the activity")).await
    }

    /// Returns the sessions with the most tokens, at most `filter.top`.
    pub async fn top_sessions(&self, filter: InsightsFilter) -> Result<Vec<SessionUse>, StoreError> {
        self.read(move |db| top_sessions(db, &filter).doing("find the largest sessions")).await
    }
}

fn insights(db: &Connection, filter: &InsightsFilter) -> rusqlite::Result<Insights> {
    let mut gathered = Gathered::default();
    gather::messages(db, filter, None, &mut gathered)?;
    gather::usage(db, filter, &mut gathered)?;
    let facts = sessions::facts(db, gathered.sessions.keys())?;
    let named = sessions::Named { gathered: &gathered, facts: &facts };
    let mut all = Insights {
        sessions: gathered.sessions.len() as u64,
        cost: costs::summary(gathered.sessions.values().map(|session| &session.cost)),
        models: gathered.models(),
        sources: named.sources(),
        tools: counts(gathered.tools.clone()),
        turn_exits: gather::turn_exits(db, filter)?,
        approvals: gather::approvals(db, filter)?,
        session_ends: named.ends(filter),
        quarters: gathered.quarters.iter().map(|(&at, &messages)| Quarter { at, messages }).collect(),
        top_sessions: named.described(db, sessions::largest(&gathered, filter.top))?,
        longest: named.described(db, named.longest())?.pop(),
        ..Insights::default()
    };
    all.tool_calls = all.tools.iter().map(|tool| tool.count).sum();
    for session in gathered.sessions.values() {
        all.messages += session.messages;
        all.api_calls += session.api_calls;
        all.usage += session.usage;
        all.active_seconds += session.active_seconds;
    }
    Ok(all)
}

fn top_sessions(db: &Connection, filter: &InsightsFilter) -> rusqlite::Result<Vec<SessionUse>> {
    let mut gathered = Gathered::default();
    gather::usage(db, filter, &mut gathered)?;
    let largest: Vec<String> = sessions::largest(&gathered, filter.top).into_iter().cloned().collect();
    let only = sessions::id_list(largest.iter());
    gather::messages(db, filter, Some(&only), &mut gathered)?;
    let facts = sessions::facts(db, largest.iter())?;
    sessions::Named { gathered: &gathered, facts: &facts }.described(db, largest.iter().collect())
}

/// Sorts counts, the largest first.
fn counts(counted: impl IntoIterator<Item = (String, u64)>) -> Vec<Count> {
    let mut counts: Vec<_> = counted.into_iter().map(|(name, count)| Count { name, count }).collect();
    counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    counts
}

//! What was done in a stretch of time: how much was said, asked and run, by which model, where
//! and when.
//!
//! A message counts when it was written within the stretch. Tokens are only stored as sums per
//! session and model, so they count in full when the sum last grew within it, or, for a session
//! without such sums, when the session was started within it. Messages that were taken back later
//! count too: they were said and paid for. Nothing here knows a time zone; whoever shows the
//! numbers does.

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

/// A longer pause between two messages of a session is no activity.
pub const LONGEST_PAUSE: f64 = 600.0;

/// Which stretch of time to look at, and which sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct InsightsFilter {
    /// Seconds since 1970; included.
    pub since: f64,
    /// Not included.
    pub until: f64,
    /// Only sessions stored under this tag.
    pub source: Option<String>,
    /// How many of the sessions with the most tokens to name.
    pub top: usize,
}

impl Default for InsightsFilter {
    fn default() -> Self {
        Self { since: 0.0, until: f64::MAX, source: None, top: 5 }
    }
}

/// Messages by who said them.
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

/// How often something occurred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    pub name: String,
    pub count: u64,
}

/// What a model, or all sessions of a source, did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    pub name: String,
    pub sessions: u64,
    pub messages: u64,
    pub api_calls: u64,
    pub usage: Usage,
}

/// Messages of one quarter of an hour. All time zones in use are whole quarters apart, so these
/// can be sorted into local hours and days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quarter {
    /// Its first second since 1970.
    pub at: i64,
    pub messages: u64,
}

/// One session, as far as it lies in the stretch.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionUse {
    pub id: SessionId,
    pub title: Option<String>,
    /// The beginning of the first thing the user said.
    pub preview: String,
    pub source: String,
    pub started_at: f64,
    pub messages: u64,
    pub api_calls: u64,
    pub usage: Usage,
    /// Seconds between neighbouring messages, without pauses over [`LONGEST_PAUSE`].
    pub active_seconds: f64,
}

/// Everything the store knows about a stretch of time. Lists begin with the largest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Insights {
    /// Sessions with a message or a model call in the stretch, or started in it.
    pub sessions: u64,
    pub messages: MessageCounts,
    pub tool_calls: u64,
    pub api_calls: u64,
    pub usage: Usage,
    pub cost: CostSummary,
    /// The sum over all sessions; two that ran at the same time count twice.
    pub active_seconds: f64,
    /// By tokens. `messages` is zero here: messages do not know their model.
    pub models: Vec<Share>,
    /// By messages.
    pub sources: Vec<Share>,
    pub tools: Vec<Count>,
    /// How turns ended; `open` did not.
    pub turn_exits: Vec<Count>,
    /// Why sessions that ended in the stretch did.
    pub session_ends: Vec<Count>,
    /// In order of time; quarters without a message are missing.
    pub quarters: Vec<Quarter>,
    pub top_sessions: Vec<SessionUse>,
    /// The session with the most active time.
    pub longest: Option<SessionUse>,
}

impl Insights {
    /// How much of what the models read came from a cache: cache reads by everything read, which
    /// is fresh input, cache reads and cache writes together. `None` when nothing was read.
    pub fn cache_hit_rate(&self) -> Option<f64> {
        let read = self.usage.prompt();
        (read > 0).then(|| self.usage.cache_read as f64 / read as f64)
    }
}

impl SessionDb {
    /// Looks at a stretch of time as a whole.
    pub async fn insights(&self, filter: InsightsFilter) -> Result<Insights, StoreError> {
        self.read(move |db| insights(db, &filter).doing("look at what was done")).await
    }

    /// The sessions that used the most tokens, at most `filter.top`.
    pub async fn top_sessions(&self, filter: InsightsFilter) -> Result<Vec<SessionUse>, StoreError> {
        self.read(move |db| top_sessions(db, &filter).doing("look for the largest sessions")).await
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

/// The most frequent first.
fn counts(counted: impl IntoIterator<Item = (String, u64)>) -> Vec<Count> {
    let mut counts: Vec<_> = counted.into_iter().map(|(name, count)| Count { name, count }).collect();
    counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    counts
}

//! Access to past sessions.
//!
//! The store is not read from here: the code that assembles a session passes in a library.

use hermes_conversation::BoxFuture;

/// A session in a list of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct PastSession {
    pub id: String,
    pub title: Option<String>,
    pub source: String,
    pub model: Option<String>,
    /// Seconds since 1970.
    pub started_at: f64,
    pub last_active: f64,
    pub message_count: u64,
    /// The beginning of the first prompt.
    pub preview: String,
}

/// A message of a past session.
#[derive(Debug, Clone, PartialEq)]
pub struct PastMessage {
    pub id: i64,
    pub role: String,
    pub content: String,
    /// Seconds since 1970.
    pub at: f64,
    /// The tool of a result.
    pub tool_name: Option<String>,
    /// The names of the tools that a reply calls.
    pub calls: Vec<String>,
}

/// A session in which a search found something.
#[derive(Debug, Clone, PartialEq)]
pub struct PastHit {
    pub session: PastSession,
    /// The message found; `None` if the title matched.
    pub message: Option<(i64, String)>,
    /// The text around the match.
    pub snippet: String,
}

/// The order of found sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastOrder {
    BestFirst,
    NewestFirst,
    OldestFirst,
}

/// Reads past sessions, without the conversation that asks. Errors are sentences for the model.
pub trait SessionLibrary: Send + Sync {
    /// The sessions that were active last, newest first.
    fn recent(&self, limit: usize) -> BoxFuture<'_, Result<Vec<PastSession>, String>>;

    /// Finds sessions by the terms of a query, one hit for each conversation.
    fn find<'a>(
        &'a self,
        query: &'a str,
        roles: &'a [String],
        order: PastOrder,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<PastHit>, String>>;

    /// A session with its messages, by its id or the beginning of it.
    fn open<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(PastSession, Vec<PastMessage>), String>>;
}

//! Access to summarised messages of the session.
//!
//! The record is not read from here: the code that assembles a session passes in a reader.

use hermes_conversation::{BoxFuture, Message, MessageId, Node};

/// A message with its id.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordMessage {
    pub id: MessageId,
    pub message: Message,
}

/// A match of a search in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordHit {
    pub id: MessageId,
    pub role: String,
    /// The part of the message around the match.
    pub snippet: String,
}

/// Reads summarised messages. Errors are sentences for the model.
pub trait RecordReader: Send + Sync {
    /// The summaries, oldest first.
    fn summaries(&self) -> BoxFuture<'_, Result<Vec<Node>, String>>;

    /// Messages from `first` to `last`, both included, of those after `after`; at most `limit`.
    fn messages(
        &self,
        first: MessageId,
        last: MessageId,
        after: Option<MessageId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RecordMessage>, String>>;

    /// Finds messages by the terms of a query.
    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<RecordHit>, String>>;
}

//! What was said earlier in the conversation and is no longer sent.
//!
//! The record is not read from here: whoever assembles a session hands in what can.

use hermes_conversation::{BoxFuture, Message, MessageId, Node};

/// A message with its id.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierMessage {
    pub id: MessageId,
    pub message: Message,
}

/// A place where words were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierHit {
    pub id: MessageId,
    pub role: String,
    /// A piece of the message around the words.
    pub snippet: String,
}

/// Reads what was said earlier. Errors are sentences for the model.
pub trait Earlier: Send + Sync {
    /// The summaries, oldest first.
    fn summaries(&self) -> BoxFuture<'_, Result<Vec<Node>, String>>;

    /// Messages from `first` to `last`, both included, of those after `after`; at most `limit`.
    fn messages(
        &self,
        first: MessageId,
        last: MessageId,
        after: Option<MessageId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<EarlierMessage>, String>>;

    /// Where these words were said.
    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<EarlierHit>, String>>;
}

//! The messages of a session, in order.

use crate::repair::merged_users;
use crate::{Message, UserMessage, repair};
use std::sync::Arc;

/// An append-only list of messages that a provider would accept.
///
/// The list and its messages are shared, so that a request over a long history costs nothing to
/// make and an encoder can recognise what it has already written.
#[derive(Debug, Clone, Default)]
pub struct History {
    messages: Arc<Vec<Arc<Message>>>,
}

impl History {
    /// Takes stored messages and applies the repair rules once. Deterministic: the same rows
    /// give the same history in every process.
    pub fn restore(messages: Vec<Message>) -> Self {
        Self { messages: Arc::new(repair(messages).into_iter().map(Arc::new).collect()) }
    }

    /// Messages that are known to be acceptable, as a compaction leaves them.
    pub fn of(messages: Vec<Arc<Message>>) -> Self {
        Self { messages: Arc::new(messages) }
    }

    pub fn push(&mut self, message: impl Into<Arc<Message>>) {
        Arc::make_mut(&mut self.messages).push(message.into());
    }

    /// Adds a user message. Where the newest message is an unanswered one of the user's, as a killed process leaves
    /// it, both become one, as [`History::restore`] would make them. Returns whether they did.
    pub fn push_user(&mut self, message: UserMessage) -> bool {
        let Some(Message::User(unanswered)) = self.last() else {
            self.push(Message::User(message));
            return false;
        };
        let merged = Message::User(merged_users(unanswered, message));
        let messages = Arc::make_mut(&mut self.messages);
        messages.pop();
        messages.push(Arc::new(merged));
        true
    }

    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The list itself, for a request.
    pub fn shared(&self) -> Arc<Vec<Arc<Message>>> {
        self.messages.clone()
    }

    pub fn len(&self) -> usize {
        self.messages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub fn last(&self) -> Option<&Message> {
        self.messages.last().map(Arc::as_ref)
    }
}

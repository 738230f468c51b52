//! The message history of a session.

use crate::repair::merged_users;
use crate::{Message, UserMessage, repair};
use std::sync::Arc;

/// An append-only list of messages that a provider would accept.
///
/// The list and its messages are shared: building a request does not copy the history, and an encoder
/// recognises messages that it has already encoded.
#[derive(Debug, Clone, Default)]
pub struct History {
    messages: Arc<Vec<Arc<Message>>>,
}

impl History {
    /// Repairs stored messages. Deterministic: the same rows give the same history in every process.
    pub fn restore(messages: Vec<Message>) -> Self {
        Self { messages: Arc::new(repair(messages).into_iter().map(Arc::new).collect()) }
    }

    /// A history of messages that need no repair, such as the result of a compaction.
    pub fn of(messages: Vec<Arc<Message>>) -> Self {
        Self { messages: Arc::new(messages) }
    }

    pub fn push(&mut self, message: impl Into<Arc<Message>>) {
        Arc::make_mut(&mut self.messages).push(message.into());
    }

    /// Adds a user message. If the newest message is an unanswered user message, as a killed process leaves it,
    /// the two are merged as in [`History::restore`]. Returns true if they were merged.
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

    /// A shared reference to the list, for a request.
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

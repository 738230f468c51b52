//! The structure of a history, for compaction.

use super::marker::{self, Found};
use crate::parts::words;
use hermes_conversation::{Message, UserMessage};
use std::sync::Arc;

/// The places that determine where a history may be cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reading {
    /// Messages that hold a summary, oldest first.
    pub(crate) summaries: Vec<usize>,
    /// The newest message with text of the user.
    pub(crate) newest_user: Option<usize>,
    /// The newest message in which the model says something.
    pub(crate) newest_reply: Option<usize>,
    /// Calls whose results no reply has followed yet.
    pub(crate) unseen: Option<usize>,
}

/// Looks through a history once.
pub(crate) fn read(history: &[Arc<Message>]) -> Reading {
    let mut reading = Reading::default();
    let last_user = history.iter().rposition(|message| matches!(**message, Message::User(_)));
    for (place, message) in history.iter().enumerate() {
        let found = marker::is_summary(message).then(|| marker::found(message)).flatten();
        // The newest words of a person are theirs, also if they look like a summary that is not ours.
        let found = found.filter(|found| found.is_ours || Some(place) != last_user);
        let is_said = found.as_ref().is_none_or(|found| found.rest.is_some());
        if found.is_some() {
            reading.summaries.push(place);
        }
        match &**message {
            Message::User(_) if is_said => reading.newest_user = Some(place),
            Message::Assistant(reply) if found.is_none() && !reply.text.trim().is_empty() => {
                reading.newest_reply = Some(place);
            }
            Message::User(_) | Message::Assistant(_) | Message::Tool(_) => {}
        }
    }
    reading.unseen = unseen(history);
    reading
}

fn unseen(history: &[Arc<Message>]) -> Option<usize> {
    let reply = history.iter().rposition(|message| matches!(**message, Message::Assistant(_)))?;
    let has_results = history[reply..].iter().any(|message| matches!(**message, Message::Tool(_)));
    (has_results && !history[reply].calls().is_empty()).then_some(reply)
}

impl Reading {
    pub(crate) fn is_summary(&self, place: usize) -> bool {
        self.summaries.binary_search(&place).is_ok()
    }

    /// The summary at this place.
    pub(crate) fn summary(&self, history: &[Arc<Message>], place: usize) -> Option<Found> {
        self.is_summary(place).then(|| marker::found(&history[place])).flatten()
    }

    /// The user's message at this place, without any summary before it.
    pub(crate) fn said(&self, history: &[Arc<Message>], place: usize) -> Option<UserMessage> {
        match (&**history.get(place)?, self.summary(history, place)) {
            (_, Some(found)) => found.rest,
            (Message::User(user), None) => Some(user.clone()),
            (Message::Assistant(_) | Message::Tool(_), None) => None,
        }
    }

    /// The text of it.
    pub(crate) fn said_words(&self, history: &[Arc<Message>], place: usize) -> Option<String> {
        self.said(history, place).map(|said| words(&said.content).into_owned())
    }
}

/// Returns true if a history may be cut before this place: never between a call and its results, nor inside
/// a reply that came in several pieces.
pub(crate) fn may_cut(history: &[Arc<Message>], place: usize) -> bool {
    let Some(here) = history.get(place) else { return true };
    let before = place.checked_sub(1).map(|before| &*history[before]);
    match (&**here, before) {
        (_, None) => true,
        (Message::Tool(_), _) | (Message::Assistant(_), Some(Message::Assistant(_))) => false,
        (Message::User(_) | Message::Assistant(_), _) => true,
    }
}

/// The nearest place at or before this one where a history may be cut.
pub(crate) fn cut_before(history: &[Arc<Message>], place: usize) -> usize {
    (0..=place.min(history.len())).rev().find(|place| may_cut(history, *place)).unwrap_or_default()
}

/// The nearest place at or after this one.
pub(crate) fn cut_after(history: &[Arc<Message>], place: usize) -> usize {
    (place..=history.len()).find(|place| may_cut(history, *place)).unwrap_or(history.len())
}

//! What a history consists of, seen by somebody who wants to shorten it.

use super::marker::{self, Found};
use crate::parts::words;
use hermes_conversation::{Message, UserMessage};
use std::sync::Arc;

/// Where the things are that decide about a cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reading {
    /// The message that holds the summary, if there is one.
    pub(crate) summary: Option<usize>,
    /// The newest message in which a person says something.
    pub(crate) newest_user: Option<usize>,
    /// The newest message in which the model says something.
    pub(crate) newest_reply: Option<usize>,
    /// Calls whose results no reply has followed yet.
    pub(crate) unseen: Option<usize>,
}

/// Looks through a history once.
pub(crate) fn read(history: &[Arc<Message>]) -> Reading {
    let summary = summary(history);
    let mut reading = Reading { summary, unseen: unseen(history), ..Reading::default() };
    for (place, message) in history.iter().enumerate() {
        let is_summary = summary == Some(place);
        match &**message {
            Message::User(_) if !is_summary || reading.said(history, place).is_some() => {
                reading.newest_user = Some(place);
            }
            Message::Assistant(reply) if !is_summary && !reply.text.trim().is_empty() => {
                reading.newest_reply = Some(place);
            }
            Message::User(_) | Message::Assistant(_) | Message::Tool(_) => {}
        }
    }
    reading
}

/// A history has one summary. Where several messages look like one, it is the newest of ours, or else the
/// first, because others put theirs at the beginning: the rest are somebody's words.
fn summary(history: &[Arc<Message>]) -> Option<usize> {
    let last_user = history.iter().rposition(|message| matches!(**message, Message::User(_)));
    let mut others = None;
    for (place, message) in history.iter().enumerate().rev() {
        let found = marker::is_summary(message).then(|| marker::found(message)).flatten();
        match found {
            Some(found) if found.is_ours => return Some(place),
            // The newest words of a person are theirs.
            Some(_) if Some(place) != last_user => others = Some(place),
            _ => {}
        }
    }
    others
}

fn unseen(history: &[Arc<Message>]) -> Option<usize> {
    let reply = history.iter().rposition(|message| matches!(**message, Message::Assistant(_)))?;
    let has_results = history[reply..].iter().any(|message| matches!(**message, Message::Tool(_)));
    (has_results && !history[reply].calls().is_empty()).then_some(reply)
}

impl Reading {
    pub(crate) fn is_summary(&self, place: usize) -> bool {
        self.summary == Some(place)
    }

    /// The summary at this place.
    pub(crate) fn summary_at(&self, history: &[Arc<Message>], place: usize) -> Option<Found> {
        self.is_summary(place).then(|| marker::found(&history[place])).flatten()
    }

    /// What a person said at this place, without any summary before it.
    pub(crate) fn said(&self, history: &[Arc<Message>], place: usize) -> Option<UserMessage> {
        match (&**history.get(place)?, self.summary_at(history, place)) {
            (_, Some(found)) => found.rest,
            (Message::User(user), None) => Some(user.clone()),
            (Message::Assistant(_) | Message::Tool(_), None) => None,
        }
    }

    /// The words of it.
    pub(crate) fn said_words(&self, history: &[Arc<Message>], place: usize) -> Option<String> {
        self.said(history, place).map(|said| words(&said.content).into_owned())
    }
}

/// Whether a history may be cut before this place: never between a call and its results, nor inside a
/// reply that came in several pieces.
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

#[cfg(test)]
mod tests {
    use super::super::marker::framed;
    use super::*;

    /// Somebody may write what looks like a summary; it stays what they said.
    #[test]
    fn a_history_has_one_summary() {
        let (ours, theirs) = (framed("Words.", "## Goal\nship"), "[CONTEXT SUMMARY]: what was said");
        for (history, summary, newest_user) in [
            (vec!["hello", "and now?"], None, Some(1)),
            (vec![theirs, "and now?"], Some(0), Some(1)),
            (vec![theirs], None, Some(0)),
            (vec![&ours], Some(0), None),
            (vec![&ours, theirs, "and now?"], Some(0), Some(2)),
            (vec![theirs, &ours, "and now?"], Some(1), Some(2)),
            (vec![theirs, theirs, "and now?"], Some(0), Some(2)),
        ] {
            let history: Vec<_> = history.iter().map(|text| Arc::new(Message::user(*text))).collect();
            let reading = read(&history);
            assert_eq!((reading.summary, reading.newest_user), (summary, newest_user), "{history:?}");
            for place in (0..history.len()).filter(|place| Some(*place) != summary) {
                assert!(reading.said(&history, place).is_some(), "{place} of {history:?}");
            }
        }
    }
}

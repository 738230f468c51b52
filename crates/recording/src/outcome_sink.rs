//! The sink of the outcomes of a turn: a recording writes them, a replay compares them.

use super::digest::{StateDigest, event_checksum};
use super::line::{CommitLine, EventLine, What, WhatOf};
use hermes_conversation::{EventRef, EventWatch, Node, RecordError};
use std::sync::{Arc, Mutex, PoisonError};

/// Receives the outcomes of a turn.
pub(crate) trait OutcomeSink: Send + Sync {
    /// Adds an outcome, after pending text.
    fn put(&self, what: WhatOf<'_>);

    /// Adds text for the front end. Pieces are joined up to the next outcome: chunk sizes depend on the
    /// network.
    fn text(&self, piece: &str, is_reasoning: bool);

    /// Adds a finished transaction of the store.
    fn commit(&self, what: &'static str, sum: u64, error: Option<RecordError>) {
        self.put(What::Commit(CommitLine { what: what.to_owned(), sum: hex(sum), error }));
    }

    /// The summaries that a commit stored, with the message ids of the recording.
    fn originals(&self, nodes: Vec<Node>) -> Vec<Node>;

    /// Returns true if there may be secrets to hide.
    fn hides(&self) -> bool {
        false
    }

    /// `text` with placeholders for secrets, if there are any in it.
    fn hidden(&self, _text: &str) -> Option<String> {
        None
    }

    /// The error of the next commit, if it failed in the recording or the replay has ended.
    fn commit_fails(&self) -> Option<RecordError> {
        None
    }
}

/// A checksum in the format of a line.
pub(crate) fn hex(sum: u64) -> String {
    hex_digits(sum).into_iter().map(char::from).collect()
}

pub(crate) fn hex_digits(sum: u64) -> [u8; 16] {
    std::array::from_fn(|place| b"0123456789abcdef"[(sum >> (60 - place * 4)) as usize & 15])
}

/// Sends the events of a turn to a sink.
pub(crate) struct WatchedEvents {
    pub(crate) sink: Arc<dyn OutcomeSink>,
    pub(crate) state: Arc<Mutex<StateDigest>>,
}

impl EventWatch for WatchedEvents {
    fn sent(&self, event: EventRef<'_>) {
        match event {
            EventRef::Text(piece) => self.sink.text(piece, false),
            EventRef::Reasoning(piece) => self.sink.text(piece, true),
            EventRef::State(event) => {
                if let Some(line) = EventLine::of(event) {
                    self.sink.put(What::Event(line));
                } else if let Some(sum) = event_checksum(event, &*self.sink) {
                    self.state.lock().unwrap_or_else(PoisonError::into_inner).add_event(sum);
                }
            }
        }
    }
}

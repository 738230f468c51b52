//! What both a recording and a replay do with the outcomes of a turn: write them down, or compare them.

use super::digest::{StateDigest, news};
use super::line::{CommitLine, EventLine, What, WhatOf};
use hermes_conversation::{EventRef, EventWatch, Node, RecordError};
use std::sync::{Arc, Mutex, PoisonError};

/// Where outcomes go.
pub(crate) trait Tape: Send + Sync {
    /// Something came of the inputs. Text before it has been put aside; it comes first.
    fn put(&self, what: WhatOf<'_>);

    /// Text for the front end. Pieces are joined until something else comes: how they arrive is a
    /// matter of the line.
    fn text(&self, piece: &str, is_reasoning: bool);

    /// A transaction of the store is over.
    fn commit(&self, what: &'static str, sum: u64, error: Option<RecordError>) {
        self.put(What::Commit(CommitLine { what: what.to_owned(), sum: hex(sum), error }));
    }

    /// The summaries that a commit stored, with the numbers that the messages had when it was recorded.
    fn originals(&self, nodes: Vec<Node>) -> Vec<Node>;

    /// Whether there may be secrets to hide.
    fn hides(&self) -> bool {
        false
    }

    /// `text` with placeholders for secrets, if there are any in it.
    fn hidden(&self, _text: &str) -> Option<String> {
        None
    }

    /// Why the next commit fails, if it did when it was recorded, or if nothing may go on.
    fn commit_fails(&self) -> Option<RecordError> {
        None
    }
}

/// A sum as it stands in a line.
pub(crate) fn hex(sum: u64) -> String {
    hex_digits(sum).into_iter().map(char::from).collect()
}

pub(crate) fn hex_digits(sum: u64) -> [u8; 16] {
    std::array::from_fn(|place| b"0123456789abcdef"[(sum >> (60 - place * 4)) as usize & 15])
}

/// Puts the events of a turn on a tape.
pub(crate) struct TapedEvents {
    pub(crate) tape: Arc<dyn Tape>,
    pub(crate) state: Arc<Mutex<StateDigest>>,
}

impl EventWatch for TapedEvents {
    fn sent(&self, event: EventRef<'_>) {
        match event {
            EventRef::Text(piece) => self.tape.text(piece, false),
            EventRef::Reasoning(piece) => self.tape.text(piece, true),
            EventRef::State(event) => {
                if let Some(line) = EventLine::of(event) {
                    self.tape.put(What::Event(line));
                } else if let Some(sum) = news(event, &*self.tape) {
                    self.state.lock().unwrap_or_else(PoisonError::into_inner).told(sum);
                }
            }
        }
    }
}

//! What both a recording and a replay do with the outcomes of a turn: write them down, or compare them.

use super::line::{EventLine, What};
use hermes_conversation::{EventWatch, RecordError, Sent};
use std::sync::Arc;

/// Where outcomes go.
pub(crate) trait Tape: Send + Sync {
    /// Something came of the inputs. Text before it has been put aside; it comes first.
    fn put(&self, what: What);

    /// Text for the front end. Pieces are joined until something else comes: how they arrive is a
    /// matter of the line.
    fn text(&self, piece: &str, is_reasoning: bool);

    /// `text` with placeholders for secrets, if there are any in it.
    fn hidden(&self, _text: &str) -> Option<String> {
        None
    }

    /// Why the next commit fails, if it did when it was recorded, or if nothing may go on.
    fn commit_fails(&self) -> Option<RecordError> {
        None
    }
}

/// Puts the events of a turn on a tape.
pub(crate) struct TapedEvents(pub(crate) Arc<dyn Tape>);

impl EventWatch for TapedEvents {
    fn sent(&self, event: Sent<'_>) {
        match event {
            Sent::Text(piece) => self.0.text(piece, false),
            Sent::Reasoning(piece) => self.0.text(piece, true),
            Sent::State(event) => {
                if let Some(line) = EventLine::of(event) {
                    self.0.put(What::Event(line));
                }
            }
        }
    }
}

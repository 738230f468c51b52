//! Text that was sent and is not recorded yet.

use super::line::{EventLine, What};

/// Runs of text and reasoning, in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct PendingText(Vec<(bool, String)>);

impl PendingText {
    pub(crate) fn add(&mut self, piece: &str, is_reasoning: bool) {
        match self.0.last_mut() {
            Some((kind, text)) if *kind == is_reasoning => text.push_str(piece),
            _ => self.0.push((is_reasoning, piece.to_owned())),
        }
    }

    /// Removes and returns all text.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = What> + use<> {
        std::mem::take(&mut self.0).into_iter().map(|(is_reasoning, text)| {
            What::Event(match is_reasoning {
                true => EventLine::Reasoning(text),
                false => EventLine::Text(text),
            })
        })
    }

    /// Returns true if the first run is the complete text of this line.
    pub(crate) fn is_all(&self, line: &What) -> bool {
        match (self.0.first(), line) {
            (Some((true, sent)), What::Event(EventLine::Reasoning(text)))
            | (Some((false, sent)), What::Event(EventLine::Text(text))) => sent == text,
            _ => false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_by_kind_in_order() {
        let mut pending = PendingText::default();
        for (piece, is_reasoning) in [("a", true), ("b", true), ("c", false), ("d", false), ("e", true)] {
            pending.add(piece, is_reasoning);
        }
        let taken: Vec<_> = pending.take().collect();
        let want = [
            EventLine::Reasoning("ab".into()),
            EventLine::Text("cd".into()),
            EventLine::Reasoning("e".into()),
        ];
        assert_eq!(taken, want.map(What::Event));
        assert!(pending.is_empty());
    }
}

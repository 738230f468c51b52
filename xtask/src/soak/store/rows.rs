//! The messages of the store's long runs. Each contains its own number, and its text is derived from it, so
//! that a stored message can be compared without keeping the original.

use crate::random::Random;
use std::fmt;
use std::str::FromStr;

/// The identity of a message: writer, life and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) writer: u32,
    /// A killed writer begins its next life.
    pub(super) life: u32,
    /// From 1.
    pub(super) number: u32,
}

const WORDS: [&str; 16] = [
    "the",
    "parser",
    "reads",
    "a",
    "configuration",
    "file",
    "and",
    "returns",
    "an",
    "error",
    "when",
    "naïve",
    "Übermut",
    "日本語",
    "0x7f",
    "done;",
];
const LIVES_PER_SESSION: u32 = 25;
const SHORT: usize = 40;
const LONG: usize = 400;

impl Row {
    /// The session of the row. A writer uses one session for some of its lives; a single one would grow until
    /// reading it takes longer than a life.
    pub(super) fn session(self) -> String {
        format!("w{}-{}", self.writer, self.life / LIVES_PER_SESSION)
    }

    /// The text of the message: mostly a sentence, sometimes a page.
    pub(super) fn text(self) -> String {
        let [writer, life, number] = [self.writer, self.life, self.number].map(u64::from);
        let mut random = Random::new(writer << 48 ^ life << 24 ^ number);
        let most = if random.chance(0.2) { LONG } else { SHORT };
        let mut text = self.to_string();
        for _ in 0..random.below(most) {
            text.push(' ');
            text.push_str(WORDS[random.below(WORDS.len())]);
        }
        text
    }

    /// The row that a text contains.
    pub(super) fn named_in(text: &str) -> Option<Self> {
        text.split(' ').next()?.parse().ok()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row-{}-{}-{}", self.writer, self.life, self.number)
    }
}

impl FromStr for Row {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut numbers =
            text.strip_prefix("row-").ok_or(())?.split('-').map(|part| part.parse().map_err(drop));
        let mut next = || numbers.next().unwrap_or(Err(()));
        Ok(Self { writer: next()?, life: next()?, number: next()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_contains_its_row_and_is_deterministic() {
        for number in 1..200 {
            let row = Row { writer: 3, life: 12, number };
            assert_eq!(Row::named_in(&row.text()), Some(row));
            assert_eq!(row.text(), row.text());
        }
        for other in ["", "row-1-2", "row-1-x-2", "interrupted"] {
            assert_eq!(Row::named_in(other), None, "{other}");
        }
    }
}

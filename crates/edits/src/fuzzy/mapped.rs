//! Text in a plainer spelling that remembers where every byte came from.

use std::ops::Range;

/// A plain spelling of a text.
pub(super) struct Mapped {
    plain: String,
    /// For each byte of `plain`, and for its end, the place in the original.
    origins: Vec<usize>,
}

impl Mapped {
    /// Rewrites a text piece by piece; each piece is the original's range and its new spelling.
    pub(super) fn of(pieces: impl Iterator<Item = (usize, String)>, end: usize) -> Self {
        let mut mapped = Self { plain: String::new(), origins: Vec::new() };
        for (origin, spelling) in pieces {
            mapped.origins.extend(std::iter::repeat_n(origin, spelling.len()));
            mapped.plain.push_str(&spelling);
        }
        mapped.origins.push(end);
        mapped
    }

    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    /// Finds `wanted` and returns ranges of the original. A match must not begin or end inside a sequence
    /// that was replaced as a whole.
    pub(super) fn find(&self, wanted: &str) -> Vec<Range<usize>> {
        if wanted.is_empty() {
            return Vec::new();
        }
        self.plain
            .match_indices(wanted)
            .map(|(start, hit)| (start, start + hit.len()))
            .filter(|&(start, end)| self.is_edge(start) && self.is_edge(end))
            .map(|(start, end)| self.origins[start]..self.origins[end])
            .collect()
    }

    fn is_edge(&self, place: usize) -> bool {
        place == 0 || self.origins[place] != self.origins[place - 1]
    }
}

/// Runs of blanks as one space.
pub(super) fn blanks_joined(text: &str) -> Mapped {
    let mut in_blanks = false;
    let pieces = text.char_indices().filter_map(move |(place, character)| {
        let blank = matches!(character, ' ' | '\t');
        let repeated = blank && in_blanks;
        in_blanks = blank;
        match (repeated, blank) {
            (true, _) => None,
            (false, true) => Some((place, " ".to_owned())),
            (false, false) => Some((place, character.to_string())),
        }
    });
    Mapped::of(pieces, text.len())
}

/// Typographic characters as the ASCII ones people type.
pub(super) fn ascii_punctuation(text: &str) -> Mapped {
    let pieces = text.char_indices().map(|(place, character)| {
        let spelling = match character {
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => "'",
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => "\"",
            '\u{2013}' | '\u{2010}' | '\u{2011}' | '\u{2012}' | '\u{2212}' => "-",
            '\u{2014}' => "--",
            '\u{2026}' => "...",
            '\u{a0}' | '\u{202f}' | '\u{2007}' => " ",
            other => return (place, other.to_string()),
        };
        (place, spelling.to_owned())
    });
    Mapped::of(pieces, text.len())
}

//! The similarity of two texts.
//!
//! The measure is the longest common subsequence, twice over the length of both. It is counted
//! with one bit per character of the wanted text (Hyyrö 2004), so comparing a line costs about
//! as many steps as the line has characters, whatever the alphabet.

use std::collections::HashMap;

/// Longer texts are only compared for equality: the tables would outgrow their use.
const LONGEST: usize = 100_000;
/// Steps between two questions whether to stop.
const STEPS: usize = 1 << 20;

/// The similarity of two short texts, from 0 to 1.
pub fn alike(one: &str, other: &str) -> f32 {
    Pattern::of(one).likeness(other, 0.0, &|| false)
}

/// A text that others are compared with.
pub(super) struct Pattern<'a> {
    text: &'a str,
    chars: usize,
    /// 64 characters each.
    words: usize,
    /// For each ASCII character, the places where it stands.
    ascii: Vec<u64>,
    others: HashMap<char, Vec<u64>>,
}

impl<'a> Pattern<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let chars = text.chars().count();
        let words = if chars > LONGEST { 0 } else { chars.div_ceil(64) };
        let mut pattern = Self { text, chars, words, ascii: vec![0; 128 * words], others: HashMap::new() };
        if words > 0 {
            for (place, character) in text.chars().enumerate() {
                pattern.places_mut(character)[place / 64] |= 1 << (place % 64);
            }
        }
        pattern
    }

    /// From 0 to 1. Answers 0 without looking closely when the lengths rule out `least`, and
    /// when `stop` says so.
    pub(super) fn likeness(&self, other: &str, least: f32, stop: &dyn Fn() -> bool) -> f32 {
        if self.text == other {
            return 1.0;
        }
        let chars = other.chars().count();
        let ratio = |common: usize| 2.0 * common as f32 / (self.chars + chars) as f32;
        if self.words == 0 || chars == 0 || chars > LONGEST || ratio(self.chars.min(chars)) < least {
            return 0.0;
        }
        ratio(self.common(other, stop).unwrap_or_default())
    }

    /// The length of the longest common subsequence.
    fn common(&self, other: &str, stop: &dyn Fn() -> bool) -> Option<usize> {
        let between = (STEPS / self.words).max(1);
        // A bit is cleared for every character that is part of the subsequence.
        let mut open = vec![u64::MAX; self.words];
        for (index, character) in other.chars().enumerate() {
            if index % between == 0 && stop() {
                return None;
            }
            let Some(places) = self.places(character) else {
                continue;
            };
            let mut carry = false;
            for (open, places) in open.iter_mut().zip(places) {
                let (sum, over) = open.overflowing_add(*open & places);
                let (sum, over_again) = sum.overflowing_add(u64::from(carry));
                carry = over || over_again;
                *open = sum | (*open & !places);
            }
        }
        // The bits after the last character are never cleared.
        Some(open.iter().map(|word| word.count_zeros() as usize).sum())
    }

    fn places(&self, character: char) -> Option<&[u64]> {
        match ascii_row(character) {
            Some(row) => Some(&self.ascii[row * self.words..(row + 1) * self.words]),
            None => self.others.get(&character).map(Vec::as_slice),
        }
    }

    fn places_mut(&mut self, character: char) -> &mut [u64] {
        let words = self.words;
        match ascii_row(character) {
            Some(row) => &mut self.ascii[row * words..(row + 1) * words],
            None => self.others.entry(character).or_insert_with(|| vec![0; words]),
        }
    }
}

fn ascii_row(character: char) -> Option<usize> {
    character.is_ascii().then_some(character as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_counts_the_common_subsequence() {
        let long = "ab".repeat(100);
        for (a, b, want) in [
            ("", "", 1.0),
            ("", "a", 0.0),
            ("abc", "abc", 1.0),
            ("abcd", "bcde", 0.75),
            ("abc", "xyz", 0.0),
            ("中文字符", "中文子符", 0.75),
            ("aé", "éa", 0.5),
            (&long, &long[1..], 398.0 / 399.0),
            (&long, &"ba".repeat(100), 398.0 / 400.0),
        ] {
            assert_eq!(Pattern::of(a).likeness(b, 0.0, &|| false), want, "{a} {b}");
            assert_eq!(Pattern::of(b).likeness(a, 0.0, &|| false), want, "{b} {a}");
        }
    }

    #[test]
    fn it_agrees_with_a_diff() {
        let words = ["let alpha = 1;", "let beta = 12;", "fn gamma() {}", "größe = maß;", "名前 = 値;", "}"];
        for a in words {
            for b in words {
                let want = similar::TextDiff::from_chars(a, b).ratio();
                let found = Pattern::of(a).likeness(b, 0.0, &|| false);
                assert!((found - want).abs() < 1e-6, "{a} {b}: {found} {want}");
            }
        }
    }

    #[test]
    fn what_is_too_long_or_stopped_is_not_alike() {
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(Pattern::of(&long).likeness(&long[1..], 0.5, &|| false), 0.0);
        assert_eq!(Pattern::of("abcd").likeness("abce", 0.5, &|| true), 0.0);
    }
}

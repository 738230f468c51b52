//! Text as the synthetic words of the index of pairs.
//!
//! A word stands for one character or for two that follow each other. It is spelt in hexadecimal
//! digits, so that the index's tokenizer has nothing to interpret. Letters of scripts with spaces
//! are left to the index of words, unless a sign or an unspaced letter stands beside them.

use crate::sessions::search::characters::{folded, is_plain};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Marks a message whose stored form hides some of its text from the other indexes.
pub(crate) const HIDDEN: &str = "hidden";

/// A message's words, each once.
pub(crate) fn of_message(text: &str, is_hidden: bool) -> String {
    let mut found: BTreeSet<(char, Option<char>)> = BTreeSet::new();
    let wanted = |c: char| is_hidden || !is_plain(c);
    let mut last: Option<char> = None;
    for c in folded(text) {
        if !is_visible(c) {
            last = None;
            continue;
        }
        if wanted(c) {
            found.insert((c, None));
        }
        if let Some(before) = last.filter(|&before| wanted(before) || wanted(c)) {
            found.insert((before, Some(c)));
        }
        last = Some(c);
    }
    let mut words = String::with_capacity(found.len() * 13 + HIDDEN.len());
    if is_hidden {
        words.push_str(HIDDEN);
    }
    for (first, second) in found {
        words.push(' ');
        spell(&mut words, first, second);
    }
    words
}

/// The one word for a term of one or two characters.
pub(crate) fn of_term(term: &str) -> String {
    let mut chars = folded(term).filter(|&c| is_visible(c));
    let mut word = String::new();
    if let Some(first) = chars.next() {
        spell(&mut word, first, chars.next());
    }
    word
}

/// All words that a message with this text must have, if it is a hidden one.
pub(crate) fn all_of_term(term: &str) -> String {
    let words = of_message(term, true);
    let quoted: Vec<_> = words.split_whitespace().map(|word| format!("\"{word}\"")).collect();
    quoted.join(" AND ")
}

fn is_visible(c: char) -> bool {
    !c.is_whitespace() && !c.is_control()
}

fn spell(words: &mut String, first: char, second: Option<char>) {
    // Writing to a string cannot fail.
    let _ = write!(words, "{:06x}", u32::from(first));
    if let Some(second) = second {
        let _ = write!(words, "{:06x}", u32::from(second));
    }
}

#[cfg(test)]
#[path = "grams_tests.rs"]
mod tests;

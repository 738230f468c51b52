//! Index terms of the pair index.
//!
//! A term stands for one character or for two adjacent ones. It is written in hexadecimal digits, which every
//! tokenizer keeps. Letters of scripts with spaces are left to the word index, unless punctuation or an
//! unspaced letter is adjacent.

use crate::sessions::search::characters::{folded, is_plain};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Term of messages whose stored form hides text from the other indexes.
pub(crate) const HIDDEN: &str = "hidden";

/// Returns the terms of a message, without duplicates.
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

/// Returns the index term for a search term of one or two characters.
pub(crate) fn of_term(term: &str) -> String {
    let mut chars = folded(term).filter(|&c| is_visible(c));
    let mut word = String::new();
    if let Some(first) = chars.next() {
        spell(&mut word, first, chars.next());
    }
    word
}

/// Returns all index terms that a hidden message with this text has.
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

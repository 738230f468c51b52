//! What the names of kept files say, and how they are found in a text.
//!
//! `exec` gives files these names; nothing but the names is shared with it.

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Hexadecimal digits of the hash that are part of a name.
const DIGITS: usize = 32;

/// A directory that messages refer to, and how the names in it end.
struct MentionPattern {
    mark: &'static str,
    ending: &'static str,
}

/// Words from outside are told by the ending of their file's name, so that they stay what they are.
const MENTION_PATTERNS: [MentionPattern; 2] = [
    MentionPattern { mark: "hermes-results/", ending: ".txt" },
    MentionPattern { mark: "hermes-results/", ending: ".untrusted.txt" },
];

/// What a name says about its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Named after its bytes.
    Content,
    /// Still growing, or left behind by a process that died.
    Growing,
    /// Put there by someone else, or by an older version. Goes by age and size only.
    Other,
}

impl FileKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Growing => "growing",
            Self::Other => "other",
        }
    }
}

/// The names of kept files that `text` mentions. Costs one search of the text when there are none.
pub(crate) fn mentioned(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for MentionPattern { mark, ending } in &MENTION_PATTERNS {
        for (at, _) in text.match_indices(mark) {
            let start = at + mark.len();
            let name = text.get(start..start + DIGITS + ending.len());
            names.extend(name.filter(|name| is_content_name(name)).map(str::to_owned));
        }
    }
    names
}

/// An SQL condition that holds for every row of `messages` in whose columns `mentioned` could find
/// something.
pub(crate) fn may_mention() -> String {
    let marks: BTreeSet<&str> = MENTION_PATTERNS.iter().map(|place| place.mark).collect();
    let columns = super::mentions::COLUMNS.split(", ");
    let tests =
        columns.flat_map(|column| marks.iter().map(move |mark| format!("instr({column}, '{mark}') > 0")));
    format!("({})", tests.collect::<Vec<_>>().join(" OR "))
}

pub(crate) fn kind_of(name: &str) -> FileKind {
    if is_content_name(name) {
        return FileKind::Content;
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let grows = name
        .strip_suffix(".part")
        .and_then(|name| name.split_once('-'))
        .is_some_and(|(process, number)| is_number(process) && is_number(number));
    if grows { FileKind::Growing } else { FileKind::Other }
}

fn is_content_name(name: &str) -> bool {
    MENTION_PATTERNS.iter().any(|place| {
        name.strip_suffix(place.ending).is_some_and(|digits| {
            digits.len() == DIGITS && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
    })
}

/// Whether a file whose bytes went into `hash` may be called `name`.
pub(crate) fn matches_hash(hash: Sha256, name: &str) -> bool {
    let mut digits = String::with_capacity(DIGITS);
    for byte in &hash.finalize()[..DIGITS / 2] {
        // Writing to a text cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    name.starts_with(&digits)
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;

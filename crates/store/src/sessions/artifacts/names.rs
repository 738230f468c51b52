//! Names of stored files, and their mentions in a text.
//!
//! `exec` creates the files; only the naming scheme is shared with it.

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Number of hexadecimal digits of the hash in a name.
const DIGITS: usize = 32;

/// The directory and the suffix of a mention.
struct MentionPattern {
    mark: &'static str,
    ending: &'static str,
}

/// Untrusted content has its own suffix, so that it stays marked.
const MENTION_PATTERNS: [MentionPattern; 2] = [
    MentionPattern { mark: "hermes-results/", ending: ".txt" },
    MentionPattern { mark: "hermes-results/", ending: ".untrusted.txt" },
];

/// The kind of a file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Named after the hash of its content.
    Content,
    /// Being written, or left by a dead process.
    Growing,
    /// Written by another program or an older version. Pruned by age and size only.
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

/// Returns the stored files that `text` mentions. A text without mentions costs one search.
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

/// Returns an SQL condition that is true for every row of `messages` in which `mentioned` can find a name.
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

/// Returns true if `name` contains the hash of the content.
pub(crate) fn matches_hash(hash: Sha256, name: &str) -> bool {
    let mut digits = String::with_capacity(DIGITS);
    for byte in &hash.finalize()[..DIGITS / 2] {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    name.starts_with(&digits)
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;

//! What the names of kept files say, and how they are found in a text.
//!
//! `exec` gives files these names; nothing but the names is shared with it.

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Hexadecimal digits of the hash that are part of a name.
const DIGITS: usize = 32;

/// A directory that messages refer to, and how the names in it end.
struct Place {
    mark: &'static str,
    ending: &'static str,
}

/// Words from outside are told by the ending of their file's name, so that they stay what they are.
const PLACES: [Place; 2] = [
    Place { mark: "hermes-results/", ending: ".txt" },
    Place { mark: "hermes-results/", ending: ".untrusted.txt" },
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
    for Place { mark, ending } in &PLACES {
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
    let marks: BTreeSet<&str> = PLACES.iter().map(|place| place.mark).collect();
    let columns = super::refs::COLUMNS.split(", ");
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
    PLACES.iter().any(|place| {
        name.strip_suffix(place.ending).is_some_and(|digits| {
            digits.len() == DIGITS && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
    })
}

/// Whether a file whose bytes went into `hash` may be called `name`.
pub(crate) fn fits(hash: Sha256, name: &str) -> bool {
    let mut digits = String::with_capacity(DIGITS);
    for byte in &hash.finalize()[..DIGITS / 2] {
        // Writing to a text cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    name.starts_with(&digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "ba7816bf8f01cfea414140de5dae2223.txt";
    const B: &str = "00000000000000000000000000000000.txt";
    const U: &str = "ba7816bf8f01cfea414140de5dae2223.untrusted.txt";

    #[test]
    fn mentions_are_found_whatever_stands_around_them() {
        for (text, want) in [
            (String::new(), vec![]),
            ("hermes-results/ and nothing else".to_owned(), vec![]),
            (format!("all of it is in /h/cache/terminal/hermes-results/{A}]"), vec![A]),
            (format!(r#"{{"path":"hermes-results/{A}"}}hermes-results/{B}"#), vec![B, A]),
            (format!("hermes-results/{A} hermes-results/{A}"), vec![A]),
            (format!("elsewhere/{A}"), vec![]),
            (format!("in hermes-results/{U}. And hermes-results/{A}"), vec![A, U]),
            (format!("hermes-results/{}", U.replace("untrusted", "trusted")), vec![]),
            (format!("hermes-results/{}", A.to_uppercase()), vec![]),
            ("hermes-results/12-call_a.txt".to_owned(), vec![]),
            (format!("hermes-results/{}", &A[..20]), vec![]),
            (format!("hermes-results/{}中文中文", &A[..28]), vec![]),
            (format!("hermes-results/hermes-results/{B}"), vec![B]),
        ] {
            let found: Vec<String> = mentioned(&text).into_iter().collect();
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn names_say_what_a_file_is() {
        for (name, want) in [
            (A, FileKind::Content),
            (U, FileKind::Content),
            (".untrusted.txt", FileKind::Other),
            ("17-0.part", FileKind::Growing),
            ("17-.part", FileKind::Other),
            ("notes.part", FileKind::Other),
            ("12-call_a.txt", FileKind::Other),
            ("ba7816bf.txt", FileKind::Other),
            ("", FileKind::Other),
        ] {
            assert_eq!(kind_of(name), want, "{name}");
        }
    }

    #[test]
    fn only_the_right_bytes_fit_a_name() {
        for (bytes, name, want) in [("abc", A, true), ("abc", U, true), ("abd", A, false), ("abc", B, false)]
        {
            assert_eq!(fits(Sha256::new().chain_update(bytes), name), want, "{bytes} {name}");
        }
    }
}

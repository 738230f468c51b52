//! Lines of output that report a denial.

use std::path::PathBuf;

/// The kind of a denial, as far as the message tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// An error on a path. `is_read_only` is true if it was certainly a change.
    Path {
        is_read_only: bool,
    },
    /// A file that is not there; it may be hidden.
    Missing,
    Network,
    Privilege,
    Docker,
}

/// A line with the paths that it names, most likely ones first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DeniedLine {
    pub(crate) cause: Cause,
    pub(crate) paths: Vec<PathBuf>,
}

/// Parts of messages and their meaning, in lower case.
const MESSAGES: [(&str, Cause); 18] = [
    ("no new privileges", Cause::Privilege),
    ("docker daemon", Cause::Docker),
    ("docker api", Cause::Docker),
    ("no such file or directory", Cause::Missing),
    ("enoent", Cause::Missing),
    ("read-only file system", Cause::Path { is_read_only: true }),
    ("erofs", Cause::Path { is_read_only: true }),
    ("permission denied", Cause::Path { is_read_only: false }),
    ("operation not permitted", Cause::Path { is_read_only: false }),
    ("device or resource busy", Cause::Path { is_read_only: false }),
    ("could not resolve host", Cause::Network),
    ("name or service not known", Cause::Network),
    ("temporary failure in name resolution", Cause::Network),
    ("network is unreachable", Cause::Network),
    ("getaddrinfo", Cause::Network),
    ("could not connect to server", Cause::Network),
    ("response 403", Cause::Network),
    ("the sandbox does not permit connections", Cause::Network),
];

/// Lines that are looked at; output may be long.
const MOST_LINES: usize = 2000;
const LONGEST: usize = 4000;

pub(crate) fn lines(output: &str) -> impl Iterator<Item = DeniedLine> {
    output.lines().rev().take(MOST_LINES).filter(|line| line.len() <= LONGEST).filter_map(|line| {
        let lower = line.to_lowercase();
        let (_, cause) = MESSAGES.iter().find(|(words, _)| lower.contains(words))?;
        Some(DeniedLine { cause: *cause, paths: paths(line) })
    })
}

/// The paths in a line: quoted ones, then the parts between colons, then everything between spaces.
fn paths(line: &str) -> Vec<PathBuf> {
    let mut found: Vec<&str> = Vec::new();
    for quote in ["'", "\"", "`", "\u{2018}"] {
        let end = match quote {
            "\u{2018}" => "\u{2019}",
            "`" if !line.matches('`').count().is_multiple_of(2) => "'",
            _ => quote,
        };
        let mut rest = line;
        while let Some((_, after)) = rest.split_once(quote)
            && let Some((inside, after)) = after.split_once(end)
        {
            found.push(inside);
            rest = after;
        }
    }
    found.extend(line.split(": ").map(str::trim));
    found.extend(
        line.split_ascii_whitespace().map(|word| word.trim_matches([':', ',', ';', '(', ')', '\'', '"'])),
    );
    let is_path = |text: &&str| {
        !text.is_empty() && text.len() < 1024 && (text.starts_with('/') || looks_relative(text))
    };
    let mut paths: Vec<PathBuf> = found.into_iter().filter(is_path).map(PathBuf::from).collect();
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}

/// Returns true for text that may be a relative path: one word, not a flag, with a slash or a dot.
fn looks_relative(text: &str) -> bool {
    !text.starts_with('-') && !text.contains(char::is_whitespace) && text.contains(['/', '.'])
}

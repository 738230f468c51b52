//! Context windows that endpoints stated when they rejected a request. They are kept in
//! `context_length_cache.yaml` of the home, where the Python release keeps and reads them too.
//!
//! The file maps `MODEL@ADDRESS` to tokens under `context_lengths`. Unknown lines are kept.

use hermes_config::home::{Home, PRIVATE_FILE, write_atomically};
use hermes_providers::Endpoint;
use std::path::PathBuf;

const FILE: &str = "context_length_cache.yaml";
const HEADING: &str = "context_lengths:";
const EMPTY: &str = "context_lengths: {}";

/// The range of plausible windows; others are ignored.
const PLAUSIBLE: std::ops::RangeInclusive<u64> = 1_024..=10_000_000;

/// Returns the window of an endpoint's model, if one was learned.
pub(crate) fn learned(home: &Home, endpoint: &Endpoint) -> Option<u64> {
    found(&std::fs::read_to_string(file(home)).ok()?, &key(endpoint))
}

/// Stores the window of an endpoint's model. A failure is ignored: the window is learned again.
pub fn learn(home: &Home, endpoint: &Endpoint, tokens: u64) {
    let Ok(_lock) = home.lock() else { return };
    let before = match std::fs::read_to_string(file(home)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        // A file that cannot be read is not overwritten.
        Err(_) => return,
    };
    if let Some(text) = with(&before, &key(endpoint), tokens) {
        let _ = write_atomically(&file(home), text.as_bytes(), PRIVATE_FILE);
    }
}

fn file(home: &Home) -> PathBuf {
    home.path().join(FILE)
}

fn key(endpoint: &Endpoint) -> String {
    format!("{}@{}", endpoint.model, endpoint.base_url.as_str().trim_end_matches('/'))
}

fn found(text: &str, key: &str) -> Option<u64> {
    let entries = text.lines().filter_map(entry);
    let found = entries.filter(|(known, _)| known.trim_end_matches('/') == key).map(|(_, tokens)| tokens);
    { found }.next_back().filter(|tokens| PLAUSIBLE.contains(tokens))
}

/// The key and the number of a line, if it has both.
fn entry(line: &str) -> Option<(&str, u64)> {
    let (key, number) = line.trim().rsplit_once(": ")?;
    let key = key.trim().trim_matches(['"', '\'']);
    Some((key, number.trim().parse().ok()?))
}

/// The file with this entry; `None` if it has it already or cannot be extended.
fn with(text: &str, key: &str, tokens: u64) -> Option<String> {
    if found(text, key) == Some(tokens) || !PLAUSIBLE.contains(&tokens) || key.contains(['\n', '\r']) {
        return None;
    }
    let is_other = |line: &&str| entry(line).is_none_or(|(known, _)| known.trim_end_matches('/') != key);
    // Python writes this after the last entry was removed.
    let emptied = |line| if str::trim_end(line) == EMPTY { HEADING } else { line };
    let mut lines: Vec<&str> = text.lines().filter(is_other).map(emptied).collect();
    let line = format!("  '{}': {tokens}", key.replace('\'', "''"));
    match lines.iter().position(|line| line.trim_end() == HEADING) {
        Some(heading) => lines.insert(heading + 1, &line),
        None if lines.iter().all(|line| line.trim().is_empty()) => lines = vec![HEADING, &line],
        None => return None,
    }
    Some(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learned_windows_are_found_again() {
        const KEY: &str = "big@https://box.test/v1";
        let python = "context_lengths:\n  big@https://box.test/v1: 32768\n  other@http://x:9/v1: 4096\n";
        for (text, want) in [
            ("", None),
            (python, Some(32_768)),
            ("context_lengths:\n  'big@https://box.test/v1': 9000\n", Some(9_000)),
            ("context_lengths:\n  big@https://box.test/v1/: 9000\n", Some(9_000)),
            ("context_lengths:\n  big@https://box.test/v1: 12\n", None),
            ("context_lengths:\n  big@https://box.test/v1: many\n", None),
            ("nonsense", None),
        ] {
            assert_eq!(found(text, KEY), want, "{text}");
        }
        let more = with(python, KEY, 16_384).unwrap();
        assert_eq!((found(&more, KEY), found(&more, "other@http://x:9/v1")), (Some(16_384), Some(4_096)));
        assert_eq!(with(&more, KEY, 16_384), None, "nothing new");
        assert_eq!(with("", KEY, 8_000).unwrap(), "context_lengths:\n  'big@https://box.test/v1': 8000\n");
        let refilled = with("context_lengths: {}\n", KEY, 8_000).unwrap();
        assert_eq!(refilled, "context_lengths:\n  'big@https://box.test/v1': 8000\n");
        // A file of another shape is not changed.
        assert_eq!(with("something: else\n", KEY, 8_000), None);
        assert_eq!(with("", KEY, 3), None);
    }
}

//! Credentials written into a text: those known by their shape, and those that are given a name.

use super::{Found, neutralise};
use crate::shapes;

pub(super) const ID: &str = "hardcoded_secret";
const NAMES: [&str; 7] = ["api_key", "apikey", "api-key", "token", "secret", "password", "passwd"];
/// A value shorter than this is a word or a placeholder.
const SHORTEST: usize = 16;

pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(hit) = shapes::find(text, from) {
        from = hit.end.max(from + 1);
        found.push(hit.start..hit.end);
    }
    let lower = text.to_ascii_lowercase();
    for name in NAMES {
        found.extend(lower.match_indices(name).filter_map(|(at, _)| named(text, at, at + name.len())));
    }
    let as_found = |at| Found { id: ID.to_owned(), cut: neutralise::sentence_around(text, &at), at };
    found
        .into_iter()
        .filter(|at| text.is_char_boundary(at.start) && text.is_char_boundary(at.end))
        .map(as_found)
        .collect()
}

/// A value in quotes after a name and `=` or `:`.
fn named(text: &str, start: usize, end: usize) -> Option<std::ops::Range<usize>> {
    let rest = text[end..].trim_start_matches(['"', '\'', ' ']);
    let rest = rest.strip_prefix(['=', ':'])?.trim_start_matches(' ');
    let value = rest.strip_prefix(['"', '\''])?;
    let is_key = |char: char| char.is_ascii_alphanumeric() || "+/=_-.".contains(char);
    let length = value.find(|char| !is_key(char)).unwrap_or(value.len());
    let key = &value[..length];
    let is_likely = length >= SHORTEST
        && key.contains(|char: char| char.is_ascii_digit())
        && key.contains(|char: char| char.is_ascii_alphabetic());
    is_likely.then(|| start..text.len() - value.len() + length)
}

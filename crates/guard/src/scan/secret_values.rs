//! Credentials in a text, recognised by their shape or their label.

use super::{Match, neutralise};
use crate::credential_shapes;

pub(super) const ID: &str = "hardcoded_secret";
const NAMES: [&str; 7] = ["api_key", "apikey", "api-key", "token", "secret", "password", "passwd"];
/// The minimum length of a value; shorter ones are placeholders.
const SHORTEST: usize = 16;

pub(super) fn find(text: &str) -> Vec<Match> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(hit) = credential_shapes::find(text, from) {
        from = hit.end.max(from + 1);
        found.push(hit.start..hit.end);
    }
    let lower = text.to_ascii_lowercase();
    for name in NAMES {
        found.extend(lower.match_indices(name).filter_map(|(at, _)| named(text, at, at + name.len())));
    }
    let as_found = |at| Match { id: ID.to_owned(), cut: neutralise::sentence_around(text, &at), at };
    found
        .into_iter()
        .filter(|at| text.is_char_boundary(at.start) && text.is_char_boundary(at.end))
        .map(as_found)
        .collect()
}

/// The range of a name, `=` or `:`, and a quoted value that looks like a key.
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

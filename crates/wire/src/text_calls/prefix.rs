//! The beginning of a text that may become a call, so that a stream can be held back.

use super::{FENCES, LANGUAGES, Language, json, markup};

/// Returns true if a text with this beginning may still turn out to consist of calls only. In doubt true:
/// holding text back causes a short delay, while a call that was shown cannot be taken back.
pub fn may_become_calls(text: &str) -> bool {
    begins(text.trim_start_matches('\u{feff}').trim_start())
}

fn begins(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    if FENCES.iter().any(|mark| mark.starts_with(text)) {
        return true;
    }
    if let Some(rest) = FENCES.iter().find_map(|mark| text.strip_prefix(mark)) {
        return block_begins(rest);
    }
    if let Some(rest) = text.strip_prefix("Action:") {
        return begins(rest.trim_start());
    }
    if let Some(rest) = text.strip_prefix('{') {
        return object_begins(rest.trim_start());
    }
    let is_opener = |opener: &str| {
        let shared = opener.len().min(text.len());
        opener.as_bytes()[..shared].eq_ignore_ascii_case(&text.as_bytes()[..shared])
    };
    if markup::openers().any(is_opener) {
        return !text.starts_with(">>> ");
    }
    text.strip_prefix('[').is_some_and(|rest| list_begins(rest.trim_start()))
}

fn block_begins(rest: &str) -> bool {
    let Some((info, body)) = rest.split_once('\n') else {
        let info = rest.trim().to_ascii_lowercase();
        return LANGUAGES.iter().any(|(name, _)| name.starts_with(&info));
    };
    let info = info.trim();
    let known = LANGUAGES.iter().find(|(name, _)| info.eq_ignore_ascii_case(name));
    known.is_some_and(|(_, language)| *language == Language::Python || begins(body.trim_start()))
}

/// The possible first fields of a call.
fn object_begins(rest: &str) -> bool {
    let Some(key) = rest.strip_prefix('"') else { return rest.is_empty() };
    let fields = [&json::NAMES[..], &json::ARGUMENTS, &json::WRAPPERS, &json::LABELS];
    let mut fields = fields.into_iter().flatten();
    match key.split_once('"') {
        Some((key, _)) => fields.any(|field| *field == key),
        None => fields.any(|field| field.starts_with(key)),
    }
}

fn list_begins(rest: &str) -> bool {
    if rest.is_empty() {
        return true;
    }
    if rest.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    if let Some(object) = rest.strip_prefix('{') {
        return object_begins(object.trim_start());
    }
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_.-".contains(character);
    let word = rest.find(|character| !is_part(character));
    match word {
        None => true,
        Some(0) => false,
        Some(at) => rest[at..].starts_with('('),
    }
}

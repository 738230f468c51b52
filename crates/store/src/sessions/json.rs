//! JSON as other programs left it in the database.
//!
//! The Python program may write escapes of half a surrogate pair (`\ud800`), which are no text.
//! They become U+FFFD here; nothing in a stored row is ever an error.

use serde::de::DeserializeOwned;

/// Parses `text`, mending half surrogate pairs if that is what it takes.
pub(crate) fn lenient<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_lone_surrogates(text))).ok()
}

/// Replaces every escape of half a surrogate pair by `\ufffd`.
fn without_lone_surrogates(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match surrogate(rest) {
            Some(Half::High) if surrogate(&rest[6..]) == Some(Half::Low) => 12,
            Some(_) => {
                mended.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // A backslash and what it escapes, which may be another backslash.
            None => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    mended.push_str(rest);
    mended
}

#[derive(PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// Which half of a pair `text` begins with, if it begins with a `\uXXXX` escape of one.
fn surrogate(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_pairs_become_the_replacement_character() {
        for (text, want) in [
            (r#""a""#, Some("a")),
            (r#""\ud83d\ude00""#, Some("😀")),
            (r#""x\ud83dy""#, Some("x\u{fffd}y")),
            (r#""\ude00\ud83d""#, Some("\u{fffd}\u{fffd}")),
            (r#""\\ud800 \ud800""#, Some("\\ud800 \u{fffd}")),
            (r#""\ud83d\ud83d\ude00""#, Some("\u{fffd}😀")),
            (r#""\ud8"#, None),
            (r#""é\"#, None),
        ] {
            assert_eq!(lenient::<String>(text).as_deref(), want, "{text}");
        }
    }
}

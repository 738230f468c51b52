//! Lenient JSON parsing, for the output of providers and rows that other programs wrote.

use serde::Deserialize;
use std::borrow::Cow;

/// Parses JSON, reading lone surrogate escapes (half of a UTF-16 pair, which JSON allows and
/// Rust strings do not) as U+FFFD.
pub fn parse_lenient<T: for<'de> Deserialize<'de>>(text: &str) -> serde_json::Result<T> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) => match without_lone_surrogates(text) {
            Cow::Owned(repaired) => serde_json::from_str(&repaired),
            Cow::Borrowed(_) => Err(error),
        },
    }
}

/// Replaces every lone surrogate escape in JSON text by the escape of U+FFFD.
pub fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let step = match escape_at(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(escape_at(bytes, at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                out.push_str(&text[copied..at]);
                out.push_str("\\ufffd");
                copied = at + 6;
                6
            }
            Some(_) => 6,
            None => 2,
        };
        at += step;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The code unit of a `\uXXXX` escape that starts at `at`.
fn escape_at(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        for (given, want) in [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\udc00\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\\ud800""#, "\\ud800"),
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""plain""#, "plain"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\\ud800 \ud800""#, "\\ud800 \u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        ] {
            assert_eq!(parse_lenient::<String>(given).unwrap(), want, "{given}");
        }
    }

    #[test]
    fn other_errors_remain_errors() {
        for broken in [r#""\u12"#, r#""\ud8"#, r#""é\"#] {
            assert!(parse_lenient::<String>(broken).is_err(), "{broken}");
        }
    }
}

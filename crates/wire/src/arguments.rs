//! Tool-call arguments: readable, mendable, or not to be run.
//!
//! Only damage with one obvious cure is mended (trailing commas, surplus closers, raw control
//! characters in strings, nothing at all). Arguments that were cut are never completed by
//! guessing: a half path or half command is worse than an error.

use hermes_conversation::without_lone_surrogates;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentsState {
    Complete,
    Repaired,
    Truncated,
    Malformed,
}

/// Judges argument text and gives the text to store: as received when complete, mended when
/// that was possible, `{}` when the call must not run.
pub fn mend_arguments(text: &str) -> (ArgumentsState, String) {
    if is_json(text) {
        return match without_lone_surrogates(text) {
            Cow::Borrowed(_) => (ArgumentsState::Complete, text.to_owned()),
            Cow::Owned(mended) => (ArgumentsState::Repaired, mended),
        };
    }
    if matches!(text.trim(), "" | "None") {
        return (ArgumentsState::Repaired, "{}".to_owned());
    }
    match cleaned(text) {
        Ok(mended) if is_json(&mended) => {
            (ArgumentsState::Repaired, without_lone_surrogates(&mended).into_owned())
        }
        Ok(_) => (ArgumentsState::Malformed, "{}".to_owned()),
        Err(state) => (state, "{}".to_owned()),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// One pass over the text: control characters in strings are escaped, commas before a closer
/// and closers without an opener are dropped.
fn cleaned(text: &str) -> Result<String, ArgumentsState> {
    let mut out = String::with_capacity(text.len());
    let mut open = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for character in text.chars() {
        if in_string {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            push_in_string(&mut out, character);
            continue;
        }
        match character {
            '"' => in_string = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => match open.pop() {
                None => continue,
                Some(wanted) if wanted == character => drop_trailing_comma(&mut out),
                Some(_) => return Err(ArgumentsState::Malformed),
            },
            _ => {}
        }
        out.push(character);
    }
    match in_string || !open.is_empty() {
        true => Err(ArgumentsState::Truncated),
        false => Ok(out),
    }
}

fn push_in_string(out: &mut String, character: char) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        control if u32::from(control) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(control))),
        other => out.push(other),
    }
}

fn drop_trailing_comma(out: &mut String) {
    let kept = out.trim_end();
    if let Some(before) = kept.strip_suffix(',') {
        out.truncate(before.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ArgumentsState::*;

    #[test]
    fn arguments_are_judged() {
        for (given, state, stored) in [
            (r#"{"a": 1 }"#, Complete, r#"{"a": 1 }"#),
            ("null", Complete, "null"),
            ("", Repaired, "{}"),
            ("None", Repaired, "{}"),
            (r#"{"a":"\ud800"}"#, Repaired, r#"{"a":"\ufffd"}"#),
            (r#"{"a":"\ud83d\ude00"}"#, Complete, r#"{"a":"\ud83d\ude00"}"#),
            (r#"{"a":1,}"#, Repaired, r#"{"a":1}"#),
            (r#"{"a":1}}"#, Repaired, r#"{"a":1}"#),
            ("[1,2,]", Repaired, "[1,2]"),
            ("{\"a\":\"x\ny\"}", Repaired, r#"{"a":"x\ny"}"#),
            ("{\"a\":\"x\\\"\u{1}\"}", Repaired, "{\"a\":\"x\\\"\\u0001\"}"),
            // The Python release answers `{}` to the rest and runs the call; we never do.
            ("not json", Malformed, "{}"),
            ("{'a': 1}", Malformed, "{}"),
            (r#"{"a": 1} trailing"#, Malformed, "{}"),
            (r#"{"a":"x"#, Truncated, "{}"),
            (r#"{"a":[1,2"#, Truncated, "{}"),
            (r#"{"a":[1}"#, Malformed, "{}"),
        ] {
            assert_eq!(mend_arguments(given), (state, stored.to_owned()), "{given}");
        }
    }
}

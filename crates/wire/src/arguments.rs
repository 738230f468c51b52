//! Validates and repairs tool-call arguments.
//!
//! Only damage with one obvious repair is repaired: trailing commas, surplus closers, raw control characters in
//! strings, single quotes, bare keys, Python's constants, a code fence or a byte-order mark around the object, an
//! object encoded twice, nothing at all. Arguments that were cut are never completed by guessing: a half path or
//! half command is worse than an error.

use hermes_conversation::without_lone_surrogates;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// The result of the validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentsState {
    Complete,
    Repaired,
    Truncated,
    Malformed,
}

/// Validates argument text and returns the text to store: the original if it is complete, the repaired text if
/// that is possible, `{}` if the call must not run.
pub fn repair_arguments(text: &str) -> (ArgumentsState, String) {
    if is_json(text) {
        return match decoded_twice(text) {
            Some(object) => (ArgumentsState::Repaired, object),
            None => match without_lone_surrogates(text) {
                Cow::Borrowed(_) => (ArgumentsState::Complete, text.to_owned()),
                Cow::Owned(mended) => (ArgumentsState::Repaired, mended),
            },
        };
    }
    let bare = unwrapped(text);
    if matches!(bare, "" | "None") {
        return (ArgumentsState::Repaired, "{}".to_owned());
    }
    match Cleaner::clean(bare) {
        Ok(mended) if is_json(&mended) => {
            let mended = decoded_twice(&mended).unwrap_or(mended);
            (ArgumentsState::Repaired, without_lone_surrogates(&mended).into_owned())
        }
        Ok(_) => (ArgumentsState::Malformed, "{}".to_owned()),
        Err(state) => (state, "{}".to_owned()),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The object inside a JSON string, where the text is such a string and nothing else.
fn decoded_twice(text: &str) -> Option<String> {
    if !text.trim_start().starts_with('"') {
        return None;
    }
    let inner: String = serde_json::from_str(text).ok()?;
    let is_object = inner.trim_start().starts_with('{') && is_json(&inner);
    is_object.then(|| without_lone_surrogates(&inner).into_owned())
}

/// The text without a byte-order mark and without a code fence around it.
fn unwrapped(text: &str) -> &str {
    let is_space = |character: char| character.is_whitespace() || character == '\u{feff}';
    let text = text.trim_matches(is_space);
    let Some(fenced) = text.strip_prefix("```") else { return text };
    let body = fenced.trim_start_matches(|character: char| character.is_ascii_alphanumeric());
    body.strip_suffix("```").unwrap_or(body).trim_matches(is_space)
}

/// Rewrites almost-JSON as JSON, in one pass.
struct Cleaner<'a> {
    rest: &'a str,
    out: String,
    /// The closers of open brackets, innermost last.
    open: Vec<char>,
    /// The next string is a key of an object.
    wants_key: bool,
}

impl<'a> Cleaner<'a> {
    fn clean(text: &'a str) -> Result<String, ArgumentsState> {
        let out = String::with_capacity(text.len());
        let mut cleaner = Cleaner { rest: text, out, open: Vec::new(), wants_key: false };
        while let Some(next) = cleaner.rest.chars().next() {
            cleaner.step(next)?;
        }
        match cleaner.open.is_empty() {
            true => Ok(cleaner.out),
            false => Err(ArgumentsState::Truncated),
        }
    }

    fn step(&mut self, next: char) -> Result<(), ArgumentsState> {
        if next.is_ascii_alphabetic() || matches!(next, '_' | '$') {
            self.word();
            return Ok(());
        }
        self.rest = &self.rest[next.len_utf8()..];
        match next {
            '"' | '\'' => return self.string(next),
            '{' => self.open.push('}'),
            '[' => self.open.push(']'),
            '}' | ']' => match self.open.pop() {
                None => return Ok(()),
                Some(wanted) if wanted == next => drop_trailing_comma(&mut self.out),
                Some(_) => return Err(ArgumentsState::Malformed),
            },
            _ => {}
        }
        match next {
            '{' => self.wants_key = true,
            ',' => self.wants_key = self.open.last() == Some(&'}'),
            next if !next.is_whitespace() => self.wants_key = false,
            _ => {}
        }
        self.out.push(next);
        Ok(())
    }

    /// Quotes a bare key, and converts a Python constant. Anything else is copied.
    fn word(&mut self) {
        let is_part = |part: char| part.is_ascii_alphanumeric() || matches!(part, '_' | '$' | '-');
        let end = self.rest.find(|part: char| !is_part(part)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_key = self.wants_key && rest.trim_start().starts_with(':');
        match word {
            _ if is_key => self.out.extend(["\"", word, "\""]),
            "True" => self.out.push_str("true"),
            "False" => self.out.push_str("false"),
            "None" => self.out.push_str("null"),
            _ => self.out.push_str(word),
        }
        self.wants_key = false;
    }

    /// Copies a string after its opening quote. A single quote ends a string only where a key or value may end:
    /// with an apostrophe the end is ambiguous, and that is not guessed.
    fn string(&mut self, quote: char) -> Result<(), ArgumentsState> {
        self.out.push('"');
        let mut escaped = false;
        for (at, next) in self.rest.char_indices() {
            match next {
                '\'' if escaped && quote == '\'' => {
                    self.out.pop();
                    self.out.push('\'');
                }
                _ if escaped => push_in_string(&mut self.out, next),
                end if end == quote => {
                    let rest = &self.rest[at + 1..];
                    if quote == '\'' {
                        self.may_end_before(rest.trim_start())?;
                    }
                    self.rest = rest;
                    self.out.push('"');
                    self.wants_key = false;
                    return Ok(());
                }
                '"' => self.out.push_str("\\\""),
                next => push_in_string(&mut self.out, next),
            }
            escaped = next == '\\' && !escaped;
        }
        Err(ArgumentsState::Truncated)
    }

    fn may_end_before(&self, rest: &str) -> Result<(), ArgumentsState> {
        let ends: &[char] = if self.wants_key { &[':'] } else { &[',', '}', ']'] };
        match rest.chars().next() {
            None if self.open.is_empty() => Ok(()),
            None => Err(ArgumentsState::Truncated),
            Some(next) if ends.contains(&next) => Ok(()),
            Some(_) => Err(ArgumentsState::Malformed),
        }
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
#[path = "arguments_tests.rs"]
mod tests;

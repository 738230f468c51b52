//! Writing and parsing of log lines.
//!
//! `2026-11-15 15:50:03,123 INFO [SESSION] hermes_agent.watching: model answered ms=812 model=m`
//!
//! Time is local and the head is that of the Python release, so one file can hold the lines of both.
//! The fields behind the message are `name=value`; a value with blanks, quotes, equals signs or
//! control characters in it is a JSON string, and so is text that looks like a number.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::Value;
use std::fmt::Write;

/// The severity of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Warning,
    Error,
}

impl LogLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
        }
    }

    /// Any spelling of a level; the Python release has one more, above all others.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.to_ascii_uppercase().as_str() {
            "DEBUG" => Self::Debug,
            "INFO" => Self::Info,
            "WARNING" | "WARN" => Self::Warning,
            "ERROR" | "CRITICAL" => Self::Error,
            _ => return None,
        })
    }
}

/// A line that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    pub time: Timestamp,
    pub level: LogLevel,
    pub session: Option<String>,
    /// The module that wrote it.
    pub target: String,
    pub message: String,
    pub fields: Vec<(String, Value)>,
}

/// Writes the part of a line before the message. `time` is [`clock`] and the milliseconds.
pub(super) fn head(
    out: &mut String,
    time: (&str, u32),
    level: LogLevel,
    session: Option<&str>,
    target: &str,
) {
    let (seconds, millis) = time;
    out.push_str(seconds);
    out.push(',');
    for unit in [100, 10, 1] {
        out.push(digit(millis / unit % 10));
    }
    out.push(' ');
    out.push_str(level.as_str());
    if let Some(session) = session {
        out.extend([" [", session, "]"]);
    }
    out.push(' ');
    let mut rest = target;
    while let Some(end) = rest.bytes().position(|byte| byte == b':') {
        out.push_str(&rest[..end]);
        out.push('.');
        rest = rest[end..].trim_start_matches(':');
    }
    out.push_str(rest);
    out.push_str(": ");
}

fn digit(number: u32) -> char {
    char::from_digit(number, 10).unwrap_or('0')
}

/// Writes ` name=value` for a count. Counts are frequent, and formatting is ten times as slow.
pub(super) fn count_field(out: &mut String, name: &str, mut value: u64) {
    out.extend([" ", name, "="]);
    let mut digits = [b'0'; 20];
    let mut first = digits.len() - 1;
    loop {
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
        first -= 1;
    }
    out.extend(digits[first..].iter().map(|byte| char::from(*byte)));
}

/// A time to the second, as lines begin with it.
pub(super) fn clock(now: &Zoned) -> String {
    now.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Writes ` name=value` for text.
pub(super) fn text_field(out: &mut String, name: &str, value: &str) {
    out.extend([" ", name, "="]);
    if is_plain(value) {
        out.push_str(value);
        return;
    }
    out.push('"');
    escaped(out, value, true);
    out.push('"');
}

/// Returns true if text needs no quotes: it has no blanks, and is neither a number nor a JSON literal.
fn is_plain(value: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'=' | b'\\');
    let begins_plainly = value.bytes().next().is_some_and(|byte| !matches!(byte, b'0'..=b'9' | b'-'));
    begins_plainly && !matches!(value, "true" | "false" | "null") && value.bytes().all(is_name)
}

/// Writes text with control characters escaped, so that it breaks neither the line nor a terminal.
pub(super) fn escaped(out: &mut String, text: &str, in_quotes: bool) {
    if !in_quotes && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return out.push_str(text);
    }
    for one in text.chars() {
        match one {
            '\n' => out.push_str("\\n"),
            '"' | '\\' if in_quotes => out.extend(['\\', one]),
            one if is_hidden(one) => {
                for unit in one.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            one => out.push(one),
        }
    }
}

fn is_hidden(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Reads a line; `None` for one without a head, which belongs to the line before it.
pub fn parse_line(line: &str, zone: &TimeZone) -> Option<LogLine> {
    let (time, rest) = line.split_at_checked(23)?;
    let rest = rest.strip_prefix(' ')?;
    let (date, clock) = time.split_once(' ')?;
    let time: DateTime = format!("{date}T{}", clock.replace(',', ".")).parse().ok()?;
    let (level, rest) = rest.split_once(' ')?;
    let level = LogLevel::parse(level)?;
    let (session, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((session, rest)) => (Some(session.to_owned()), rest),
        None => (None, rest),
    };
    let (target, said) = rest.split_once(": ")?;
    let time = time.to_zoned(zone.clone()).ok()?.timestamp();
    let (message, fields) = fields(said);
    Some(LogLine { time, level, session, target: target.to_owned(), message: message.to_owned(), fields })
}

/// Splits off the longest tail that consists of fields only.
fn fields(text: &str) -> (&str, Vec<(String, Value)>) {
    for (place, _) in text.match_indices(' ') {
        if let Some(fields) = all_fields(&text[place..]) {
            return (&text[..place], fields);
        }
    }
    (text, Vec::new())
}

fn all_fields(mut text: &str) -> Option<Vec<(String, Value)>> {
    let mut fields = Vec::new();
    while !text.is_empty() {
        let (name, rest) = text.strip_prefix(' ')?.split_once('=')?;
        if name.is_empty() || !name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '.'))
        {
            return None;
        }
        let (value, rest) = value(rest)?;
        fields.push((name.to_owned(), value));
        text = rest;
    }
    Some(fields)
}

fn value(text: &str) -> Option<(Value, &str)> {
    if !text.starts_with('"') {
        let end = text.find(' ').unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        let read = if is_plain(word) { None } else { serde_json::from_str(word).ok() };
        return Some((read.unwrap_or_else(|| Value::from(word)), rest));
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let value = values.next()?.ok()?;
    Some((Value::from(value), &text[values.byte_offset()..]))
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;

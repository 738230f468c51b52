//! Old tool calls and results in one line each.
//!
//! The auxiliary model reads these lines, and excerpts are made of them. Messages that stay in the history
//! are never rewritten.

use super::text::{cut, one_line};
use hermes_conversation::{Outcome, Subject, ToolCall, ToolTable, parse_lenient};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Results up to this many bytes are short enough as they are.
pub(crate) const SHORT_RESULT: usize = 200;
/// Arguments beyond this many bytes are shortened,
const LONG_ARGUMENTS: usize = 500;
/// to this many characters for each text in them.
const SHORT_ARGUMENT: usize = 200;
/// Nothing is looked up in arguments beyond this many bytes.
const MOST_ARGUMENTS: usize = 256 * 1024;
const LONGEST_SUBJECT: usize = 160;
/// Bytes at either end of a result in which a number is looked for.
const NEAR: usize = 400;

/// The call and its result, on one line.
pub(crate) fn line_of_result(
    tools: &dyn ToolTable,
    tool: &str,
    call: Option<&ToolCall>,
    result: &str,
) -> String {
    let subject = call.map(|call| subject(tools, call)).unwrap_or_default();
    let separator = if subject.is_empty() { "" } else { " " };
    format!("[{tool}]{separator}{subject} -> {}", outcome(tools.facts(tool).digest.outcome, result))
}

/// The call, without its result.
pub(crate) fn line_of_call(tools: &dyn ToolTable, call: &ToolCall) -> String {
    let subject = subject(tools, call);
    let separator = if subject.is_empty() { "" } else { " " };
    format!("{}{separator}{subject}", call.name)
}

/// Arguments that are still JSON, with long texts in them cut.
pub(crate) fn short_arguments(arguments: &str) -> Cow<'_, str> {
    if arguments.len() <= LONG_ARGUMENTS {
        return Cow::Borrowed(arguments);
    }
    let parsed = (arguments.len() <= MOST_ARGUMENTS).then(|| parse_lenient::<Value>(arguments).ok());
    match parsed.flatten() {
        Some(mut value) => {
            shorten(&mut value);
            Cow::Owned(value.to_string())
        }
        None => Cow::Owned(Value::String(cut(arguments, SHORT_ARGUMENT)).to_string()),
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > SHORT_ARGUMENT => *text = cut(text, SHORT_ARGUMENT),
        Value::Array(list) => list.iter_mut().for_each(shorten),
        Value::Object(map) => map.values_mut().for_each(shorten),
        _ => {}
    }
}

/// The arguments as a map; empty if they are something else.
pub(crate) fn arguments(call: &ToolCall) -> Map<String, Value> {
    if call.arguments.len() > MOST_ARGUMENTS {
        return Map::new();
    }
    parse_lenient(&call.arguments).unwrap_or_default()
}

/// The subject of a call, as its tool defines it.
fn subject(tools: &dyn ToolTable, call: &ToolCall) -> String {
    let arguments = arguments(call);
    let parts: Vec<String> = match tools.facts(&call.name).digest.subject {
        Subject::Text(text) => return text(&arguments),
        Subject::Values(keys) => keys.iter().filter_map(|key| arguments.get(*key)).map(plain).collect(),
        Subject::FirstTwo => {
            arguments.iter().take(2).map(|(key, value)| format!("{key}={}", plain(value))).collect()
        }
    };
    one_line(&parts.join(" "), LONGEST_SUBJECT)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text, LONGEST_SUBJECT),
        other => one_line(&other.to_string(), LONGEST_SUBJECT),
    }
}

/// The end of a call and the length of its result.
fn outcome(outcome: Outcome, result: &str) -> String {
    let size = match result.len() {
        0 => "no output".to_owned(),
        _ => format!("{} lines, {} bytes", lines(result), result.len()),
    };
    match outcome {
        Outcome::ExitCode => match number_after(result, "exit_code") {
            Some(code) => format!("exit code {code}, {size}"),
            None => size,
        },
        Outcome::Matches(fields) => match fields.iter().find_map(|field| number_after(result, field)) {
            Some(count) => format!("{count} matches, {size}"),
            None => size,
        },
        Outcome::Size if looks_failed(result) => format!("failed: {}", one_line(result, LONGEST_SUBJECT)),
        Outcome::Size => size,
    }
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!text.ends_with('\n'))
}

/// Returns true if a result reports a failure.
pub(crate) fn looks_failed(result: &str) -> bool {
    let start: String = result.chars().take(80).collect::<String>().to_ascii_lowercase();
    let failed = ["{\"error", "{ \"error", "error:", "error ", "failed", "traceback"];
    failed.iter().any(|word| start.trim_start().starts_with(word))
        || number_after(result, "exit_code").is_some_and(|code| code != 0)
}

/// The number in `key": 5`, `key=5` or `key 5`, near the end or the beginning of a text: tools say there
/// how it went.
fn number_after(text: &str, key: &str) -> Option<i64> {
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(NEAR))..];
    let head = &text[..text.floor_char_boundary(NEAR)];
    number_in(tail, key).or_else(|| number_in(head, key))
}

fn number_in(text: &str, key: &str) -> Option<i64> {
    let rest = &text[text.rfind(key)? + key.len()..];
    let rest = rest.trim_start_matches(['"', ':', '=', ' ']);
    let end = rest.find(|char: char| !char.is_ascii_digit() && char != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
#[path = "prune_tests.rs"]
mod tests;

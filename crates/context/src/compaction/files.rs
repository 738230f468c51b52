//! The files that a range of a history mentions.

use super::prune::arguments;
use crate::parts::words;
use hermes_conversation::{Message, ToolCall};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

const LONGEST_PATH: usize = 300;
/// Keys whose names sound like paths and which hold something else.
const NOT_PATHS: [&str; 6] = ["content", "glob", "pattern", "type", "text", "limit"];

/// The files that calls name and that people and the model mention, newest first, each once.
pub(crate) fn files(messages: &[Arc<Message>]) -> Vec<String> {
    let mut found = Vec::new();
    for message in messages.iter().rev() {
        let mut here = Vec::new();
        match &**message {
            Message::User(user) => mentioned(&words(&user.content), &mut here),
            Message::Assistant(reply) => {
                mentioned(&reply.text, &mut here);
                reply.calls.iter().for_each(|call| named(call, &mut here));
            }
            Message::Tool(_) => {}
        }
        found.extend(here.into_iter().rev());
    }
    let mut seen = HashSet::new();
    found.retain(|path| seen.insert(path.clone()));
    found
}

fn named(call: &ToolCall, found: &mut Vec<String>) {
    for (key, value) in &arguments(call) {
        let key = key.to_ascii_lowercase();
        let sounds_like_path = key.contains("path") || key.contains("file");
        match value {
            _ if sounds_like_path && !NOT_PATHS.iter().any(|word| key.contains(word)) => {
                strings(value, &mut |text| found.extend(as_path(text)));
            }
            Value::String(text) if key == "command" => mentioned(text, found),
            Value::String(text) if key == "patch" => found.extend(text.lines().filter_map(patched)),
            _ => {}
        }
    }
}

fn strings(value: &Value, take: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(list) => list.iter().for_each(|value| strings(value, take)),
        Value::Object(map) => map.get("path").into_iter().for_each(|value| strings(value, take)),
        _ => {}
    }
}

/// The file in a line of a patch such as `*** Update File: src/a.rs`.
fn patched(line: &str) -> Option<String> {
    let (action, path) = line.strip_prefix("*** ")?.split_once(" File: ")?;
    ["Update", "Add", "Delete"].contains(&action).then(|| as_path(path)).flatten()
}

fn as_path(text: &str) -> Option<String> {
    let text = text.trim();
    let is_path =
        !text.is_empty() && text != "." && text.len() <= LONGEST_PATH && !text.contains(['\n', '\r']);
    is_path.then(|| text.to_owned())
}

/// The paths in running text: terms with a slash that have an extension or begin like a path.
fn mentioned(text: &str, found: &mut Vec<String>) {
    if !text.contains('/') {
        return;
    }
    let is_border = |char: char| char.is_whitespace() || "\"'`()[]{}<>,;|=，。（）「」".contains(char);
    let words = text.split(is_border).filter(|word| word.contains('/'));
    found.extend(words.map(without_place).filter(|word| looks_like_path(word)).map(str::to_owned));
}

/// Without the full stop of a sentence and without a line number.
fn without_place(word: &str) -> &str {
    let word = word.trim_end_matches(['.', ':', '!', '?', '*']).trim_start_matches('*');
    match word.rsplit_once(':') {
        Some((path, line)) if line.chars().all(|char| char.is_ascii_digit()) => without_place(path),
        _ => word,
    }
}

fn looks_like_path(word: &str) -> bool {
    let begins = ["/", "./", "../", "~/"].iter().any(|start| word.starts_with(start));
    let name = word.rsplit('/').next().unwrap_or_default();
    let has_ending = name.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=8).contains(&ending.len())
            && ending.chars().all(|char| char.is_ascii_alphanumeric())
            && ending.chars().any(|char| char.is_ascii_alphabetic())
    });
    let is_plain = !word.contains("://") && !word.contains("//") && word.len() <= LONGEST_PATH;
    is_plain && word.len() > 3 && (has_ending || begins && name.len() > 1)
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;

//! The invariants after a kill, as pure functions.

use serde_json::Value;
use std::collections::BTreeMap;

/// The parts of a message that both the request and the store contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckedMessage {
    role: String,
    content: String,
    answers: Option<String>,
    calls: Vec<(String, String, String)>,
}

/// The messages of a request, without the system prompt.
pub(super) fn asked(body: &Value) -> Vec<CheckedMessage> {
    let messages = list(&body["messages"]);
    messages.iter().filter(|message| message["role"] != "system").map(said).collect()
}

/// The active messages of an exported session.
pub(super) fn stored(session: &Value) -> Vec<CheckedMessage> {
    let messages = list(&session["messages"]);
    messages.iter().filter(|message| message["active"] != 0).map(said).collect()
}

fn said(message: &Value) -> CheckedMessage {
    let sent = message["api_content"].as_str();
    let calls = list(&message["tool_calls"]).iter().map(|call| {
        let function = &call["function"];
        (text(&call["id"]), text(&function["name"]), text(&function["arguments"]))
    });
    CheckedMessage {
        role: text(&message["role"]),
        content: sent.map_or_else(|| text(&message["content"]), str::to_owned),
        answers: message["tool_call_id"].as_str().map(str::to_owned),
        calls: calls.collect(),
    }
}

/// The first seen message that is not stored, or not in that order.
pub(super) fn first_lost<'a>(
    seen: &'a [CheckedMessage],
    stored: &[CheckedMessage],
) -> Option<&'a CheckedMessage> {
    let mut stored = stored.iter();
    seen.iter().find(|message| !stored.any(|candidate| candidate == *message))
}

/// Returns true if the user's message is stored.
pub(super) fn holds_prompt(stored: &[CheckedMessage], prompt: &str) -> bool {
    stored.iter().any(|message| message.role == "user" && message.content == prompt)
}

/// Call ids without exactly one result right after their message.
pub(super) fn unanswered(stored: &[CheckedMessage]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expected: Vec<String> = Vec::new();
    for message in stored {
        if let Some(id) = &message.answers {
            match expected.iter().position(|wanted| wanted == id) {
                Some(place) => drop(expected.remove(place)),
                None => wrong.push(format!("{id} has a result too many")),
            }
            continue;
        }
        wrong.extend(expected.drain(..).map(|id| format!("{id} has no result")));
        expected.extend(message.calls.iter().map(|(id, ..)| id.clone()));
    }
    wrong.extend(expected.into_iter().map(|id| format!("{id} has no result")));
    wrong
}

/// The indexes of requests that do not extend the one before.
pub(super) fn broken_prefixes(bodies: &[Value]) -> Vec<String> {
    let pairs = bodies.windows(2).enumerate();
    pairs
        .filter_map(|(place, pair)| {
            Some(format!("request {}: {}", place + 2, difference(&pair[0], &pair[1])?))
        })
        .collect()
}

fn difference(earlier: &Value, later: &Value) -> Option<String> {
    if earlier["tools"] != later["tools"] || earlier["model"] != later["model"] {
        return Some("model or tools changed".to_owned());
    }
    let (earlier, later) = (list(&earlier["messages"]), list(&later["messages"]));
    let place = (0..earlier.len()).find(|&place| later.get(place) != Some(&earlier[place]))?;
    let now = later.get(place).map_or_else(|| "missing".to_owned(), Value::to_string);
    Some(format!("message {place} was {} and is {now}", earlier[place]))
}

/// Lines that occur more than once in the counter file.
pub(super) fn doubled(counter: &str) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for line in counter.lines() {
        *counts.entry(line).or_insert(0) += 1;
    }
    let twice = counts.into_iter().filter(|(_, count)| *count > 1);
    twice.map(|(line, count)| format!("{line} ran {count} times")).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn history() -> Value {
        let call =
            |id: &str| json!({"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}});
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "tool", "tool_call_id": "b", "content": "2"},
        ])
    }

    fn without(place: usize) -> Value {
        let mut messages = history();
        messages.as_array_mut().unwrap().remove(place);
        json!({"messages": messages})
    }

    #[test]
    fn missing_message_is_reported() {
        let seen = asked(&json!({"messages": history()}));
        assert_eq!(first_lost(&seen, &seen), None);
        for place in 0..4 {
            assert_eq!(first_lost(&seen, &stored(&without(place))), Some(&seen[place]), "{place}");
        }
        assert!(holds_prompt(&seen, "go") && !holds_prompt(&seen, "stop"));
    }

    #[test]
    fn every_call_needs_one_result() {
        assert!(unanswered(&stored(&json!({"messages": history()}))).is_empty());
        assert_eq!(unanswered(&stored(&without(3))), ["b has no result"]);
        assert_eq!(unanswered(&stored(&without(1))), ["a has a result too many", "b has a result too many"]);
    }

    #[test]
    fn request_extends_the_one_before() {
        let (whole, cut) = (json!({"messages": history()}), without(3));
        assert!(broken_prefixes(&[cut.clone(), whole.clone()]).is_empty());
        assert_eq!(broken_prefixes(&[whole.clone(), cut]).len(), 1);
        assert_eq!(broken_prefixes(&[whole.clone(), json!({"messages": history(), "tools": []})]).len(), 1);
    }

    #[test]
    fn repeated_line_is_reported() {
        assert!(doubled("a\nb\n").is_empty());
        assert_eq!(doubled("a\nb\na\n"), ["a ran 2 times"]);
    }
}

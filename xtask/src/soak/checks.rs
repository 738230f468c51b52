//! What must hold after a kill, as questions about values.

use serde_json::Value;
use std::collections::BTreeMap;

/// A message reduced to what both the request and the store say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    role: String,
    content: String,
    answers: Option<String>,
    calls: Vec<(String, String, String)>,
}

/// The messages of a request, without the system prompt.
pub(super) fn asked(body: &Value) -> Vec<Said> {
    let messages = list(&body["messages"]);
    messages.iter().filter(|message| message["role"] != "system").map(said).collect()
}

/// The active messages of an exported session.
pub(super) fn stored(session: &Value) -> Vec<Said> {
    let messages = list(&session["messages"]);
    messages.iter().filter(|message| message["active"] != 0).map(said).collect()
}

fn said(message: &Value) -> Said {
    let sent = message["api_content"].as_str();
    let calls = list(&message["tool_calls"]).iter().map(|call| {
        let function = &call["function"];
        (text(&call["id"]), text(&function["name"]), text(&function["arguments"]))
    });
    Said {
        role: text(&message["role"]),
        content: sent.map_or_else(|| text(&message["content"]), str::to_owned),
        answers: message["tool_call_id"].as_str().map(str::to_owned),
        calls: calls.collect(),
    }
}

/// The first message that was seen and is not stored, or not in that order.
pub(super) fn first_lost<'a>(seen: &'a [Said], stored: &[Said]) -> Option<&'a Said> {
    let mut stored = stored.iter();
    seen.iter().find(|message| !stored.any(|candidate| candidate == *message))
}

/// Whether the user's message is stored.
pub(super) fn holds_prompt(stored: &[Said], prompt: &str) -> bool {
    stored.iter().any(|message| message.role == "user" && message.content == prompt)
}

/// Call ids that do not have exactly one result right after the message that made them.
pub(super) fn unanswered(stored: &[Said]) -> Vec<String> {
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

/// The places at which a request does not continue the one before it.
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

/// Lines that stand in the counter more than once.
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
    fn a_missing_message_is_lost() {
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
    fn a_request_continues_the_one_before() {
        let (whole, cut) = (json!({"messages": history()}), without(3));
        assert!(broken_prefixes(&[cut.clone(), whole.clone()]).is_empty());
        assert_eq!(broken_prefixes(&[whole.clone(), cut]).len(), 1);
        assert_eq!(broken_prefixes(&[whole.clone(), json!({"messages": history(), "tools": []})]).len(), 1);
    }

    #[test]
    fn a_line_twice_is_doubled() {
        assert!(doubled("a\nb\n").is_empty());
        assert_eq!(doubled("a\nb\na\n"), ["a ran 2 times"]);
    }
}

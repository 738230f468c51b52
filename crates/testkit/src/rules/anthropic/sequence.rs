//! Rules about the order of messages, calls and results.

use super::{Rejection, Rule, is_thinking, kind, list};
use serde_json::Value;

/// `needs_thinking` is true if the request has a thinking budget.
pub(super) fn check(messages: &[Value], needs_thinking: bool) -> Result<(), Rejection> {
    let at = |place: usize| format!("messages[{place}]");
    let mut open: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let is_user = message["role"] == "user";
        let before = place.checked_sub(1).map(|before| messages[before]["role"] == "user");
        match (before, is_user) {
            (None, false) => return Err(Rejection::new(Rule::FirstNotUser, at(place))),
            (Some(true), true) => return Err(Rejection::new(Rule::ConsecutiveUsers, at(place))),
            (Some(false), false) => return Err(Rejection::new(Rule::ConsecutiveAssistants, at(place))),
            _ => {}
        }
        let content = list(&message["content"]);
        match is_user {
            true => answer(&mut open, content, &at(place))?,
            false => open = content.iter().filter_map(call_id).collect(),
        }
    }
    match messages {
        [.., calls, answers] if needs_thinking => check_begin(calls, answers, &at(messages.len() - 2))?,
        _ => {}
    }
    match messages.last() {
        Some(last) if last["role"] == "user" => Ok(()),
        _ => Err(Rejection::new(Rule::LastNotUser, "messages")),
    }
}

fn call_id(block: &Value) -> Option<&str> {
    block["id"].as_str().filter(|_| kind(block) == "tool_use")
}

/// The results in a user message must answer all open calls, before any other block.
fn answer<'a>(open: &mut Vec<&'a str>, content: &'a [Value], at: &str) -> Result<(), Rejection> {
    let mut answered: Vec<&str> = Vec::new();
    let mut others = false;
    for (place, block) in content.iter().enumerate() {
        let broken = |rule| Err(Rejection::new(rule, format!("{at}.content[{place}]")));
        if kind(block) != "tool_result" {
            others = true;
            continue;
        }
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        match open.iter().position(|call| *call == id) {
            Some(_) if others => return broken(Rule::ResultNotFirst),
            Some(call) => answered.push(open.remove(call)),
            None if answered.contains(&id) => return broken(Rule::AnsweredTwice),
            None => return broken(Rule::UnknownCallId),
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(Rejection::new(Rule::UnansweredCall, at)),
    }
}

fn check_begin(calls: &Value, answers: &Value, at: &str) -> Result<(), Rejection> {
    let answers_calls = list(&answers["content"]).iter().any(|block| kind(block) == "tool_result");
    let thinks = list(&calls["content"]).first().is_some_and(is_thinking);
    match answers_calls && !thinks {
        true => Err(Rejection::new(Rule::ThinkingMissing, at)),
        false => Ok(()),
    }
}

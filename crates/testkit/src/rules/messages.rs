//! Rules about single messages.

use super::{Rejection, Rule, check_name};
use serde_json::{Map, Value};
use std::collections::HashSet;

const MESSAGE_KEYS: &[&str] = &[
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "reasoning_content",
    "reasoning_details",
    "cache_control",
];
const CALL_KEYS: &[&str] = &["id", "type", "function", "extra_content"];
const FUNCTION_KEYS: &[&str] = &["name", "arguments"];

pub(super) fn check(messages: &[Value]) -> Result<(), Rejection> {
    for (place, message) in messages.iter().enumerate() {
        let at = format!("messages[{place}]");
        no_internal_keys(message, &at)?;
        let message = message.as_object().ok_or_else(|| Rejection::new(Rule::InvalidMessage, &at))?;
        check_message(message, &at)?;
    }
    Ok(())
}

fn check_message(message: &Map<String, Value>, at: &str) -> Result<(), Rejection> {
    let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
    if !matches!(role, "system" | "developer" | "user" | "assistant" | "tool") {
        return Err(Rejection::new(Rule::UnknownRole, format!("{at}.role")));
    }
    only_keys(message, MESSAGE_KEYS, at)?;
    for (key, owner) in [("tool_calls", "assistant"), ("tool_call_id", "tool")] {
        if role != owner && message.contains_key(key) {
            return Err(Rejection::new(Rule::MisplacedKey, format!("{at}.{key}")));
        }
    }
    check_content(message, at)?;
    if let Some(calls) = message.get("tool_calls") {
        check_calls(calls, &format!("{at}.tool_calls"))?;
    }
    if role == "tool" {
        check_id(message.get("tool_call_id"), &format!("{at}.tool_call_id"))?;
    }
    Ok(())
}

fn check_content(message: &Map<String, Value>, at: &str) -> Result<(), Rejection> {
    let at = format!("{at}.content");
    // A result is text.
    let is_result = message.get("role").is_some_and(|role| role == "tool");
    let typed = |part: &Value| part["type"].as_str().is_some_and(|kind| !is_result || kind == "text");
    match message.get("content") {
        None | Some(Value::Null) if message.contains_key("tool_calls") => Ok(()),
        None | Some(Value::Null) => Err(Rejection::new(Rule::NullContent, at)),
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) if !parts.is_empty() && parts.iter().all(typed) => Ok(()),
        Some(_) => Err(Rejection::new(Rule::InvalidContent, at)),
    }
}

fn check_calls(calls: &Value, at: &str) -> Result<(), Rejection> {
    let calls = calls.as_array().filter(|calls| !calls.is_empty());
    let calls = calls.ok_or_else(|| Rejection::new(Rule::InvalidCalls, at))?;
    let mut ids = HashSet::new();
    for (place, call) in calls.iter().enumerate() {
        let at = format!("{at}[{place}]");
        check_call(call, &at)?;
        if !ids.insert(call["id"].as_str()) {
            return Err(Rejection::new(Rule::DuplicateCallId, format!("{at}.id")));
        }
    }
    Ok(())
}

fn check_call(call: &Value, at: &str) -> Result<(), Rejection> {
    let parts = call.as_object().zip(call["function"].as_object());
    let Some((call, function)) =
        parts.filter(|(call, _)| call.get("type").is_some_and(|kind| kind == "function"))
    else {
        return Err(Rejection::new(Rule::InvalidCalls, at));
    };
    only_keys(call, CALL_KEYS, at)?;
    only_keys(function, FUNCTION_KEYS, &format!("{at}.function"))?;
    check_id(call.get("id"), &format!("{at}.id"))?;
    check_name(function.get("name").unwrap_or(&Value::Null), &format!("{at}.function.name"))?;
    let arguments = function.get("arguments").and_then(Value::as_str);
    match arguments.map(serde_json::from_str::<Value>) {
        Some(Ok(_)) => Ok(()),
        Some(Err(_)) | None => {
            Err(Rejection::new(Rule::InvalidArguments, format!("{at}.function.arguments")))
        }
    }
}

pub(super) fn check_id(id: Option<&Value>, at: &str) -> Result<(), Rejection> {
    match id.and_then(Value::as_str) {
        Some(id) if !id.is_empty() => Ok(()),
        Some(_) | None => Err(Rejection::new(Rule::MissingCallId, at)),
    }
}

pub(super) fn only_keys(object: &Map<String, Value>, known: &[&str], at: &str) -> Result<(), Rejection> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(Rejection::new(Rule::UnknownKey, format!("{at}.{key}"))),
        None => Ok(()),
    }
}

pub(super) fn no_internal_keys(value: &Value, at: &str) -> Result<(), Rejection> {
    match value {
        Value::Object(object) => object.iter().try_for_each(|(key, value)| {
            let at = format!("{at}.{key}");
            match key.starts_with('_') {
                true => Err(Rejection::new(Rule::InternalKey, at)),
                false => no_internal_keys(value, &at),
            }
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(place, item)| no_internal_keys(item, &format!("{at}[{place}]"))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

//! Rules about single input items.

use super::super::messages::{check_id, only_keys};
use super::super::{Rejection, Rule, check_name};
use serde_json::{Map, Value};

const LONGEST_ID: usize = 64;

type Members = Map<String, Value>;

pub(super) fn check(item: &Value, at: &str) -> Result<(), Rejection> {
    let invalid = || Rejection::new(Rule::InvalidItem, at);
    let members = item.as_object().ok_or_else(invalid)?;
    match members.get("type").map(|kind| kind.as_str().unwrap_or_default()) {
        None if members.contains_key("role") => {
            only_keys(members, &["role", "content"], at)?;
            message(item, at)
        }
        Some("message") => {
            only_keys(members, &["type", "role", "status", "content", "id", "phase"], at)?;
            message(item, at)
        }
        Some("reasoning") => reasoning(members, at),
        Some("function_call") => call(members, at),
        Some("function_call_output") => output(members, at),
        Some(_) | None => Err(invalid()),
    }
}

fn message(item: &Value, at: &str) -> Result<(), Rejection> {
    let kinds: &[&str] = match item["role"].as_str() {
        Some("user" | "developer" | "system") => &["input_text", "input_image"],
        Some("assistant") => &["output_text", "refusal"],
        Some(_) | None => return Err(Rejection::new(Rule::UnknownRole, format!("{at}.role"))),
    };
    if item["id"].as_str().is_some_and(|id| id.is_empty() || id.chars().count() > LONGEST_ID) {
        return Err(Rejection::new(Rule::StaleItemId, format!("{at}.id")));
    }
    content(&item["content"], kinds, &format!("{at}.content"))
}

fn content(content: &Value, kinds: &[&str], at: &str) -> Result<(), Rejection> {
    match content {
        Value::String(_) => Ok(()),
        Value::Array(parts) if !parts.is_empty() => parts
            .iter()
            .enumerate()
            .try_for_each(|(place, content)| part(content, kinds, &format!("{at}[{place}]"))),
        _ => Err(Rejection::new(Rule::InvalidContent, at)),
    }
}

fn part(part: &Value, kinds: &[&str], at: &str) -> Result<(), Rejection> {
    let invalid = || Rejection::new(Rule::InvalidContent, at);
    let members = part.as_object().ok_or_else(invalid)?;
    let kind = part["type"].as_str().unwrap_or_default();
    if !kinds.contains(&kind) {
        return Err(Rejection::new(Rule::WrongPart, format!("{at}.type")));
    }
    let (keys, body): (&[&str], _) = match kind {
        "input_image" => (&["type", "image_url", "detail"], "image_url"),
        "refusal" => (&["type", "refusal"], "refusal"),
        _ => (&["type", "text"], "text"),
    };
    only_keys(members, keys, at)?;
    let fetchable =
        |url: &str| ["data:image/", "https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
    match part[body].as_str() {
        Some(url) if kind == "input_image" && !fetchable(url) => Err(invalid()),
        Some(_) => Ok(()),
        None => Err(invalid()),
    }
}

fn reasoning(members: &Members, at: &str) -> Result<(), Rejection> {
    no_id(members, at)?;
    only_keys(members, &["type", "summary", "encrypted_content"], at)?;
    if members.get("encrypted_content").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err(Rejection::new(Rule::UnencryptedReasoning, at));
    }
    let summary = format!("{at}.summary");
    match members.get("summary") {
        Some(Value::Array(parts)) if parts.is_empty() => Ok(()),
        Some(parts @ Value::Array(_)) => content(parts, &["summary_text"], &summary),
        Some(_) | None => Err(Rejection::new(Rule::InvalidContent, summary)),
    }
}

fn call(members: &Members, at: &str) -> Result<(), Rejection> {
    no_id(members, at)?;
    only_keys(members, &["type", "call_id", "name", "arguments"], at)?;
    call_id(members, at)?;
    check_name(members.get("name").unwrap_or(&Value::Null), &format!("{at}.name"))?;
    let arguments = members.get("arguments").and_then(Value::as_str);
    match arguments.map(serde_json::from_str::<Value>) {
        Some(Ok(_)) => Ok(()),
        Some(Err(_)) | None => Err(Rejection::new(Rule::InvalidArguments, format!("{at}.arguments"))),
    }
}

fn output(members: &Members, at: &str) -> Result<(), Rejection> {
    no_id(members, at)?;
    only_keys(members, &["type", "call_id", "output"], at)?;
    call_id(members, at)?;
    let given = members.get("output").unwrap_or(&Value::Null);
    content(given, &["input_text", "input_image"], &format!("{at}.output"))
}

fn call_id(members: &Members, at: &str) -> Result<(), Rejection> {
    let at = format!("{at}.call_id");
    let id = members.get("call_id");
    check_id(id, &at)?;
    match id.and_then(Value::as_str) {
        Some(id) if id.chars().count() > LONGEST_ID => Err(Rejection::new(Rule::LongCallId, at)),
        Some(_) | None => Ok(()),
    }
}

/// With `store: false` a provider cannot find an item by its id.
fn no_id(members: &Members, at: &str) -> Result<(), Rejection> {
    match members.contains_key("id") {
        true => Err(Rejection::new(Rule::StaleItemId, format!("{at}.id"))),
        false => Ok(()),
    }
}

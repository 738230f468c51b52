//! Rules about each message and its blocks.

use super::super::check_name;
use super::super::messages::only_keys;
use super::{Rejection, Rule, is_blank, is_thinking, kind, list};
use serde_json::Value;
use std::collections::HashSet;

const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

pub(super) fn check(messages: &[Value]) -> Result<(), Rejection> {
    for (place, message) in messages.iter().enumerate() {
        check_message(message, &format!("messages[{place}]"))?;
    }
    Ok(())
}

fn check_message(message: &Value, at: &str) -> Result<(), Rejection> {
    let fields = message.as_object().ok_or_else(|| Rejection::new(Rule::InvalidMessage, at))?;
    only_keys(fields, &["role", "content"], at)?;
    let role = match message["role"].as_str() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Err(Rejection::new(Rule::UnknownRole, format!("{at}.role"))),
    };
    check_content(&message["content"], role, &format!("{at}.content"))?;
    let blocks = list(&message["content"]);
    let mut ids = HashSet::new();
    for (place, block) in blocks.iter().enumerate() {
        if kind(block) == "tool_use" && !ids.insert(block["id"].as_str()) {
            return Err(Rejection::new(Rule::DuplicateCallId, format!("{at}.content[{place}].id")));
        }
    }
    match blocks.last() {
        Some(last) if is_thinking(last) => {
            Err(Rejection::new(Rule::ThinkingLast, format!("{at}.content[{}]", blocks.len() - 1)))
        }
        _ => Ok(()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
    /// Inside a tool result.
    Result,
}

fn check_content(content: &Value, role: Role, at: &str) -> Result<(), Rejection> {
    match content {
        Value::String(text) if text.trim().is_empty() => Err(Rejection::new(Rule::EmptyText, at)),
        Value::String(_) => Ok(()),
        Value::Array(blocks) if !blocks.is_empty() => {
            let mut places = blocks.iter().enumerate();
            places.try_for_each(|(place, block)| check_block(block, role, &format!("{at}[{place}]")))
        }
        _ => Err(Rejection::new(Rule::InvalidContent, at)),
    }
}

fn check_block(block: &Value, role: Role, at: &str) -> Result<(), Rejection> {
    let keys: &[&str] = match (kind(block), role) {
        ("text", _) => &["type", "text", "cache_control"],
        ("image" | "document", Role::User | Role::Result) => &["type", "source", "cache_control"],
        ("tool_result", Role::User) => &["type", "tool_use_id", "content", "is_error", "cache_control"],
        ("tool_use", Role::Assistant) => &["type", "id", "name", "input", "cache_control"],
        // A mark on thinking has its own rule.
        ("thinking", Role::Assistant) => &["type", "thinking", "signature", "cache_control"],
        ("redacted_thinking", Role::Assistant) => &["type", "data", "cache_control"],
        _ => return Err(Rejection::new(Rule::UnknownBlock, at)),
    };
    if let Some(fields) = block.as_object() {
        only_keys(fields, keys, at)?;
    }
    let broken = |rule, key: &str| Err(Rejection::new(rule, format!("{at}.{key}")));
    match kind(block) {
        "text" if is_blank(&block["text"]) => broken(Rule::EmptyText, "text"),
        "image" | "document" if !is_source(block) => broken(Rule::InvalidSource, "source"),
        "tool_result" => {
            check_id(&block["tool_use_id"], &format!("{at}.tool_use_id"))?;
            check_content(&block["content"], Role::Result, &format!("{at}.content"))
        }
        "tool_use" => {
            check_id(&block["id"], &format!("{at}.id"))?;
            check_name(&block["name"], &format!("{at}.name"))?;
            if block["input"].is_object() { Ok(()) } else { broken(Rule::InvalidInput, "input") }
        }
        "thinking" if !block["thinking"].is_string() || is_blank(&block["signature"]) => {
            broken(Rule::UnsignedThinking, "signature")
        }
        "redacted_thinking" if is_blank(&block["data"]) => broken(Rule::UnsignedThinking, "data"),
        _ => Ok(()),
    }
}

fn check_id(id: &Value, at: &str) -> Result<(), Rejection> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    match id.as_str() {
        None | Some("") => Err(Rejection::new(Rule::MissingCallId, at)),
        Some(id) if id.chars().all(allowed) => Ok(()),
        Some(_) => Err(Rejection::new(Rule::InvalidCallId, at)),
    }
}

fn is_source(block: &Value) -> bool {
    let source = &block["source"];
    let media = source["media_type"].as_str().unwrap_or_default();
    match kind(source) {
        "base64" if kind(block) == "image" => IMAGES.contains(&media) && !is_blank(&source["data"]),
        "base64" => media == "application/pdf" && !is_blank(&source["data"]),
        "url" => source["url"].as_str().is_some_and(|url| url.starts_with("http")),
        _ => false,
    }
}

//! The rules by which Anthropic rejects Messages requests.
//!
//! Slightly stricter than the real ones: consecutive messages of one role are rejected (Anthropic would merge
//! them), and the last message must be the user's (only older models continue an assistant's).

mod blocks;
mod marks;
mod request;
mod sequence;

use super::{Rejection, Rule};
use serde_json::Value;

/// Checks a Messages request against all rules and returns the first violation.
pub fn check_anthropic(body: &Value) -> Result<(), Rejection> {
    request::check(body)?;
    let messages = list(&body["messages"]);
    blocks::check(messages)?;
    sequence::check(messages, body["thinking"]["type"] == "enabled")?;
    marks::check(body)
}

/// The elements of an array; none for anything else.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The type of a block.
fn kind(block: &Value) -> &str {
    block["type"].as_str().unwrap_or_default()
}

fn is_thinking(block: &Value) -> bool {
    matches!(kind(block), "thinking" | "redacted_thinking")
}

fn is_blank(text: &Value) -> bool {
    text.as_str().is_none_or(|text| text.trim().is_empty())
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
pub(super) mod tests;

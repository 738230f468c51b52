//! What Anthropic refuses in a Messages request.
//!
//! A little stricter than the real thing: messages of one role must not follow each other (it
//! would join them), and the last one must be the user's (only older models go on from an
//! assistant's).

mod blocks;
mod marks;
mod request;
mod sequence;

use super::{Rejection, Rule};
use serde_json::Value;

/// Checks a Messages request against all rules; the first broken one is named.
pub fn check_anthropic(body: &Value) -> Result<(), Rejection> {
    request::check(body)?;
    let messages = list(&body["messages"]);
    blocks::check(messages)?;
    sequence::check(messages, body["thinking"]["type"] == "enabled")?;
    marks::check(body)
}

/// The elements of an array, none for anything else.
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

//! A message's columns as JSON and back, without losing a byte.
//!
//! Columns that hold JSON are exported as values, so that a reader need not parse twice. Printing
//! a value again does not always give the text it was read from (white space, `1.10`, half of a
//! surrogate pair), and requests are built from that text. Where it would not, the text goes along.

use crate::sessions::rows::decode::lenient;
use crate::sessions::rows::encode::PARTS_MARK;
use serde_json::Value;

/// Columns that hold JSON; they are exported as values.
const JSON_COLUMNS: [&str; 4] =
    ["tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items"];
const CONTENT: &str = "content";

/// The columns whose text and exported value can differ.
pub(crate) fn is_exchanged(column: &str) -> bool {
    column == CONTENT || JSON_COLUMNS.contains(&column)
}

/// What is exported for a column's text. `plain` content is text whatever it begins with.
pub(crate) fn to_json(column: &str, text: &str, plain: bool) -> Value {
    let better = match column {
        CONTENT if plain => None,
        CONTENT => text.strip_prefix(PARTS_MARK).and_then(lenient),
        column if JSON_COLUMNS.contains(&column) => lenient(text),
        _ => None,
    };
    better.unwrap_or_else(|| text.into())
}

/// The text for a value. The Python program exports some of the JSON columns as the texts they
/// are, so a text in their place is taken as it is.
pub(crate) fn to_text(column: &str, value: &Value, plain: bool) -> String {
    match value {
        Value::String(text) if column != CONTENT || to_json(column, text, plain) == *value => text.clone(),
        other if column == CONTENT => format!("{PARTS_MARK}{other}"),
        other => other.to_string(),
    }
}

/// The text to export beside the value, if the value alone would not bring it back.
pub(crate) fn needed_text<'a>(column: &str, text: &'a str, plain: bool) -> Option<&'a str> {
    let value = to_json(column, text, plain);
    (value.is_null() || to_text(column, &value, plain) != text).then_some(text)
}

#[cfg(test)]
#[path = "column_json_tests.rs"]
mod tests;

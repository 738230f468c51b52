//! Lossless conversion of a message's columns to JSON and back.
//!
//! Columns with JSON are exported as values, so that a reader need not parse twice. Serialising a value again
//! does not always give the original text (white space, `1.10`, half of a surrogate pair), and requests are
//! built from that text. In that case the text is exported, too.

use crate::sessions::rows::decode::lenient;
use crate::sessions::rows::encode::PARTS_MARK;
use serde_json::Value;

/// Columns with JSON, which are exported as values.
const JSON_COLUMNS: [&str; 4] =
    ["tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items"];
const CONTENT: &str = "content";

/// Returns true for columns whose text and exported value can differ.
pub(crate) fn is_exchanged(column: &str) -> bool {
    column == CONTENT || JSON_COLUMNS.contains(&column)
}

/// Returns the exported value of a column. `plain` content is text, also with the prefix of structured
/// content.
pub(crate) fn to_json(column: &str, text: &str, plain: bool) -> Value {
    let better = match column {
        CONTENT if plain => None,
        CONTENT => text.strip_prefix(PARTS_MARK).and_then(lenient),
        column if JSON_COLUMNS.contains(&column) => lenient(text),
        _ => None,
    };
    better.unwrap_or_else(|| text.into())
}

/// Returns the text for an exported value. The Python release exports some JSON columns as text, so a text is
/// kept unchanged.
pub(crate) fn to_text(column: &str, value: &Value, plain: bool) -> String {
    match value {
        Value::String(text) if column != CONTENT || to_json(column, text, plain) == *value => text.clone(),
        other if column == CONTENT => format!("{PARTS_MARK}{other}"),
        other => other.to_string(),
    }
}

/// Returns the text to export beside the value, if the value alone does not restore it.
pub(crate) fn needed_text<'a>(column: &str, text: &'a str, plain: bool) -> Option<&'a str> {
    let value = to_json(column, text, plain);
    (value.is_null() || to_text(column, &value, plain) != text).then_some(text)
}

#[cfg(test)]
#[path = "column_json_tests.rs"]
mod tests;

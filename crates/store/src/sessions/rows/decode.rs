//! Decodes a row to a message.
//!
//! Our own rows are decoded byte for byte. Rows of other programs are decoded leniently: an unknown value is
//! left out, a row with an unknown role is skipped, and nothing is an error.

use super::encode::PARTS_MARK;
use hermes_conversation::{
    AssistantMessage, CallId, Content, Disposition, FinishReason, Message, RawJson, Reasoning, ToolCall,
    ToolMessage, UserMessage,
};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The columns of [`message`], in this order, from `messages AS m` left joined with `hx_message_ext AS x`.
pub(crate) const COLUMNS: &str = "m.role, m.content, m.tool_call_id, m.tool_calls, m.tool_name, \
     m.effect_disposition, m.finish_reason, m.reasoning, m.reasoning_content, m.reasoning_details, \
     m.codex_reasoning_items, m.codex_message_items, m.api_content, x.issuer, x.anthropic_blocks, x.plain";
/// The number of these columns.
pub(crate) const WIDTH: usize = 16;

/// Decodes a row of [`COLUMNS`]; `None` for a role that is not part of a conversation.
pub(crate) fn message(row: &Row<'_>) -> rusqlite::Result<Option<Message>> {
    Ok(match text(row, 0)?.as_deref() {
        Some("user") => Some(Message::User(user(row)?)),
        Some("assistant") => Some(Message::Assistant(assistant(row)?)),
        Some("tool") => Some(Message::Tool(tool(row)?)),
        _ => None,
    })
}

fn user(row: &Row<'_>) -> rusqlite::Result<UserMessage> {
    Ok(UserMessage { content: content(row)?, api_content: text(row, 12)? })
}

fn assistant(row: &Row<'_>) -> rusqlite::Result<AssistantMessage> {
    Ok(AssistantMessage {
        text: match content(row)? {
            Content::Text(text) => text,
            Content::Parts(parts) => readable_text(parts.as_str()),
        },
        calls: text(row, 3)?.map(|stored| calls(&stored)).unwrap_or_default(),
        reasoning: Reasoning {
            text: text(row, 7)?,
            content: text(row, 8)?,
            details: json(row, 9)?,
            codex_items: json(row, 10)?,
            codex_messages: json(row, 11)?,
            anthropic_blocks: json(row, 14)?,
        },
        finish: text(row, 6)?.as_deref().and_then(FinishReason::parse),
        issuer: text(row, 13)?.as_deref().and_then(lenient),
    })
}

fn tool(row: &Row<'_>) -> rusqlite::Result<ToolMessage> {
    Ok(ToolMessage {
        call_id: CallId::new(text(row, 2)?.unwrap_or_default()),
        tool_name: text(row, 4)?.unwrap_or_default(),
        content: content(row)?,
        api_content: text(row, 12)?,
        disposition: text(row, 5)?.as_deref().and_then(Disposition::parse),
    })
}

fn content(row: &Row<'_>) -> rusqlite::Result<Content> {
    let stored = text(row, 1)?.unwrap_or_default();
    let plain = row.get_ref(15)?.as_i64_or_null().is_ok_and(|plain| plain == Some(1));
    if !plain
        && let Some(parts) = stored.strip_prefix(PARTS_MARK)
        && let Some(parts) = RawJson::parse(parts)
    {
        return Ok(Content::Parts(parts));
    }
    Ok(Content::Text(stored))
}

fn json(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<RawJson>> {
    Ok(text(row, column)?.as_deref().and_then(RawJson::parse))
}

/// Reads a column of any type as text.
pub(crate) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    })
}

#[derive(Deserialize)]
struct TextPart {
    text: Option<String>,
}

/// Returns the text of a list of parts, or the list itself if it has no text.
pub(crate) fn readable_text(parts: &str) -> String {
    let texts: Vec<String> = lenient::<Vec<TextPart>>(parts)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|part| part.text)
        .collect();
    if texts.is_empty() {
        return parts.to_owned();
    }
    texts.join("\n")
}

/// A call in any known shape: nested under `function` or flat, with its arguments as a string or as an
/// object.
#[derive(Deserialize)]
struct AnyCall {
    id: Option<String>,
    call_id: Option<String>,
    response_item_id: Option<String>,
    function: Option<AnyFunction>,
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
    extra_content: Option<RawJson>,
}

#[derive(Deserialize)]
struct AnyFunction {
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
}

/// Decodes the `tool_calls` column: a list, or a single call.
pub(crate) fn calls(stored: &str) -> Vec<ToolCall> {
    let found =
        lenient::<Vec<RawJson>>(stored).unwrap_or_else(|| RawJson::parse(stored).into_iter().collect());
    found
        .iter()
        .enumerate()
        .filter_map(|(place, call)| Some(lenient::<AnyCall>(call.as_str())?.into_call(place)))
        .collect()
}

impl AnyCall {
    fn into_call(self, place: usize) -> ToolCall {
        let (name, arguments) = match self.function {
            Some(function) => (function.name, function.arguments),
            None => (self.name, self.arguments),
        };
        let name = name.unwrap_or_default();
        let arguments = arguments.map_or_else(|| "{}".to_owned(), |raw| argument_text(&raw));
        let named = self.id.or_else(|| self.call_id.clone());
        ToolCall {
            id: named.map_or_else(|| CallId::derived(&name, &arguments, place), CallId::new),
            name,
            arguments,
            call_id: self.call_id,
            response_item_id: self.response_item_id,
            extra_content: self.extra_content,
        }
    }
}

fn argument_text(raw: &RawValue) -> String {
    match raw.get() {
        "null" => "{}".to_owned(),
        text => lenient::<String>(text).unwrap_or_else(|| text.to_owned()),
    }
}

/// Parses JSON of a row; invalid JSON is `None`, never an error.
pub(crate) fn lenient<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    hermes_conversation::parse_lenient(text).ok()
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;

//! Encodes a message as the columns of its row.
//!
//! The shared columns have the Python release's encoding, so that both programs read each other's rows;
//! everything else goes to `hx_message_ext`.

use hermes_conversation::{AssistantMessage, Content, Message, RawJson, ToolCall, ToolMessage, UserMessage};
use serde::Serialize;

/// Prefix of structured content.
pub(crate) const PARTS_MARK: &str = "\0json:";

/// The columns of one row, ready to be inserted. `None` is NULL.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub role: &'static str,
    pub content: String,
    /// `content` is plain text although it begins with [`PARTS_MARK`].
    pub plain: bool,
    pub tool_call_id: Option<String>,
    pub tool_calls: Option<String>,
    pub call_count: usize,
    pub tool_name: Option<String>,
    pub effect_disposition: Option<&'static str>,
    pub finish_reason: Option<&'static str>,
    pub reasoning: Option<String>,
    pub reasoning_content: Option<String>,
    pub reasoning_details: Option<String>,
    pub codex_reasoning_items: Option<String>,
    pub codex_message_items: Option<String>,
    pub api_content: Option<String>,
    pub issuer: Option<String>,
    pub anthropic_blocks: Option<String>,
}

pub(crate) fn columns(message: &Message) -> Columns {
    match message {
        Message::User(message) => user(message),
        Message::Assistant(message) => assistant(message),
        Message::Tool(message) => tool(message),
    }
}

pub(crate) fn user(message: &UserMessage) -> Columns {
    let (content, plain) = stored(&message.content);
    Columns { role: "user", content, plain, api_content: message.api_content.clone(), ..Columns::default() }
}

pub(crate) fn assistant(message: &AssistantMessage) -> Columns {
    let reasoning = &message.reasoning;
    Columns {
        role: "assistant",
        content: message.text.clone(),
        plain: message.text.starts_with(PARTS_MARK),
        tool_calls: (!message.calls.is_empty()).then(|| stored_calls(&message.calls)),
        call_count: message.calls.len(),
        finish_reason: message.finish.map(|finish| finish.as_str()),
        reasoning: reasoning.text.clone(),
        reasoning_content: reasoning.content.clone(),
        reasoning_details: text_of(reasoning.details.as_ref()),
        codex_reasoning_items: text_of(reasoning.codex_items.as_ref()),
        codex_message_items: text_of(reasoning.codex_messages.as_ref()),
        issuer: message.issuer.as_ref().and_then(RawJson::of).map(|issuer| issuer.as_str().to_owned()),
        anthropic_blocks: text_of(reasoning.anthropic_blocks.as_ref()),
        ..Columns::default()
    }
}

pub(crate) fn tool(message: &ToolMessage) -> Columns {
    let (content, plain) = stored(&message.content);
    Columns {
        role: "tool",
        content,
        plain,
        tool_call_id: Some(message.call_id.as_str().to_owned()),
        tool_name: Some(message.tool_name.clone()),
        effect_disposition: message.disposition.map(|disposition| disposition.as_str()),
        api_content: message.api_content.clone(),
        ..Columns::default()
    }
}

fn stored(content: &Content) -> (String, bool) {
    match content {
        Content::Text(text) => (text.clone(), text.starts_with(PARTS_MARK)),
        Content::Parts(parts) => (format!("{PARTS_MARK}{}", parts.as_str()), false),
    }
}

fn text_of(json: Option<&RawJson>) -> Option<String> {
    json.map(|json| json.as_str().to_owned())
}

#[derive(Serialize)]
struct StoredCall<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_item_id: Option<&'a str>,
    r#type: &'static str,
    function: StoredFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawJson>,
}

#[derive(Serialize)]
struct StoredFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

fn stored_calls(calls: &[ToolCall]) -> String {
    let calls: Vec<_> = calls
        .iter()
        .map(|call| StoredCall {
            id: call.id.as_str(),
            call_id: call.call_id.as_deref(),
            response_item_id: call.response_item_id.as_deref(),
            r#type: "function",
            function: StoredFunction { name: &call.name, arguments: &call.arguments },
            extra_content: call.extra_content.as_ref(),
        })
        .collect();
    match serde_json::to_string(&calls) {
        Ok(text) => text,
        Err(error) => unreachable!("strings and well-formed JSON always serialise: {error}"),
    }
}

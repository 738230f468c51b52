//! Chat completions, outbound.
//!
//! Settings come first and messages last, so that even the raw bytes of one request, without the closing
//! brackets, begin the next one.

mod dialect;
mod result_images;

use super::tool_names::tool_name;
use super::{Format, HeadParts, write_json};
use crate::{ModelRequest, OutputCapKey, RequestSettings, SystemRole};
pub use dialect::{ChatDialect, ExtraFields};
use hermes_conversation::{AssistantMessage, Content, Message, RawJson, ToolCall, ToolDefinition};
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct Chat;

impl Format for Chat {
    fn head(&self, request: &ModelRequest) -> HeadParts {
        head(request)
    }

    fn unit(&self, messages: &[Arc<Message>]) -> usize {
        result_images::unit(messages)
    }

    fn write(&self, unit: &[Arc<Message>], settings: &RequestSettings, bytes: &mut Vec<u8>) -> Option<usize> {
        let mut mark = None;
        let start = bytes.len();
        let (shown, others) = result_images::split(unit);
        for one in others {
            if bytes.len() > start {
                bytes.push(b',');
            }
            mark = message(one, settings, bytes);
        }
        match shown {
            Some(parts) => {
                bytes.push(b',');
                let start = bytes.len();
                let content = WireContent::Parts(&parts);
                write_json(bytes, &WireSpoken { role: "user", content });
                mark_in(content, content_start(start, "user"))
            }
            None => mark,
        }
    }
}

fn head(request: &ModelRequest) -> HeadParts {
    let mut bytes = Vec::with_capacity(16 * 1024);
    bytes.extend_from_slice(b"{\"model\":");
    write_json(&mut bytes, &*request.model);
    if request.settings.stream {
        bytes.extend_from_slice(br#","stream":true,"stream_options":{"include_usage":true}"#);
    }
    if let Some(cap) = request.settings.max_tokens {
        let key = match request.settings.dialect.output_cap {
            OutputCapKey::MaxTokens => "max_tokens",
            OutputCapKey::MaxCompletionTokens => "max_completion_tokens",
        };
        bytes.extend_from_slice(format!(",\"{key}\":{cap}").as_bytes());
    }
    request.settings.extra.write(&mut bytes);
    if let Some(session) =
        request.settings.session.as_deref().filter(|_| request.settings.dialect.chat.names_session)
    {
        bytes.extend_from_slice(b",\"session_id\":");
        write_json(&mut bytes, session);
    }
    let tools = write_tools(&mut bytes, &request.tools);
    bytes.extend_from_slice(b",\"messages\":[");
    let (system, mark) = write_system(&mut bytes, request);
    let output_cap = request.settings.max_tokens;
    HeadParts { has_items: !system.is_empty(), bytes, tools, system, mark, output_cap }
}

fn write_tools(bytes: &mut Vec<u8>, tools: &[ToolDefinition]) -> Range<usize> {
    if tools.is_empty() {
        return bytes.len()..bytes.len();
    }
    bytes.extend_from_slice(b",\"tools\":");
    let start = bytes.len();
    let tools: Vec<_> =
        tools.iter().map(|tool| WireTool { kind: "function", function: tool.into() }).collect();
    write_json(bytes, &tools);
    start..bytes.len()
}

fn write_system(bytes: &mut Vec<u8>, request: &ModelRequest) -> (Range<usize>, Option<usize>) {
    let start = bytes.len();
    if request.system.is_empty() {
        return (start..start, None);
    }
    let role = match request.settings.dialect.system_role {
        SystemRole::System => "system",
        SystemRole::Developer => "developer",
    };
    let content = WireContent::Text(&request.system).for_marks(&request.settings);
    write_json(bytes, &WireSpoken { role, content });
    let mark = mark_in(content, content_start(start, role));
    (start..bytes.len(), mark)
}

/// Appends one message of the history, and returns the offset for a cache mark.
fn message(message: &Message, settings: &RequestSettings, bytes: &mut Vec<u8>) -> Option<usize> {
    let start = bytes.len();
    match message {
        Message::User(user) => {
            let content = WireContent::of(&user.content, user.api_content.as_deref()).for_marks(settings);
            write_json(bytes, &WireSpoken { role: "user", content });
            mark_in(content, content_start(start, "user"))
        }
        Message::Assistant(assistant) => {
            let wire = WireAssistant::of(assistant, settings);
            write_json(bytes, &wire);
            mark_in(wire.content?, content_start(start, "assistant"))
        }
        // Results have no marks in this format.
        Message::Tool(tool) => {
            let content = WireContent::of(&tool.content, tool.api_content.as_deref());
            let text = result_images::as_text(content);
            let content = text.as_deref().map_or(content, WireContent::Text);
            write_json(bytes, &WireResult { role: "tool", tool_call_id: tool.call_id.as_str(), content });
            None
        }
    }
}

/// The offset of the content of a message that begins at `start`.
fn content_start(start: usize, role: &str) -> usize {
    start + r#"{"role":"","content":"#.len() + role.len()
}

/// The offset just before the end of the last part.
fn mark_in(content: WireContent<'_>, start: usize) -> Option<usize> {
    match content {
        WireContent::Text(_) => None,
        WireContent::Marked([_]) => {
            let mut written = Vec::new();
            write_json(&mut written, &content);
            Some(start + written.len() - "}]".len())
        }
        WireContent::Parts(parts) => parts.as_str().rfind('}').map(|end| start + end),
    }
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunctionSpec<'a>,
}

#[derive(Serialize)]
struct WireFunctionSpec<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawJson,
}

impl<'a> From<&'a ToolDefinition> for WireFunctionSpec<'a> {
    fn from(tool: &'a ToolDefinition) -> Self {
        Self { name: &tool.name, description: &tool.description, parameters: &tool.parameters }
    }
}

#[derive(Serialize)]
struct WireSpoken<'a> {
    role: &'static str,
    content: WireContent<'a>,
}

#[derive(Serialize)]
struct WireResult<'a> {
    role: &'static str,
    tool_call_id: &'a str,
    content: WireContent<'a>,
}

#[derive(Serialize, Clone, Copy)]
#[serde(untagged)]
enum WireContent<'a> {
    Text(&'a str),
    /// Text as a list of one part, which can carry a cache mark.
    Marked([TextPart<'a>; 1]),
    Parts(&'a RawJson),
}

#[derive(Serialize, Clone, Copy)]
struct TextPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

impl<'a> WireContent<'a> {
    /// The text that was sent the first time takes precedence over the displayed one, so that later requests
    /// are equal.
    fn of(content: &'a Content, sent: Option<&'a str>) -> Self {
        match (sent, content) {
            (Some(sent), _) => Self::Text(sent),
            (None, Content::Text(text)) => Self::Text(text),
            (None, Content::Parts(parts)) => Self::Parts(parts),
        }
    }

    /// A form that can carry a mark, whether it does now or not: moving a mark must change nothing else. Blank
    /// text cannot carry one.
    fn for_marks(self, settings: &RequestSettings) -> Self {
        match self {
            Self::Text(text) if settings.cache.is_some() && !text.trim().is_empty() => {
                Self::Marked([TextPart { kind: "text", text }])
            }
            other => other,
        }
    }
}

#[derive(Serialize)]
struct WireAssistant<'a> {
    role: &'static str,
    content: Option<WireContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<&'a RawJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
}

impl<'a> WireAssistant<'a> {
    fn of(message: &'a AssistantMessage, settings: &RequestSettings) -> Self {
        let same_issuer = message.issuer.is_some() && message.issuer == settings.issuer;
        // A message with calls and without text has no content; every other message must have one.
        let wordless = message.text.is_empty() && !message.calls.is_empty();
        Self {
            role: "assistant",
            content: (!wordless).then(|| WireContent::Text(&message.text).for_marks(settings)),
            reasoning_content: settings.dialect.chat.echoes_reasoning.then(|| echo(message, settings)),
            reasoning_details: message.reasoning.details.as_ref().filter(|_| same_issuer),
            tool_calls: message
                .calls
                .iter()
                .map(|call| WireCall::of(call, settings.dialect.keep_extra_content))
                .collect(),
        }
    }
}

/// The `reasoning_content` of a message for an endpoint that requires one.
///
/// A space replaces reasoning that is missing or from another endpoint: it passes the check without passing one
/// vendor's reasoning to another. A message of unknown origin with calls and generic reasoning only counts as
/// foreign, because these endpoints always fill the field beside calls.
fn echo<'a>(message: &'a AssistantMessage, settings: &RequestSettings) -> &'a str {
    const PAD: &str = " ";
    let Some(reader) = &settings.issuer else { return PAD };
    let stored = message.reasoning.content.as_deref();
    let text = match &message.issuer {
        Some(writer) if (&writer.provider, &writer.origin) != (&reader.provider, &reader.origin) => None,
        None if !message.calls.is_empty() => stored,
        Some(_) | None => stored.or(message.reasoning.text.as_deref()),
    };
    text.filter(|text| !text.is_empty()).unwrap_or(PAD)
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawJson>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
}

impl<'a> WireCall<'a> {
    fn of(call: &'a ToolCall, keep_extra: bool) -> Self {
        Self {
            id: call.id.as_str(),
            kind: "function",
            function: WireFunction { name: tool_name(&call.name), arguments: &call.arguments },
            extra_content: call.extra_content.as_ref().filter(|_| keep_extra),
        }
    }
}

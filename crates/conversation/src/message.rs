//! Messages in Hermes' own format, independent of any provider.
//!
//! The system prompt is not a message: it belongs to the session, which stores it once.

use crate::{CallId, RawJson, parse_lenient, raw_json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// A message of the user, the model or a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    User(UserMessage),
    Assistant(AssistantMessage),
    Tool(ToolMessage),
}

/// A message of the user or of the calling program, or one that the agent adds in its place.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct UserMessage {
    pub content: Content,
    /// The text to send instead of `content`, with the additions of the call. Stored, so that later requests
    /// have the same bytes.
    pub api_content: Option<String>,
}

/// A reply of the model: text and tool calls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AssistantMessage {
    pub text: String,
    pub calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Reasoning::is_empty")]
    pub reasoning: Reasoning,
    pub finish: Option<FinishReason>,
    /// The provider and model that wrote it. Reasoning is sent back only to the same issuer.
    pub issuer: Option<Issuer>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolMessage {
    pub call_id: CallId,
    pub tool_name: String,
    pub content: Content,
    pub api_content: Option<String>,
    pub disposition: Option<Disposition>,
}

/// Text, or a list of provider-neutral content parts kept as raw JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Text(String),
    #[serde(with = "raw_json::as_text")]
    Parts(RawJson),
}

/// A request by the model to run a tool.
///
/// `arguments` is replayed exactly as received; only arguments that had to be repaired are
/// rewritten, once, before they are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    pub arguments: String,
    /// Ids of the Responses format, which names a call twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_item_id: Option<String>,
    /// Provider extras such as thought signatures.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "raw_json::optional_as_text")]
    pub extra_content: Option<RawJson>,
}

/// A tool as it is described to the model. `parameters` is a JSON schema, kept as text so that its bytes
/// never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    pub parameters: RawJson,
}

/// The reasoning of a reply, in the forms in which providers return it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reasoning {
    /// Readable text for display; never sent.
    pub text: Option<String>,
    /// The `reasoning_content` field, which some providers require in later requests.
    pub content: Option<String>,
    #[serde(with = "raw_json::optional_as_text")]
    pub details: Option<RawJson>,
    #[serde(with = "raw_json::optional_as_text")]
    pub codex_items: Option<RawJson>,
    #[serde(with = "raw_json::optional_as_text")]
    pub codex_messages: Option<RawJson>,
    #[serde(with = "raw_json::optional_as_text")]
    pub anthropic_blocks: Option<RawJson>,
}

/// The origin of a reply: provider id, origin of the endpoint, model name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issuer {
    pub provider: String,
    pub origin: String,
    pub model: String,
}

/// The reason for which the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    Incomplete,
}

/// The known effect of a call without an ordinary result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// The call had no effect.
    None,
    /// The call may or may not have had an effect.
    Unknown,
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(UserMessage::text(text))
    }

    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(AssistantMessage { text: text.into(), ..AssistantMessage::default() })
    }

    pub fn tool(call_id: CallId, tool_name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Tool(ToolMessage::new(call_id, tool_name, text))
    }

    /// The role as stored and sent.
    pub fn role(&self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Assistant(_) => "assistant",
            Self::Tool(_) => "tool",
        }
    }

    /// The tool calls of an assistant message; empty for any other.
    pub fn calls(&self) -> &[ToolCall] {
        match self {
            Self::Assistant(message) => &message.calls,
            Self::User(_) | Self::Tool(_) => &[],
        }
    }

    /// The text, or the JSON of the parts.
    pub fn text(&self) -> &str {
        match self {
            Self::User(message) => message.content.as_text(),
            Self::Assistant(message) => &message.text,
            Self::Tool(message) => message.content.as_text(),
        }
    }

    /// The text with a placeholder such as `[image]` for each part that is not text.
    pub fn plain_text(&self) -> Cow<'_, str> {
        match self {
            Self::User(message) => message.content.plain_text(),
            Self::Assistant(message) => Cow::Borrowed(&message.text),
            Self::Tool(message) => message.content.plain_text(),
        }
    }
}

impl UserMessage {
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: Content::text(text), api_content: None }
    }

    /// The message with `before` and a blank line before its own text.
    pub fn preceded_by(self, before: &str) -> Self {
        let content = match self.content {
            Content::Text(text) => Content::Text(format!("{before}\n\n{text}")),
            Content::Parts(parts) => match with_part_before(before, &parts) {
                Some(parts) => Content::Parts(parts),
                None => Content::Text(format!("{before}\n\n{}", parts.as_str())),
            },
        };
        let api_content = self.api_content.map(|sent| format!("{before}\n\n{sent}"));
        Self { content, api_content }
    }
}

fn with_part_before(text: &str, parts: &RawJson) -> Option<RawJson> {
    let mut list: Vec<RawJson> = serde_json::from_str(parts.as_str()).ok()?;
    let first = serde_json::json!({ "type": "text", "text": format!("{text}\n\n") });
    list.insert(0, RawJson::of(&first)?);
    RawJson::of(&list)
}

fn with_part_after(parts: &RawJson, text: &str) -> Option<RawJson> {
    let mut list: Vec<RawJson> = serde_json::from_str(parts.as_str()).ok()?;
    list.push(RawJson::of(&serde_json::json!({ "type": "text", "text": text }))?);
    RawJson::of(&list)
}

impl ToolMessage {
    pub fn new(call_id: CallId, tool_name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            call_id,
            tool_name: tool_name.into(),
            content: Content::text(text),
            api_content: None,
            disposition: None,
        }
    }

    /// The result with images after its text, given as data URLs.
    pub fn with_images(mut self, urls: &[String]) -> Self {
        let text = serde_json::json!({ "type": "text", "text": self.content.as_text() });
        let image = |url| serde_json::json!({ "type": "image_url", "image_url": { "url": url } });
        let parts: Vec<Value> = std::iter::once(text).chain(urls.iter().map(image)).collect();
        if let Some(parts) = RawJson::of(&parts).filter(|_| !urls.is_empty()) {
            self.content = Content::Parts(parts);
        }
        self
    }

    /// Adds a note after the text that is sent. The text that is stored as the result stays as it is, except beside
    /// images, which are sent as they are stored.
    pub fn add_note(&mut self, note: &str) {
        if let (None, Content::Parts(parts)) = (&self.api_content, &self.content)
            && let Some(longer) = with_part_after(parts, note)
        {
            self.content = Content::Parts(longer);
            return;
        }
        let sent = self.api_content.as_deref().unwrap_or(self.content.as_text());
        self.api_content = Some(format!("{sent}\n\n{note}"));
    }

    pub fn with_disposition(mut self, disposition: Disposition) -> Self {
        self.disposition = Some(disposition);
        self
    }
}

impl Content {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The text, or the JSON of the parts.
    pub fn as_text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.as_str(),
        }
    }

    /// Returns true where one of the parts is an image.
    pub fn has_image(&self) -> bool {
        let Self::Parts(raw) = self else { return false };
        // Most lists are short; those with an image say so somewhere, and only they are read.
        let parts = raw.as_str().contains("image").then(|| parse_lenient::<Vec<Value>>(raw.as_str()).ok());
        parts.flatten().is_some_and(|parts| parts.iter().any(is_image))
    }

    /// The text with a placeholder such as `[image]` for each part that is not text.
    pub fn plain_text(&self) -> Cow<'_, str> {
        let raw = match self {
            Self::Text(text) => return Cow::Borrowed(text),
            Self::Parts(raw) => raw,
        };
        let Ok(parts) = parse_lenient::<Vec<Value>>(raw.as_str()) else { return Cow::Borrowed(raw.as_str()) };
        let texts = parts.iter().map(|part| {
            let kind = part["type"].as_str().unwrap_or_default();
            match (kind, part["text"].as_str().or(part.as_str())) {
                _ if is_image(part) => "[image]".to_owned(),
                ("text" | "input_text" | "output_text" | "", Some(text)) => text.to_owned(),
                _ => format!("[{kind}]"),
            }
        });
        Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
    }
}

fn is_image(part: &Value) -> bool {
    matches!(part["type"].as_str(), Some("image_url" | "input_image" | "image"))
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl ToolCall {
    pub fn new(id: CallId, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
            arguments: arguments.into(),
            call_id: None,
            response_item_id: None,
            extra_content: None,
        }
    }
}

impl Reasoning {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl FinishReason {
    /// The spelling used in the database, in events and in exit reasons.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Incomplete => "incomplete",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "stop" => Self::Stop,
            "tool_calls" => Self::ToolCalls,
            "length" => Self::Length,
            "content_filter" => Self::ContentFilter,
            "incomplete" => Self::Incomplete,
            _ => return None,
        })
    }
}

impl Disposition {
    /// The spelling used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self::None),
            "unknown" => Some(Self::Unknown),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preceded_by_adds_text_before_text_and_parts() {
        let parts = RawJson::parse(r#"[{"type":"image_url","image_url":{"url":"data:x"}}]"#).unwrap();
        for (content, want) in [
            (Content::text("b"), "a\n\nb"),
            (
                Content::Parts(parts),
                r#"[{"type":"text","text":"a\n\n"},{"type":"image_url","image_url":{"url":"data:x"}}]"#,
            ),
        ] {
            let message = UserMessage { content, api_content: None }.preceded_by("a");
            assert_eq!(message.content.as_text(), want);
        }
    }

    #[test]
    fn note_goes_beside_images_and_after_text() {
        let result = || ToolMessage::new(CallId::new("c"), "t", "text");
        let mut plain = result();
        plain.add_note("note");
        assert_eq!((plain.content.as_text(), plain.api_content.as_deref()), ("text", Some("text\n\nnote")));
        let mut shown = result().with_images(&["data:x".to_owned()]);
        shown.add_note("note");
        let want = r#"[{"type":"text","text":"text"},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"note"}]"#;
        assert_eq!((shown.content.as_text(), shown.api_content), (want, None));
        assert_eq!(result().with_images(&[]), result());
    }
}

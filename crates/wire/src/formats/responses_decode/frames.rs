//! Wire types of the Responses format. Other fields are ignored.

use crate::formats::chat_decode::Arguments;
use crate::formats::token_count::Count;
use hermes_conversation::{RawJson, Usage, parse_lenient};
use serde::Deserialize;

/// The type and the error of an event. Some errors have no type.
#[derive(Deserialize)]
pub(super) struct Kind {
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) error: Option<RawJson>,
    #[serde(default)]
    pub(super) detail: Option<RawJson>,
}

#[derive(Deserialize)]
pub(super) struct ItemEvent {
    #[serde(default)]
    pub(super) output_index: Option<u64>,
    pub(super) item: RawJson,
}

#[derive(Deserialize)]
pub(super) struct DeltaEvent {
    #[serde(default)]
    pub(super) output_index: Option<u64>,
    #[serde(default)]
    pub(super) item_id: Option<String>,
    #[serde(default)]
    pub(super) summary_index: Option<u64>,
    #[serde(default)]
    delta: Option<RawJson>,
}

impl DeltaEvent {
    /// The text, which some servers wrap in an object.
    pub(super) fn text(&self) -> String {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Delta {
            Text(String),
            Wrapped { text: String },
        }
        match self.delta.as_ref().map(|delta| parse_lenient(delta.as_str())) {
            Some(Ok(Delta::Text(text) | Delta::Wrapped { text })) => text,
            Some(Err(_)) | None => String::new(),
        }
    }
}

/// The final arguments of a call, or the final text for a custom tool.
#[derive(Deserialize)]
pub(super) struct ArgumentsEvent {
    #[serde(default)]
    pub(super) output_index: Option<u64>,
    #[serde(default, alias = "input")]
    pub(super) arguments: Option<Arguments>,
}

#[derive(Deserialize)]
pub(super) struct EndEvent {
    pub(super) response: Response,
}

/// A response, whole or as the end of a stream contains it.
#[derive(Deserialize)]
pub(super) struct Response {
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) error: Option<RawJson>,
    #[serde(default)]
    pub(super) incomplete_details: Option<IncompleteDetails>,
    #[serde(default, deserialize_with = "crate::formats::bounded_list::bounded")]
    pub(super) output: Option<Vec<RawJson>>,
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
}

#[derive(Deserialize)]
pub(super) struct IncompleteDetails {
    #[serde(default)]
    pub(super) reason: Option<String>,
}

/// One item of a response's output.
pub(super) enum Item {
    Message(MessageItem),
    Reasoning(ReasoningItem),
    Call(CallItem),
    /// An item of unknown kind or shape.
    Other,
}

impl Item {
    /// The kind is read first: a tagged enum cannot keep arguments as they arrived.
    pub(super) fn read(item: &RawJson) -> Self {
        #[derive(Deserialize)]
        struct Tag {
            #[serde(rename = "type")]
            kind: String,
        }
        let text = item.as_str();
        let read = parse_lenient::<Tag>(text).and_then(|tag| match tag.kind.as_str() {
            "message" => parse_lenient(text).map(Self::Message),
            "reasoning" => parse_lenient(text).map(Self::Reasoning),
            "function_call" | "custom_tool_call" => parse_lenient(text).map(Self::Call),
            _ => Ok(Self::Other),
        });
        read.unwrap_or(Self::Other)
    }
}

#[derive(Deserialize)]
pub(super) struct MessageItem {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) phase: Option<String>,
    #[serde(default, deserialize_with = "crate::formats::bounded_list::bounded")]
    pub(super) content: Option<Vec<TextPart>>,
}

#[derive(Deserialize)]
pub(super) struct ReasoningItem {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "crate::formats::bounded_list::bounded")]
    pub(super) summary: Option<Vec<TextPart>>,
    #[serde(default, deserialize_with = "crate::formats::bounded_list::bounded")]
    pub(super) content: Option<Vec<TextPart>>,
    #[serde(default)]
    pub(super) encrypted_content: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct CallItem {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) call_id: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) arguments: Option<Arguments>,
    #[serde(default)]
    pub(super) input: Option<Arguments>,
}

#[derive(Deserialize)]
pub(super) struct TextPart {
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) refusal: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct WireUsage {
    #[serde(default)]
    input_tokens: Option<Count>,
    #[serde(default)]
    output_tokens: Option<Count>,
    #[serde(default)]
    input_tokens_details: Option<InputDetails>,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    #[serde(default)]
    cached_tokens: Option<Count>,
    #[serde(default)]
    cache_write_tokens: Option<Count>,
}

#[derive(Deserialize)]
struct OutputDetails {
    #[serde(default)]
    reasoning_tokens: Option<Count>,
}

impl From<WireUsage> for Usage {
    fn from(usage: WireUsage) -> Self {
        let details = usage.input_tokens_details.as_ref();
        let cache_read = details.and_then(|details| details.cached_tokens).unwrap_or_default().0;
        let cache_write = details.and_then(|details| details.cache_write_tokens).unwrap_or_default().0;
        let thought = usage.output_tokens_details.and_then(|details| details.reasoning_tokens);
        Self {
            input: usage.input_tokens.unwrap_or_default().0.saturating_sub(cache_read + cache_write),
            output: usage.output_tokens.unwrap_or_default().0,
            cache_read,
            cache_write,
            reasoning: thought.unwrap_or_default().0,
        }
    }
}

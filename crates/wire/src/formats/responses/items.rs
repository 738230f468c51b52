//! The history as input items.
//!
//! One message gives several items or none: an assistant message consists of reasoning, text and calls.
//! Reasoning is sent back only to the issuer that can decrypt it.

use super::content::WireContent;
use super::{LONGEST_ID, short_id};
use crate::formats::tool_names::tool_name;
use crate::formats::write_json;
use crate::{RequestSettings, repair_arguments};
use hermes_conversation::{AssistantMessage, Message, RawJson, ToolCall, ToolMessage};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// A call with a second id may be answered under either one, so such calls are encoded together with their
/// results; all other messages are encoded separately.
pub(super) fn unit(messages: &[Arc<Message>]) -> usize {
    let other_name = |call: &ToolCall| call.call_id.as_deref().is_some_and(|other| other != call.id.as_str());
    if !messages[0].calls().iter().any(other_name) {
        return 1;
    }
    1 + messages[1..].iter().take_while(|message| matches!(&***message, Message::Tool(_))).count()
}

pub(super) fn write(unit: &[Arc<Message>], settings: &RequestSettings, bytes: &mut Vec<u8>) {
    let calls = unit.first().map_or(&[][..], |message| message.calls());
    let mut items = Items { start: bytes.len(), bytes, open: calls.iter().zip(wire_ids(calls)).collect() };
    for message in unit {
        match &**message {
            Message::User(user) => {
                let content = WireContent::of(&user.content, user.api_content.as_deref());
                items.push(&WireText { role: "user", content });
            }
            Message::Assistant(assistant) => items.assistant(assistant, settings),
            Message::Tool(result) => items.result(result),
        }
    }
}

/// The items of one unit while they are encoded.
struct Items<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
    /// The calls of the unit without a result, and the ids under which they are sent.
    open: Vec<(&'a ToolCall, Cow<'a, str>)>,
}

impl Items<'_> {
    fn push(&mut self, item: &impl Serialize) {
        if self.bytes.len() > self.start {
            self.bytes.push(b',');
        }
        write_json(self.bytes, item);
    }

    fn assistant(&mut self, message: &AssistantMessage, settings: &RequestSettings) {
        let reasoning = replayed_reasoning(message, settings);
        reasoning.iter().for_each(|item| self.push(item));
        let after_reasoning = self.bytes.len();
        let items = replayed_text(message, settings, !reasoning.is_empty());
        items.iter().for_each(|item| self.push(item));
        if items.is_empty() && !message.text.is_empty() {
            self.said(&message.text);
        }
        for (call, id) in message.calls.iter().zip(wire_ids(&message.calls)) {
            let (name, arguments) = (tool_name(&call.name), &*repair_arguments(&call.arguments).1);
            self.push(&WireCall { kind: "function_call", call_id: &id, name: &name, arguments });
        }
        // Reasoning must be followed by another item, or the request is rejected.
        if !reasoning.is_empty() && self.bytes.len() == after_reasoning {
            self.said("");
        }
    }

    fn said(&mut self, text: &str) {
        self.push(&WireText { role: "assistant", content: WireContent::Text(text) });
    }

    fn result(&mut self, result: &ToolMessage) {
        let given = result.call_id.as_str();
        let names = |call: &ToolCall| call.id.as_str() == given || call.call_id.as_deref() == Some(given);
        let id = match self.open.iter().position(|(call, _)| names(call)) {
            Some(place) => self.open.remove(place).1,
            None => short_id("call_", given),
        };
        let output = WireContent::of(&result.content, result.api_content.as_deref());
        self.push(&WireOutput { kind: "function_call_output", call_id: &id, output });
    }
}

/// The ids under which calls are sent: those of the provider, unless two are equal.
pub(super) fn wire_ids(calls: &[ToolCall]) -> Vec<Cow<'_, str>> {
    let given: Vec<_> = calls
        .iter()
        .map(|call| match call.call_id.as_deref() {
            Some(id) if !id.is_empty() => short_id("call_", id),
            _ => short_id("call_", call.id.as_str()),
        })
        .collect();
    let distinct: HashSet<&str> = given.iter().map(AsRef::as_ref).collect();
    match distinct.len() == given.len() {
        true => given,
        false => calls.iter().map(|call| short_id("call_", call.id.as_str())).collect(),
    }
}

/// The reasoning of the message that the receiver may get, each item once.
fn replayed_reasoning(message: &AssistantMessage, settings: &RequestSettings) -> Vec<WireReasoning> {
    let mut seen = HashSet::new();
    stored::<StoredReasoning>(message.reasoning.codex_items.as_ref())
        .filter(|item| !item.encrypted_content.is_empty())
        .filter(|item| may_read(message, item.issuer_kind.as_deref(), settings))
        .filter(|item| seen.insert(item.id.clone().unwrap_or_else(|| item.encrypted_content.clone())))
        .map(|item| WireReasoning {
            kind: "reasoning",
            summary: item.summary.unwrap_or_default().into_iter().map(SummaryPart::from).collect(),
            encrypted_content: item.encrypted_content,
        })
        .collect()
}

/// The text of the message as the original items, for their issuer.
fn replayed_text(
    message: &AssistantMessage,
    settings: &RequestSettings,
    with_reasoning: bool,
) -> Vec<WireMessage> {
    if message.issuer.is_none() || message.issuer != settings.issuer {
        return Vec::new();
    }
    // A message id without its reasoning is rejected.
    let takes_ids = with_reasoning && settings.dialect.responses.takes_item_ids();
    let known_id = |id: &String| takes_ids && !id.is_empty() && id.chars().count() <= LONGEST_ID;
    stored::<StoredMessage>(message.reasoning.codex_messages.as_ref())
        .map(|item| WireMessage {
            kind: "message",
            role: "assistant",
            status: match item.status.as_deref() {
                Some("incomplete") => "incomplete",
                _ => "completed",
            },
            content: item.content.into_iter().filter_map(OutputPart::of).collect(),
            id: item.id.filter(known_id),
            phase: item.phase.filter(|phase| matches!(&**phase, "commentary" | "final_answer")),
        })
        .filter(|item| !item.content.is_empty())
        .collect()
}

fn may_read(message: &AssistantMessage, kind: Option<&str>, settings: &RequestSettings) -> bool {
    match (&message.issuer, &settings.issuer, kind) {
        (_, None, _) | (None, Some(_), None) => false,
        (Some(wrote), Some(reads), _) => wrote == reads,
        // Recorded by another program, which stores the kind of server only.
        (None, Some(reads), Some(kind)) => settings.dialect.responses.is_kind(kind, reads),
    }
}

/// The readable items of a stored list.
fn stored<T: for<'de> Deserialize<'de>>(list: Option<&RawJson>) -> impl Iterator<Item = T> {
    let items: Vec<RawJson> =
        list.and_then(|list| serde_json::from_str(list.as_str()).ok()).unwrap_or_default();
    items.into_iter().filter_map(|item| serde_json::from_str(item.as_str()).ok())
}

#[derive(Deserialize)]
struct StoredReasoning {
    #[serde(default)]
    id: Option<String>,
    encrypted_content: String,
    #[serde(default)]
    summary: Option<Vec<StoredText>>,
    #[serde(default, rename = "_issuer_kind")]
    issuer_kind: Option<String>,
}

#[derive(Deserialize)]
struct StoredMessage {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    phase: Option<String>,
    #[serde(default)]
    status: Option<String>,
    content: Vec<StoredText>,
}

#[derive(Deserialize)]
struct StoredText {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Serialize)]
struct WireText<'a> {
    role: &'static str,
    content: WireContent<'a>,
}

#[derive(Serialize)]
struct WireCall<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    call_id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct WireOutput<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    call_id: &'a str,
    output: WireContent<'a>,
}

#[derive(Serialize)]
struct WireReasoning {
    #[serde(rename = "type")]
    kind: &'static str,
    summary: Vec<SummaryPart>,
    encrypted_content: String,
}

#[derive(Serialize)]
struct SummaryPart {
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
}

impl From<StoredText> for SummaryPart {
    fn from(stored: StoredText) -> Self {
        Self { kind: "summary_text", text: stored.text.unwrap_or_default() }
    }
}

#[derive(Serialize)]
struct WireMessage {
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    status: &'static str,
    content: Vec<OutputPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OutputPart {
    OutputText { text: String },
    Refusal { refusal: String },
}

impl OutputPart {
    fn of(stored: StoredText) -> Option<Self> {
        match (stored.text, stored.refusal) {
            (Some(text), _) => Some(Self::OutputText { text }),
            (None, Some(refusal)) => Some(Self::Refusal { refusal }),
            (None, None) => None,
        }
    }
}

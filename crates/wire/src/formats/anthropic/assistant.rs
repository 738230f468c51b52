//! Assistant messages as blocks.
//!
//! Thinking is sent back only to its issuer, and then on every message in every request: a block keeps its
//! place, so that the bytes of one request begin the next.

use super::calls::{Calls, input};
use super::item::Item;
use crate::formats::tool_names::tool_name;
use crate::{RequestSettings, ThinkingReplay};
use hermes_conversation::{AssistantMessage, ToolCall, parse_lenient};
use serde::Deserialize;

/// A stored block; fields that are not listed are never sent.
#[derive(Deserialize)]
struct Stored {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    id: Option<String>,
}

/// Appends the blocks of a message. Thinking must come first in an item, so a message that is written after
/// another (`is_first` is false) loses its own.
pub(super) fn write(
    item: &mut Item<'_>,
    message: &AssistantMessage,
    calls: &Calls<'_>,
    settings: &RequestSettings,
    is_first: bool,
) {
    let replay = settings.dialect.anthropic.replay;
    let same_issuer = message.issuer.is_some() && message.issuer == settings.issuer;
    let stored = message.reasoning.anthropic_blocks.as_ref();
    let stored = stored.filter(|_| same_issuer && is_first && replay != ThinkingReplay::Strip);
    match stored.and_then(|raw| parse_lenient::<Vec<Stored>>(raw.as_str()).ok()) {
        Some(blocks) => in_order(item, message, calls, replay, &blocks),
        None => {
            if is_first && matches!(replay, ThinkingReplay::All | ThinkingReplay::Unsigned) {
                echo(item, message);
            }
            item.text(&message.text);
            message.calls.iter().for_each(|call| write_call(item, calls, call));
        }
    }
}

/// Endpoints with unsigned thinking require thinking on every message with calls, also on those of other
/// issuers; foreign reasoning is not sent to them.
fn echo(item: &mut Item<'_>, message: &AssistantMessage) {
    let content = message.reasoning.content.as_deref().filter(|content| !content.is_empty());
    match content {
        Some(content) => item.thinking(content, None),
        None if !message.calls.is_empty() => item.thinking(" ", None),
        None => {}
    }
}

/// Replays stored blocks. They determine the order; the message determines its text and calls, which may have
/// been changed before they were stored.
fn in_order(
    item: &mut Item<'_>,
    message: &AssistantMessage,
    calls: &Calls<'_>,
    replay: ThinkingReplay,
    blocks: &[Stored],
) {
    let texts: Vec<&str> = blocks.iter().filter_map(Stored::text).collect();
    let has_place = !texts.is_empty();
    // If the texts of the blocks differ from the message, its text replaces the first one.
    let mut whole = (texts.join("\n") != message.text).then_some(message.text.as_str());
    let is_whole = whole.is_some();
    let mut written: Vec<&ToolCall> = Vec::new();
    for block in blocks {
        match block.kind.as_str() {
            "thinking" | "redacted_thinking" => block.think(item, replay),
            "text" if is_whole => item.text(whole.take().unwrap_or_default()),
            "text" => item.text(block.text().unwrap_or_default()),
            "tool_use" => {
                if !has_place {
                    item.text(whole.take().unwrap_or_default());
                }
                let is_named = |call: &&ToolCall| Some(call.id.as_str()) == block.id.as_deref();
                if let Some(call) = message.calls.iter().find(is_named)
                    && !written.iter().any(|done| std::ptr::eq(*done, call))
                {
                    write_call(item, calls, call);
                    written.push(call);
                }
            }
            _ => {}
        }
    }
    item.text(whole.unwrap_or_default());
    for call in &message.calls {
        if !written.iter().any(|done| std::ptr::eq(*done, call)) {
            write_call(item, calls, call);
        }
    }
}

fn write_call(item: &mut Item<'_>, calls: &Calls<'_>, call: &ToolCall) {
    if let Some(id) = calls.id_of(call) {
        item.call(id, &tool_name(&call.name), &input(&call.arguments));
    }
}

impl Stored {
    fn text(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| self.kind == "text")
    }

    fn think(&self, item: &mut Item<'_>, replay: ThinkingReplay) {
        let full = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let thinking = self.thinking.as_deref().unwrap_or_default();
        match (replay, full(&self.signature), full(&self.data)) {
            (ThinkingReplay::Signed | ThinkingReplay::All, _, Some(data)) => item.redacted(&data),
            (ThinkingReplay::Signed | ThinkingReplay::All, Some(signature), None) => {
                item.thinking(thinking, Some(&signature));
            }
            (ThinkingReplay::All | ThinkingReplay::Unsigned, _, None) if !thinking.is_empty() => {
                item.thinking(thinking, None);
            }
            _ => {}
        }
    }
}

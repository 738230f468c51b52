//! The items of one unit.

use super::assistant;
use super::calls::Calls;
use super::item::Item;
use super::parts::{self, Block};
use crate::RequestSettings;
use hermes_conversation::{Content, Message, ToolMessage, UNAVAILABLE_RESULT, UserMessage};
use serde::Serialize;
use std::collections::HashSet;
use std::sync::Arc;

/// The placeholder for content that the format requires.
const SAID_NOTHING: &str = "[no text]";
const GAVE_NOTHING: &str = "[no output]";

/// Appends the items of a unit; see `units`. Returns the offset for a cache mark.
pub(super) fn write(unit: &[Arc<Message>], settings: &RequestSettings, bytes: &mut Vec<u8>) -> Option<usize> {
    let calls = Calls::of(unit);
    let start = bytes.len();
    let mut mark = write_assistants(unit, &calls, settings, bytes);
    if calls.ids().next().is_some() || unit.iter().any(|message| matches!(**message, Message::User(_))) {
        if bytes.len() > start {
            bytes.push(b',');
        }
        mark = Some(write_users(unit, &calls, bytes));
    }
    mark
}

fn write_assistants(
    unit: &[Arc<Message>],
    calls: &Calls<'_>,
    settings: &RequestSettings,
    bytes: &mut Vec<u8>,
) -> Option<usize> {
    let messages = unit.iter().filter_map(|message| match &**message {
        Message::Assistant(assistant) => Some(assistant),
        Message::User(_) | Message::Tool(_) => None,
    });
    let mut messages = messages.peekable();
    messages.peek()?;
    let mut item = Item::open(bytes, "assistant");
    for (place, message) in messages.enumerate() {
        assistant::write(&mut item, message, calls, settings, place == 0);
    }
    Some(item.close(SAID_NOTHING))
}

/// Writes results before text. A call without a result gets one; a result without a call is omitted.
fn write_users(unit: &[Arc<Message>], calls: &Calls<'_>, bytes: &mut Vec<u8>) -> usize {
    let mut item = Item::open(bytes, "user");
    let mut answered = HashSet::new();
    for message in unit {
        if let Message::Tool(tool) = &**message
            && let Some(id) = calls.answered_by(tool.call_id.as_str())
            && answered.insert(id)
        {
            item.block(&WireResult::of(id, tool));
        }
    }
    for id in calls.ids().filter(|id| !answered.contains(id)) {
        item.block(&WireResult { content: WireContent::Text(UNAVAILABLE_RESULT), ..WireResult::empty(id) });
    }
    for message in unit {
        if let Message::User(user) = &**message {
            write_user(&mut item, user);
        }
    }
    item.close(SAID_NOTHING)
}

fn write_user(item: &mut Item<'_>, user: &UserMessage) {
    match (&user.api_content, &user.content) {
        (Some(sent), _) => item.text(sent),
        (None, Content::Text(text)) => item.text(text),
        (None, Content::Parts(parts)) => parts::blocks(parts).iter().for_each(|block| item.block(block)),
    }
}

#[derive(Serialize)]
struct WireResult<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    tool_use_id: &'a str,
    content: WireContent<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireContent<'a> {
    Text(&'a str),
    Blocks(Vec<Block>),
}

impl<'a> WireResult<'a> {
    fn empty(id: &'a str) -> Self {
        Self { kind: "tool_result", tool_use_id: id, content: WireContent::Text(GAVE_NOTHING) }
    }

    fn of(id: &'a str, tool: &'a ToolMessage) -> Self {
        let content = match (&tool.api_content, &tool.content) {
            (Some(text), _) | (None, Content::Text(text)) => {
                Some(WireContent::Text(text)).filter(|_| !text.trim().is_empty())
            }
            (None, Content::Parts(parts)) => {
                let blocks = parts::blocks(parts);
                (!blocks.is_empty()).then_some(WireContent::Blocks(blocks))
            }
        };
        let empty = Self::empty(id);
        Self { content: content.unwrap_or(WireContent::Text(GAVE_NOTHING)), ..empty }
    }
}

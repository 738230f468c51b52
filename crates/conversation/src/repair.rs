//! Repairs a stored history so that providers accept it.
//!
//! Histories that this version wrote need no repair; those of other programs or older versions may. The rules
//! are applied once, when a history is restored, and are deterministic, so that the bytes of a resumed session
//! do not change.

use crate::{
    AssistantMessage, CallId, Content, Message, RawJson, ToolCall, ToolMessage, UserMessage,
    without_lone_surrogates,
};
use std::borrow::Cow;
use std::collections::HashSet;

/// The result of a call whose result was not recorded.
pub const UNAVAILABLE_RESULT: &str =
    r#"{"error": "The result of this call was not recorded. It may or may not have taken effect."}"#;

const CORRUPT_ARGUMENTS: &str = "[The recorded arguments of this call were damaged and are shown as {}.]";
const NAMELESS_CALL: &str = "invalid_tool_call";

/// Applies the alternation and pairing rules. Idempotent.
pub fn repair(messages: Vec<Message>) -> Vec<Message> {
    let mut repaired = Repaired::default();
    for message in messages {
        match message {
            Message::User(message) => repaired.user(message),
            Message::Assistant(message) => repaired.assistant(message),
            Message::Tool(message) => repaired.tool(message),
        }
    }
    repaired.answer_open_calls();
    repaired.messages
}

#[derive(Default)]
struct Repaired {
    messages: Vec<Message>,
    /// Calls of the newest assistant message that have no result yet, in call order.
    open: Vec<OpenCall>,
}

struct OpenCall {
    id: CallId,
    /// The second id of a call in the Responses format; a result may use either.
    other_id: Option<String>,
    name: String,
    damaged: bool,
}

impl Repaired {
    fn user(&mut self, message: UserMessage) {
        self.answer_open_calls();
        match self.messages.last_mut() {
            Some(Message::User(earlier)) => *earlier = merged_users(earlier, message),
            _ => self.messages.push(Message::User(message)),
        }
    }

    fn assistant(&mut self, mut message: AssistantMessage) {
        if is_thinking_only(&message) {
            return;
        }
        let keeps_apart =
            |m: &AssistantMessage| m.reasoning.codex_items.is_some() || m.reasoning.codex_messages.is_some();
        if let Some(Message::Assistant(earlier)) = self.messages.last()
            && !keeps_apart(earlier)
            && !keeps_apart(&message)
        {
            message = merged_assistants(earlier.clone(), message);
            self.messages.pop();
            self.open.clear();
        }
        self.answer_open_calls();
        self.open = normalise_calls(&mut message.calls);
        self.messages.push(Message::Assistant(message));
    }

    fn tool(&mut self, mut message: ToolMessage) {
        let answers = |call: &OpenCall| {
            call.id == message.call_id || call.other_id.as_deref() == Some(message.call_id.as_str())
        };
        let Some(place) = self.open.iter().position(answers) else {
            return;
        };
        let call = self.open.remove(place);
        if call.damaged {
            let text = format!("{CORRUPT_ARGUMENTS}\n{}", message.content.as_text());
            message.content = Content::text(text);
            message.api_content = None;
        }
        self.messages.push(Message::Tool(message));
    }

    fn answer_open_calls(&mut self) {
        for call in self.open.drain(..) {
            let text = match call.damaged {
                true => format!("{CORRUPT_ARGUMENTS}\n{UNAVAILABLE_RESULT}"),
                false => UNAVAILABLE_RESULT.to_owned(),
            };
            self.messages.push(Message::tool(call.id, call.name, text));
        }
    }
}

fn is_thinking_only(message: &AssistantMessage) -> bool {
    message.calls.is_empty()
        && message.text.trim().is_empty()
        && !message.reasoning.is_empty()
        && message.reasoning.codex_items.is_none()
}

/// Gives every call a name and valid arguments, drops repeated ids, and returns the calls that need a result.
fn normalise_calls(calls: &mut Vec<ToolCall>) -> Vec<OpenCall> {
    let mut seen = HashSet::new();
    calls.retain(|call| seen.insert(call.id.clone()));
    calls
        .iter_mut()
        .map(|call| {
            if call.name.trim().is_empty() {
                call.name = NAMELESS_CALL.to_owned();
            }
            if let Cow::Owned(repaired) = without_lone_surrogates(&call.arguments) {
                call.arguments = repaired;
            }
            let damaged = serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_err();
            if damaged {
                call.arguments = "{}".to_owned();
            }
            OpenCall { id: call.id.clone(), other_id: call.call_id.clone(), name: call.name.clone(), damaged }
        })
        .collect()
}

fn merged_assistants(mut earlier: AssistantMessage, later: AssistantMessage) -> AssistantMessage {
    earlier.text = match (earlier.text.is_empty(), later.text.is_empty()) {
        (_, true) => earlier.text,
        (true, _) => later.text,
        _ => format!("{}\n{}", earlier.text, later.text),
    };
    earlier.calls.extend(later.calls);
    if earlier.reasoning.content.is_none() {
        earlier.reasoning.content = later.reasoning.content;
    }
    earlier.finish = later.finish;
    earlier
}

/// Merges two user messages. Additions to the later one are kept: it has not been sent yet.
pub(crate) fn merged_users(earlier: &UserMessage, later: UserMessage) -> UserMessage {
    let api_content = match (&earlier.content, &later.api_content) {
        (Content::Text(text), Some(sent)) => Some(format!("{text}\n\n{sent}")),
        _ => None,
    };
    let content = match (&earlier.content, &later.content) {
        (Content::Text(a), Content::Text(b)) => Content::Text(format!("{a}\n\n{b}")),
        (a, b) => joined_parts(a, b),
    };
    UserMessage { content, api_content }
}

fn joined_parts(a: &Content, b: &Content) -> Content {
    let mut parts = as_parts(a);
    parts.extend(as_parts(b));
    RawJson::of(&parts).map_or_else(|| a.clone(), Content::Parts)
}

fn as_parts(content: &Content) -> Vec<RawJson> {
    match content {
        Content::Text(text) => {
            RawJson::of(&serde_json::json!({"type": "text", "text": text})).into_iter().collect()
        }
        Content::Parts(parts) => serde_json::from_str(parts.as_str()).unwrap_or_default(),
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;

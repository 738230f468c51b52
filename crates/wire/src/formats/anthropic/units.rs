//! Groups messages that are encoded together.
//!
//! A call must be answered in the next item, so the calls of an assistant message, their results and the
//! following user message are one unit: the encoder sees both sides, and can add a missing result and omit a
//! result without a call.

use hermes_conversation::Message;
use std::sync::Arc;

/// The number of messages that belong together.
pub(super) fn count(messages: &[Arc<Message>]) -> usize {
    let is_assistant = |message: &Message| matches!(message, Message::Assistant(_));
    let mut has_calls = false;
    let mut at = 0;
    if messages.first().is_some_and(|first| is_assistant(first)) {
        // Consecutive assistant messages are one item; so are those with only a result without a call between
        // them, which is omitted.
        for message in messages {
            match &**message {
                Message::Assistant(assistant) => has_calls |= !assistant.calls.is_empty(),
                Message::Tool(_) if !has_calls => {}
                Message::Tool(_) | Message::User(_) => break,
            }
            at += 1;
        }
        if !has_calls {
            return at;
        }
    }
    at + messages[at..].iter().take_while(|message| !is_assistant(message)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::{AssistantMessage, CallId, ToolCall};

    #[test]
    fn messages_are_grouped() {
        // u: user, a: assistant, c: assistant with a call, t: tool.
        for (messages, want) in [
            ("u", 1),
            ("ua", 1),
            ("uua", 2),
            ("utu", 3),
            ("au", 1),
            ("aau", 2),
            ("ata", 3),
            ("cttuca", 4),
            ("cau", 3),
            ("actu", 4),
            ("c", 1),
            ("cua", 2),
            ("ta", 1),
        ] {
            let list: Vec<Arc<Message>> = messages.chars().map(|letter| Arc::new(message(letter))).collect();
            assert_eq!(count(&list), want, "{messages}");
        }
    }

    fn message(letter: char) -> Message {
        let call = ToolCall::new(CallId::new("c"), "t", "{}");
        match letter {
            'u' => Message::user("x"),
            'a' => Message::assistant("x"),
            'c' => Message::Assistant(AssistantMessage { calls: vec![call], ..Default::default() }),
            _ => Message::tool(CallId::new("c"), "t", "x"),
        }
    }
}

//! Digests of messages, the same in every process and every version.
//!
//! They show whether a history is the one that a compaction left, and find repeated results. They are fast,
//! not cryptographic: code that relies on two texts being equal compares the texts too.

use hermes_conversation::{Content, Message};
use std::sync::Arc;

/// The fingerprint of these messages in this order.
pub fn digest(messages: &[Arc<Message>]) -> u64 {
    messages.iter().fold(EMPTY, |chain, message| follow(chain, of_message(message)))
}

/// The fingerprint of no messages.
pub(crate) const EMPTY: u64 = 0x9e37_79b9_7f4a_7c15;

/// The fingerprint of a history and one more message.
pub(crate) fn follow(chain: u64, message: u64) -> u64 {
    mixed(chain.rotate_left(23) ^ message)
}

/// The fingerprint of one message: who said it and what is sent of it.
pub(crate) fn of_message(message: &Message) -> u64 {
    let mut hash = of_text(message.role());
    let mut add = |text: &str| hash = follow(hash, of_text(text));
    match message {
        Message::User(user) => add(sent(&user.content, user.api_content.as_deref())),
        Message::Tool(tool) => {
            add(tool.call_id.as_str());
            add(&tool.tool_name);
            add(sent(&tool.content, tool.api_content.as_deref()));
        }
        Message::Assistant(assistant) => {
            add(&assistant.text);
            for call in &assistant.calls {
                add(call.id.as_str());
                add(&call.name);
                add(&call.arguments);
            }
        }
    }
    hash
}

/// The fingerprint of a text.
pub(crate) fn of_text(text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mut hash = EMPTY ^ text.len() as u64;
    for word in words {
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mixed((hash.rotate_left(5) ^ u64::from_le_bytes(last)).wrapping_mul(0x517c_c1b7_2722_0a95))
}

/// The part of a content that is sent.
pub(crate) fn sent<'a>(content: &'a Content, api_content: Option<&'a str>) -> &'a str {
    api_content.unwrap_or_else(|| content.as_text())
}

fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::{AssistantMessage, CallId, ToolCall};

    #[test]
    fn fingerprints_never_change_because_they_are_stored() {
        assert_eq!(digest(&[]), EMPTY);
        assert_eq!(of_text(""), 0xfa50_2f43_f5aa_71c5);
        assert_eq!(of_text("nine bytes"), 0x70ac_4012_d7c6_d034);
    }

    #[test]
    fn digest_depends_on_text_role_and_order() {
        let call = |id: &str| {
            let calls = vec![ToolCall::new(CallId::new(id), "terminal", "{}")];
            Message::Assistant(AssistantMessage { calls, ..AssistantMessage::default() })
        };
        let histories = [
            vec![],
            vec![Message::user("a")],
            vec![Message::user("b")],
            vec![Message::assistant("a")],
            vec![Message::user("a"), Message::assistant("b")],
            vec![Message::assistant("b"), Message::user("a")],
            vec![call("1")],
            vec![call("2")],
            vec![Message::tool(CallId::new("1"), "t", "a")],
        ];
        let digests: Vec<u64> = histories
            .map(|messages| digest(&messages.into_iter().map(Arc::new).collect::<Vec<_>>()))
            .to_vec();
        for (place, one) in digests.iter().enumerate() {
            assert!(!digests[..place].contains(one), "history {place}");
        }
    }
}

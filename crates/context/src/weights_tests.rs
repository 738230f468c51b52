use super::*;
use hermes_conversation::{CallId, Reasoning, ToolMessage, UserMessage};

fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn user(content: Content) -> Message {
    Message::User(UserMessage { content, api_content: None })
}

fn thinking(reasoning: Reasoning) -> Message {
    Message::Assistant(AssistantMessage { text: "abcd".into(), reasoning, ..AssistantMessage::default() })
}

#[test]
fn weights_follow_what_is_sent() {
    let ten = "0123456789012345678901234567890123456789"; // 40 bytes
    let call = ToolCall::new(CallId::new("1"), "terminal", r#"{"command":"ls"}"#);
    let image = r#"[{"type":"text","text":"abcd"},{"type":"image_url","image_url":{"url":"data:x"}}]"#;
    let file = format!(r#"[{{"type":"file","file":{{"file_data":"{}"}}}}]"#, "A".repeat(100_000));
    let rows: Vec<(&str, Message, u32)> = vec![
        ("nothing", Message::user(""), 4),
        ("words", Message::user(ten), 14),
        ("Chinese", Message::user("中文字"), 7),
        (
            "another text is sent",
            Message::User(UserMessage { content: Content::text("a"), api_content: Some(ten.into()) }),
            14,
        ),
        ("an image and a word", user(Content::Parts(json(image))), 4 + 1 + 4 + 1_600),
        ("a small file", user(Content::Parts(json(r#"[{"type":"file"}]"#))), 1_604),
        ("a large file", user(Content::Parts(json(&file))), 5_005),
        ("a result", Message::Tool(ToolMessage::new(CallId::new("1"), "t", ten)), 22),
        (
            "a call",
            Message::Assistant(AssistantMessage { calls: vec![call], ..AssistantMessage::default() }),
            4 + 2 + 4 + 8,
        ),
        ("thoughts for display", thinking(Reasoning { text: Some(ten.into()), ..Default::default() }), 5),
        ("an echo", thinking(Reasoning { content: Some(ten.into()), ..Default::default() }), 15),
        (
            "the heavier track",
            thinking(Reasoning {
                content: Some("abcd".into()),
                details: Some(json(&format!("[\"{ten}\"]"))),
                ..Default::default()
            }),
            16,
        ),
        (
            "blocks that repeat the text",
            thinking(Reasoning {
                anthropic_blocks: Some(json(&format!("[\"{ten}\"]"))),
                ..Default::default()
            }),
            15,
        ),
    ];
    for (name, message, want) in rows {
        assert_eq!(weigh(&message).tokens, want, "{name}");
    }
}

#[test]
fn sums_and_fingerprints_follow_a_history_as_it_grows_and_shrinks() {
    let history: Vec<_> = (0..9).map(|n| Arc::new(Message::user("x".repeat(n * 40)))).collect();
    let mut weights = Weights::default();
    assert_eq!((weights.len(), weights.is_empty(), weights.tokens(0..4)), (0, true, 0));
    for end in [3, 3, 9, 2, 5] {
        weights.follow(&history[..end]);
        let want: u64 = history[..end].iter().map(|message| u64::from(weigh(message).tokens)).sum();
        assert_eq!(weights.tokens(0..end), want);
        assert_eq!(weights.tokens(1..end), want - 4);
        assert_eq!((weights.len(), weights.digest()), (end, crate::digest(&history[..end])));
    }
}

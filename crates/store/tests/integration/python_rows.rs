//! Rows of the Python release, and invalid rows.

use crate::desk::Desk;
use hermes_conversation::{AssistantMessage, CallId, Content, Message, RawJson, ToolCall, UserMessage};

#[tokio::test]
async fn rows_of_other_programs_are_decoded_leniently() {
    let desk = Desk::new();
    desk.lease("s").await;
    let raw = desk.raw();
    raw.execute_batch(
        r#"INSERT INTO messages (session_id, role, content, timestamp) VALUES
             ('s', 'session_meta', '{}', 1), ('s', 'system', 'x', 1), ('s', 'user', NULL, 2), ('s', 'user', 5, 3),
             ('s', 'user', CAST(x'ff41' AS TEXT), 4);
           INSERT INTO messages (session_id, role, content, timestamp, active) VALUES ('s', 'user', 'gone', 1, 0);
           INSERT INTO messages (session_id, role, content, tool_calls, finish_reason, reasoning_details, timestamp)
             VALUES ('s', 'assistant', NULL, '[{"function":{"name":"f","arguments":{"a":"\ud800"}}}]', 'odd', '{', 5);
           INSERT INTO messages (session_id, role, content, tool_name, timestamp) VALUES ('s', 'tool', 'r', NULL, 6);"#,
    )
    .unwrap();
    raw.execute(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', ?1, 7)",
        ["\0json:[{\"type\": \"text\", \"text\": \"hi\"}]"],
    )
    .unwrap();
    let arguments = r#"{"a":"\ud800"}"#;
    let want = vec![
        Message::user(""),
        Message::user("5"),
        Message::user("\u{fffd}A"),
        Message::Assistant(AssistantMessage {
            calls: vec![ToolCall::new(CallId::derived("f", arguments, 0), "f", arguments)],
            ..AssistantMessage::default()
        }),
        Message::tool(CallId::new(""), "", "r"),
        Message::User(UserMessage {
            content: Content::Parts(RawJson::parse(r#"[{"type": "text", "text": "hi"}]"#).unwrap()),
            api_content: None,
        }),
    ];
    assert_eq!(desk.messages("s").await, want);
}

#[tokio::test]
async fn python_triggers_and_our_outbox_agree() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    desk.say(&lease, "ours", "mine").await;
    desk.raw()
        .execute_batch(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'theirs', 1);
             UPDATE messages SET content = 'ours changed' WHERE content = 'ours'",
        )
        .unwrap();
    for (query, want) in [("theirs", 1), ("changed", 1), ("ours", 1), ("mine", 1)] {
        let report = desk.db.search(query, 9).await.unwrap();
        assert_eq!((report.hits.len(), report.complete), (want, true), "{query}");
    }
}

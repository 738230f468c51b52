//! Messages and sessions are read back byte for byte.

use crate::desk::{Desk, closing, session, spent};
use hermes_conversation::{
    AssistantMessage, CallId, Content, Disposition, FinishReason, Issuer, Message, Quirks, RawJson,
    Reasoning, SessionId, ToolCall, ToolMessage, Transcript, Usage, UserMessage,
};
use hermes_store::StoredSession;

fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

pub(crate) fn every_shape() -> Vec<Message> {
    let parts = json(r#"[{"type":"text","text":"é 😀"}, {"type":"image_url","image_url":{"url":"data:,"}}]"#);
    vec![
        Message::user(""),
        Message::user("line\nbreaks \u{0} and 😀"),
        Message::user("\0json:[1]"),
        Message::User(UserMessage {
            content: Content::Parts(parts.clone()),
            api_content: Some("sent instead".into()),
        }),
        Message::assistant("\0json:{\"a\":1}"),
        Message::assistant(""),
        Message::Assistant(AssistantMessage {
            text: "thinking aloud".into(),
            calls: vec![
                ToolCall::new(CallId::new("a"), "terminal", "{\"x\" : 1.0,\n \"y\":\"\\u00e9\"}"),
                ToolCall {
                    call_id: Some("fc_1".into()),
                    response_item_id: Some("item".into()),
                    extra_content: Some(json(r#"{"z": 1.10, "a":"\ud800"}"#)),
                    ..ToolCall::new(CallId::new("b"), "read_file", "not json")
                },
            ],
            reasoning: Reasoning {
                text: Some("hm".into()),
                content: Some(String::new()),
                details: Some(json(r#"[{"signature": "\ud83d"}]"#)),
                codex_items: Some(json("[{\"id\":\"r\"}]")),
                codex_messages: Some(json("[]")),
                anthropic_blocks: Some(json(r#"[{"type":"thinking"} ,{"n":1e3}]"#)),
            },
            finish: Some(FinishReason::ToolCalls),
            issuer: Some(Issuer { provider: "p".into(), origin: "https://x".into(), model: "m".into() }),
        }),
        Message::tool(CallId::new("a"), "terminal", "done"),
        Message::Tool(ToolMessage {
            call_id: CallId::new("b"),
            tool_name: String::new(),
            content: Content::Parts(parts),
            api_content: Some(String::new()),
            disposition: Some(Disposition::Unknown),
        }),
        Message::Tool(ToolMessage::new(CallId::new("c"), "t", "x").with_disposition(Disposition::None)),
    ]
}

#[tokio::test]
async fn every_message_is_read_back_unchanged() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "go").await;
    desk.db.extend(&lease, &turn, &every_shape(), None).await.unwrap();
    let mut want = vec![Message::user("go")];
    want.extend(every_shape());
    assert_eq!(desk.messages("s").await, want);
    assert_eq!(desk.again().messages("s").await, want);
}

#[tokio::test]
async fn session_is_loaded_with_its_costs_and_quirks() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "q").await;
    let last = hermes_conversation::Closing { spent: Some(spent(10)), ..closing("a") };
    desk.db.extend(&lease, &turn, &[], Some(&spent(1))).await.unwrap();
    desk.db.close(&lease, turn, last).await.unwrap();
    let quirks = Quirks { no_streaming: true, ..Quirks::default() };
    desk.db.set_quirks(&lease, quirks).await.unwrap();
    desk.db.set_title(&lease.session, " A  title ").await.unwrap();
    let new = session("s");
    let want = StoredSession {
        id: SessionId::new("s"),
        title: Some("A title".into()),
        source: new.source,
        model: Some(new.model),
        provider: Some(new.provider),
        base_url: Some(new.base_url),
        system_prompt: Some(new.system_prompt),
        cwd: new.cwd,
        parent: None,
        started_at: 1_000.0,
        quirks,
        usage: Usage { input: 11, output: 4, cache_read: 6, cache_write: 8, reasoning: 10 },
        api_calls: 2,
        is_imported: false,
        messages: vec![Message::user("q"), Message::assistant("a")],
        changed: Vec::new(),
    };
    assert_eq!(desk.db.load(&lease.session).await.unwrap(), want);
    let by_model: (i64, i64, String) = desk
        .raw()
        .query_row("SELECT api_call_count, input_tokens, task FROM session_model_usage", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(by_model, (2, 11, String::new()));
}

#[tokio::test]
async fn long_session_is_loaded() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "go").await;
    let many: Vec<_> = (0..5_000).map(|n| Message::user(format!("message {n}"))).collect();
    desk.db.extend(&lease, &turn, &many, None).await.unwrap();
    let loaded = desk.messages("s").await;
    assert_eq!(loaded.len(), 5_001);
    assert_eq!(loaded[1..], many);
}

#[tokio::test]
async fn last_messages_are_the_end_of_a_session() {
    let desk = Desk::new();
    let lease = desk.lease("a").await;
    desk.say(&lease, "one", "two").await;
    desk.say(&lease, "three", "four").await;
    let all = desk.messages("a").await;
    for (limit, want) in [(0, 4), (1, 3), (3, 1), (9, 0)] {
        let last = desk.db.last_messages(&SessionId::new("a"), limit).await.unwrap();
        assert_eq!(last, all[want..], "{limit}");
    }
    assert_eq!(desk.db.last_messages(&SessionId::new("b"), 9).await.unwrap(), []);
}

//! Random histories give Messages requests that Anthropic accepts.

use hermes_conversation::{
    AssistantMessage, CallId, Content, Issuer, Message, RawJson, Reasoning, ToolCall, ToolDefinition,
    ToolMessage, UserMessage,
};
use hermes_testkit::check_anthropic;
use hermes_wire::{
    AnthropicDialect, ApiMode, CacheTtl, Dialect, Effort, Encoder, ModelRequest, RequestSettings,
    ThinkingReplay, encode,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

const MODE: ApiMode = ApiMode::AnthropicMessages;

fn issuer(model: &str) -> Issuer {
    Issuer { provider: "p".into(), origin: "https://p.example".into(), model: model.into() }
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z \"\\\\é\n]{0,12}", 1 => Just(String::new()), 1 => Just(" \n".to_owned())]
}

/// Few ids, so that calls and results match, and some that the format rejects.
fn ids() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c", "a.b", "a:b", "toolu_01", ""])
}

fn arguments() -> impl Strategy<Value = &'static str> {
    let lone = r#"{"a":"\ud800"}"#;
    prop::sample::select(vec!["{}", "{ \"a\" : [1, null] }", "", "null", "[1]", "{\"a\":", lone])
}

fn names() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["terminal", "read_file", "made up.name", ""])
}

fn contents() -> impl Strategy<Value = Content> {
    let part = prop::sample::select(vec![
        json!({"type": "text", "text": "seen"}),
        json!({"type": "text", "text": ""}),
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}),
        json!({"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}),
        json!({"type": "input_audio"}),
        json!({"type": "file", "file": {"file_data": "data:text/plain;base64,AA=="}}),
        json!(7),
    ]);
    let parts = prop::collection::vec(part, 0..3);
    let parts = parts.prop_map(|parts| Content::Parts(RawJson::of(&parts).unwrap()));
    prop_oneof![3 => texts().prop_map(Content::Text), 1 => parts]
}

fn blocks(calls: &[ToolCall], text: &str) -> Value {
    let mut blocks = vec![
        json!({"type": "thinking", "thinking": "hm", "signature": "s", "extra": 1}),
        json!({"type": "redacted_thinking", "data": ""}),
        json!({"type": "thinking", "thinking": "unsigned"}),
        json!({"type": "text", "text": text}),
    ];
    for call in calls {
        blocks.push(json!({"type": "tool_use", "id": call.id.as_str()}));
        blocks.push(json!({"type": "redacted_thinking", "data": "x"}));
    }
    blocks.push(json!({"type": "server_tool_use", "id": "s"}));
    Value::Array(blocks)
}

fn assistants() -> impl Strategy<Value = Message> {
    let call = (ids(), names(), arguments());
    let call = call.prop_map(|(id, name, arguments)| ToolCall::new(CallId::new(id), name, arguments));
    let calls = prop::collection::vec(call, 0..4);
    let by = prop::sample::select(vec![None, Some("m"), Some("n")]);
    (texts(), texts(), calls, by).prop_map(|(text, other, calls, by)| {
        let said = if other.len() > 6 { &text } else { &other };
        let reasoning = Reasoning {
            anthropic_blocks: by.and_then(|_| RawJson::of(&blocks(&calls, said))),
            ..Reasoning::default()
        };
        let issuer = by.map(issuer);
        Message::Assistant(AssistantMessage { text, calls, reasoning, finish: None, issuer })
    })
}

fn users() -> impl Strategy<Value = Message> {
    let sent = prop::option::weighted(0.2, texts());
    (contents(), sent).prop_map(|(content, api_content)| Message::User(UserMessage { content, api_content }))
}

fn results() -> impl Strategy<Value = Message> {
    (ids(), contents()).prop_map(|(id, content)| {
        Message::Tool(ToolMessage { content, ..ToolMessage::new(CallId::new(id), "terminal", "") })
    })
}

/// A history that begins with the user and ends before the assistant's turn. It may lack results, have too
/// many, and repeat roles: more than a repaired history ever does.
fn histories() -> impl Strategy<Value = Vec<Arc<Message>>> {
    let middle = prop::collection::vec(prop_oneof![2 => users(), 3 => assistants(), 4 => results()], 0..12);
    (users(), middle, users()).prop_map(|(first, middle, last)| {
        [first].into_iter().chain(middle).chain([last]).map(Arc::new).collect()
    })
}

fn settings() -> impl Strategy<Value = RequestSettings> {
    let efforts = vec![None, Some(Effort::Minimal), Some(Effort::Xhigh), Some(Effort::Ultra)];
    let effort = prop::sample::select(efforts);
    let cache = prop::sample::select(vec![None, Some(CacheTtl::FiveMinutes), Some(CacheTtl::OneHour)]);
    let replay = prop::sample::select(vec![ThinkingReplay::Signed, ThinkingReplay::Strip]);
    (effort, cache, replay, any::<bool>()).prop_map(|(effort, cache, replay, stream)| {
        let anthropic = AnthropicDialect { replay, ..AnthropicDialect::default() };
        let dialect = Dialect { anthropic, ..Dialect::default() };
        RequestSettings { effort, cache, stream, dialect, issuer: Some(issuer("m")), ..Default::default() }
    })
}

fn request(system: &str, settings: RequestSettings) -> ModelRequest {
    let parameters = RawJson::parse(r#"{"type":"object","anyOf":[{"required":["a"]}]}"#).unwrap();
    let tool = |name: &str| ToolDefinition {
        name: name.into(),
        description: "d".into(),
        parameters: parameters.clone(),
    };
    ModelRequest {
        model: "claude-opus-4-8".into(),
        system: system.into(),
        tools: Arc::from([tool("terminal"), tool("terminal"), tool("todo")]),
        messages: Arc::default(),
        settings,
    }
}

proptest! {
    #[test]
    fn every_request_is_valid(history in histories(), system in texts(), settings in settings()) {
        let asked = ModelRequest { messages: Arc::new(history), ..request(&system, settings) };
        let encoded = encode(MODE, &asked);
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        prop_assert_eq!(check_anthropic(&body), Ok(()), "{}", body);
    }

    #[test]
    fn golden_incremental_encoding_changes_no_byte(history in histories(), settings in settings()) {
        let mut asked = request("Be brief.", settings);
        let mut encoder = Encoder::new(MODE);
        for end in (1..=history.len()).chain([1, history.len()]) {
            asked.messages = Arc::new(history[..end].to_vec());
            let (remembered, fresh) = (encoder.encode(&asked), encode(MODE, &asked));
            prop_assert_eq!(remembered.body, fresh.body);
            prop_assert_eq!(remembered.segments, fresh.segments);
        }
    }

    /// Sent bytes do not change when messages are appended.
    #[test]
    fn golden_request_is_prefix_of_the_next(
        turns in prop::collection::vec((texts(), assistants()), 1..6),
    ) {
        let settings = RequestSettings { issuer: Some(issuer("m")), ..Default::default() };
        let mut asked = request("Be brief.", settings);
        let mut messages = vec![Arc::new(Message::user("hi"))];
        asked.messages = Arc::new(messages.clone());
        let mut before = encode(MODE, &asked);
        for (text, assistant) in turns {
            let result = |call: &ToolCall| Message::tool(call.id.clone(), "terminal", text.clone());
            let mut next: Vec<Message> = assistant.calls().iter().map(result).collect();
            if next.is_empty() {
                next.push(Message::user(text));
            }
            messages.extend([assistant].into_iter().chain(next).map(Arc::new));
            asked.messages = Arc::new(messages.clone());
            let after = encode(MODE, &asked);
            let sent = before.body.strip_suffix(b"]}").unwrap();
            prop_assert!(after.body.starts_with(sent), "{:?}\n{:?}", before.body, after.body);
            prop_assert!(after.segments.starts_with(&before.segments));
            before = after;
        }
    }
}

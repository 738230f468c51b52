//! Random histories give Responses requests that providers accept.

use hermes_conversation::{
    AssistantMessage, CallId, Content, History, Issuer, Message, RawJson, Reasoning, ToolCall,
    ToolDefinition, ToolMessage, UserMessage,
};
use hermes_testkit::check_responses;
use hermes_wire::{
    ApiMode, Dialect, Effort, Encoder, ModelRequest, RequestSettings, ResponsesBackend, ResponsesDialect,
    encode,
};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;

const ENDPOINTS: &[(ResponsesBackend, &str)] = &[
    (ResponsesBackend::OpenAi, "gpt-5"),
    (ResponsesBackend::OpenAi, "gpt-4o"),
    (ResponsesBackend::CodexBackend, "gpt-5"),
    (ResponsesBackend::Xai, "grok-4.3"),
    (ResponsesBackend::GitHub, "gpt-5"),
    (ResponsesBackend::Other, "m"),
];

fn issuer(model: &str) -> Issuer {
    Issuer { provider: "p".into(), origin: "https://proxy.example".into(), model: model.into() }
}

/// Few ids, so that they match, and some that must be shortened or generated.
fn id() -> impl Strategy<Value = String> {
    select(vec!["a".to_owned(), "b".into(), "call_1".into(), String::new(), "l".repeat(65), "ü".repeat(64)])
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z \"\\\\\n]{1,12}"]
}

fn content() -> impl Strategy<Value = Content> {
    let parts = select(vec![
        "[]",
        "{}",
        r#"[{"type":"text","text":"x"}]"#,
        r#"[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]"#,
        r#"[{"type":"image_url","image_url":{}},{"type":"video"},7]"#,
    ]);
    prop_oneof![
        3 => text().prop_map(Content::Text),
        1 => parts.prop_map(|parts| Content::Parts(RawJson::parse(parts).unwrap())),
    ]
}

fn call() -> impl Strategy<Value = ToolCall> {
    let name = select(vec!["terminal".to_owned(), String::new(), "file.read it".into(), "n".repeat(70)]);
    let arguments = select(vec!["{}", r#"{"a":1}"#, "", "{\"a\":", "null"]);
    (id(), option::weighted(0.3, id()), name, arguments).prop_map(|(id, call_id, name, arguments)| ToolCall {
        call_id,
        ..ToolCall::new(CallId::new(id), name, arguments)
    })
}

fn reasoning() -> impl Strategy<Value = Reasoning> {
    let items = select(vec![
        "[]",
        "7",
        r#"[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}]"#,
        r#"[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gA","status":null},
            {"type":"reasoning","summary":null,"encrypted_content":"gB","_issuer_kind":"codex_backend"},
            {"type":"reasoning","id":"rs_3","summary":[],"encrypted_content":""},{"summary":[]},"x"]"#,
    ]);
    let messages = select(vec![
        "[]",
        r#"[{"type":"message","id":"msg_1","phase":"commentary","status":"in_progress","content":[{"type":"output_text","text":"x","annotations":[]}]}]"#,
        r#"[{"type":"message","id":"","phase":"odd","content":[{"type":"refusal","refusal":"no"},{}]},{"content":[]},{"content":7}]"#,
    ]);
    (option::of(items), option::of(messages)).prop_map(|(items, messages)| Reasoning {
        codex_items: items.and_then(RawJson::parse),
        codex_messages: messages.and_then(RawJson::parse),
        ..Reasoning::default()
    })
}

fn message() -> impl Strategy<Value = Message> {
    let user = (content(), option::weighted(0.2, text()))
        .prop_map(|(content, api_content)| Message::User(UserMessage { content, api_content }));
    let model = select(vec![Some("gpt-5"), Some("m"), None]);
    let assistant = (text(), prop::collection::vec(call(), 0..4), reasoning(), model).prop_map(
        |(text, calls, reasoning, model)| {
            let issuer = model.map(issuer);
            Message::Assistant(AssistantMessage { text, calls, reasoning, finish: None, issuer })
        },
    );
    let result = (id(), content()).prop_map(|(id, content)| {
        Message::Tool(ToolMessage { content, ..ToolMessage::new(CallId::new(id), "terminal", "") })
    });
    prop_oneof![2 => user, 3 => assistant, 3 => result]
}

fn settings() -> impl Strategy<Value = (&'static str, RequestSettings)> {
    let efforts = vec![None, Some(Effort::None), Some(Effort::Minimal), Some(Effort::Ultra)];
    (select(ENDPOINTS), any::<bool>(), select(efforts), option::of(1u64..99)).prop_map(
        |((backend, model), replay, effort, max_tokens)| {
            let responses = ResponsesDialect::of(backend, model);
            let settings = RequestSettings {
                dialect: Dialect { responses, ..Dialect::default() },
                issuer: replay.then(|| issuer(model)),
                effort,
                max_tokens,
                session: Some("s".repeat(70).into()),
                ..RequestSettings::default()
            };
            (model, settings)
        },
    )
}

fn request(model: &str, settings: RequestSettings, with_head: bool) -> ModelRequest {
    let tool = |name: &str| ToolDefinition {
        name: name.into(),
        description: "d".into(),
        parameters: RawJson::parse(r#"{"type":"object","properties":{"pattern":{"pattern":"x"}}}"#).unwrap(),
    };
    ModelRequest {
        model: model.into(),
        system: if with_head { "Be brief.".into() } else { "".into() },
        tools: if with_head { Arc::from([tool("terminal"), tool("web_search")]) } else { Arc::from([]) },
        messages: Arc::default(),
        settings,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_restored_history_gives_valid_requests(
        messages in prop::collection::vec(message(), 0..12),
        (model, settings) in settings(),
        with_head in any::<bool>(),
    ) {
        let mut all = vec![Message::user("go")];
        all.extend(messages);
        let history = History::restore(all);
        let request = ModelRequest { messages: history.shared(), ..request(model, settings, with_head) };
        let encoded = encode(ApiMode::CodexResponses, &request);
        let body = serde_json::from_slice(&encoded.body).unwrap();
        prop_assert_eq!(check_responses(&body), Ok(()), "{}", body);
    }

    #[test]
    fn incremental_encoding_changes_no_byte_and_keeps_the_prefix(
        messages in prop::collection::vec(message(), 0..12),
        (model, settings) in settings(),
    ) {
        let mut all = vec![Message::user("go")];
        all.extend(messages);
        let history = History::restore(all);
        let mut request = request(model, settings, true);
        let mut encoder = Encoder::new(ApiMode::CodexResponses);
        let mut before = Vec::new();
        for end in 1..=history.len() {
            request.messages = Arc::new(history.messages()[..end].to_vec());
            let remembered = encoder.encode(&request);
            let fresh = encode(ApiMode::CodexResponses, &request);
            prop_assert_eq!(&remembered.body, &fresh.body);
            prop_assert_eq!(&remembered.segments, &fresh.segments);
            prop_assert!(fresh.body.starts_with(&before));
            before = fresh.body[..fresh.body.len() - b"]}".len()].to_vec();
        }
    }
}

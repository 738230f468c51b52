use super::*;
use crate::{ChatDialect, Dialect, ExtraFields, OutputCapKey, RequestSettings};
use hermes_conversation::{AssistantMessage, CallId, Issuer, RawJson, Reasoning, ToolCall};

fn tools() -> Arc<[ToolDefinition]> {
    Arc::from([ToolDefinition {
        name: "terminal".into(),
        description: "Run a command.".into(),
        parameters: RawJson::parse(r#"{"type":"object","properties":{}}"#).unwrap(),
    }])
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        system: "Be brief.".into(),
        tools: tools(),
        messages: Arc::new(messages.into_iter().map(Arc::new).collect()),
        settings: RequestSettings::default(),
    }
}

fn talk() -> Vec<Message> {
    let call = ToolCall::new(CallId::new("c1"), "terminal", "{ \"command\" : \"ls\" }");
    vec![
        Message::user("hi \"you\""),
        Message::Assistant(AssistantMessage { calls: vec![call], ..Default::default() }),
        Message::tool(CallId::new("c1"), "terminal", "{}"),
        Message::assistant("done"),
    ]
}

fn text(encoded: &EncodedRequest) -> String {
    String::from_utf8(encoded.body.to_vec()).unwrap()
}

#[test]
fn a_conversation_as_chat_completions() {
    insta::assert_snapshot!(text(&encode(ApiMode::ChatCompletions, &request(talk()))), @r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"terminal","description":"Run a command.","parameters":{"type":"object","properties":{}}}}],"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi \"you\""},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"terminal","arguments":"{ \"command\" : \"ls\" }"}}]},{"role":"tool","tool_call_id":"c1","content":"{}"},{"role":"assistant","content":"done"}]}"#);
}

#[test]
fn invented_tool_names_are_sanitised() {
    let call = ToolCall::new(CallId::new("c1"), "run it\u{1b}", "{}");
    let messages = vec![
        Message::user("hi"),
        Message::Assistant(AssistantMessage { calls: vec![call], ..Default::default() }),
        Message::tool(CallId::new("c1"), "run it\u{1b}", "unknown tool"),
    ];
    for mode in [ApiMode::ChatCompletions, ApiMode::AnthropicMessages, ApiMode::CodexResponses] {
        let body = text(&encode(mode, &request(messages.clone())));
        assert!(body.contains(r#""name":"run_it_""#) && !body.contains("run it"), "{mode:?}: {body}");
    }
}

#[test]
fn a_bare_question_without_stream_tools_or_system() {
    let bare = ModelRequest {
        system: "".into(),
        tools: Arc::from([]),
        settings: RequestSettings { stream: false, max_tokens: Some(64), ..RequestSettings::default() },
        ..request(vec![Message::user("hi")])
    };
    insta::assert_snapshot!(text(&encode(ApiMode::ChatCompletions, &bare)), @r#"{"model":"m","max_tokens":64,"messages":[{"role":"user","content":"hi"}]}"#);
}

#[test]
fn newer_models_get_the_developer_role_and_the_newer_cap() {
    let settings = RequestSettings {
        stream: false,
        max_tokens: Some(9),
        dialect: Dialect::of_model("gpt-5-mini"),
        ..RequestSettings::default()
    };
    let asked = ModelRequest { settings, tools: Arc::from([]), ..request(vec![Message::user("hi")]) };
    insta::assert_snapshot!(text(&encode(ApiMode::ChatCompletions, &asked)), @r#"{"model":"m","max_completion_tokens":9,"messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":"hi"}]}"#);
}

#[test]
fn incremental_encoding_changes_no_byte_and_appends_segments() {
    let all: Vec<_> = talk().into_iter().map(Arc::new).collect();
    let mut whole = request(vec![]);
    let mut encoder = Encoder::new(ApiMode::ChatCompletions);
    let mut before: Vec<Segment> = Vec::new();
    for end in 1..=all.len() {
        whole.messages = Arc::new(all[..end].to_vec());
        let remembered = encoder.encode(&whole);
        let fresh = encode(ApiMode::ChatCompletions, &whole);
        assert_eq!(remembered.body, fresh.body);
        assert_eq!(remembered.segments, fresh.segments);
        assert!(remembered.segments.starts_with(&before));
        assert_eq!(remembered.segments.len(), end + 2);
        before = remembered.segments;
    }
    // A request without tools, then back: no stale bytes may remain.
    let toolless = ModelRequest { tools: Arc::from([]), ..whole.clone() };
    assert_eq!(encoder.encode(&toolless).body, encode(ApiMode::ChatCompletions, &toolless).body);
    let shorter = ModelRequest { messages: Arc::new(all[..1].to_vec()), ..whole };
    assert_eq!(encoder.encode(&shorter).body, encode(ApiMode::ChatCompletions, &shorter).body);
}

#[test]
fn cache_marks_in_the_envelope_move_and_change_nothing_else() {
    use crate::CacheTtl;
    let settings = RequestSettings { cache: Some(CacheTtl::FiveMinutes), ..RequestSettings::default() };
    let mut asked = ModelRequest { settings, tools: Arc::from([]), ..request(talk()) };
    insta::assert_snapshot!(text(&encode(ApiMode::ChatCompletions, &asked)), @r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":[{"type":"text","text":"hi \"you\"","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"terminal","arguments":"{ \"command\" : \"ls\" }"}}]},{"role":"tool","tool_call_id":"c1","content":"{}"},{"role":"assistant","content":[{"type":"text","text":"done","cache_control":{"type":"ephemeral"}}]}]}"#);
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    let bare = |encoded: &EncodedRequest| text(encoded).replace(mark, "");
    let first = encode(ApiMode::ChatCompletions, &asked);
    assert_eq!(text(&first).matches(mark).count(), 3);
    let mut longer = asked.messages.to_vec();
    longer.extend([Message::user("again"), Message::assistant("yes"), Message::user("more")].map(Arc::new));
    asked.messages = Arc::new(longer);
    let second = encode(ApiMode::ChatCompletions, &asked);
    assert_eq!(text(&second).matches(mark).count(), 4);
    let (first_bare, second_bare) = (bare(&first), bare(&second));
    assert!(second_bare.starts_with(first_bare.strip_suffix("]}").unwrap()));
    assert!(second.segments.starts_with(&first.segments));
    serde_json::from_str::<serde_json::Value>(&text(&second)).unwrap();
    asked.settings.cache = Some(CacheTtl::OneHour);
    assert!(
        text(&encode(ApiMode::ChatCompletions, &asked))
            .contains(r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#)
    );
}

fn issuer(provider: &str, model: &str) -> Issuer {
    Issuer { provider: provider.into(), origin: format!("https://{provider}.example"), model: model.into() }
}

/// The echo fields of the assistant messages in a body; `null` where one has none.
fn echoes(messages: Vec<Message>, settings: RequestSettings) -> String {
    let request = ModelRequest { settings, ..request(messages) };
    let body: serde_json::Value =
        serde_json::from_slice(&encode(ApiMode::ChatCompletions, &request).body).unwrap();
    let replies =
        body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
    serde_json::Value::from_iter(replies.map(|reply| reply["reasoning_content"].clone())).to_string()
}

#[test]
fn reasoning_content_is_sent_only_to_endpoints_that_require_it() {
    let reply = |text: Option<&str>, content: Option<&str>, from: Option<Issuer>, calls: bool| {
        let call = ToolCall::new(CallId::new("c1"), "terminal", "{}");
        Message::Assistant(AssistantMessage {
            text: "said".into(),
            calls: calls.then_some(call).into_iter().collect(),
            reasoning: Reasoning {
                text: text.map(str::to_owned),
                content: content.map(str::to_owned),
                ..Reasoning::default()
            },
            issuer: from,
            ..AssistantMessage::default()
        })
    };
    let (own, twin, other) = (issuer("deepseek", "v4"), issuer("deepseek", "v4-flash"), issuer("nous", "v4"));
    let echoing =
        Dialect { chat: ChatDialect { echoes_reasoning: true, ..Default::default() }, ..Default::default() };
    let settings = |dialect, issuer| RequestSettings { dialect, issuer, ..RequestSettings::default() };
    for (message, want) in [
        (reply(Some("t"), Some("c"), Some(own.clone()), true), r#"["c"]"#),
        (reply(Some("t"), None, Some(own.clone()), true), r#"["t"]"#),
        (reply(Some("t"), None, Some(twin), false), r#"["t"]"#),
        (reply(Some("t"), Some("c"), Some(other), false), r#"[" "]"#),
        // Written by another program, without an issuer.
        (reply(Some("t"), Some("c"), None, true), r#"["c"]"#),
        (reply(Some("t"), None, None, true), r#"[" "]"#),
        (reply(Some("t"), None, None, false), r#"["t"]"#),
        (reply(Some("t"), Some(""), None, false), r#"[" "]"#),
        (reply(None, None, Some(own.clone()), false), r#"[" "]"#),
    ] {
        let messages = || vec![Message::user("hi"), message.clone()];
        assert_eq!(echoes(messages(), settings(echoing, Some(own.clone()))), want, "{message:?}");
        assert_eq!(
            echoes(messages(), settings(Dialect::default(), Some(own.clone()))),
            "[null]",
            "{message:?}"
        );
        // A server that rejected earlier reasoning still gets the field.
        assert_eq!(echoes(messages(), settings(echoing, None)), r#"[" "]"#, "{message:?}");
    }
}

#[test]
fn further_fields_come_before_tools_and_messages() {
    let fields = serde_json::json!({"reasoning": {"enabled": true}, "top_k": 4});
    let settings = RequestSettings {
        stream: false,
        max_tokens: Some(9),
        dialect: Dialect {
            chat: ChatDialect { names_session: true, ..Default::default() },
            ..Default::default()
        },
        session: Some("s1".into()),
        extra: ExtraFields::new(fields.as_object().cloned().unwrap()),
        ..RequestSettings::default()
    };
    let request = ModelRequest { settings, ..request(vec![Message::user("hi")]) };
    let body = text(&encode(ApiMode::ChatCompletions, &request));
    let head =
        r#"{"model":"m","max_tokens":9,"reasoning":{"enabled":true},"top_k":4,"session_id":"s1","tools":["#;
    assert!(body.starts_with(head), "{body}");
}

#[test]
fn output_cap_is_named_as_the_model_expects() {
    for (model, want) in [
        ("openai/gpt-5.4", OutputCapKey::MaxCompletionTokens),
        ("o3-mini", OutputCapKey::MaxCompletionTokens),
        ("gpt-4-turbo", OutputCapKey::MaxTokens),
        ("m", OutputCapKey::MaxTokens),
    ] {
        assert_eq!(Dialect::of_model(model).output_cap, want, "{model}");
    }
}

use super::*;
use crate::{ApiMode, Decoder, Dialect, Effort, EncodedRequest, Encoder, encode};
use hermes_conversation::{
    AssistantMessage, CallId, Content, Issuer, RawJson, Reasoning, ToolCall, ToolDefinition, UserMessage,
};

fn issuer(model: &str) -> Issuer {
    Issuer { provider: "openai".into(), origin: "https://api.openai.com".into(), model: model.into() }
}

fn settings(backend: ResponsesBackend, model: &str) -> RequestSettings {
    let responses = ResponsesDialect::of(backend, model);
    RequestSettings {
        dialect: Dialect { responses, ..Dialect::default() },
        issuer: Some(issuer(model)),
        ..RequestSettings::default()
    }
}

fn request(messages: Vec<Message>) -> ModelRequest {
    let tool = ToolDefinition {
        name: "terminal".into(),
        description: "Run a command.".into(),
        parameters: RawJson::parse(r#"{"type":"object","properties":{}}"#).unwrap(),
    };
    ModelRequest {
        model: "gpt-5".into(),
        system: "Be brief.".into(),
        tools: Arc::from([tool]),
        messages: Arc::new(messages.into_iter().map(Arc::new).collect()),
        settings: settings(ResponsesBackend::OpenAi, "gpt-5"),
    }
}

fn text(encoded: &EncodedRequest) -> String {
    String::from_utf8(encoded.body.to_vec()).unwrap()
}

fn body(request: &ModelRequest) -> String {
    text(&encode(ApiMode::CodexResponses, request))
}

/// The items of a request, without its head.
fn input(request: &ModelRequest) -> String {
    let body = body(request);
    body.split_once(",\"input\":").unwrap().1.strip_suffix('}').unwrap().to_owned()
}

fn call(id: &str) -> ToolCall {
    ToolCall::new(CallId::new(id), "terminal", r#"{ "command" : "ls" }"#)
}

/// The reply of a reasoning model, with both tracks that are sent back.
fn thoughtful(text: &str, calls: Vec<ToolCall>) -> AssistantMessage {
    let items = r#"[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA","_issuer_kind":"x"},
        {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},{"type":"reasoning","id":"rs_2","summary":[]},7]"#;
    let said = r#"[{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"yes","annotations":[]}],"id":"msg_1","phase":"final_answer"}]"#;
    let reasoning = Reasoning {
        text: Some("hm".into()),
        codex_items: RawJson::parse(items),
        codex_messages: RawJson::parse(said).filter(|_| !text.is_empty()),
        ..Reasoning::default()
    };
    AssistantMessage { text: text.into(), calls, reasoning, finish: None, issuer: Some(issuer("gpt-5")) }
}

#[test]
fn golden_plain_conversation() {
    let talk = vec![Message::user("hi \"you\""), Message::assistant("hello"), Message::user("bye")];
    insta::assert_snapshot!(body(&request(talk)), @r#"{"model":"gpt-5","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"},"prompt_cache_key":"pck_7600ed78b93ae85f9ea6740b","tool_choice":"auto","parallel_tool_calls":true,"tools":[{"type":"function","name":"terminal","description":"Run a command.","strict":false,"parameters":{"type":"object","properties":{}}}],"instructions":"Be brief.","input":[{"role":"user","content":"hi \"you\""},{"role":"assistant","content":"hello"},{"role":"user","content":"bye"}]}"#);
}

#[test]
fn golden_a_bare_question_without_stream_tools_or_system() {
    let settings = RequestSettings {
        stream: false,
        max_tokens: Some(9),
        issuer: None,
        session: Some("20250101_000000_abcdef".into()),
        ..settings(ResponsesBackend::Other, "m")
    };
    let bare = ModelRequest {
        system: "".into(),
        tools: Arc::from([]),
        settings,
        ..request(vec![Message::user("hi")])
    };
    insta::assert_snapshot!(body(&bare), @r#"{"model":"gpt-5","store":false,"include":[],"max_output_tokens":16,"prompt_cache_key":"20250101_000000_abcdef","input":[{"role":"user","content":"hi"}]}"#);
}

#[test]
fn golden_parallel_tools() {
    let long = "c".repeat(70);
    let mut damaged = call(&long);
    damaged.arguments = "{\"a\":".into();
    damaged.name = "file.read it".into();
    let calls =
        AssistantMessage { text: "Both.".into(), calls: vec![call("a"), damaged], ..Default::default() };
    let talk = vec![
        Message::user("go"),
        Message::Assistant(calls),
        Message::tool(CallId::new("a"), "terminal", "{}"),
        Message::tool(CallId::new(long), "terminal", "x"),
    ];
    insta::assert_snapshot!(input(&request(talk)), @r#"[{"role":"user","content":"go"},{"role":"assistant","content":"Both."},{"type":"function_call","call_id":"a","name":"terminal","arguments":"{ \"command\" : \"ls\" }"},{"type":"function_call","call_id":"call_6fe5981a314622bb624db8ecb4fdcd5b","name":"file_read_it","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"{}"},{"type":"function_call_output","call_id":"call_6fe5981a314622bb624db8ecb4fdcd5b","output":"x"}]"#);
}

#[test]
fn golden_reasoning_is_sent_back_to_its_issuer_only() {
    let talk = vec![
        Message::user("go"),
        Message::Assistant(thoughtful("", vec![call("a")])),
        Message::tool(CallId::new("a"), "terminal", "{}"),
        Message::Assistant(thoughtful("yes", vec![])),
        Message::user("and?"),
        Message::Assistant(thoughtful("", vec![])),
    ];
    let same = request(talk);
    insta::assert_snapshot!(input(&same), @r#"[{"role":"user","content":"go"},{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA"},{"type":"function_call","call_id":"a","name":"terminal","arguments":"{ \"command\" : \"ls\" }"},{"type":"function_call_output","call_id":"a","output":"{}"},{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA"},{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"yes"}],"id":"msg_1","phase":"final_answer"},{"role":"user","content":"and?"},{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA"},{"role":"assistant","content":""}]"#);
    let other = ModelRequest { settings: settings(ResponsesBackend::OpenAi, "gpt-6"), ..same.clone() };
    insta::assert_snapshot!(input(&other), @r#"[{"role":"user","content":"go"},{"type":"function_call","call_id":"a","name":"terminal","arguments":"{ \"command\" : \"ls\" }"},{"type":"function_call_output","call_id":"a","output":"{}"},{"role":"assistant","content":"yes"},{"role":"user","content":"and?"}]"#);
    let none = ModelRequest { settings: RequestSettings { issuer: None, ..same.settings.clone() }, ..same };
    assert_eq!(input(&none), input(&other));
}

#[test]
fn golden_images() {
    let parts = r#"[{"type":"text","text":"what is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}}]"#;
    let parts = || Content::Parts(RawJson::parse(parts).unwrap());
    let asked = UserMessage { content: parts(), api_content: None };
    let calling = AssistantMessage { calls: vec![call("a")], ..Default::default() };
    let Message::Tool(mut shot) = Message::tool(CallId::new("a"), "terminal", "") else { unreachable!() };
    shot.content = parts();
    let talk = vec![Message::User(asked), Message::Assistant(calling), Message::Tool(shot)];
    insta::assert_snapshot!(input(&request(talk)), @r#"[{"role":"user","content":[{"type":"input_text","text":"what is this?"},{"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"low"}]},{"type":"function_call","call_id":"a","name":"terminal","arguments":"{ \"command\" : \"ls\" }"},{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"what is this?"},{"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"low"}]}]"#);
}

#[test]
fn golden_heads_of_the_backends() {
    let heads = [
        (ResponsesBackend::CodexBackend, "gpt-5"),
        (ResponsesBackend::Xai, "grok-4.3"),
        (ResponsesBackend::GitHub, "gpt-5"),
        (ResponsesBackend::OpenAi, "gpt-4o"),
    ]
    .map(|(backend, model)| {
        let settings =
            RequestSettings { max_tokens: Some(99), effort: Some(Effort::Xhigh), ..settings(backend, model) };
        let head = ModelRequest {
            model: model.into(),
            system: "".into(),
            tools: Arc::from([]),
            settings,
            ..request(vec![])
        };
        body(&head)
    });
    insta::assert_snapshot!(heads.join("\n"), @r#"
{"model":"gpt-5","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"xhigh","summary":"auto"},"prompt_cache_key":"pck_9c16f6f671531a364e0c9073","instructions":"You are a helpful assistant.","input":[]}
{"model":"grok-4.3","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"high","summary":"auto"},"max_output_tokens":99,"input":[]}
{"model":"gpt-5","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"xhigh","summary":"auto"},"max_output_tokens":99,"input":[]}
{"model":"gpt-4o","stream":true,"store":false,"include":[],"max_output_tokens":99,"input":[]}
"#);
}

#[test]
fn no_effort_means_no_reasoning_at_all() {
    let mut asked = request(vec![Message::user("hi")]);
    asked.settings.effort = Some(Effort::None);
    let body = body(&asked);
    assert!(body.contains(r#","include":[],"#) && !body.contains(r#""reasoning""#), "{body}");
}

#[test]
fn results_use_the_id_under_which_the_call_is_sent() {
    let mut first = call("fc_1");
    first.call_id = Some("call_1".into());
    let calling = AssistantMessage { calls: vec![first, call("b")], ..Default::default() };
    for answer in ["fc_1", "call_1"] {
        let talk = vec![
            Message::user("go"),
            Message::Assistant(calling.clone()),
            Message::tool(CallId::new("b"), "terminal", "B"),
            Message::tool(CallId::new(answer), "terminal", "A"),
        ];
        let written: serde_json::Value = serde_json::from_str(&input(&request(talk))).unwrap();
        let ids: Vec<_> = written.as_array().unwrap().iter().map(|item| item["call_id"].as_str()).collect();
        assert_eq!(ids, [None, Some("call_1"), Some("b"), Some("b"), Some("call_1")], "{answer}");
    }
}

#[test]
fn calls_with_equal_second_ids_keep_their_first() {
    let calls = ["a", "b"].map(|id| {
        let mut call = call(id);
        call.call_id = Some("same".into());
        call
    });
    assert_eq!(super::items::wire_ids(&calls), ["a", "b"]);
}

#[test]
fn reasoning_that_another_program_recorded_is_replayed_by_its_kind() {
    let items = |kind: &str| {
        RawJson::parse(&format!(r#"[{{"encrypted_content":"gAAA","summary":[],"_issuer_kind":"{kind}"}}]"#))
    };
    for (kind, want) in [("other:https://api.openai.com/v1", true), ("codex_backend", false)] {
        let message = AssistantMessage {
            text: "yes".into(),
            reasoning: Reasoning { codex_items: items(kind), ..Reasoning::default() },
            ..Default::default()
        };
        let written = input(&request(vec![Message::user("go"), Message::Assistant(message)]));
        assert_eq!(written.contains("gAAA"), want, "{kind}");
        assert!(!written.contains("_issuer_kind"), "{kind}");
    }
}

#[test]
fn golden_request_is_prefix_of_the_next_with_and_without_history_cache() {
    let mut renamed = call("fc_2");
    renamed.call_id = Some("call_2".into());
    let all: Vec<_> = [
        Message::user("go"),
        Message::Assistant(thoughtful("", vec![call("a"), renamed])),
        Message::tool(CallId::new("a"), "terminal", "A"),
        Message::tool(CallId::new("fc_2"), "terminal", "B"),
        Message::Assistant(AssistantMessage::default()),
        Message::Assistant(thoughtful("yes", vec![])),
        Message::user("and?"),
    ]
    .map(Arc::new)
    .into();
    let mut encoder = Encoder::new(ApiMode::CodexResponses);
    let mut before = String::new();
    for end in 1..=all.len() {
        let whole = ModelRequest { messages: Arc::new(all[..end].to_vec()), ..request(vec![]) };
        let remembered = encoder.encode(&whole);
        let fresh = encode(ApiMode::CodexResponses, &whole);
        assert_eq!(text(&remembered), text(&fresh));
        assert_eq!(remembered.segments, fresh.segments);
        let now = text(&fresh);
        assert!(now.starts_with(&before), "{before}\n{now}");
        before = now.strip_suffix("]}").unwrap().to_owned();
    }
}

#[test]
fn decoded_items_are_sent_back_unchanged() {
    let mut decoder = Decoder::new(ApiMode::CodexResponses);
    let long = "call_".to_owned() + &"x".repeat(70);
    let end = serde_json::json!({"type": "response.completed", "response": {"status": "completed", "output": [
        {"type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": "gBBB"},
        {"type": "message", "id": "msg_9", "phase": "commentary", "status": "completed",
            "content": [{"type": "output_text", "text": "Looking."}]},
        {"type": "function_call", "id": "fc_9", "call_id": long, "name": "terminal", "arguments": "{}"},
    ]}});
    decoder.feed(&end.to_string(), |_| ()).unwrap();
    let mut message = decoder.finish().unwrap().message;
    message.issuer = Some(issuer("gpt-5"));
    let answer = Message::tool(message.calls[0].id.clone(), "terminal", "ok");
    let talk = vec![Message::user("go"), Message::Assistant(message), answer];
    insta::assert_snapshot!(input(&request(talk)), @r#"[{"role":"user","content":"go"},{"type":"reasoning","summary":[],"encrypted_content":"gBBB"},{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Looking."}],"id":"msg_9","phase":"commentary"},{"type":"function_call","call_id":"call_0d387374764b96e0fa09a66176fb04b1","name":"terminal","arguments":"{}"},{"type":"function_call_output","call_id":"call_0d387374764b96e0fa09a66176fb04b1","output":"ok"}]"#);
}

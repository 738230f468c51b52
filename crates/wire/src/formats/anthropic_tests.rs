use super::*;
use crate::{ApiMode, CacheTtl, Dialect, EncodedRequest, Encoder, encode};
use hermes_conversation::{
    AssistantMessage, CallId, Content, Issuer, RawJson, Reasoning, ToolCall, ToolMessage, UserMessage,
};

const MODE: ApiMode = ApiMode::AnthropicMessages;

fn issuer(model: &str) -> Issuer {
    Issuer { provider: "anthropic".into(), origin: "https://api.anthropic.com".into(), model: model.into() }
}

fn settings() -> RequestSettings {
    RequestSettings { stream: false, max_tokens: Some(64), issuer: Some(issuer("m")), ..Default::default() }
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        system: "".into(),
        tools: Arc::from([]),
        messages: Arc::new(messages.into_iter().map(Arc::new).collect()),
        settings: settings(),
    }
}

fn text(encoded: &EncodedRequest) -> String {
    String::from_utf8(encoded.body.to_vec()).unwrap()
}

/// The items of a request over these messages.
fn items(messages: Vec<Message>, settings: RequestSettings) -> String {
    let body = text(&encode(MODE, &ModelRequest { settings, ..request(messages) }));
    body.split_once("\"messages\":").unwrap().1.strip_suffix('}').unwrap().to_owned()
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall::new(CallId::new(id), "terminal", arguments)
}

fn calling(text: &str, calls: Vec<ToolCall>) -> AssistantMessage {
    AssistantMessage { text: text.into(), calls, ..Default::default() }
}

fn result(id: &str, text: &str) -> Message {
    Message::tool(CallId::new(id), "terminal", text)
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

/// A reply with thinking, text, a call, thinking and a call.
fn thinker() -> AssistantMessage {
    AssistantMessage {
        reasoning: Reasoning {
            text: Some("hm".into()),
            anthropic_blocks: Some(raw(
                r#"[{"type":"thinking","thinking":"hm","signature":"s1","cache_control":{}},{"type":"redacted_thinking","data":"xx"},{"type":"text","text":"So."},{"type":"tool_use","id":"c1","name":"terminal","input":{"secret":1}},{"type":"thinking","thinking":"and","signature":"s2"},{"type":"tool_use","id":"c2","name":"terminal"}]"#,
            )),
            ..Reasoning::default()
        },
        issuer: Some(issuer("m")),
        ..calling("So.", vec![call("c1", "{ \"a\": 1 }"), call("c2", "{}")])
    }
}

fn thought() -> Vec<Message> {
    vec![Message::user("hi"), Message::Assistant(thinker()), result("c1", "one"), result("c2", "two")]
}

#[test]
fn golden_a_plain_question() {
    let body = text(&encode(MODE, &request(vec![Message::user("hi \"you\"")])));
    insta::assert_snapshot!(body, @r#"{"model":"m","max_tokens":64,"messages":[{"role":"user","content":[{"type":"text","text":"hi \"you\""}]}]}"#);
}

#[test]
fn golden_a_conversation_with_tools_in_parallel() {
    let tool = |name: &str| ToolDefinition {
        name: name.into(),
        description: "Do it.".into(),
        parameters: raw(r#"{"type":"object","properties":{"n":{"type":["integer","null"]}}}"#),
    };
    let asked = ModelRequest {
        model: "anthropic/claude-opus-4.8".into(),
        system: "Be brief.".into(),
        tools: Arc::from([tool("terminal"), tool("todo"), tool("todo")]),
        settings: RequestSettings {
            stream: true,
            effort: Some(Effort::High),
            dialect: Dialect::of_model("claude-opus-4.8"),
            ..RequestSettings::default()
        },
        ..request(vec![
            Message::user("look"),
            Message::Assistant(calling(
                "Looking.",
                vec![call("c.1", "{ \"a\": 1 }"), call("c:1", "not json")],
            )),
            result("c:1", ""),
            result("c.1", "one"),
            Message::user("and?"),
            Message::assistant("done"),
            Message::user("thanks"),
        ])
    };
    insta::assert_snapshot!(text(&encode(MODE, &asked)), @r#"{"model":"claude-opus-4-8","max_tokens":128000,"stream":true,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"},"tools":[{"name":"terminal","description":"Do it.","input_schema":{"type":"object","properties":{"n":{"type":"integer"}}}},{"name":"todo","description":"Do it.","input_schema":{"type":"object","properties":{"n":{"type":"integer"}}}}],"tool_choice":{"type":"auto"},"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":[{"type":"text","text":"look"}]},{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"tool_use","id":"c_1","name":"terminal","input":{ "a": 1 }},{"type":"tool_use","id":"c_1_2","name":"terminal","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c_1_2","content":"[no output]"},{"type":"tool_result","tool_use_id":"c_1","content":"one"},{"type":"text","text":"and?"}]},{"role":"assistant","content":[{"type":"text","text":"done"}]},{"role":"user","content":[{"type":"text","text":"thanks"}]}]}"#);
}

#[test]
fn golden_thinking_goes_back_to_its_issuer_only() {
    insta::assert_snapshot!(items(thought(), settings()), @r#"[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"redacted_thinking","data":"xx"},{"type":"text","text":"So."},{"type":"tool_use","id":"c1","name":"terminal","input":{ "a": 1 }},{"type":"thinking","thinking":"and","signature":"s2"},{"type":"tool_use","id":"c2","name":"terminal","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"one"},{"type":"tool_result","tool_use_id":"c2","content":"two"}]}]"#);
    let other = RequestSettings { issuer: Some(issuer("n")), ..settings() };
    insta::assert_snapshot!(items(thought(), other), @r#"[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"So."},{"type":"tool_use","id":"c1","name":"terminal","input":{ "a": 1 }},{"type":"tool_use","id":"c2","name":"terminal","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"one"},{"type":"tool_result","tool_use_id":"c2","content":"two"}]}]"#);
    let nobody = RequestSettings { issuer: None, ..settings() };
    assert!(!items(thought(), nobody).contains("thinking"));
}

#[test]
fn golden_thinking_by_endpoint() {
    let to = |replay: ThinkingReplay, message: AssistantMessage| {
        let anthropic = AnthropicDialect { replay, ..AnthropicDialect::default() };
        let dialect = Dialect { anthropic, ..Dialect::default() };
        let body = items(vec![Message::Assistant(message)], RequestSettings { dialect, ..settings() });
        body.split_once("},{\"role\":\"user\"").map_or(body.clone(), |(assistant, _)| assistant.to_owned())
    };
    assert!(!to(ThinkingReplay::Strip, thinker()).contains("thinking"));
    insta::assert_snapshot!(to(ThinkingReplay::Unsigned, thinker()), @r#"[{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"So."},{"type":"tool_use","id":"c1","name":"terminal","input":{ "a": 1 }},{"type":"thinking","thinking":"and"},{"type":"tool_use","id":"c2","name":"terminal","input":{}}]"#);
    let unsigned = || AssistantMessage {
        reasoning: Reasoning {
            anthropic_blocks: Some(raw(
                r#"[{"type":"thinking","thinking":"hm"},{"type":"text","text":"x"}]"#,
            )),
            ..Reasoning::default()
        },
        ..AssistantMessage { text: "x".into(), issuer: Some(issuer("m")), ..Default::default() }
    };
    insta::assert_snapshot!(to(ThinkingReplay::All, unsigned()), @r#"[{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"x"}]}]"#);
    assert!(!to(ThinkingReplay::Signed, unsigned()).contains("thinking"));
    // A call of another issuer is echoed with empty thinking.
    insta::assert_snapshot!(to(ThinkingReplay::Unsigned, calling("", vec![call("c1", "{}")])), @r#"[{"role":"assistant","content":[{"type":"thinking","thinking":" "},{"type":"tool_use","id":"c1","name":"terminal","input":{}}]"#);
}

#[test]
fn golden_message_determines_text_and_blocks_determine_order() {
    let changed = AssistantMessage { text: "Redacted.".into(), ..thinker() };
    let body = items(vec![Message::user("hi"), Message::Assistant(changed)], settings());
    assert!(body.contains(r#""data":"xx"},{"type":"text","text":"Redacted."},{"type":"tool_use""#), "{body}");
    let mut added = thinker();
    added.calls.push(call("c3", "{}"));
    let blocks = r#"[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"c1"},{"type":"tool_use","id":"gone"}]"#;
    added.reasoning.anthropic_blocks = Some(raw(blocks));
    insta::assert_snapshot!(items(vec![Message::Assistant(added)], settings()), @r#"[{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"So."},{"type":"tool_use","id":"c1","name":"terminal","input":{ "a": 1 }},{"type":"tool_use","id":"c2","name":"terminal","input":{}},{"type":"tool_use","id":"c3","name":"terminal","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"{\"error\": \"The result of this call was not recorded. It may or may not have taken effect.\"}"},{"type":"tool_result","tool_use_id":"c2","content":"{\"error\": \"The result of this call was not recorded. It may or may not have taken effect.\"}"},{"type":"tool_result","tool_use_id":"c3","content":"{\"error\": \"The result of this call was not recorded. It may or may not have taken effect.\"}"}]}]"#);
}

#[test]
fn golden_images_and_documents() {
    let image = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}"#;
    let web = r#"{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}"#;
    let file = r#"{"type":"file","file":{"file_data":"data:application/pdf;base64,AA=="}}"#;
    let parts = |parts: String| Content::Parts(raw(&parts));
    let user = UserMessage {
        content: parts(format!(r#"[{{"type":"text","text":"see"}},{image},{web},{file}]"#)),
        api_content: None,
    };
    let shown = ToolMessage {
        content: parts(format!(r#"[{{"type":"text","text":"shot"}},{image}]"#)),
        ..ToolMessage::new(CallId::new("c1"), "terminal", "")
    };
    let messages = vec![
        Message::User(user),
        Message::Assistant(calling("", vec![call("c1", "{}")])),
        Message::Tool(shown),
    ];
    insta::assert_snapshot!(items(messages, settings()), @r#"[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"image","source":{"type":"url","url":"https://x.example/a.png"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AA=="}}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"terminal","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"shot"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}]}]"#);
}

#[test]
fn golden_unpaired_or_empty_messages_give_a_valid_request() {
    let shown = [
        ("a call without a result", vec![Message::Assistant(calling("", vec![call("c1", "{}")]))]),
        ("a result without a call", vec![result("c9", "x"), Message::user("hi"), result("c9", "x")]),
        (
            "a stranger's result and a second one",
            vec![
                Message::Assistant(calling("", vec![call("c1", "{}")])),
                result("c9", "x"),
                result("c1", "y"),
                result("c1", "z"),
            ],
        ),
        ("only a stray result", vec![Message::user("hi"), Message::assistant("yes"), result("c9", "x")]),
        ("nothing said", vec![Message::user(" "), Message::assistant("")]),
        (
            "the same role twice",
            vec![
                Message::user("a"),
                Message::user("b"),
                Message::assistant("c"),
                Message::Assistant(thinker()),
            ],
        ),
        (
            "only thoughts",
            vec![Message::Assistant(AssistantMessage { calls: vec![], text: String::new(), ..thinker() })],
        ),
        (
            "an invented name",
            vec![Message::Assistant(calling(
                "",
                vec![ToolCall::new(CallId::new("c1"), "functions.run it", "[1]")],
            ))],
        ),
    ]
    .map(|(name, messages)| format!("{name}: {}", items(messages, settings())));
    insta::assert_snapshot!(shown.join("\n"), @r#"a call without a result: [{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"terminal","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"{\"error\": \"The result of this call was not recorded. It may or may not have taken effect.\"}"}]}]
a result without a call: [{"role":"user","content":[{"type":"text","text":"hi"}]}]
a stranger's result and a second one: [{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"terminal","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"y"}]}]
only a stray result: [{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"yes"}]}]
nothing said: [{"role":"user","content":[{"type":"text","text":"[no text]"}]},{"role":"assistant","content":[{"type":"text","text":"[no text]"}]}]
the same role twice: [{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":[{"type":"text","text":"c"},{"type":"text","text":"So."},{"type":"tool_use","id":"c1","name":"terminal","input":{ "a": 1 }},{"type":"tool_use","id":"c2","name":"terminal","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"{\"error\": \"The result of this call was not recorded. It may or may not have taken effect.\"}"},{"type":"tool_result","tool_use_id":"c2","content":"{\"error\": \"The result of this call was not recorded. It may or may not have taken effect.\"}"}]}]
only thoughts: [{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"redacted_thinking","data":"xx"},{"type":"thinking","thinking":"and","signature":"s2"},{"type":"text","text":"[no text]"}]}]
an invented name: [{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"functions_run_it","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"{\"error\": \"The result of this call was not recorded. It may or may not have taken effect.\"}"}]}]"#);
}

fn long_talk() -> Vec<Arc<Message>> {
    let mut messages = vec![Message::user("a"), Message::assistant("b"), Message::user("c")];
    messages.extend(thought().drain(1..));
    messages.push(Message::Assistant(calling("", vec![call("c3", "{}")])));
    messages.push(result("c3", "three"));
    messages.push(Message::user("stop"));
    messages.push(Message::assistant("stopped"));
    messages.push(Message::user("on"));
    messages.into_iter().map(Arc::new).collect()
}

#[test]
fn golden_cache_marks() {
    let marked = |cache: CacheTtl| {
        let settings = RequestSettings { cache: Some(cache), ..settings() };
        let messages = Arc::new(long_talk()[..6].to_vec());
        let asked = ModelRequest { system: "Be brief.".into(), settings, messages, ..request(vec![]) };
        text(&encode(MODE, &asked))
    };
    insta::assert_snapshot!(marked(CacheTtl::FiveMinutes), @r#"{"model":"m","max_tokens":64,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"redacted_thinking","data":"xx"},{"type":"text","text":"So."},{"type":"tool_use","id":"c1","name":"terminal","input":{ "a": 1 }},{"type":"thinking","thinking":"and","signature":"s2"},{"type":"tool_use","id":"c2","name":"terminal","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"one"},{"type":"tool_result","tool_use_id":"c2","content":"two","cache_control":{"type":"ephemeral"}}]}]}"#);
    insta::assert_snapshot!(marked(CacheTtl::OneHour), @r#"{"model":"m","max_tokens":64,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}]},{"role":"user","content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral","ttl":"1h"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"redacted_thinking","data":"xx"},{"type":"text","text":"So."},{"type":"tool_use","id":"c1","name":"terminal","input":{ "a": 1 }},{"type":"thinking","thinking":"and","signature":"s2"},{"type":"tool_use","id":"c2","name":"terminal","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"one"},{"type":"tool_result","tool_use_id":"c2","content":"two","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}"#);
}

#[test]
fn golden_requests_differ_by_marks_and_appended_bytes_only() {
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    let all = long_talk();
    let settings = RequestSettings { cache: Some(CacheTtl::FiveMinutes), ..settings() };
    let mut asked = ModelRequest { system: "Be brief.".into(), settings, ..request(vec![]) };
    let mut encoder = Encoder::new(MODE);
    let mut before = (String::new(), Vec::new());
    // Every length at which a request is really sent.
    for end in [1, 3, 6, 9, 11] {
        asked.messages = Arc::new(all[..end].to_vec());
        let encoded = encoder.encode(&asked);
        let body = text(&encoded);
        assert!((2..=4).contains(&body.matches(mark).count()), "{end}: {body}");
        let unmarked = body.replace(mark, "");
        let prefix = before.0.strip_suffix("]}").unwrap_or_default();
        assert!(unmarked.starts_with(prefix), "{end}: {unmarked}");
        assert!(encoded.segments.starts_with(&before.1), "{end}");
        before = (unmarked, encoded.segments);
    }
}

#[test]
fn golden_incremental_encoding_changes_no_byte() {
    let all = long_talk();
    let mut asked = ModelRequest { system: "Be brief.".into(), ..request(vec![]) };
    asked.settings.cache = Some(CacheTtl::OneHour);
    let mut encoder = Encoder::new(MODE);
    // Also lengths at which a call has no result yet, and back again.
    for end in (1..=all.len()).chain((1..=all.len()).rev()) {
        asked.messages = Arc::new(all[..end].to_vec());
        let (remembered, fresh) = (encoder.encode(&asked), encode(MODE, &asked));
        assert_eq!(text(&remembered), text(&fresh), "{end}");
        assert_eq!(remembered.segments, fresh.segments, "{end}");
    }
}

#[test]
fn effort_becomes_thinking() {
    let head = |model: &str, effort: Option<Effort>, max_tokens: Option<u64>| {
        let dialect = Dialect::of_model(model);
        let settings = RequestSettings { effort, dialect, max_tokens, ..settings() };
        let body = text(&encode(MODE, &ModelRequest { model: model.into(), settings, ..request(vec![]) }));
        body.split_once("\"max_tokens\":").unwrap().1.strip_suffix(",\"messages\":[]}").unwrap().to_owned()
    };
    let adaptive = |cap: u64, word: &str| {
        format!(
            r#"{cap},"thinking":{{"type":"adaptive","display":"summarized"}},"output_config":{{"effort":"{word}"}}"#
        )
    };
    let budget =
        |cap: u64, budget: u64| format!(r#"{cap},"thinking":{{"type":"enabled","budget_tokens":{budget}}}"#);
    for (model, effort, max_tokens, want) in [
        ("claude-opus-4-8", None, None, "128000".to_owned()),
        ("claude-opus-4-8", Some(Effort::None), None, "128000".to_owned()),
        ("claude-opus-4-8", Some(Effort::Minimal), Some(9), adaptive(9, "low")),
        ("claude-opus-4-8", Some(Effort::Xhigh), None, adaptive(128_000, "xhigh")),
        ("claude-opus-4-6", Some(Effort::Xhigh), None, adaptive(128_000, "max")),
        ("claude-opus-4-8", Some(Effort::Ultra), None, adaptive(128_000, "max")),
        ("kimi-k2", Some(Effort::Max), None, adaptive(128_000, "high")),
        ("claude-haiku-4-5", Some(Effort::High), None, "64000".to_owned()),
        ("claude-sonnet-4-5", Some(Effort::Low), None, budget(64_000, 4_000)),
        ("claude-sonnet-4-5", Some(Effort::Medium), Some(64), budget(12_096, 8_000)),
        // Budget and answer together stay below the output limit of the model.
        ("claude-opus-4-1", Some(Effort::Xhigh), None, budget(32_000, 27_904)),
        ("claude-opus-4-8", None, Some(0), "1".to_owned()),
    ] {
        assert_eq!(head(model, effort, max_tokens), want, "{model} {effort:?}");
    }
}

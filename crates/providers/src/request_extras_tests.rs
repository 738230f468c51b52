use super::*;
use crate::{CustomProvider, GivenKey, HttpClients, HttpModel, Wanted, resolve};
use hermes_guard::Secrets;
use hermes_wire::Model;

fn endpoint(provider: &str, model: &str, wanted: Wanted) -> Endpoint {
    let wanted = Wanted {
        provider: Some(provider.to_owned()),
        model: Some(model.to_owned()),
        given: Some(GivenKey::Key { key: "test-key-1234".into(), by: "test".to_owned() }),
        ..wanted
    };
    resolve(&wanted, &|_| None).unwrap()
}

fn own_box(extras: RequestExtras) -> Endpoint {
    let entry = CustomProvider {
        name: "box".to_owned(),
        base_url: "https://box.example/v1".to_owned(),
        api_mode: Some(crate::ModeName::ChatCompletions),
        extras: extras.into(),
        ..CustomProvider::default()
    };
    endpoint("box", "m", Wanted { custom: vec![entry], ..Wanted::default() })
}

fn shown(fields: &ExtraFields) -> String {
    serde_json::to_string(fields).unwrap()
}

#[test]
fn user_fields_override_provider_fields() {
    let body = json!({"think": true, "top_k": 5}).as_object().cloned().unwrap();
    let endpoint = own_box(RequestExtras { body, ..RequestExtras::default() });
    let fields = extra_fields(&endpoint, Thinking::Conversation(Some(Effort::None)));
    assert_eq!(shown(&fields), r#"{"reasoning_effort":"none","think":true,"top_k":5}"#);
}

#[test]
fn a_reserved_member_is_never_written_twice() {
    let fields = json!({"model": "x", "messages": [], "stream": false, "top_k": 5});
    assert_eq!(shown(&ExtraFields::new(fields.as_object().cloned().unwrap())), r#"{"top_k":5}"#);
}

#[test]
fn auxiliary_task_sends_no_effort_by_default() {
    let endpoint = endpoint("openrouter", "openai/gpt-5.4", Wanted::default());
    let chat = endpoint.with_model("deepseek/deepseek-v4");
    assert_eq!(shown(&extra_fields(&chat, Thinking::Task(None))), "{}");
    let low = Thinking::Task(Some(Effort::Low));
    assert_eq!(shown(&extra_fields(&chat, low)), r#"{"reasoning":{"enabled":true,"effort":"low"}}"#);
    // Only chat completions have these fields.
    assert_eq!(endpoint.api_mode, ApiMode::CodexResponses);
    assert!(extra_fields(&endpoint, low).is_empty());
}

#[test]
fn routers_get_preferences_and_others_do_not() {
    let router = RouterSettings {
        provider: json!({"only": ["a"], "sort": "price"}).as_object().cloned().unwrap(),
        response_cache: Some(60),
        min_coding_score: Some(0.65),
    };
    for (provider, model, want) in [
        ("openrouter", "m", r#"{"provider":{"only":["a"],"sort":"price"}}"#),
        (
            "openrouter",
            "openrouter/pareto-code",
            r#"{"provider":{"only":["a"],"sort":"price"},"plugins":[{"id":"pareto-router","min_coding_score":0.65}]}"#,
        ),
        ("deepseek", "m", "{}"),
    ] {
        let endpoint = endpoint(provider, model, Wanted { router: router.clone(), ..Wanted::default() });
        assert_eq!(shown(&extra_fields(&endpoint, Thinking::Task(None))), want, "{provider} {model}");
    }
}

#[test]
fn unsupported_extra_body_gives_a_warning() {
    let body = json!({"top_k": 5}).as_object().cloned().unwrap();
    let chat = own_box(RequestExtras { body, ..RequestExtras::default() });
    assert_eq!(unsent_extras(&chat), None);
    let mut other = chat;
    other.api_mode = ApiMode::AnthropicMessages;
    assert!(extra_fields(&other, Thinking::Conversation(None)).is_empty());
    assert!(unsent_extras(&other).is_some_and(|line| line.contains("extra_body of custom:box")));
}

#[test]
fn lm_studio_gets_what_it_advertises() {
    let endpoint = endpoint("lmstudio", "m", Wanted::default());
    assert!(extra_fields(&endpoint, Thinking::Conversation(Some(Effort::High))).is_empty());
    let asked = endpoint.with_efforts(vec!["low".to_owned(), "high".to_owned()]);
    let fields = extra_fields(&asked, Thinking::Conversation(Some(Effort::High)));
    assert_eq!(shown(&fields), r#"{"reasoning_effort":"high"}"#);
    assert!(extra_fields(&asked.with_model("n"), Thinking::Conversation(Some(Effort::High))).is_empty());
}

#[test]
fn headers_of_openrouter_name_the_program_and_the_cache() {
    let names = |model: &str, response_cache| {
        let router = RouterSettings { response_cache, ..RouterSettings::default() };
        let endpoint = endpoint("openrouter", model, Wanted { router, ..Wanted::default() });
        let mut headers = HeaderMap::new();
        extra_headers(&endpoint, Some("s1"), &mut headers);
        let mut lines: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        lines.sort();
        lines
    };
    let base = [
        "http-referer: https://hermes-agent.nousresearch.com",
        "x-openrouter-categories: productivity,cli-agent",
        "x-title: Hermes",
    ];
    assert_eq!(names("qwen/qwen3", None), base);
    let cached = names("anthropic/claude-opus-4.8", Some(300));
    for line in [
        "x-anthropic-beta: fine-grained-tool-streaming-2025-05-14",
        "x-openrouter-cache: true",
        "x-openrouter-cache-ttl: 300",
    ] {
        assert!(cached.iter().any(|found| found == line), "{cached:?}");
    }
    assert!(names("x-ai/grok-4", None).contains(&"x-grok-conv-id: s1".to_owned()));
}

#[test]
fn headers_of_an_entry_are_sent_and_hidden() {
    let headers = ExtraHeaders::new(&[("X-Team".to_owned(), "hush-4711".into())]).unwrap();
    let endpoint = own_box(RequestExtras { headers, ..RequestExtras::default() });
    let mut sent = HeaderMap::new();
    extra_headers(&endpoint, None, &mut sent);
    assert_eq!(sent["x-team"], "hush-4711");
    assert!(!format!("{sent:?}").contains("hush"));
    assert!(ExtraHeaders::new(&[("Content-Length".to_owned(), "1".into())]).is_err());
}

#[test]
fn default_output_cap_is_limited_by_the_window() {
    let model = |provider, name, window| {
        let endpoint = match provider {
            "custom" => endpoint(
                provider,
                name,
                Wanted { base_url: Some("http://127.0.0.1:9/v1".to_owned()), ..Wanted::default() },
            ),
            _ => endpoint(provider, name, Wanted::default()),
        };
        let model = HttpModel::new(&endpoint, HttpClients::default(), Secrets::default());
        model.with_window(window).profile().output_cap()
    };
    for (provider, name, window, want) in [
        ("custom", "m", 1_000_000, Some(65_536)),
        ("custom", "m", 32_768, Some(8_192)),
        ("kimi-coding", "kimi-k2.5", 262_144, Some(32_000)),
        ("nvidia", "nemotron", 131_072, Some(16_384)),
        ("openrouter", "anthropic/claude-sonnet-4.5", 1_000_000, Some(64_000)),
        ("openrouter", "anthropic/claude-sonnet-4.5", 200_000, Some(50_000)),
        ("opencode-go", "mimo-v2.5-pro", 1_000_000, Some(131_072)),
        ("deepseek", "deepseek-v4", 131_072, None),
    ] {
        assert_eq!(model(provider, name, window), want, "{provider} {name} {window}");
    }
}

//! Chat-completions bodies per provider and model: snapshots of their peculiar fields, and a comparison with
//! the requests that release 0.19 builds for the same settings.

mod golden;
mod python;

use hermes_conversation::{AssistantMessage, CallId, Message, Reasoning, ToolCall};
use hermes_guard::Secrets;
use hermes_providers::{
    Endpoint, GivenKey, HttpClients, HttpModel, RouterSettings, Thinking, Wanted, find_provider, resolve,
};
use hermes_wire::{ApiMode, Effort, Model, ModelProfile, ModelRequest, RequestSettings, encode};
use serde_json::Value;
use std::sync::Arc;

/// One row for each form in which an effort is sent, and some that get none.
const PAIRS: [(&str, &str); 33] = [
    ("openrouter", "deepseek/deepseek-v4"),
    ("openrouter", "anthropic/claude-opus-4.8"),
    ("openrouter", "anthropic/claude-sonnet-4.5"),
    ("openrouter", "openai/gpt-5.6"),
    ("openrouter", "moonshotai/kimi-k2.5"),
    ("openrouter", "qwen/qwen3-max"),
    ("openrouter", "xiaomi/mimo-v2"),
    ("openrouter", "mistralai/mistral-large"),
    ("nous", "hermes-4-405b"),
    ("kimi-coding", "kimi-k2.5"),
    ("kimi-coding-cn", "kimi-k2.5"),
    ("deepseek", "deepseek-v4-pro"),
    ("deepseek", "deepseek-reasoner"),
    ("deepseek", "deepseek-chat"),
    ("zai", "glm-5.2"),
    ("zai", "glm-4.6"),
    ("zai", "glm-4-9b"),
    ("gemini", "gemini-3-flash-preview"),
    ("gemini", "gemini-3.1-pro-preview"),
    ("gemini", "gemini-2.5-pro"),
    ("gemini", "gemma-4-27b"),
    ("copilot", "o4-mini"),
    ("tencent-tokenhub", "hy3-preview"),
    ("ollama-cloud", "deepseek-v4-flash"),
    ("upstage", "solar-pro3"),
    ("upstage", "solar-mini"),
    ("opencode-go", "kimi-k2.6"),
    ("opencode-go", "glm-5.2"),
    ("opencode-go", "deepseek-v4"),
    ("opencode-go", "mimo-v2.5-pro"),
    ("xiaomi", "mimo-v2-flash"),
    ("nvidia", "nvidia/nemotron-4"),
    ("lmstudio", "qwen3-8b"),
];

/// The same model at a custom address.
const CUSTOM: [(&str, &str); 5] = [
    ("https://api.deepseek.com/v1", "deepseek-v4"),
    ("https://api.moonshot.ai/v1", "kimi-k2.5"),
    ("https://api.xiaomimimo.com/v1", "m1"),
    ("https://far.example/v1", "qwen3-coder"),
    ("http://127.0.0.1:8000/v1", "mimo-v2"),
];

const EFFORTS: [&str; 9] = ["", "none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"];

/// The efforts that the LM Studio server of these tests advertises.
const ADVERTISED: [&str; 4] = ["off", "low", "medium", "xhigh"];

fn endpoint(provider: &str, base_url: Option<&str>, model: &str) -> Endpoint {
    let wanted = Wanted {
        provider: Some(provider.to_owned()),
        model: Some(model.to_owned()),
        base_url: base_url.map(str::to_owned),
        api_mode: Some("chat_completions".to_owned()),
        given: Some(GivenKey::Key { key: "test-key-1234".into(), by: "test".to_owned() }),
        router: RouterSettings::default(),
        ..Wanted::default()
    };
    let efforts = ADVERTISED.map(str::to_owned).to_vec();
    resolve(&wanted, &|_| None).unwrap().with_efforts(efforts)
}

fn profile(endpoint: &Endpoint, effort: &str) -> ModelProfile {
    let model = HttpModel::new(endpoint, HttpClients::default(), Secrets::default())
        .with_thinking(Thinking::Conversation(Effort::parse(effort)));
    model.profile().clone()
}

fn body(profile: &ModelProfile, messages: Vec<Message>) -> Value {
    let request = ModelRequest {
        model: profile.model.clone(),
        system: "Be brief.".into(),
        tools: Arc::from([]),
        messages: Arc::new(messages.into_iter().map(Arc::new).collect()),
        settings: RequestSettings {
            stream: false,
            max_tokens: profile.output_cap(),
            dialect: profile.dialect,
            issuer: Some(profile.issuer.clone()),
            effort: profile.effort,
            extra: profile.extra.clone(),
            ..RequestSettings::default()
        },
    };
    serde_json::from_slice(&encode(ApiMode::ChatCompletions, &request).body).unwrap()
}

/// Replies with every combination of reasoning that matters for the echo.
fn history() -> Vec<Message> {
    let reply = |text: &str, id: &str, thought: Option<&str>, echo: Option<&str>| {
        let call = |id: &str| ToolCall::new(CallId::new(id), "terminal", "{}");
        Message::Assistant(AssistantMessage {
            text: text.to_owned(),
            calls: (!id.is_empty()).then(|| call(id)).into_iter().collect(),
            reasoning: Reasoning {
                text: thought.map(str::to_owned),
                content: echo.map(str::to_owned),
                ..Reasoning::default()
            },
            ..AssistantMessage::default()
        })
    };
    let result = |id: &str| Message::tool(CallId::new(id), "terminal", "{}");
    vec![
        Message::user("hi"),
        reply("", "a", Some("generic"), None),
        result("a"),
        reply("", "b", Some("own"), Some("own")),
        result("b"),
        reply("", "c", None, None),
        result("c"),
        reply("said", "", Some("thought"), None),
        Message::user("on"),
        reply("said", "", None, None),
        Message::user("on"),
        reply("said", "", Some("x"), Some("")),
        Message::user("on"),
    ]
}

/// The provider's real address, as the catalogue has it.
fn address(provider: &str) -> &'static str {
    find_provider(provider).unwrap().base_url
}

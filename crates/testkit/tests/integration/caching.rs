//! A long session reads nearly all of its earlier tokens from the provider's cache.

use hermes_conversation::{
    AssistantMessage, CallId, History, Message, RawJson, Reasoning, ToolCall, ToolDefinition,
};
use hermes_testkit::{CacheUse, MarkedCache, PrefixCache, issuer};
use hermes_wire::{ApiMode, CacheTtl, Encoder, ModelRequest, RequestSettings};
use std::sync::Arc;

const TURNS: usize = 50;
const CALLS: usize = 4;

fn tools() -> Arc<[ToolDefinition]> {
    let tool = |name: &str| ToolDefinition {
        name: name.into(),
        description: "Does something with a file or a command. ".repeat(8),
        parameters: RawJson::parse(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#).unwrap(),
    };
    ["patch", "read_file", "terminal"].map(tool).into()
}

/// The requests of a session, one per model call, in order.
fn requests(cache: Option<CacheTtl>, mut each: impl FnMut(&ModelRequest)) {
    let mut request = ModelRequest {
        model: "claude-m".into(),
        system: "You are an agent that works on the user's machine. ".repeat(60).into(),
        tools: tools(),
        messages: Arc::default(),
        settings: RequestSettings {
            max_tokens: Some(8_000),
            issuer: Some(issuer(0)),
            session: Some("s".into()),
            cache,
            ..RequestSettings::default()
        },
    };
    let mut history = History::default();
    for turn in 0..TURNS {
        history.push(Message::user(format!("Question {turn}: what is in file {turn}?")));
        for call in 0..CALLS {
            request.messages = history.shared();
            each(&request);
            let id = CallId::new(format!("call_{turn}_{call}"));
            let calls =
                vec![ToolCall::new(id.clone(), "read_file", format!("{{\"path\":\"f{turn}_{call}\"}}"))];
            let text = Some("Thinking about it.".to_owned());
            let reasoning = Reasoning { text, ..Reasoning::default() };
            history.push(Message::Assistant(AssistantMessage {
                calls,
                reasoning,
                ..AssistantMessage::default()
            }));
            history.push(Message::tool(id, "read_file", format!("line {turn} {call}\n").repeat(40)));
        }
        request.messages = history.shared();
        each(&request);
        history.push(Message::assistant(format!("It says {turn}.")));
    }
}

fn assert_reused(what: &str, all: CacheUse, least: f64) {
    let share = all.read as f64 / all.reusable as f64;
    assert!(share >= least, "{what}: {:.2} % of {all:?}", share * 100.0);
}

#[test]
fn marked_prefixes_are_cache_hits() {
    // In chat completions, results have no marks, so those of a running turn are read again until the next user
    // message.
    for (mode, least) in [(ApiMode::AnthropicMessages, 0.99), (ApiMode::ChatCompletions, 0.98)] {
        for ttl in [CacheTtl::FiveMinutes, CacheTtl::OneHour] {
            let (mut encoder, mut cache) = (Encoder::new(mode), MarkedCache::default());
            let (mut all, mut now) = (CacheUse::default(), 0.0);
            requests(Some(ttl), |request| {
                now += 20.0;
                let body = serde_json::from_slice(&encoder.encode(request).body).unwrap();
                all += cache.ask(&body, now);
            });
            assert_reused(&format!("{mode:?} {ttl:?}"), all, least);
        }
    }
}

#[test]
fn unmarked_prompts_share_the_prefix() {
    for mode in [ApiMode::ChatCompletions, ApiMode::CodexResponses] {
        let (mut encoder, mut cache) = (Encoder::new(mode), PrefixCache::default());
        let mut all = CacheUse::default();
        requests(None, |request| all += cache.ask(&encoder.encode(request).body));
        assert_reused(&format!("{mode:?}"), all, 0.99);
    }
}

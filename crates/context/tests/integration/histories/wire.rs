//! Checks that providers would take a history, in all three formats.

use super::made::issuer;
use hermes_conversation::Message;
use hermes_testkit::{check, check_anthropic, check_responses};
use hermes_wire::{ApiMode, CacheTtl, Effort, ModelRequest, RequestSettings, encode};
use std::sync::Arc;

/// A history that was taken before is taken after.
pub(crate) fn accepted(before: &[Arc<Message>], after: &[Arc<Message>], seed: u64) {
    for mode in [ApiMode::ChatCompletions, ApiMode::AnthropicMessages, ApiMode::CodexResponses] {
        if refusal(mode, before).is_none() {
            assert_eq!(refusal(mode, after), None, "seed {seed}, {mode:?}");
        }
    }
}

fn refusal(mode: ApiMode, messages: &[Arc<Message>]) -> Option<String> {
    let mut messages = messages.to_vec();
    // Nothing is sent before somebody says something, or a tool.
    if matches!(messages.last().map(|message| &**message), Some(Message::Assistant(_))) {
        messages.push(Arc::new(Message::user("go on")));
    }
    let settings = RequestSettings {
        max_tokens: Some(20_000),
        issuer: Some(issuer()),
        effort: Some(Effort::Medium),
        cache: Some(CacheTtl::FiveMinutes),
        ..RequestSettings::default()
    };
    let request = ModelRequest {
        model: "m".into(),
        system: "s".into(),
        tools: [].into(),
        messages: Arc::new(messages),
        settings,
    };
    let body: serde_json::Value = serde_json::from_slice(&encode(mode, &request).body).unwrap();
    let checked = match mode {
        ApiMode::ChatCompletions => check(&body),
        ApiMode::AnthropicMessages => check_anthropic(&body),
        ApiMode::CodexResponses => check_responses(&body),
    };
    checked.err().map(|rejection| rejection.to_string())
}

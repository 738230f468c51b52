//! Every conversation, in every format, is one that a provider takes, and says what was said.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use hermes_conversation::{History, Message, RawJson, ToolDefinition};
use hermes_testkit::{Rejection, check, check_anthropic, check_responses, issuer, transcript};
use hermes_wire::{ApiMode, ModelRequest, RequestSettings, encode};
use serde_json::Value;
use std::sync::Arc;

/// How many conversations; a long run takes more (`HERMES_TRANSCRIPTS`).
fn count() -> u64 {
    let wanted = std::env::var("HERMES_TRANSCRIPTS").ok().and_then(|count| count.parse().ok());
    wanted.unwrap_or(if cfg!(debug_assertions) { 5_000 } else { 20_000 })
}

fn request(history: &History, seed: u64) -> ModelRequest {
    let tools: Arc<[ToolDefinition]> = Arc::from([ToolDefinition {
        name: "terminal".into(),
        description: "Run a command.".into(),
        parameters: RawJson::parse(r#"{"type":"object","properties":{"command":{"type":"string"}}}"#)
            .unwrap(),
    }]);
    ModelRequest {
        model: "m".into(),
        system: "Be brief.".into(),
        tools,
        messages: history.shared(),
        settings: RequestSettings {
            stream: seed.is_multiple_of(2),
            max_tokens: Some(100),
            issuer: Some(issuer(seed as usize % 4)),
            ..RequestSettings::default()
        },
    }
}

type Check = fn(&Value) -> Result<(), Rejection>;
const FORMATS: &[(ApiMode, Check)] = &[
    (ApiMode::ChatCompletions, check),
    (ApiMode::AnthropicMessages, check_anthropic),
    (ApiMode::CodexResponses, check_responses),
];

/// A conversation in which it is the model's turn.
fn waiting(seed: u64) -> History {
    let mut history = transcript(seed);
    if !matches!(history.last(), Some(Message::User(_) | Message::Tool(_))) {
        history.push(Message::user("Go on."));
    }
    history
}

#[test]
fn every_conversation_is_accepted_in_every_format() {
    for seed in 0..count() {
        let history = waiting(seed);
        for (mode, check) in FORMATS {
            let body = encode(*mode, &request(&history, seed)).body;
            let body: Value = serde_json::from_slice(&body).unwrap();
            if let Err(rejection) = check(&body) {
                panic!("seed {seed}, {mode:?}: {rejection}\n{body:#}");
            }
        }
    }
}

//! Every conversation is valid and complete in every format.

use hermes_conversation::{History, Message, RawJson, ToolDefinition};
use hermes_testkit::{Rejection, check, check_anthropic, check_responses, issuer, transcript};
use hermes_wire::{ApiMode, ModelRequest, RequestSettings, encode};
use serde_json::Value;
use std::sync::Arc;

/// The number of conversations; a long run takes more (`HERMES_TRANSCRIPTS`).
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

/// A conversation in which the model is next.
fn waiting(seed: u64) -> History {
    let mut history = transcript(seed);
    if !matches!(history.last(), Some(Message::User(_) | Message::Tool(_))) {
        history.push(Message::user("Go on."));
    }
    history
}

/// The official SDKs of OpenAI and Anthropic have types for requests. `HERMES_SDK_PYTHON` is a Python with
/// both; `.ci/python` installs it.
#[test]
fn bodies_match_the_official_sdks() {
    const JUDGE: &str = include_str!("python/judge.py");
    let Some(python) = std::env::var_os("HERMES_SDK_PYTHON").filter(|path| !path.is_empty()) else {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "HERMES_SDK_PYTHON must be set in CI; `.ci/python` prints it");
        println!("skipped: HERMES_SDK_PYTHON is not set; `.ci/python` prints it");
        return;
    };
    let wanted = std::env::var("HERMES_SDK_BODIES").ok().and_then(|count| count.parse().ok());
    let bodies: u64 = wanted.unwrap_or(600);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bodies.jsonl");
    let mut lines = String::new();
    for seed in 0..bodies.div_ceil(3) {
        let history = waiting(seed);
        for (mode, name) in [
            (ApiMode::ChatCompletions, "chat_completions"),
            (ApiMode::AnthropicMessages, "anthropic_messages"),
            (ApiMode::CodexResponses, "codex_responses"),
        ] {
            let body = encode(mode, &request(&history, seed)).body;
            let body = std::str::from_utf8(&body).unwrap();
            lines.push_str(&format!("{{\"mode\":\"{name}\",\"body\":{body}}}\n"));
        }
    }
    std::fs::write(&path, lines).unwrap();
    let judged = std::process::Command::new(python).args(["-c", JUDGE]).arg(&path).output().unwrap();
    let errors = String::from_utf8_lossy(&judged.stderr);
    assert!(judged.status.success(), "{errors}");
    let verdict: Value = serde_json::from_slice(&judged.stdout).unwrap();
    assert_eq!(verdict["refused"], 0, "{verdict:#}");
    assert!(verdict["judged"].as_u64().unwrap() >= bodies);
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

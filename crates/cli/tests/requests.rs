//! What settings about requests do on the wire, through the binary.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod process;

use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use process::{hermes, stderr, stdout};
use serde_json::{Value, json};
use std::process::Output;
use tempfile::TempDir;

struct World {
    home: TempHome,
    folder: TempDir,
    provider: FakeProvider,
}

impl World {
    async fn new(config: &str) -> Self {
        let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
        let provider = FakeProvider::start().await;
        home.write_config(&config.replace("BASE_URL", &provider.base_url()));
        Self { home, folder, provider }
    }

    async fn run(&self, args: &[&str]) -> Output {
        process::finished(hermes(self.home.path(), self.folder.path(), args)).await
    }

    async fn answer(&self, args: &[&str]) -> String {
        let out = self.run(args).await;
        assert!(out.status.success(), "{args:?}: {}", stderr(&out));
        stdout(&out).trim().to_owned()
    }
}

const DEEPSEEK: &str = "\
model: {provider: custom:box, default: deepseek-v4}
agent: {reasoning_effort: high}
approvals: {mode: off}
custom_providers:
  - name: box
    base_url: BASE_URL
    api_mode: chat_completions
    api_key: box-key-1234
    extra_body: {top_k: 7}
    extra_headers: {X-Team: blue}
";

#[tokio::test(flavor = "multi_thread")]
async fn reasoning_and_extras_reach_the_wire_and_a_resume_sends_the_same() {
    let world = World::new(DEEPSEEK).await;
    world.provider.replies([
        ReplyScript::call("terminal", json!({"command": "echo seen"})).with_reasoning("Let me see."),
        ReplyScript::text("Seen."),
        ReplyScript::text("Yes."),
    ]);
    assert_eq!(world.answer(&["-z", "Look."]).await, "Seen.");
    assert_eq!(world.answer(&["--continue", "-z", "Sure?"]).await, "Yes.");
    let bodies = world.provider.bodies();
    for body in &bodies {
        assert_eq!((&body["reasoning_effort"], &body["top_k"]), (&json!("high"), &json!(7)));
        assert!(body["max_tokens"].as_u64().is_some_and(|cap| cap > 4_096), "{}", body["max_tokens"]);
    }
    for request in world.provider.requests() {
        assert_eq!(request.header("x-team"), Some("blue"));
    }
    let echoes = |body: &Value| -> Vec<Value> {
        let messages = body["messages"].as_array().unwrap().iter();
        messages
            .filter(|message| message["role"] == "assistant")
            .map(|reply| reply["reasoning_content"].clone())
            .collect()
    };
    assert_eq!(echoes(&bodies[1]), ["Let me see."]);
    assert_eq!(echoes(&bodies[2]), ["Let me see.", " "]);
    let sent = bodies[1]["messages"].as_array().unwrap();
    assert_eq!(bodies[2]["messages"].as_array().unwrap()[..sent.len()], sent[..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_hermes_writes_itself_is_refused_in_extra_body() {
    let world = World::new(&DEEPSEEK.replace("top_k: 7", "max_tokens: 7")).await;
    let out = world.run(&["-z", "Look."]).await;
    assert!(!out.status.success());
    assert!(stderr(&out).contains("custom_providers[1].extra_body.max_tokens"), "{}", stderr(&out));
    assert!(world.provider.requests().is_empty());
}

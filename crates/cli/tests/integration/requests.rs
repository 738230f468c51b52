//! Settings about requests, through the binary.

use crate::command_log::masked;
use crate::process::{self, hermes, stderr, stdout};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
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
async fn reasoning_and_extras_are_sent_also_after_resume() {
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
async fn extra_body_cannot_replace_members_of_hermes() {
    let world = World::new(&DEEPSEEK.replace("top_k: 7", "max_tokens: 7")).await;
    let out = world.run(&["-z", "Look."]).await;
    assert!(!out.status.success());
    insta::assert_snapshot!("extra_body", masked(&stderr(&out)));
    assert!(world.provider.requests().is_empty());
}

/// A server that answers `GET /v1/models` for one key only.
async fn picky(key: &'static str) -> (String, tokio::task::JoinHandle<()>) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = Vec::new();
            let mut piece = [0; 4096];
            while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut piece).await {
                    Ok(count @ 1..) => asked.extend_from_slice(&piece[..count]),
                    _ => break,
                }
            }
            let is_key = String::from_utf8_lossy(&asked).contains(&format!("Bearer {key}"));
            let (status, body) = match is_key {
                true => ("200 OK", r#"{"data":[{"id":"m"}]}"#),
                false => ("401 Unauthorized", r#"{"error":{"message":"wrong key"}}"#),
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (base_url, serving)
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_checks_the_key_with_one_request() {
    let (base_url, serving) = picky("right-key-1234").await;
    let mut lines = Vec::new();
    for key in ["right-key-1234", "wrong-key-1234"] {
        let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
        home.write_config(&format!(
            "model: {{provider: custom, default: m, base_url: '{base_url}', api_key: {key}}}\n"
        ));
        let out = process::finished(hermes(home.path(), folder.path(), &["doctor"])).await;
        let page = stdout(&out);
        let line = page.lines().find(|line| line.contains("key       ")).unwrap_or_default().to_owned();
        assert!(!page.contains(key), "{page}");
        lines.push(line);
    }
    insta::assert_snapshot!("doctor_key", masked(&lines.join("\n")));
    serving.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_model_names_the_list_command() {
    let world = World::new(DEEPSEEK).await;
    let body =
        json!({"error": {"message": "The model `deepseek-v4` does not exist", "code": "model_not_found"}});
    world.provider.fault(hermes_testkit::Fault::Status {
        code: 404,
        headers: Vec::new(),
        body: body.to_string(),
    });
    let out = world.run(&["-z", "Look."]).await;
    insta::assert_snapshot!("unknown_model", masked(&stderr(&out)));
}

#[tokio::test(flavor = "multi_thread")]
async fn config_set_refuses_invalid_addresses() {
    let world = World::new("").await;
    for (key, value, is_taken) in [
        ("model.base_url", "127.0.0.1:8000", false),
        ("model.base_url", "http://127.0.0.1:8000/v1", true),
        ("OPENAI_BASE_URL", "nowhere", false),
    ] {
        let out = world.run(&["config", "set", key, value]).await;
        assert_eq!(out.status.success(), is_taken, "{key} {value}: {}", stderr(&out));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fallback_model_gets_no_reasoning_of_another_model() {
    let strict = FakeProvider::start().await;
    let fallback = format!(
        "fallback_providers:\n  - {{provider: custom, model: m, base_url: '{}', api_key: other-key-1234}}\n",
        strict.base_url()
    );
    let world = World::new(&format!("{DEEPSEEK}{fallback}")).await;
    world.provider.reply(ReplyScript::text("One.").with_reasoning("Mine."));
    world.provider.fault(hermes_testkit::Fault::status(401, "bad key"));
    strict.reply(ReplyScript::text("Two.").with_reasoning("Foreign."));
    world.provider.reply(ReplyScript::text("Three."));
    assert_eq!(world.answer(&["-z", "first"]).await, "One.");
    assert_eq!(world.answer(&["--continue", "-z", "second"]).await, "Two.");
    assert_eq!(world.answer(&["--continue", "-z", "third"]).await, "Three.");
    // The strict server refuses a request with the field, so arriving is enough there.
    assert_eq!(strict.bodies().len(), 1);
    let bodies = world.provider.bodies();
    let replies = bodies.last().unwrap()["messages"].as_array().unwrap().iter();
    let echoes: Vec<_> = replies
        .filter(|message| message["role"] == "assistant")
        .map(|reply| reply["reasoning_content"].clone())
        .collect();
    assert_eq!(echoes, ["Mine.", " "]);
}

//! Model servers on this machine, as llama.cpp is one: small windows, and calls written as text.

use crate::command_log::masked;
use crate::process::{code, custom_model, exported, json_of, run, stderr, stdout};
use hermes_scripted::http::{Connection, Request, whole};
use hermes_scripted::{Listener, Rendering, ReplyScript, json_body};
use hermes_testkit::TempHome;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

type Answer = Arc<dyn Fn(&Value) -> String + Send + Sync>;

/// A llama.cpp server with a window, which refuses what does not fit into it.
struct Server {
    listening: Listener,
    window: u64,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    async fn start(window: u64, answer: impl Fn(&Value) -> String + Send + Sync + 'static) -> Self {
        let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (into, answer): (_, Answer) = (seen.clone(), Arc::new(answer));
        let serve = move |connection| serve(connection, window, answer.clone(), into.clone());
        Self { listening: Listener::start(serve).await.unwrap(), window, seen }
    }

    /// A home whose settings lead here.
    fn home(&self, more: &str) -> TempHome {
        let home = TempHome::new();
        home.write_config(&format!("{}{more}", custom_model(&self.listening.base_url())));
        home
    }

    fn asked(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter().map(|request| format!("{} {}", request.method, request.path)).collect()
    }

    fn bodies(&self) -> Vec<Value> {
        let seen = self.seen.lock().unwrap();
        let calls = seen.iter().filter(|request| request.path == "/v1/chat/completions");
        calls.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }

    /// The requests that had more tokens than the window.
    fn refused(&self) -> usize {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|request| tokens(&request.body) > self.window).count()
    }
}

/// Tokens as this server counts them.
fn tokens(body: &[u8]) -> u64 {
    body.len() as u64 / 4
}

async fn serve(mut connection: Connection, window: u64, answer: Answer, seen: Arc<Mutex<Vec<Request>>>) {
    while let Ok(Some(request)) = connection.next_request().await {
        let (status, body) = match request.path.as_str() {
            "/props" => (200, json!({"default_generation_settings": {"n_ctx": window}}).to_string()),
            "/v1/chat/completions" if tokens(&request.body) > window => {
                let message = format!("the request exceeds the available context size ({window} tokens)");
                (
                    400,
                    json!({"error": {"code": 400, "message": message, "type": "exceed_context_size_error"}})
                        .to_string(),
                )
            }
            "/v1/chat/completions" => {
                let body: Value = serde_json::from_slice(&request.body).unwrap();
                let rendering = Rendering { number: 1, model: "m", include_usage: true };
                let reply = json_body(&ReplyScript::text(answer(&body)), &rendering);
                (200, String::from_utf8(reply.to_vec()).unwrap())
            }
            _ => (404, "{}".to_owned()),
        };
        seen.lock().unwrap().push(request);
        let headers = [("content-type", "application/json")];
        if connection.send(&whole(status, &headers, body.as_bytes())).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn window_is_requested_once_before_the_first_call() {
    let server = Server::start(8_192, |_| "Fine.".to_owned()).await;
    let home = server.home("");
    let out = run(home.path(), &["-z", "hi"]).await;
    assert_eq!((code(&out), stdout(&out).trim()), (0, "Fine."), "{}", stderr(&out));
    assert_eq!(server.asked(), ["GET /props", "POST /v1/chat/completions"]);
    let meter = json_of(home.path(), &["context", "show"]).await;
    assert_eq!(meter["meter"]["window"], 8_192, "{meter}");
    let shown = json_of(home.path(), &["model", "show"]).await;
    assert_eq!(shown["facts"]["context_length"]["value"], 8_192, "{shown}");
    // The number is known before the server is asked again, and the file is that of the Python release.
    assert!(home.read("context_length_cache.yaml").contains(": 8192"));
}

#[tokio::test(flavor = "multi_thread")]
async fn configured_window_is_not_requested() {
    let server = Server::start(8_192, |_| "Fine.".to_owned()).await;
    let home = server.home("");
    let config =
        home.read("config.yaml").replace("  default: m\n", "  default: m\n  context_length: 100000\n");
    home.write_config(&config);
    assert_eq!(code(&run(home.path(), &["-z", "hi"]).await), 0);
    assert_eq!(server.asked(), ["POST /v1/chat/completions"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn window_below_the_minimum_is_refused_before_a_request() {
    let server = Server::start(2_048, |_| "Fine.".to_owned()).await;
    let home = server.home("");
    let out = run(home.path(), &["-z", "hi"]).await;
    assert_eq!(code(&out), 1, "{}", stderr(&out));
    insta::assert_snapshot!("small_window", masked(&stderr(&out)));
    assert_eq!(server.bodies().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_continues_in_the_smallest_window() {
    const SUMMARY: &str = "## Goal\nTalk.\n## Constraints & Preferences\nNone.\n## Progress\n### Done\nTalked about \
        many things.\n## Key Decisions\nNone.\n## Relevant Files\nNone.\n## Next Steps\nNone.\n## Critical Context\n\
        The word is heron.";
    let server = Server::start(4_096, |body| {
        let system = body["messages"][0]["content"].as_str().unwrap_or_default();
        if system.contains("summaries") { SUMMARY.to_owned() } else { "I see. ".repeat(60) }
    })
    .await;
    let home = server.home("");
    for turn in 0..14 {
        let words = format!("Turn {turn}: {}", "tell me about herons ".repeat(20));
        let args = if turn == 0 { vec!["-z", &words] } else { vec!["--continue", "-z", &words] };
        let out = run(home.path(), &args).await;
        assert_eq!(code(&out), 0, "turn {turn}: {}", stderr(&out));
        assert!(!stderr(&out).contains("raise compression.threshold"), "turn {turn}: {}", stderr(&out));
    }
    assert_eq!(server.refused(), 0, "nothing was sent that does not fit");
    let bodies = server.bodies();
    assert!(bodies.len() > 14, "summaries were written");
    let tools: Vec<&str> = bodies[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(tools, ["patch", "read_file", "terminal", "write_file"]);
    let last = bodies.last().unwrap().to_string();
    assert!(last.contains("The word is heron."), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn call_written_as_text_runs_unless_the_setting_is_off() {
    const CALL: &str = "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"note.txt\"}}\n```";
    for (setting, want, requests) in [("auto", "It says blue.", 2), ("off", CALL, 1)] {
        let server = Server::start(32_768, |body| {
            let messages = body["messages"].as_array().unwrap();
            let has_result = messages.iter().any(|message| message["role"] == "tool");
            if has_result { "It says blue.".to_owned() } else { CALL.to_owned() }
        })
        .await;
        let home = server.home(&format!("agent:\n  text_tool_calls: {setting}\n"));
        home.write("note.txt", "blue\n");
        let out = run(home.path(), &["-z", "What does the note say?"]).await;
        assert_eq!((code(&out), stdout(&out).trim()), (0, want), "{setting}: {}", stderr(&out));
        assert_eq!(server.bodies().len(), requests, "{setting}");
        if setting == "auto" {
            let trace = json_of(home.path(), &["trace"]).await.to_string();
            assert!(trace.contains("text_tool_calls"), "{trace}");
            let stored = exported(home.path()).await;
            let called =
                stored[0]["messages"].as_array().unwrap().iter().find(|row| !row["tool_calls"].is_null());
            assert_eq!(called.unwrap()["tool_calls"][0]["function"]["name"], "read_file");
        }
    }
}

//! Long conversations with the real binary: compactions are shown in one line and in the meter, the original
//! messages can be read, and a kill at any moment loses no message.

use crate::command_log::CommandLog;
use crate::process::{self, code, custom_model, finished, hermes, json_of, run, stderr, stdout};
use crate::pty::Terminal;
use hermes_conversation::Usage;
use hermes_scripted::Listener;
use hermes_scripted::http::{Connection, whole};
use hermes_testkit::{FakeProvider, Random, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};

const SECTIONS: [&str; 9] = [
    "Goal",
    "Constraints & Preferences",
    "Completed Actions",
    "Active State",
    "Blocked",
    "Key Decisions",
    "Resolved Questions",
    "Relevant Files",
    "Critical Context",
];

/// Answers at length, and writes summaries.
fn answer(body: &Value) -> ReplyScript {
    let section = |name: &&str| format!("## {name}\n- a short note about it\n");
    let text = match body["tools"].is_null() {
        true => SECTIONS.iter().map(section).collect::<String>(),
        false => format!("So it is. {}", "And more. ".repeat(300)),
    };
    let input = body.to_string().len() as u64 / 4;
    ReplyScript { usage: Some(Usage { input, output: 500, ..Usage::default() }), ..ReplyScript::text(text) }
}

async fn scene() -> (TempHome, FakeProvider) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    provider.answer_with(answer);
    let model = custom_model(&provider.base_url());
    let model = model.replace("  default: m\n", "  default: m\n  context_length: 20000\n");
    // Without the larger definitions, so that the small window has room for a conversation.
    let tools = "agent: {disabled_toolsets: [web, code_execution]}\n";
    home.write_config(&format!("{model}{tools}compression: {{threshold: 0.5}}\n"));
    (home, provider)
}

fn question(turn: usize) -> String {
    format!("Question {turn}: {}", "what about this and that? ".repeat(200))
}

#[tokio::test(flavor = "multi_thread")]
async fn long_conversation_is_compacted_in_a_terminal() {
    let (home, provider) = scene().await;
    let mut screen = Terminal::start(home.path(), home.path(), &[]);
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("/pin never delete the moon\r");
    screen.expect("pinned as 1").await;
    for turn in 0..4 {
        screen.expect("❯ \r\x1b[2C").await;
        screen.type_keys(&format!("{}\r", question(turn)));
        if turn == 3 {
            screen.expect("tokens, by m in").await;
        }
        screen.expect("So it is.").await;
    }
    screen.expect("🗜 1 │").await;
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("/context\r");
    screen.expect("of 20K tokens").await;
    screen.expect("compaction at 10K tokens (engine: compressor)").await;
    screen.expect("❯ \r\x1b[2C").await;
    for turn in 4..7 {
        screen.type_keys(&format!("{}\r", question(turn)));
        screen.expect("So it is.").await;
        screen.expect("❯ \r\x1b[2C").await;
    }
    screen.type_keys("/compress the moon\r");
    screen.expect("🗜").await;
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("/quit\r");
    screen.expect("Continue with:").await;
    assert_eq!(screen.ended().await, 0);
    assert!(provider.bodies().last().unwrap().to_string().contains("the moon"));

    let history = json_of(home.path(), &["context", "history"]).await;
    let all = history["compactions"].as_array().unwrap();
    assert!(all.len() >= 2 && all.last().unwrap()["report"]["trigger"] == "manual", "{history}");
    assert_eq!(all[0]["report"]["kept"]["pins"], 1, "{history}");
    let shown = json_of(home.path(), &["context", "show"]).await;
    assert_eq!(shown["meter"]["window"], 20_000, "{shown}");
    assert_eq!(shown["summaries"].as_array().unwrap().len(), all.len(), "{shown}");
    let out = run(home.path(), &["context", "expand", "--node", "1"]).await;
    assert!(stdout(&out).contains("Question 0: what about"), "{}{}", stdout(&out), stderr(&out));
    let mut log = CommandLog::default();
    let args = ["context", "expand", "--node", "1", "--after", "9999"];
    log.add(&args, &run(home.path(), &args).await);
    let one = json_of(home.path(), &["context", "expand", "--message", "1"]).await;
    let text = one["messages"][0]["text"].as_str().unwrap();
    assert_eq!(text.trim_end(), question(0).trim_end());
    for args in [&["context", "expand", "--node", "99"][..], &["context", "expand", "--message", "9999"]] {
        let out = run(home.path(), args).await;
        assert_ne!(code(&out), 0, "{}", stdout(&out));
        log.add(args, &out);
    }
    insta::assert_snapshot!("expand", log);
    // A person sees what was said, each thing once.
    let out = run(home.path(), &["sessions", "show", "latest"]).await;
    assert_eq!(stdout(&out).matches("Question 0: ").count(), 1, "{}", stdout(&out));
    assert!(!stdout(&out).contains("CONTEXT COMPACTION"), "{}", stdout(&out));
}

/// Whenever the program dies, what was accepted is there once, and the next run goes on.
#[tokio::test(flavor = "multi_thread")]
async fn kills_around_compactions_lose_no_message() {
    let (home, provider) = scene().await;
    let mut dice = Random::new(11);
    let out = run(home.path(), &["-z", &question(0)]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let mut usual = Duration::ZERO;
    for turn in 1..40 {
        let mut command = hermes(home.path(), home.path(), &["--continue", "-z", &question(turn)]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn().unwrap();
        // Some turns end by themselves; they tell how long one takes on this machine now.
        if turn % 3 == 1 {
            assert!(tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap().success());
            usual = begun.elapsed();
            continue;
        }
        tokio::time::sleep(usual.mul_f64(dice.below(100) as f64 / 100.0)).await;
        let _ = child.kill();
        child.wait().unwrap();
    }
    let out = finished(hermes(home.path(), home.path(), &["--continue", "-z", &question(40)])).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let out = run(home.path(), &["sessions", "verify"]).await;
    assert_eq!(code(&out), 0, "{}{}", stdout(&out), stderr(&out));
    let exported = process::exported(home.path()).await;
    assert_eq!(exported.len(), 1, "one session");
    let said: Vec<&str> = exported[0]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "user")
        .filter_map(|message| message["content"].as_str())
        .collect();
    let session = json_of(home.path(), &["context", "history"]).await;
    let compactions = session["compactions"].as_array().unwrap().len();
    assert!(compactions > 2, "{compactions} compactions only");
    // Every prompt that a model got was accepted, and is in the record once.
    let shown = stdout(&run(home.path(), &["sessions", "show", "latest"]).await);
    for turn in 0..=40 {
        let begin = format!("Question {turn}: ");
        let was_asked = provider.bodies().iter().any(|body| {
            !body["tools"].is_null()
                && body["messages"].as_array().unwrap().last().unwrap().to_string().contains(&begin)
        });
        let stored = shown.matches(&begin).count();
        assert!(
            stored <= 1 && (stored == 1 || !was_asked),
            "{begin}stored {stored} times, sent: {was_asked}"
        );
    }
    assert!(said.iter().any(|text| text.contains("Question 40: ")), "{said:?}");
    assert!(provider.rejections().is_empty(), "a request was not valid");
}

/// An engine that fails on a compaction of the user is reported, and the compressor takes over.
#[tokio::test(flavor = "multi_thread")]
async fn failing_engine_is_reported_on_compress() {
    let (home, _provider) = scene().await;
    let config = home.read("config.yaml");
    home.write_config(&format!("{config}context: {{engine: mine}}\n"));
    home.write("plugins/context_engine/mine/engine.yaml", "command: [sh, -c, 'exit 3']\n");
    let mut screen = Terminal::start(home.path(), home.path(), &[]);
    // Below 8,000 tokens nobody asks the engine by itself.
    for turn in 0..2 {
        screen.expect("❯ \r\x1b[2C").await;
        screen.type_keys(&format!("{}\r", question(turn)));
        screen.expect("So it is.").await;
    }
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("/compress\r");
    screen.expect("the context engine `mine` ended with exit code 3").await;
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("/quit\r");
    assert_eq!(screen.ended().await, 0);
}

/// The context window that a server reports is used instead of the usual one of its model.
#[tokio::test(flavor = "multi_thread")]
async fn local_server_is_asked_for_the_window() {
    let serve = |mut connection: Connection| async move {
        while let Ok(Some(request)) = connection.next_request().await {
            let (status, body) = match request.path.as_str() {
                "/v1/models" => (200, json!({"data": [{"id": "llama-3", "max_model_len": 16_384}]})),
                "/v1/chat/completions" => (400, json!({"error": {"message": "not today"}})),
                _ => (404, json!({})),
            };
            if connection.send(&whole(status, &[], body.to_string().as_bytes())).await.is_err() {
                return;
            }
        }
    };
    let (home, server) = (TempHome::new(), Listener::start(serve).await.unwrap());
    let model = custom_model(&server.base_url());
    home.write_config(&model.replace("  default: m\n", "  default: llama-3\n"));
    run(home.path(), &["-z", "something short"]).await;
    let shown = json_of(home.path(), &["context", "show"]).await;
    assert_eq!(shown["meter"]["window"], 16_384, "{shown}");
    // What a refusal once told is looked at again: the server may have been started with more.
    let learned = format!("context_lengths:\n  'llama-3@{}': 8192\n", server.base_url());
    home.write("context_length_cache.yaml", &learned);
    let shown = json_of(home.path(), &["context", "show"]).await;
    assert_eq!(shown["meter"]["window"], 8_192, "{shown}");
    run(home.path(), &["-z", "something else"]).await;
    let shown = json_of(home.path(), &["context", "show"]).await;
    assert_eq!(shown["meter"]["window"], 16_384, "{shown}");
}

//! No raw control byte of a model, a server, a file name or an import reaches a stream.

use super::scene::Scene;
use crate::process::{code, stderr};
use hermes_testkit::{Fault, ReplyScript};
use serde_json::json;
use std::process::Output;

const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}8m\u{7f}\u{202e}y";

fn assert_harmless(what: &str, out: &Output) {
    for (stream, bytes) in [("stdout", &out.stdout), ("stderr", &out.stderr)] {
        let text = String::from_utf8_lossy(bytes);
        let bad = text.chars().find(|it| (it.is_control() && !"\n\t".contains(*it)) || *it == '\u{202e}');
        assert_eq!(bad, None, "{what}, {stream}: {text:?}");
    }
}

#[tokio::test]
async fn hostile_model_and_import_are_printed_escaped() {
    let scene = Scene::new().await;
    std::fs::write(scene.work().join(format!("{HOSTILE}.txt")), "words").unwrap();
    let call = ReplyScript::call(HOSTILE, json!({ HOSTILE: HOSTILE })).with_text(HOSTILE);
    scene.provider.reply(call.with_reasoning(HOSTILE)).reply(ReplyScript::text("done"));
    assert_harmless("chat -q", &scene.run(&["chat", "-q", "hi"]).await);
    scene.provider.reply(ReplyScript::call("search_files", json!({ "pattern": "words", "path": "." })));
    scene.provider.reply(ReplyScript::call("read_file", json!({ "path": HOSTILE })));
    scene.provider.reply(ReplyScript::text(HOSTILE));
    assert_harmless("chat -q", &scene.run(&["chat", "-q", "hi"]).await);
    scene.provider.reply(ReplyScript::call(HOSTILE, json!({}))).reply(ReplyScript::text("done"));
    assert_harmless("--json", &scene.run(&["--json", "-z", "hi"]).await);
    assert_harmless("-z", &scene.run(&["-z", HOSTILE]).await);
    let body = json!({ "error": { "message": HOSTILE } }).to_string();
    scene.provider.fault(Fault::Status { code: 400, headers: vec![], body });
    assert_harmless("a refusal", &scene.run(&["-z", "hi"]).await);

    let id = format!("20260101_000000_{HOSTILE}");
    let session = json!({ "id": id, "source": HOSTILE, "model": HOSTILE, "title": HOSTILE, "started_at": 1.0,
        "system_prompt": HOSTILE, "messages": [
            { "role": "user", "timestamp": 1.0, "content": HOSTILE },
            { "role": "assistant", "timestamp": 1.0, "content": HOSTILE, "tool_calls": [{ "id": HOSTILE, "type": "function",
                "function": { "name": HOSTILE, "arguments": "{}" } }] },
            { "role": "tool", "timestamp": 1.0, "content": HOSTILE, "tool_call_id": HOSTILE, "tool_name": HOSTILE },
            { "role": "assistant", "timestamp": 1.0, "content": HOSTILE },
        ] });
    scene.home.write("hostile.jsonl", &format!("{session}\n"));
    let file = scene.home.path().join("hostile.jsonl");
    let out = scene.run(&["sessions", "import", file.to_str().unwrap()]).await;
    assert_harmless("sessions import", &out);
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    for args in [
        &["sessions", "list"][..],
        &["sessions", "list", "--json"],
        &["sessions", "search", "owned"],
        &["sessions", "search", "owned", "--json"],
        &["sessions", "show", &id],
        &["sessions", "export", "-"],
        &["sessions", "export", "--session-id", &id, "-"],
        &["sessions", "stats"],
        &["sessions", "rename", &id, HOSTILE],
        &["trace", &id],
        &["trace", "latest"],
        &["trace", "latest", "--json"],
        &["context", "status", &id],
        &["cache", "report", &id],
        &["insights"],
        &["prompt", "show", &id],
        &["logs"],
        &["model", "show", "-m", HOSTILE],
        &["sessions", "show", HOSTILE],
        &["skills", "show", HOSTILE],
        &["config", "get", HOSTILE],
        &[HOSTILE],
        &["--resume", HOSTILE, "-z", "hi"],
        &["sessions", "delete", &id, "--yes"],
    ] {
        assert_harmless(&format!("{args:?}"), &scene.run(args).await);
    }
}

//! Recording with the real binary, and replaying when the server is gone.

use crate::command_log::{CommandLog, masked};
use crate::process::{
    assert_identical, code, custom_model, exported, finished, hermes, json_lines, run, stderr, stdout,
};
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const KEY: &str = "sk-test-0123456789abcdef";

/// A home whose model is this server, with a key.
fn home(provider: &FakeProvider) -> TempHome {
    let home = TempHome::new();
    let model = custom_model(&provider.base_url());
    home.write_config(&model.replace("  default: m\n", &format!("  default: m\n  api_key: {KEY}\n")));
    home
}

fn recording(home: &TempHome) -> (PathBuf, String) {
    let path = home.path().join("run.jsonl");
    let named = path.display().to_string();
    (path, named)
}

/// `hermes replay` in an empty home, after the server is gone.
async fn replayed(file: &str, more: &[&str]) -> std::process::Output {
    let elsewhere = TempHome::new();
    let out = run(elsewhere.path(), &[&["replay", file], more].concat()).await;
    let left: Vec<_> = std::fs::read_dir(elsewhere.path()).unwrap().collect();
    assert!(left.is_empty(), "a replay leaves the home alone: {left:?}");
    out
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_run_is_replayed_identically_without_server_or_home() {
    let provider = FakeProvider::start().await;
    let home = home(&provider);
    let (path, file) = recording(&home);
    provider.fault(Fault::Status {
        code: 500,
        headers: vec![("retry-after".into(), "0".into())],
        body: "broken".into(),
    });
    provider.reply(
        ReplyScript::call("terminal", json!({"command": "echo one > f; cd /; pwd"})).with_text("Let me see."),
    );
    provider.reply(
        ReplyScript::call("read_file", json!({"path": home.path().join("f")}))
            .and_call("todo", json!({"todos": [{"id": "1", "content": "x", "status": "pending"}]}))
            .and_call("nobody_has_it", json!({})),
    );
    provider.reply(ReplyScript::text("Done."));
    let out = run(home.path(), &["--record", &file, "--yolo", "-z", "go"]).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (0, "Done.\n"), "{}", stderr(&out));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    drop(provider);
    drop(home.read("f"));

    let out = replayed(&file, &[]).await;
    assert_identical(&out, 4);
    let json: Value = serde_json::from_str(&stdout(&replayed(&file, &["--json"]).await)).unwrap();
    assert_eq!(
        (&json["identical"], &json["requests"], &json["is_cut"]),
        (&true.into(), &4.into(), &false.into())
    );

    let listed = json_lines(&replayed(&file, &["--list", "--json"]).await).remove(0);
    let steps: Vec<_> =
        listed.as_array().unwrap().iter().map(|step| (&step["step"], &step["tools"])).collect();
    assert_eq!(steps.len(), 4);
    assert_eq!(steps[1], (&json!(2), &json!(["terminal"])));
    let page = stdout(&replayed(&file, &["--list"]).await);
    let ends: Vec<&str> = page.lines().filter_map(|line| Some(line.split_once(" received: ")?.1)).collect();
    insta::assert_snapshot!("list", ends.join("\n"));
}

/// The summary of a second model is an input like any other.
#[tokio::test(flavor = "multi_thread")]
async fn compaction_is_replayed() {
    for engine in ["compressor", "lossless"] {
        compactions_are_replayed(engine).await;
    }
}

/// The lossless engine tells the model the numbers of messages, which depend on what the home had before.
async fn compactions_are_replayed(engine: &str) {
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let provider = FakeProvider::start().await;
    let home = home(&provider);
    let small = "  default: m\n  context_length: 12000\n";
    let config = home.read("config.yaml").replace("  default: m\n", small);
    home.write_config(&format!("{config}compression: {{threshold: 0.5}}\ncontext: {{engine: {engine}}}\n"));
    for name in NAMES {
        home.write(name, &format!("{name} line\n").repeat(1_200));
    }
    let (path, file) = recording(&home);
    let names = std::sync::atomic::AtomicUsize::new(0);
    provider.answer_with(move |body| {
        if body["tools"].is_null() {
            let sections =
                ["Goal", "Constraints & Preferences", "Completed Actions", "Active State", "Blocked"];
            let more = ["Key Decisions", "Relevant Files", "Critical Context", "Resolved Questions"];
            let section = |name: &&str| format!("## {name}\n- a short note about it\n");
            return ReplyScript::text(sections.iter().chain(&more).map(section).collect::<String>());
        }
        if body["messages"].to_string().contains("another session") {
            return ReplyScript::text("Hello.");
        }
        match NAMES.get(names.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
            Some(name) => ReplyScript::call("read_file", json!({ "path": name })),
            None => ReplyScript::text("Done."),
        }
    });
    let out = run(home.path(), &["-z", "another session"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let out = run(home.path(), &["--record", &file, "--json", "-z", "read them all"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let told = json_lines(&out);
    let compacted: Vec<&Value> = told.iter().filter(|line| line["type"] == "compacted").collect();
    assert!(compacted.len() > 1 && compacted[0]["report"]["by"] == "model", "{compacted:?}");
    // Only the compressor summarises summaries.
    let is_warned = told.iter().any(|line| line["text"].to_string().contains("summarised twice"));
    assert_eq!(is_warned, engine == "compressor", "{told:?}");
    let summaries = lines(&path).iter().filter(|line| line["what"]["summary"].is_object()).count();
    assert_eq!(summaries, compacted.len());
    drop(provider);
    let out = replayed(&file, &[]).await;
    assert_identical(&out, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn recordings_are_not_overwritten_and_need_a_conversation() {
    let provider = FakeProvider::start().await;
    let home = home(&provider);
    let kept = home.write("kept", "mine");
    let out = run(home.path(), &["--record", kept.to_str().unwrap(), "-z", "go"]).await;
    assert_eq!(code(&out), 2, "{}", stderr(&out));
    let mut log = CommandLog::default();
    log.add(&["--record", "kept", "-z", "go"], &out);
    assert_eq!(home.read("kept"), "mine");
    let out = run(home.path(), &["sessions", "list", "--record", "other"]).await;
    assert_eq!(code(&out), 2);
    log.add(&["sessions", "list", "--record", "other"], &out);
    let out = replayed(kept.to_str().unwrap(), &[]).await;
    assert_eq!(code(&out), 1);
    log.add(&["replay", "kept"], &out);
    insta::assert_snapshot!("refusals", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_recording_reports_the_difference() {
    let provider = FakeProvider::start().await;
    let home = home(&provider);
    let (path, file) = recording(&home);
    provider.reply(ReplyScript::call("terminal", json!({"command": "echo original"})));
    provider.reply(ReplyScript::text("Fine."));
    let out = run(home.path(), &["--record", &file, "--yolo", "-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));

    let text = std::fs::read_to_string(&path).unwrap();
    let at = text.lines().position(|line| line.contains("\"what\":{\"tool\":")).unwrap();
    let changed = home.path().join("changed");
    let mut edited: Vec<String> = text.lines().map(str::to_owned).collect();
    edited[at] = edited[at].replace("original", "othernow");
    std::fs::write(&changed, format!("{}\n", edited.join("\n"))).unwrap();
    let out = replayed(changed.to_str().unwrap(), &["--json"]).await;
    assert_eq!(code(&out), 1);
    let found: Value = serde_json::from_str(&stdout(&out)).unwrap();
    let line = found["difference"]["line"].as_u64().unwrap() as usize;
    assert!(found["identical"] == false && line > at + 1, "{found}");
    // The result is stored and sent: the commit shows it first, the request with its bytes.
    assert!(lines(&path)[line - 1]["what"]["commit"].is_object(), "{found}");

    // The same with a request: the excerpts stand around the first byte that differs.
    let at = text.lines().position(|line| line.contains("\"request\":{\"number\":2")).unwrap();
    let mut edited: Vec<String> = text.lines().map(str::to_owned).collect();
    edited[at] = edited[at].replace("original", "ORIGINAL");
    std::fs::write(&changed, format!("{}\n", edited.join("\n"))).unwrap();
    let out = replayed(changed.to_str().unwrap(), &[]).await;
    assert_eq!(code(&out), 1);
    let said = stdout(&out);
    assert!(said.contains(&format!("(line {})", at + 1)), "{said}");
    assert!(said.contains("ORIGINAL") && said.contains("original"), "{said}");

    // A cut file is replayed as far as it goes, and says so.
    let half = text.len() * 2 / 3;
    std::fs::write(&changed, &text.as_bytes()[..half]).unwrap();
    let out = replayed(changed.to_str().unwrap(), &[]).await;
    assert_eq!(code(&out), 0, "{}", stdout(&out));
    insta::assert_snapshot!("cut_recording", stdout(&out).lines().last().unwrap_or_default());
}

#[tokio::test(flavor = "multi_thread")]
async fn recording_replaces_secrets_by_placeholders() {
    let provider = FakeProvider::start().await;
    let home = home(&provider);
    home.write("leak", KEY);
    let (path, file) = recording(&home);
    // The model repeats the key in pieces, in a call and in words.
    provider.reply(ReplyScript::call("terminal", json!({"command": format!("cat leak; echo {KEY} | rev")})));
    let (left, right) = KEY.split_at(9);
    provider.reply(ReplyScript::pieces(["Your key is ", left, right, "."]));
    let said = format!("my key is {KEY}, keep it");
    let out = run(home.path(), &["--record", &file, "--yolo", "-z", &said]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    // A second run goes on with the stored session, in which the key is.
    let second = home.path().join("second.jsonl");
    let second_file = second.display().to_string();
    provider.reply(ReplyScript::text("Still."));
    let out = run(home.path(), &["--record", &second_file, "--continue", "-z", "and now?"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let sent = provider.bodies();
    assert!(sent.iter().all(|body| body.to_string().contains(KEY)), "the model itself gets the message");
    drop(provider);
    for (path, file, requests) in [(&path, &file, 2), (&second, &second_file, 1)] {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(!text.contains(KEY) && !text.contains(left), "{text}");
        assert!(text.contains("{{secret:"), "{text}");
        let out = replayed(file, &[]).await;
        assert_identical(&out, requests);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fork_continues_with_a_live_model_in_a_new_session() {
    let provider = FakeProvider::start().await;
    let home = home(&provider);
    let (_, file) = recording(&home);
    provider.reply(ReplyScript::call("terminal", json!({"command": "echo ran >> log"})));
    provider.reply(ReplyScript::text("Old answer."));
    let out = run(home.path(), &["--record", &file, "--yolo", "-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    provider.reply(ReplyScript::call("terminal", json!({"command": "echo forked >> log"})));
    provider.reply(ReplyScript::text("New answer."));
    let forking =
        hermes(home.path(), home.path(), &["replay", &file, "--from", "2", "--model", "other", "--yolo"]);
    let out = finished(forking).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (0, "New answer.\n"), "{}", stderr(&out));
    // The call before the fork was not run again; the one after it was.
    assert_eq!(home.read("log"), "ran\nforked\n");
    let bodies = provider.bodies();
    assert_eq!(
        (bodies.len(), &bodies[2]["model"], &bodies[3]["model"]),
        (4, &json!("other"), &json!("other"))
    );
    assert_eq!(
        bodies[2]["messages"].as_array().unwrap().len(),
        bodies[1]["messages"].as_array().unwrap().len()
    );
    let sessions = exported(home.path()).await;
    assert_eq!(sessions.len(), 2);
    let fork = sessions.iter().find(|session| session["title"] == "fork at step 2").unwrap();
    assert_eq!(fork["messages"].as_array().unwrap().len(), 6);
    assert!(stderr(&out).contains(fork["id"].as_str().unwrap()), "{}", stderr(&out));

    let out = run(home.path(), &["replay", &file, "--from", "9"]).await;
    assert_eq!(code(&out), 2);
    insta::assert_snapshot!("unknown_step", masked(&stderr(&out)));
    let out = run(home.path(), &["replay", &file, "--model", "x"]).await;
    assert_eq!(code(&out), 2);
}

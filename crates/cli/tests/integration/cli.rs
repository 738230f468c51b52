//! The binary as people and programs use it, against a strict provider on loopback.

use crate::command_log::{CommandLog, masked};
use crate::process::{self, code, eventually, hermes, is_running, json_lines, stderr, stdout, unique_sleep};
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome, refused_base_url};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A home, a folder to stand in, and a provider.
struct World {
    home: TempHome,
    folder: TempDir,
    provider: FakeProvider,
}

impl World {
    async fn new() -> Self {
        let world = Self {
            home: TempHome::new(),
            folder: tempfile::tempdir().unwrap(),
            provider: FakeProvider::start().await,
        };
        world.configure(&world.provider.base_url(), "");
        world
    }

    fn configure(&self, base_url: &str, more: &str) {
        self.home.write_config(&format!("# mine\n{}{more}", process::custom_model(base_url)));
    }

    fn command(&self, args: &[&str]) -> Command {
        hermes(self.home.path(), self.folder.path(), args)
    }

    async fn run(&self, args: &[&str]) -> Output {
        process::finished(self.command(args)).await
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn exported(&self) -> Vec<Value> {
        process::exported(self.home.path()).await
    }
}

fn terminal(command: &str) -> ReplyScript {
    ReplyScript::call("terminal", json!({ "command": command }))
}

#[tokio::test(flavor = "multi_thread")]
async fn oneshot_prints_only_the_reply() {
    let world = World::new().await;
    world.provider.reply(ReplyScript::text("Forty-two."));
    let out = world.run(&["-z", "What is it?"]).await;
    assert_eq!((stdout(&out).as_str(), stderr(&out).as_str(), code(&out)), ("Forty-two.\n", "", 0));
    let request = &world.provider.requests()[0];
    assert_eq!(request.messages().last().unwrap()["content"], "What is it?");
    assert!(request.body.len() < 16 * 1024, "the first request has {} bytes", request.body.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_query_prints_the_session_on_standard_error() {
    let world = World::new().await;
    world.provider.reply(ReplyScript::text("Yes."));
    let out = world.run(&["chat", "-Q", "-q", "Well?"]).await;
    assert_eq!((stdout(&out).as_str(), code(&out)), ("Yes.\n", 0));
    let sessions = world.exported().await;
    let id = sessions[0]["id"].as_str().unwrap();
    assert_eq!(stderr(&out).trim(), format!("session_id: {id}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn image_is_sent_and_unchanged_after_resume() {
    let world = World::new().await;
    world.provider.replies([ReplyScript::text("A dot."), ReplyScript::text("Yes.")]);
    std::fs::write(world.file("dot.png"), hermes_testkit::png(2, 2)).unwrap();
    let out = world.run(&["-z", "What is it?", "--image", "dot.png"]).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (0, "A dot.\n"), "{}", stderr(&out));
    let out = world.run(&["--continue", "-z", "Sure?"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let bodies = world.provider.bodies();
    let asked = &bodies[0]["messages"][1];
    assert_eq!(asked["content"][0], json!({"type": "text", "text": "What is it?"}));
    let url = asked["content"][1]["image_url"]["url"].as_str().unwrap();
    assert_eq!(hermes_images::bytes_of(url), Some(hermes_testkit::png(2, 2)));
    assert_eq!(&bodies[1]["messages"][1], asked);
    let mut log = CommandLog::default();
    for args in [["-z", "x", "--image", "none.png"], ["-z", "x", "--image", "."]] {
        let out = world.run(&args).await;
        assert_eq!(code(&out), 2);
        log.add(&args, &out);
    }
    insta::assert_snapshot!("image_not_readable", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_is_read_from_standard_input() {
    for args in [vec!["-z", "-"], vec!["chat", "-q", "-", "-Q"], vec!["chat", "-Q"]] {
        let world = World::new().await;
        world.provider.reply(ReplyScript::text("ok"));
        let mut command = world.command(&args);
        let out = tokio::task::spawn_blocking(move || {
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(b"from\nthe pipe").unwrap();
            child.wait_with_output().unwrap()
        });
        assert_eq!(stdout(&out.await.unwrap()), "ok\n", "{args:?}");
        let sent = world.provider.requests()[0].messages().last().unwrap()["content"].clone();
        assert_eq!(sent, "from\nthe pipe", "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn harness_command_line_keeps_working() {
    let world = World::new().await;
    world.provider.reply(terminal("echo hi > made")).reply(ReplyScript::text("made it"));
    let usage = world.file("reports/usage.json");
    let args = ["--yolo", "--usage-file", usage.to_str().unwrap(), "--source", "tool", "chat", "-q", "go"];
    let out = world.run(&[&args[..], &["--provider", "custom", "-m", "m"]].concat()).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    insta::assert_snapshot!("harness", masked(&stdout(&out)));
    assert!(world.file("made").exists());
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&usage).unwrap()).unwrap();
    assert_eq!((report["api_calls"].as_u64(), report["completed"].as_bool()), (Some(2), Some(true)));
    assert_eq!(report["total_tokens"], 30);
    world.provider.reply(ReplyScript::text("again"));
    let id = report["session_id"].as_str().unwrap();
    let out = world.run(&["--yolo", "chat", "-q", "more", "--provider", "custom", "--resume", id]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let file = world.file("all.jsonl");
    let out = world.run(&["sessions", "export", file.to_str().unwrap(), "--source", "tool"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let lines = std::fs::read_to_string(&file).unwrap();
    let session: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let roles: Vec<_> =
        session["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "assistant"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_turn_keeps_the_message_and_exits_with_1() {
    let mut log = CommandLog::default();
    for fault in [
        Fault::status(401, "bad key"),
        Fault::status(404, "The model `m` does not exist"),
        Fault::status(500, "boom"),
    ] {
        let world = World::new().await;
        world.configure(&world.provider.base_url(), "agent:\n  api_max_retries: 1\n");
        let name = format!("{fault:?}");
        world.provider.fault(fault);
        let out = world.run(&["-z", "keep me"]).await;
        assert_eq!((code(&out), stdout(&out).as_str()), (1, ""), "{name}");
        let line = stderr(&out);
        assert_eq!(line.trim().lines().count(), 1, "{name}: {line}");
        log.text(&name, &line);
        assert_eq!(world.exported().await[0]["messages"][0]["content"], "keep me", "{name}");
    }
    insta::assert_snapshot!("failed_turn", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_server_exits_with_69() {
    let world = World::new().await;
    let url = refused_base_url();
    world.configure(&url, "agent:\n  api_max_retries: 1\n");
    let out = world.run(&["-z", "hello?"]).await;
    assert_eq!(code(&out), 69, "{}", stderr(&out));
    insta::assert_snapshot!("server_not_there", masked(&stderr(&out)));
    assert_eq!(world.exported().await[0]["messages"][0]["content"], "hello?");
}

#[tokio::test(flavor = "multi_thread")]
async fn passing_fault_is_retried() {
    for fault in [
        Fault::Status {
            code: 429,
            headers: vec![("retry-after-ms".into(), "20".into())],
            body: r#"{"error":{"message":"slow down"}}"#.into(),
        },
        Fault::Status {
            code: 503,
            headers: vec![("retry-after-ms".into(), "20".into())],
            body: r#"{"error":{"message":"busy"}}"#.into(),
        },
    ] {
        let world = World::new().await;
        world.provider.fault(fault).reply(ReplyScript::text("now"));
        let out = world.run(&["-z", "go"]).await;
        assert_eq!((stdout(&out).as_str(), code(&out)), ("now\n", 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_model_prints_the_next_steps() {
    let home = TempHome::new();
    let cwd = tempfile::tempdir().unwrap();
    let out = hermes(home.path(), cwd.path(), &["-z", "hi"]).output().unwrap();
    assert_eq!((code(&out), stdout(&out).as_str()), (78, ""));
    // The last of the five lines is about model servers on this machine.
    let lines = stderr(&out).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines.len(), 5, "{lines:#?}");
    insta::assert_snapshot!("no_model", masked(&lines[..4].join("\n")));
    let usage = cwd.path().join("usage.json");
    let args = ["--json", "--usage-file", usage.to_str().unwrap(), "-z", "hi"];
    let out = hermes(home.path(), cwd.path(), &args).output().unwrap();
    let last: Value = serde_json::from_str(stdout(&out).lines().last().unwrap()).unwrap();
    assert_eq!((code(&out), &last["type"], &last["failed"]), (78, &json!("result"), &json!(true)));
    let report: Value = serde_json::from_str(&std::fs::read_to_string(usage).unwrap()).unwrap();
    assert_eq!(report["failure"], "no model is configured");
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_settings_are_reported_and_unchanged() {
    let home = TempHome::new();
    let cwd = tempfile::tempdir().unwrap();
    let text = "model:\n  default: m\n  base_url: [unclosed\n";
    home.write_config(text);
    let mut log = CommandLog::default();
    for args in [&["-z", "hi"][..], &["config", "set", "agent.max_turns", "5"]] {
        let out = hermes(home.path(), cwd.path(), args).output().unwrap();
        assert_eq!(code(&out), 78, "{}", stderr(&out));
        log.add(args, &out);
        assert_eq!(home.read("config.yaml"), text);
    }
    insta::assert_snapshot!("malformed_settings", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn config_set_keeps_comments() {
    let world = World::new().await;
    let before = world.home.read("config.yaml");
    assert_eq!(code(&world.run(&["config", "set", "agent.max_turns", "7"]).await), 0);
    assert_eq!(stdout(&world.run(&["config", "get", "agent.max_turns"]).await), "7\n");
    assert!(world.home.read("config.yaml").starts_with("# mine\n"));
    let explained = world.run(&["config", "explain", "agent.max_turns", "--json"]).await;
    let explained: Value = serde_json::from_str(&stdout(&explained)).unwrap();
    assert_eq!(
        (&explained["value"], &explained["source"], &explained["default"]),
        (&json!("7"), &json!("config.yaml"), &json!("90"))
    );
    assert_eq!(code(&world.run(&["config", "unset", "agent.max_turns"]).await), 0);
    assert_eq!(world.home.read("config.yaml"), before);
    let secret = "sk-test-abcdefghijkl0123";
    let out = world.run(&["config", "set", "OPENAI_API_KEY", secret]).await;
    assert!(!stdout(&out).contains(secret) && !stderr(&out).contains(secret));
    assert!(world.home.read(".env").contains(secret));
    assert!(!stdout(&world.run(&["config", "show", "--all"]).await).contains(secret));
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_store_is_reported_and_never_overwritten() {
    let world = World::new().await;
    let garbage = b"this is not a database, but its owner may want it back".repeat(100);
    let path = world.home.path().join("state.db");
    std::fs::write(&path, &garbage).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let out = world.run(&["-z", "hi"]).await;
    assert_eq!(code(&out), 70, "{}", stderr(&out));
    let mut log = CommandLog::default();
    log.add(&["-z", "hi"], &out);
    let doctor = world.run(&["doctor"]).await;
    assert_eq!(code(&doctor), 1);
    let page = stdout(&doctor);
    let wrong: Vec<&str> = page.lines().filter(|line| line.starts_with('✗')).collect();
    log.text("$ hermes doctor (what is wrong)", &wrong.join("\n"));
    insta::assert_snapshot!("corrupt_store", log);
    assert_eq!(std::fs::read(&path).unwrap(), garbage);
    // `doctor` asks what kind of server it is; the model itself is not asked.
    let asked = world.provider.requests();
    assert!(asked.iter().all(|request| request.method == "GET"), "nothing is asked that cannot be recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn command_without_an_approver_is_denied() {
    let world = World::new().await;
    world.provider.reply(terminal("rm -rf old; touch ran")).reply(ReplyScript::text("I could not run it."));
    let out = world.run(&["-z", "go"]).await;
    assert_eq!((stdout(&out).as_str(), code(&out)), ("I could not run it.\n", 77));
    assert!(!world.file("ran").exists());
    insta::assert_snapshot!("command_denied", masked(&stderr(&out)));
    let told = world.provider.requests()[1].messages().last().unwrap()["content"].clone();
    assert!(told.as_str().unwrap().contains("Not run"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn json_output_has_a_first_and_a_last_event() {
    let world = World::new().await;
    world.provider.reply(terminal("echo hi")).reply(ReplyScript::text("Done.").streamed_in(2));
    let out = world.run(&["--json", "--yolo", "-z", "go"]).await;
    let lines = json_lines(&out);
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("session", "result"));
    for kind in ["accepted", "tool_started", "tool_finished", "step_finished", "text"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert!(lines.iter().all(|line| line["v"] == 1));
    let result = lines.last().unwrap();
    assert_eq!((&result["final_response"], &result["completed"]), (&json!("Done."), &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn golden_prefix_holds_across_resume_in_a_new_process() {
    let world = World::new().await;
    let odd = "printf 'caf\\303\\251 \\377\\000 \\033[31mred\\033[0m\\r\\n\\t\"q\"'; echo 中文 >&2; exit 3";
    world
        .provider
        .reply(terminal(odd).with_text("Looking.").with_reasoning("why not"))
        .reply(ReplyScript::call(
            "todo",
            json!({"todos": [{"id": "1", "content": "x", "status": "pending"}]}),
        ))
        .reply(ReplyScript::text("first answer \u{1F600}\n"));
    assert_eq!(code(&world.run(&["--yolo", "-z", "one \"quoted\" 中"]).await), 0);
    for turn in ["two", "three"] {
        world
            .provider
            .reply(ReplyScript::call("read_file", json!({"path": "none.txt"})).and_call("todo", json!({})))
            .reply(ReplyScript::text(format!("{turn} answer")));
        assert_eq!(code(&world.run(&["--yolo", "--resume", "latest", "-z", turn]).await), 0);
    }
    let requests = world.provider.requests();
    assert_eq!(requests.len(), 7);
    for pair in requests.windows(2) {
        let shared = pair[0].body.len() - 2;
        assert_eq!(
            String::from_utf8_lossy(&pair[0].body[..shared]),
            String::from_utf8_lossy(&pair[1].body[..shared.min(pair[1].body.len())]),
        );
    }
    assert_eq!(world.provider.connections(), 3, "one connection per turn");
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupt_ends_the_tool_and_exits_with_130() {
    let world = World::new().await;
    let nap = unique_sleep();
    world.provider.reply(terminal(&format!("touch begun; {nap}")));
    let child = world
        .command(&["--yolo", "-z", "go"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = world.file("begun");
    eventually("the tool's beginning", || begun.exists()).await;
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let out = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!((code(&out), stdout(&out).as_str()), (130, ""), "{}", stderr(&out));
    assert!(!is_running(&nap));
    let messages = world.exported().await[0]["messages"].clone();
    let last = messages.as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(last, "[The user stopped this turn here.]");
}

#[tokio::test(flavor = "multi_thread")]
async fn session_in_use_is_refused() {
    let world = World::new().await;
    world.provider.reply(terminal("touch begun; sleep 600"));
    let mut child = world.command(&["--yolo", "-z", "go"]).stdin(Stdio::null()).spawn().unwrap();
    let begun = world.file("begun");
    eventually("the tool's beginning", || begun.exists()).await;
    let out = world.run(&["--resume", "latest", "-z", "me too"]).await;
    assert_eq!(code(&out), 1, "{}", stderr(&out));
    assert!(stderr(&out).contains(&format!("in use by process {}", child.id())), "{}", stderr(&out));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_shown_renamed_found_and_deleted() {
    let world = World::new().await;
    world.provider.reply(ReplyScript::text("It is user@example.com, and it's C++."));
    world.run(&["-z", "Where do I write?"]).await;
    let listed: Value =
        serde_json::from_str(&stdout(&world.run(&["sessions", "list", "--json"]).await)).unwrap();
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(listed[0]["preview"], "Where do I write?");
    let renamed = world.run(&["sessions", "rename", &id, "Mail", "address"]).await;
    assert_eq!(code(&renamed), 0, "{}", stderr(&renamed));
    let mut log = CommandLog::default();
    log.add(&["sessions", "show", "Mail address"], &world.run(&["sessions", "show", "Mail address"]).await);
    for query in ["example", "user@example.com", "\"write\" OR nothing", "wri*", "it's"] {
        let found = world.run(&["sessions", "search", query, "--json"]).await;
        let found: Value = serde_json::from_str(&stdout(&found)).unwrap();
        assert!(!found["hits"].as_array().unwrap().is_empty(), "{query}");
    }
    for (args, want) in [
        (&["sessions", "show", "nothing like it"][..], 2),
        // Without a terminal it needs --yes.
        (&["sessions", "delete", &id], 2),
        (&["sessions", "delete", &id, "--yes"], 0),
    ] {
        let out = world.run(args).await;
        assert_eq!(code(&out), want, "{args:?}: {}", stderr(&out));
        log.add(args, &out);
    }
    insta::assert_snapshot!("show_and_delete", log);
    assert!(world.exported().await.is_empty());
}

#[test]
fn command_line_is_parsed() {
    let home = TempHome::new();
    let run = |args: &[&str]| hermes(home.path(), home.path(), args).output().unwrap();
    for args in [&["--version"][..], &["-V"], &["version"]] {
        assert!(stdout(&run(args)).starts_with("Hermes Agent v"), "{args:?}");
    }
    assert_eq!(code(&run(&["frobnicate"])), 2);
    assert_eq!(code(&run(&["--help"])), 0);
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&run(&["completion", shell])).contains("hermes"), "{shell}");
    }
    assert!(!home.path().join("state.db").exists(), "looking leaves nothing behind");
}

#[test]
fn closed_pipe_prints_no_error() {
    let home = TempHome::new();
    let mut child = hermes(home.path(), home.path(), &["completion", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert_eq!(stderr(&out), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn home_and_its_files_are_private() {
    let outer = tempfile::tempdir().unwrap();
    let home = outer.path().join("new-home");
    let provider = FakeProvider::start().await;
    provider.reply(ReplyScript::text("ok"));
    for (key, value) in [("model.base_url", provider.base_url()), ("model.default", "m".to_owned())] {
        assert!(hermes(&home, outer.path(), &["config", "set", key, &value]).status().unwrap().success());
    }
    let out = process::finished(hermes(&home, outer.path(), &["-z", "hi"])).await;
    assert_eq!(stdout(&out), "ok\n");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    for name in ["config.yaml", "state.db"] {
        assert_eq!(mode(&home.join(name)), 0o600, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reply_is_printed_even_if_the_report_fails() {
    let world = World::new().await;
    world.provider.replies([ReplyScript::text("one"), ReplyScript::text("two"), ReplyScript::text("three")]);
    let out = world.run(&["--usage-file", "/proc/nowhere/x", "-z", "hi"]).await;
    assert_eq!((stdout(&out).as_str(), code(&out)), ("one\n", 77), "{}", stderr(&out));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = world.command(&["-z", "hi"]);
    let status =
        tokio::task::spawn_blocking(move || command.stdout(full).stderr(Stdio::null()).status().unwrap());
    assert_eq!(status.await.unwrap().code(), Some(70), "a full disk is not a success");
    // Nobody reads standard error: still no panic, still the answer.
    let mut command = world.command(&["chat", "-Q", "-q", "hi"]);
    let out = tokio::task::spawn_blocking(move || {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        child.wait_with_output().unwrap()
    });
    let out = out.await.unwrap();
    assert_eq!((stdout(&out).as_str(), code(&out)), ("three\n", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn json_output_has_a_result_without_a_turn() {
    let world = World::new().await;
    std::fs::write(world.home.path().join("state.db"), b"not a database at all, really not").unwrap();
    let out = world.run(&["--json", "-z", "hi"]).await;
    assert_eq!(code(&out), 70);
    let last: Value = serde_json::from_str(stdout(&out).lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["failed"]), (&json!("result"), &json!(true)));
    assert!(last["error"].as_str().unwrap().contains("state.db"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_flag_values_are_usage_errors() {
    let world = World::new().await;
    let mut log = CommandLog::default();
    for args in [&["-t", "nope", "-z", "hi"][..], &["--provider", "nope", "-z", "hi"]] {
        let out = world.run(args).await;
        assert_eq!(code(&out), 2, "{args:?}: {}", stderr(&out));
        log.add(args, &out);
    }
    insta::assert_snapshot!("wrong_flags", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_restores_the_directory_and_may_change_the_model() {
    let world = World::new().await;
    std::fs::create_dir(world.file("sub")).unwrap();
    world.provider.reply(terminal("cd sub")).reply(ReplyScript::text("there"));
    world.run(&["--yolo", "-z", "go"]).await;
    world.provider.reply(terminal("pwd")).reply(ReplyScript::text("ok"));
    world.run(&["--yolo", "--continue", "-m", "other", "-z", "where?"]).await;
    let requests = world.provider.requests();
    let told = requests[3].messages().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(told.contains("/sub"), "{told}");
    let system = requests[2].messages()[0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains("Model: other") && requests[2].json["model"] == "other", "{system}");
    assert_eq!(requests[2].messages()[1..4], requests[1].messages()[1..], "the history is the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn second_interrupt_exits_at_once_and_kills_commands() {
    let world = World::new().await;
    let nap = unique_sleep();
    world.provider.reply(terminal(&format!("trap '' TERM; touch begun; {nap}; {nap}")));
    let mut child =
        world.command(&["--yolo", "-z", "go"]).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = world.file("begun");
    eventually("the tool's command", || begun.exists() && is_running(&nap)).await;
    let pid = child.id().to_string();
    for _ in 0..2 {
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        // The second signal must not be merged with the first: wait until that one was taken.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
    assert_eq!(status.code(), Some(130));
    eventually("an end of everything", || !is_running(&nap)).await;
}

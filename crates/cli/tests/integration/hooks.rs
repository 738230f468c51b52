//! Hooks: scripts of the user that run on turn events.

use crate::command_log::{CommandLog, masked};
use crate::process::{
    self, code, custom_model, eventually, exported, finished, hermes, is_running, json_lines, run, stderr,
    unique_sleep,
};
use crate::pty::Terminal;
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

const ALLOWLIST: &str = "shell-hooks-allowlist.json";

/// A home with hooks: event, other settings of the entry, and the script that a shell runs.
async fn world(hooks: &[(&str, &str, &str)]) -> (TempHome, FakeProvider) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let mut config = custom_model(&provider.base_url());
    config.push_str("hooks:\n");
    for (at, (event, settings, script)) in hooks.iter().enumerate() {
        home.write(format!("hook{at}.sh"), script);
        config.push_str(&format!("  {event}:\n  - command: /bin/sh ~/hook{at}.sh\n    {settings}\n"));
    }
    home.write_config(&config);
    (home, provider)
}

fn read(home: &TempHome, name: &str) -> String {
    std::fs::read_to_string(home.path().join(name)).unwrap()
}

fn terminal(command: &str) -> ReplyScript {
    ReplyScript::call("terminal", json!({ "command": command }))
}

/// The newest result that was sent to the model.
fn told(provider: &FakeProvider) -> String {
    let body = provider.bodies().pop().unwrap();
    let messages = body["messages"].as_array().unwrap();
    let result = messages.iter().rfind(|message| message["role"] == "tool").unwrap();
    result["content"].as_str().unwrap().to_owned()
}

/// The lines that events of this kind printed.
fn notices(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter(|line| line["type"] == "status").filter_map(|line| line["text"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_get_every_event_with_its_data() {
    let keep = "cat >> ~/seen; echo >> ~/seen";
    let (home, provider) = world(&[
        ("on_session_start", "", keep),
        ("pre_llm_call", "", keep),
        ("pre_tool_call", "matcher: term.*", keep),
        ("post_tool_call", "", keep),
        ("post_llm_call", "", keep),
        ("on_session_end", "", keep),
    ])
    .await;
    provider
        .reply(terminal("echo 4"))
        .reply(ReplyScript::call("todo", json!({})))
        .reply(ReplyScript::text("Four."));
    let out = run(home.path(), &["--yolo", "--accept-hooks", "--json", "-z", "count"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let seen: Vec<Value> =
        read(&home, "seen").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = seen.iter().map(|seen| seen["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "on_session_start",
            "pre_llm_call",
            "pre_tool_call",
            "post_tool_call",
            "post_tool_call",
            "post_llm_call",
            "on_session_end"
        ]
    );
    let session = exported(home.path()).await[0]["id"].clone();
    assert!(seen.iter().all(|seen| seen["session_id"] == session && seen["cwd"] == json!(home.path())));
    assert!(seen.iter().all(|seen| seen["extra"]["platform"] == "cli"));
    assert_eq!(seen[1]["extra"]["user_message"], "count");
    assert_eq!(
        (&seen[2]["tool_name"], &seen[2]["tool_input"]),
        (&json!("terminal"), &json!({"command": "echo 4"}))
    );
    assert_eq!(seen[3]["extra"]["status"], "ok");
    assert!(seen[3]["extra"]["result"].as_str().unwrap().contains('4'));
    assert_eq!(seen[5]["extra"]["assistant_response"], "Four.");
    assert_eq!(
        (&seen[6]["extra"]["completed"], &seen[6]["extra"]["interrupted"]),
        (&json!(true), &json!(false))
    );

    // A session starts once.
    provider.reply(ReplyScript::text("Five."));
    let out = run(home.path(), &["--accept-hooks", "-c", "-z", "more"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    assert_eq!(read(&home, "seen").matches("on_session_start").count(), 1);
    // Consent for one run is not kept.
    assert!(!home.path().join(ALLOWLIST).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_can_block_a_call() {
    let guard =
        r#"grep -q 'touch bad' && echo '{"decision": "block", "reason": "no bad files here"}'; exit 0"#;
    let (home, provider) = world(&[
        ("pre_tool_call", "matcher: terminal", guard),
        ("post_tool_call", "", "cat >> ~/seen; echo >> ~/seen"),
    ])
    .await;
    provider.reply(terminal("touch bad")).reply(terminal("touch good")).reply(ReplyScript::text("Done."));
    let mut command = hermes(home.path(), home.path(), &["--yolo", "--json", "-z", "go"]);
    command.env("HERMES_ACCEPT_HOOKS", "1");
    let out = finished(command).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let lines = json_lines(&out);
    let results: Vec<&str> = lines
        .iter()
        .filter(|line| line["type"] == "tool_finished")
        .map(|line| line["result"].as_str().unwrap())
        .collect();
    assert_eq!(results[0], r#"{"error":"no bad files here"}"#);
    assert_eq!((home.path().join("bad").exists(), home.path().join("good").exists()), (false, true));
    let seen = read(&home, "seen");
    assert!(seen.lines().next().unwrap().contains(r#""status":"blocked""#), "{seen}");
    assert!(seen.lines().nth(1).unwrap().contains(r#""status":"ok""#), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_context_is_sent_with_the_message_and_replayed() {
    let (home, provider) =
        world(&[("pre_llm_call", "", r#"date +%N > ~/n; echo "{\"context\": \"It rains. $(cat ~/n)\"}""#)])
            .await;
    provider.reply(ReplyScript::text("Stay in.")).reply(ReplyScript::text("Still."));
    for args in [["--accept-hooks", "-z", "weather?"].as_slice(), &["--accept-hooks", "-c", "-z", "and now?"]]
    {
        let out = run(home.path(), args).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
    }
    let bodies = provider.bodies();
    let users = |body: &Value| -> Vec<String> {
        let messages = body["messages"].as_array().unwrap();
        let users = messages.iter().filter(|message| message["role"] == "user");
        users.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    };
    let (first, second) = (users(&bodies[0]), users(&bodies[1]));
    assert!(first[0].starts_with("weather?\n\nIt rains. "), "{first:?}");
    assert_eq!(first[0], second[0]);
    assert!(second[1].starts_with("and now?\n\nIt rains. ") && second[1] != second[0], "{second:?}");
    // What is shown and searched is what was said.
    let session = &exported(home.path()).await[0];
    assert_eq!(session["messages"][0]["content"], "weather?");
    assert_eq!(code(&run(home.path(), &["sessions", "verify"]).await), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_hook_is_reported_once_and_the_turn_continues() {
    let nap = unique_sleep();
    let mut log = CommandLog::default();
    for (settings, script) in
        [("", "echo oh dear >&2; exit 3"), ("", "echo all is well"), ("timeout: 1", nap.as_str())]
    {
        let (home, provider) = world(&[("pre_tool_call", settings, script)]).await;
        provider.reply(terminal("echo a")).reply(terminal("echo b")).reply(ReplyScript::text("Done."));
        let out = run(home.path(), &["--yolo", "--accept-hooks", "--json", "-z", "go"]).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
        let lines = json_lines(&out);
        let notices = notices(&lines);
        assert_eq!(notices.len(), 1, "{notices:?}");
        log.text(if script == nap { "too slow" } else { script }, notices[0]);
        assert!(told(&provider).contains('b'));
        assert!(!is_running(&nap));
    }
    let (home, provider) = world(&[]).await;
    home.write_config(&format!(
        "{}hooks:\n  pre_llm_call:\n  - command: /no/such/program\n  nonsense: 3\n",
        custom_model(&provider.base_url())
    ));
    provider.reply(ReplyScript::text("Hi."));
    let out = run(home.path(), &["--accept-hooks", "--json", "-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let lines = json_lines(&out);
    let notices = notices(&lines);
    log.text("an unknown event and an unknown program", &notices.join("\n"));
    insta::assert_snapshot!("failed_hooks", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_sees_no_secrets_and_its_children_are_killed() {
    let nap = unique_sleep();
    let script = format!("env > ~/env; {nap} & exit 0");
    let (home, provider) = world(&[("pre_llm_call", "", &script)]).await;
    provider.reply(ReplyScript::text("Hi."));
    let mut command = hermes(home.path(), home.path(), &["--accept-hooks", "-z", "go"]);
    command.env("MY_API_KEY", "shy-value-123").env("LANG", "C.UTF-8");
    assert_eq!(code(&finished(command).await), 0);
    let env = read(&home, "env");
    assert!(env.contains("LANG=C.UTF-8") && !env.contains("shy-value"), "{env}");
    assert!(!is_running(&nap));
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_without_approval_does_not_run() {
    let (home, provider) = world(&[("pre_llm_call", "", "touch ~/ran")]).await;
    provider.reply(ReplyScript::text("Hi.")).reply(ReplyScript::text("Hi.")).reply(ReplyScript::text("Hi."));
    let out = run(home.path(), &["-z", "go"]).await;
    assert_eq!(code(&out), 0);
    assert!(!home.path().join("ran").exists());
    let lines: Vec<_> =
        stderr(&out).lines().filter(|line| line.contains("hook")).map(str::to_owned).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    insta::assert_snapshot!("not_approved", masked(&lines[0]));

    // A list that cannot be read approves nothing and is left as it is.
    home.write(ALLOWLIST, "oops");
    let out = run(home.path(), &["-z", "go"]).await;
    assert!(!home.path().join("ran").exists());
    insta::assert_snapshot!("unreadable_approvals", masked(&stderr(&out)));
    assert_eq!(read(&home, ALLOWLIST), "oops");

    // The setting is consent.
    let config = format!("{}hooks_auto_accept: true\n", read(&home, "config.yaml"));
    home.write_config(&config);
    assert_eq!(code(&run(home.path(), &["-z", "go"]).await), 0);
    assert!(home.path().join("ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_approval_is_asked_again_after_a_script_change() {
    let (home, provider) = world(&[("pre_llm_call", "", "echo one >> ~/ran")]).await;
    home.write(ALLOWLIST, r#"{"note": "mine"}"#);
    for _ in 0..5 {
        provider.reply(ReplyScript::text("Hi there."));
    }
    let mut screen = Terminal::start(home.path(), home.path(), &[]);
    screen.expect("❯").await;
    screen.type_keys("hello\r");
    screen.expect("runs this hook at every pre_llm_call").await;
    screen.expect("/bin/sh ~/hook0.sh").await;
    screen.expect("Run it? ").await;
    screen.type_keys("y\r");
    screen.expect("Hi there.").await;
    screen.expect("❯").await;
    screen.type_keys("again\r");
    screen.expect("Hi there.").await;
    screen.expect("❯").await;
    screen.type_keys("/quit\r");
    screen.ended().await;
    assert_eq!(read(&home, "ran"), "one\none\n");
    let list: Value = serde_json::from_str(&read(&home, ALLOWLIST)).unwrap();
    assert_eq!(list["note"], "mine");
    assert_eq!(list["approvals"][0]["event"], "pre_llm_call");
    assert_eq!(list["approvals"][0]["command"], "/bin/sh ~/hook0.sh");
    assert!(list["approvals"][0]["script_mtime_at_approval"].is_string());
    let mode = home.path().join(ALLOWLIST).metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let listed = process::json_of(home.path(), &["hooks", "list"]).await;
    assert_eq!(listed["hooks"][0]["consent"], "approved", "{listed}");

    // The yes counts where nobody can be asked.
    assert_eq!(code(&run(home.path(), &["-z", "go"]).await), 0);
    assert_eq!(read(&home, "ran"), "one\none\none\n");

    // It was given to the script as it was.
    let script = std::fs::File::options().write(true).open(home.path().join("hook0.sh")).unwrap();
    script.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).unwrap();
    let out = run(home.path(), &["-z", "go"]).await;
    let mut log = CommandLog::default();
    log.add(&["-z", "go"], &out);
    log.add(&["hooks", "list"], &run(home.path(), &["hooks", "list"]).await);
    insta::assert_snapshot!("changed_script", log);
    assert_eq!(read(&home, "ran"), "one\none\none\n");
    let mut screen = Terminal::start(home.path(), home.path(), &[]);
    screen.expect("❯").await;
    screen.type_keys("hello\r");
    screen.expect("Its script was changed since you approved it.").await;
    screen.expect("Run it? ").await;
    screen.type_keys("n\r");
    screen.expect("Hi there.").await;
    screen.expect("❯").await;
    screen.type_keys("/quit\r");
    screen.ended().await;
    assert_eq!(read(&home, "ran"), "one\none\none\n");

    // What was given can be taken back, once.
    for (want, consent) in [(0, "unapproved"), (1, "unapproved")] {
        assert_eq!(code(&run(home.path(), &["hooks", "revoke", "/bin/sh ~/hook0.sh"]).await), want);
        let listed = process::json_of(home.path(), &["hooks", "list"]).await;
        assert_eq!(listed["hooks"][0]["consent"], consent, "{listed}");
    }
    assert!(read(&home, ALLOWLIST).contains("mine"));
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupt_ends_a_running_hook_and_the_turn() {
    let nap = unique_sleep();
    let script = format!("touch ~/runs; {nap}");
    let (home, provider) = world(&[("pre_tool_call", "", &script)]).await;
    provider.reply(terminal("touch never")).reply(ReplyScript::text("Hi."));
    let mut command = hermes(home.path(), home.path(), &["--yolo", "--accept-hooks", "-z", "go"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mark = home.path().join("runs");
    eventually("the hook runs", || mark.exists()).await;
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let out = tokio::task::spawn_blocking(|| child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!(code(&out), 130, "{}", stderr(&out));
    assert!(!is_running(&nap) && !home.path().join("never").exists());
    // The session is whole.
    let out = run(home.path(), &["-c", "-z", "again"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_does_not_outlive_a_killed_process() {
    let nap = unique_sleep();
    let script = format!("touch ~/runs; exec {nap}");
    let (home, provider) = world(&[("pre_llm_call", "", &script)]).await;
    let mut command = hermes(home.path(), home.path(), &["--accept-hooks", "-z", "go"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mark = home.path().join("runs");
    eventually("the hook runs", || mark.exists() && is_running(&nap)).await;
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the hook is gone", || !is_running(&nap)).await;
    // What was said was on record before the hook ran.
    provider.reply(ReplyScript::text("Hi."));
    let out = run(home.path(), &["-c", "-z", "again"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    assert_eq!(exported(home.path()).await[0]["messages"][0]["content"], "go");
}

#[tokio::test(flavor = "multi_thread")]
async fn subagents_run_the_same_hooks() {
    let (home, provider) =
        world(&[("pre_tool_call", "matcher: terminal", "cat >> ~/seen; echo >> ~/seen")]).await;
    provider.answer_with(|body| {
        let messages = body["messages"].as_array().unwrap();
        let is_first = !messages.iter().any(|message| message["role"] == "tool");
        let is_helper = messages[1]["content"].as_str().unwrap().starts_with("Task: ");
        match (is_helper, is_first) {
            (false, true) => ReplyScript::call("delegate_task", json!({ "goal": "look" })),
            (true, true) => terminal("echo 4"),
            (_, false) => ReplyScript::text("Done."),
        }
    });
    let out = run(home.path(), &["--yolo", "--accept-hooks", "-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let seen: Value = serde_json::from_str(read(&home, "seen").trim()).unwrap();
    assert_eq!((&seen["tool_name"], &seen["extra"]["platform"]), (&json!("terminal"), &json!("subagent")));
}

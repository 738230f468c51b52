//! The log and the traces of a run.

use crate::command_log::{CommandLog, masked};
use crate::process::{
    code, custom_model, eventually, hermes, json_lines, json_of, kill_supervisor, run, stderr, stdout,
};
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

const KEY: &str = "opaque-key-of-this-test-4711";

async fn world() -> (TempHome, FakeProvider) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let settings = custom_model(&provider.base_url());
    home.write_config(&settings.replacen("model:\n", &format!("model:\n  api_key: {KEY}\n"), 1));
    (home, provider)
}

fn busy_for_now(message: &str) -> Fault {
    let body = json!({ "error": { "message": message, "type": "error", "code": null } }).to_string();
    Fault::Status { code: 503, headers: vec![("retry-after".into(), "1".into())], body }
}

fn two_reads() -> ReplyScript {
    ReplyScript::call("read_file", json!({ "path": "secret-plan.txt" })).and_call("todo", json!({}))
}

/// The lines of `hermes logs --json ARGS`.
async fn logged(home: &TempHome, args: &[&str]) -> Vec<Value> {
    let out = run(home.path(), &[&["logs", "--json", "-n", "100000"], args].concat()).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    json_lines(&out)
}

fn messages(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["message"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_is_logged_without_secrets_and_message_texts() {
    let (home, provider) = world().await;
    provider.fault(busy_for_now(&format!("the key {KEY} is busy")));
    provider.reply(two_reads()).reply(ReplyScript::text("The plan is hidden."));
    let out = run(home.path(), &["-z", "What is the plan?"]).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (0, "The plan is hidden.\n"), "{}", stderr(&out));

    let path = home.path().join("logs/agent.log");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let text = home.read("logs/agent.log");
    for said in [KEY, "What is the plan", "secret-plan", "hidden"] {
        assert!(!text.contains(said), "{said} is in the log:\n{text}");
    }
    let lines = logged(&home, &[]).await;
    assert_eq!(
        messages(&lines),
        [
            "turn begun",
            "model call failed",
            "waiting before another try",
            "model answered",
            "tool ended",
            "tool ended",
            "model answered",
            "turn ended",
        ],
        "{text}"
    );
    let (failed, answered) = (&lines[1], &lines[3]);
    assert_eq!((&failed["level"], &failed["fields"]["status"]), (&json!("WARNING"), &json!(503)));
    assert!(failed["fields"]["detail"].as_str().unwrap().contains("[redacted"), "{failed}");
    assert_eq!(answered["fields"]["attempt"], 2, "{answered}");
    assert_eq!(answered["fields"]["mode"], "chat_completions");
    let last = &lines[7]["fields"];
    assert_eq!((&last["calls"], &last["turn_id"]), (&json!(3), &answered["fields"]["turn_id"]), "{last}");
    let session = lines[0]["session"].as_str().unwrap();
    assert!(lines.iter().all(|line| line["session"] == session), "{text}");

    // Filters, and the end of it.
    assert_eq!(logged(&home, &["--session", "latest"]).await.len(), lines.len());
    assert_eq!(logged(&home, &["--session", &session[..12], "--level", "warning"]).await.len(), 1);
    assert_eq!(logged(&home, &["--session", "nobody", "--since", "1h"]).await.len(), 0);
    assert_eq!(logged(&home, &["--since", "5m"]).await.len(), lines.len());
    let out = run(home.path(), &["logs", "-n", "1"]).await;
    assert_eq!(stdout(&out).lines().count(), 1, "{}", stdout(&out));
    let out = run(home.path(), &["logs", "--level", "loud"]).await;
    assert_eq!(code(&out), 2);
    insta::assert_snapshot!("unknown_level", stderr(&out));
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_share_a_log_and_rotate_it_once() {
    let (home, provider) = world().await;
    let settings = home.read("config.yaml");
    home.write_config(&format!("{settings}logging: {{max_size_mb: 1, backup_count: 2}}\n"));
    let filler = "2026-01-01 00:00:00,000 INFO filler: text\n";
    let old = filler.repeat((1 << 20) / filler.len() - 40);
    home.write("logs/agent.log", &old);
    provider.answer_with(|request| {
        let results = request["messages"].as_array().unwrap().iter().filter(|one| one["role"] == "tool");
        match results.count() {
            0..8 => two_reads(),
            _ => ReplyScript::text("Done."),
        }
    });
    let runs = (0..6).map(|_| run(home.path(), &["-z", "go"]));
    for out in futures::future::join_all(runs).await {
        assert_eq!(stdout(&out), "Done.\n", "{}", stderr(&out));
    }
    assert!(!home.path().join("logs/agent.log.2").exists());
    let put_away = home.read("logs/agent.log.1");
    // While one puts it away, nobody else waits: each of the others may add a line or two.
    let most = (1 << 20) + 4096;
    assert!(put_away.starts_with(&old) && put_away.len() <= most, "{}", put_away.len());
    let lines = logged(&home, &["--since", "1h"]).await;
    // The beginning, five answers, eight tools and the end, six times; no line torn, lost or written twice.
    assert_eq!(lines.len(), 6 * 15, "{:?}", messages(&lines));
    let raw = put_away[old.len()..].lines().count() + home.read("logs/agent.log").lines().count();
    assert_eq!(raw, lines.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn log_lines_are_printed_escaped() {
    let home = TempHome::new();
    home.write("logs/agent.log", "2026-01-01 00:00:00,000 INFO x: a\u{1b}[31mred\u{7}\nTrace\u{9b}back\n");
    let out = run(home.path(), &["logs"]).await;
    assert_eq!(
        stdout(&out),
        "2026-01-01 00:00:00,000 INFO x: a\\u{1b}[31mred\\u{7}\nTrace\\u{9b}back\n",
        "{}",
        stderr(&out)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unwritable_log_is_one_notice() {
    let (home, provider) = world().await;
    home.write("logs", "a file in place of the directory");
    provider.reply(two_reads()).reply(ReplyScript::text("Fine."));
    let out = run(home.path(), &["-z", "go"]).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (0, "Fine.\n"));
    assert_eq!(stderr(&out).matches("cannot write logs/agent.log").count(), 1, "{}", stderr(&out));
}

/// The lines a child prints, as they come.
fn lines_of(child: &mut std::process::Child) -> Receiver<String> {
    let (send, receive) = channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

async fn wait_for(lines: &Receiver<String>, wanted: &str) {
    let mut seen = Vec::new();
    eventually(wanted, || {
        seen.extend(lines.try_iter());
        seen.iter().any(|line: &String| line.contains(wanted))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn log_is_followed_across_a_rotation_until_ctrl_c() {
    let (home, provider) = world().await;
    let mut follow = hermes(home.path(), home.path(), &["logs", "-f"]);
    let mut follow = follow.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = lines_of(&mut follow);
    provider.reply(ReplyScript::text("One."));
    assert_eq!(code(&run(home.path(), &["-z", "first"]).await), 0);
    wait_for(&lines, "turn ended").await;
    let log = home.path().join("logs/agent.log");
    std::fs::rename(&log, home.path().join("logs/agent.log.1")).unwrap();
    provider.reply(two_reads()).reply(ReplyScript::text("Two."));
    assert_eq!(code(&run(home.path(), &["-z", "second"]).await), 0);
    wait_for(&lines, "tool=read_file").await;
    Command::new("kill").args(["-INT", &follow.id().to_string()]).status().unwrap();
    assert_eq!(follow.wait().unwrap().code(), Some(130));
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_shows_retries_and_parallel_tools() {
    let (home, provider) = world().await;
    home.write("secret-plan.txt", "none");
    provider.fault(busy_for_now("not now")).reply(two_reads()).reply(ReplyScript::text("Well."));
    assert_eq!(code(&run(home.path(), &["-z", "go"]).await), 0);
    let trace = json_of(home.path(), &["trace"]).await;
    assert_eq!((&trace["state"], &trace["turn"]), (&json!("closed"), &json!(1)), "{trace}");
    assert_eq!(
        logged(&home, &["--level", "INFO"]).await.pop().unwrap()["fields"]["turn_id"],
        trace["turn_id"]
    );
    let kinds: Vec<_> =
        trace["rows"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["failed", "wait", "model", "tool", "tool", "model"], "{trace:#}");
    let calls = trace["model_calls"].as_array().unwrap();
    let times: Vec<f64> = calls
        .iter()
        .flat_map(|call| [&call["started_at"], &call["ended_at"]])
        .map(|time| time.as_f64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(times[2] - times[1] > 0.9, "the wait is between them: {times:?}");
    for tool in trace["tool_calls"].as_array().unwrap() {
        let (from, to) = (tool["started_at"].as_f64().unwrap(), tool["ended_at"].as_f64().unwrap());
        assert!(times[3] <= from && from <= to && to <= times[4], "{tool} within {times:?}");
    }
    let page = stdout(&run(home.path(), &["trace", "latest", "--turn", "1"]).await);
    assert!(page.is_ascii() && page.lines().all(|line| line.len() <= 80), "{page}");
    let out = run(home.path(), &["trace", "--turn", "7"]).await;
    assert_eq!(code(&out), 2);
    insta::assert_snapshot!("unknown_turn", masked(&stderr(&out)));
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_of_a_killed_turn_shows_its_running_call() {
    let (home, provider) = world().await;
    let begun = home.path().join("begun");
    provider.reply(ReplyScript::call(
        "terminal",
        json!({ "command": "echo $PPID > parent; touch begun; sleep 600" }),
    ));
    let mut child = hermes(home.path(), home.path(), &["--yolo", "-z", "go"]);
    let mut child = child.stdin(Stdio::null()).spawn().unwrap();
    eventually("the tool", || begun.exists()).await;
    let running = json_of(home.path(), &["trace"]).await;
    assert_eq!((&running["state"], &running["rows"][1]["note"]), (&json!("running"), &json!("running")));
    child.kill().unwrap();
    child.wait().unwrap();
    // With the supervisor gone too, nobody can tell how the command went.
    kill_supervisor(&home.path().join("parent"));
    for (note, resumes) in [("killed, not yet recovered", false), ("killed, outcome unknown", true)] {
        if resumes {
            provider.reply(ReplyScript::text("I see."));
            assert_eq!(code(&run(home.path(), &["--continue", "-z", "and?"]).await), 0);
        }
        let trace = json_of(home.path(), &["trace", "latest", "--turn", "1"]).await;
        let row = &trace["rows"][1];
        assert_eq!(
            (&trace["state"], &row["to_s"], &row["note"]),
            (&json!("killed"), &Value::Null, &json!(note))
        );
        let page = stdout(&run(home.path(), &["trace", "--turn", "1"]).await);
        assert!(page.contains("???") && page.contains("the process was killed; last event at"), "{page}");
    }
    assert!(messages(&logged(&home, &[]).await).contains(&"the last turn was cut off; closing it"));
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_without_a_session_is_a_usage_error() {
    let home = TempHome::new();
    let mut log = CommandLog::default();
    let out = run(home.path(), &["trace"]).await;
    assert_eq!(code(&out), 2);
    log.add(&["trace"], &out);
    let out = run(home.path(), &["logs"]).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (0, ""));
    log.add(&["logs"], &out);
    insta::assert_snapshot!("empty_home", log);
}

/// With it, `otlp.rs` tells what is sent.
#[cfg(not(feature = "otlp"))]
#[tokio::test(flavor = "multi_thread")]
async fn build_without_otlp_reports_it_and_runs() {
    let (home, provider) = world().await;
    let settings = home.read("config.yaml");
    home.write_config(&format!("{settings}telemetry: {{otlp: {{endpoint: 'http://127.0.0.1:1'}}}}\n"));
    provider.reply(ReplyScript::text("Done."));
    let out = run(home.path(), &["-z", "go"]).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (0, "Done.\n"), "{}", stderr(&out));
    let want = "telemetry.otlp: not built in; build with --features otlp";
    assert_eq!(stderr(&out), format!("hermes: no traces are sent: {want}\n"));
    let out = run(home.path(), &["doctor"]).await;
    assert!(code(&out) == 1 && stdout(&out).contains(want), "{}", stdout(&out));
}

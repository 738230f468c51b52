//! `hermes sessions` and `hermes insights` as people and programs use it, on homes made by real conversations.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A home with two sessions, one of which used a tool.
async fn filled() -> TempHome {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let base_url = provider.base_url();
    home.write_config(&format!("model:\n  provider: custom\n  base_url: {base_url}\n  default: m\n"));
    provider.reply(ReplyScript::call("terminal", json!({ "command": "echo walrus" })));
    provider.reply(ReplyScript::text("It said walrus."));
    provider.reply(ReplyScript::text("A second answer, no walrus."));
    assert_eq!(code(&run(home.path(), &["--yolo", "-z", "Say it"]).await), 0);
    assert_eq!(code(&run(home.path(), &["--source", "cron", "-z", "Again"]).await), 0);
    home
}

async fn run(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
    command.args(args).current_dir(home).env_clear().stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", home).env("HERMES_HOME", home);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

/// `hermes sessions ARGS --json`, which must go well.
async fn json_of(home: &Path, args: &[&str]) -> Value {
    let out = run(home, &[&["sessions"], args, &["--json"]].concat()).await;
    assert_eq!(code(&out), 0, "{args:?}: {}", stderr(&out));
    serde_json::from_slice(&out.stdout).unwrap()
}

async fn sessions(home: &Path, args: &[&str]) -> Output {
    run(home, &[&["sessions"], args].concat()).await
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_is_counted_checked_and_kept_in_order() {
    let home = filled().await;
    let home = home.path();
    let stats = json_of(home, &["stats"]).await;
    let total = &stats["total"];
    assert_eq!((&total["sessions"], &total["messages"]), (&json!(2), &json!(6)));
    assert_eq!((&total["tool_calls"], &total["api_calls"]), (&json!(1), &json!(3)));
    assert_eq!(
        (&stats["by_model"][0]["model"], stats["by_source"].as_array().unwrap().len()),
        (&json!("m"), 2)
    );
    assert_eq!(stats["by_day"][0]["sessions"], 2);
    let text = stdout(&sessions(home, &["stats"]).await);
    assert!(text.contains("In all") && text.contains("cron") && text.contains("Database "), "{text}");

    assert_eq!(json_of(home, &["reindex"]).await, json!({ "messages": 6 }));
    let sizes = json_of(home, &["optimize"]).await;
    assert!(sizes["bytes_after"].as_u64() <= sizes["bytes_before"].as_u64(), "{sizes}");
    let sound = json_of(home, &["verify"]).await;
    assert_eq!((&sound["ok"], &sound["messages"], &sound["findings"]), (&json!(true), &json!(6), &json!([])));
    let text = stdout(&sessions(home, &["verify"]).await);
    assert_eq!(text, "2 sessions, 6 messages, 0 waiting to be indexed: everything is whole\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_ends_with_one() {
    let home = filled().await;
    std::fs::write(home.path().join("state.db"), "text ".repeat(1_000)).unwrap();
    let _ = std::fs::remove_file(home.path().join("state.db-wal"));
    let out = sessions(home.path(), &["verify"]).await;
    assert_eq!(code(&out), 1, "{}", stderr(&out));
    assert!(stdout(&out).starts_with("integrity  -  "), "{}", stdout(&out));
    assert!(stdout(&out).ends_with(": 1 wrong\n"), "{}", stdout(&out));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_can_be_used_as_a_home() {
    let home = filled().await;
    let (home, other) = (home.path(), TempHome::new());
    let copy = other.path().join("state.db");
    let copy = copy.to_str().unwrap();
    let made = json_of(home, &["backup", copy]).await;
    assert_eq!(made["bytes"], std::fs::metadata(copy).unwrap().len());
    let refused = sessions(home, &["backup", copy]).await;
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("exists already; --force replaces it"), "{}", stderr(&refused));
    assert_eq!(code(&sessions(home, &["backup", copy, "--force"]).await), 0);
    let export = ["export", "-"];
    assert_eq!(stdout(&sessions(other.path(), &export).await), stdout(&sessions(home, &export).await));
    let itself = home.join("state.db");
    assert_eq!(code(&sessions(home, &["backup", itself.to_str().unwrap(), "--force"]).await), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_imported_into_an_empty_home() {
    let home = filled().await;
    let (home, other) = (home.path(), TempHome::new());
    let file = home.join("all.jsonl");
    let file = file.to_str().unwrap();
    assert_eq!(code(&sessions(home, &["export", file]).await), 0);
    let out = sessions(other.path(), &["import", file]).await;
    let want = "Imported 2 sessions with 6 messages; 0 already there\n";
    assert_eq!((stdout(&out).as_str(), code(&out)), (want, 0), "{}", stderr(&out));
    let exported = stdout(&sessions(other.path(), &["export", "-"]).await);
    assert_eq!(exported, std::fs::read_to_string(file).unwrap());
    std::fs::write(file, format!("{exported}{{\"id\": 5}}\n")).unwrap();
    let out = sessions(other.path(), &["import", file, "--json"]).await;
    assert_eq!(code(&out), 1);
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["skipped"].as_array().unwrap().len(), 2);
    assert_eq!(report["problems"], json!([{ "line": 3, "text": "`id` is missing or not a text" }]));
    let missing = sessions(other.path(), &["import", "no-such-file"]).await;
    assert_eq!(code(&missing), 2);
    assert!(stderr(&missing).contains("no-such-file could not be read"), "{}", stderr(&missing));
}

#[tokio::test(flavor = "multi_thread")]
async fn pruning_shows_asks_and_deletes() {
    let home = filled().await;
    let home = home.path();
    let none = json_of(home, &["prune"]).await;
    assert_eq!(none, json!({ "prunable": [], "deleted": [] }));
    let cron = ["prune", "--older-than", "0", "--source", "cron"];
    let shown = json_of(home, &[&cron[..], &["--dry-run"]].concat()).await;
    assert_eq!((&shown["prunable"][0]["preview"], &shown["deleted"]), (&json!("Again"), &json!([])));
    let asked = sessions(home, &cron).await;
    assert_eq!(code(&asked), 2, "without a terminal it needs --yes");
    assert!(stdout(&asked).contains("Again"), "{}", stdout(&asked));
    let done = sessions(home, &[&cron[..], &["--yes"]].concat()).await;
    assert!(stdout(&done).ends_with("Deleted 1 session\n"), "{}", stdout(&done));
    assert_eq!(json_of(home, &["stats"]).await["total"]["sessions"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_are_sorted_and_filtered() {
    let home = filled().await;
    let home = home.path();
    let roles = async |args: &[&str]| -> Vec<String> {
        let found = json_of(home, &[&["search", "walrus"], args].concat()).await;
        let hits = found["hits"].as_array().unwrap().clone();
        hits.iter().map(|hit| hit["role"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(roles(&["--sort", "oldest"]).await, ["assistant", "tool", "assistant", "assistant"]);
    assert_eq!(roles(&["--role", "tool"]).await, ["tool"]);
    assert_eq!(roles(&["--source", "cron"]).await, ["assistant"]);
    let found = json_of(home, &["search", "second", "--sort", "newest"]).await;
    let context = json!([{ "role": "user", "content": "Again" },
        { "role": "assistant", "content": "A second answer, no walrus." }]);
    assert_eq!(found["hits"][0]["context"], context);
    assert_eq!(code(&sessions(home, &["search", "walrus", "--sort", "best"]).await), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_days_are_looked_at() {
    let home = filled().await;
    let home = home.path();
    let out = run(home, &["insights", "--days", "7", "--json"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    let overview = &found["overview"];
    assert_eq!((&found["days"], &overview["sessions"]), (&json!(7), &json!(2)));
    let said = json!({ "total": 6, "user": 2, "assistant": 3, "tool": 1, "other": 0 });
    assert_eq!((&overview["messages"], &overview["api_calls"]), (&said, &json!(3)));
    assert_eq!(found["tools"], json!([{ "tool": "terminal", "count": 1 }]));
    assert_eq!(found["turn_exit_reasons"][0]["count"], 2);
    assert_eq!((&found["models"][0]["model"], &found["models"][0]["sessions"]), (&json!("m"), &json!(2)));
    let by_day = found["activity"]["by_day"].as_object().unwrap();
    assert_eq!((by_day.len(), by_day.values().filter_map(Value::as_u64).sum::<u64>()), (7, 6));

    let page = stdout(&run(home, &["insights"]).await);
    for want in
        ["Hermes insights", "(30 days)", "Overview", "Models", "Sources", "cron", "terminal", "Activity"]
    {
        assert!(page.contains(want), "{want} is missing in\n{page}");
    }
    assert!(!page.contains('\x1b') && page.lines().all(|line| line.chars().count() <= 80), "{page}");
    let cron = stdout(&run(home, &["insights", "--source", "cron"]).await);
    assert!(cron.contains("source cron") && !cron.contains("terminal"), "{cron}");
    let none = stdout(&run(home, &["insights", "--source", "nobody"]).await);
    assert!(none.starts_with("Nothing was said under the source nobody"), "{none}");
    assert_eq!(code(&run(home, &["insights", "--days", "0"]).await), 2);
    let help = stdout(&run(home, &["insights", "--help"]).await);
    assert!(help.contains("Cache hits are") && help.contains("A message counts for"), "{help}");

    let empty = TempHome::new();
    let out = run(empty.path(), &["insights"]).await;
    assert!(code(&out) == 0 && stdout(&out).starts_with("Nothing was said in the last 30 days."));
    assert!(!empty.path().join("state.db").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_explains_itself_and_an_empty_home_stays_empty() {
    let home = TempHome::new();
    for command in ["stats", "reindex", "verify", "optimize", "prune"] {
        let help = sessions(home.path(), &[command, "--help"]).await;
        assert!(code(&help) == 0 && stdout(&help).contains("Usage: hermes sessions"), "{command}");
        let out = sessions(home.path(), &[command]).await;
        assert_eq!(code(&out), 2, "{command}");
        assert!(stderr(&out).contains("no sessions yet"), "{command}: {}", stderr(&out));
        assert!(!home.path().join("state.db").exists(), "{command}");
    }
}

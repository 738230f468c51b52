//! `hermes sessions` and `hermes insights` as people and programs use it, on homes made by real conversations.

use crate::command_log::CommandLog;
use crate::process::{self, code, custom_model, json_lines, run, stderr, stdout};
use hermes_conversation::SessionId;
use hermes_store::{NewSession, SessionDb};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;
use std::sync::Arc;

/// A home with two sessions, one of which used a tool.
async fn filled() -> TempHome {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&custom_model(&provider.base_url()));
    provider.reply(ReplyScript::call("terminal", json!({ "command": "echo walrus" })));
    provider.reply(ReplyScript::text("It said walrus."));
    provider.reply(ReplyScript::text("A second answer, no walrus."));
    assert_eq!(code(&run(home.path(), &["--yolo", "-z", "Say it"]).await), 0);
    assert_eq!(code(&run(home.path(), &["--source", "cron", "-z", "Again"]).await), 0);
    home
}

/// `hermes sessions ARGS --json`, which must go well.
async fn json_of(home: &Path, args: &[&str]) -> Value {
    process::json_of(home, &[&["sessions"], args].concat()).await
}

async fn sessions(home: &Path, args: &[&str]) -> Output {
    run(home, &[&["sessions"], args].concat()).await
}

/// Runs `hermes sessions ARGS` and adds it to the log.
async fn logged(log: &mut CommandLog, home: &Path, args: &[&str]) -> Output {
    let all = [&["sessions"], args].concat();
    let out = run(home, &all).await;
    log.add(&all, &out);
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn stats_verify_and_reindex_of_a_store() {
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
    let mut log = CommandLog::default();
    logged(&mut log, home, &["stats"]).await;

    assert_eq!(json_of(home, &["reindex"]).await, json!({ "messages": 6 }));
    let sizes = json_of(home, &["optimize"]).await;
    assert!(sizes["bytes_after"].as_u64() <= sizes["bytes_before"].as_u64(), "{sizes}");
    let sound = json_of(home, &["verify"]).await;
    assert_eq!((&sound["ok"], &sound["messages"], &sound["findings"]), (&json!(true), &json!(6), &json!([])));
    logged(&mut log, home, &["verify"]).await;
    insta::assert_snapshot!("stats_and_verify", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_exits_with_1_on_damage() {
    let home = filled().await;
    std::fs::write(home.path().join("state.db"), "text ".repeat(1_000)).unwrap();
    let _ = std::fs::remove_file(home.path().join("state.db-wal"));
    let mut log = CommandLog::default();
    let out = logged(&mut log, home.path(), &["verify"]).await;
    assert_eq!(code(&out), 1, "{}", stderr(&out));
    insta::assert_snapshot!("verify_damaged", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_works_as_a_database() {
    let home = filled().await;
    let (home, other) = (home.path(), TempHome::new());
    let copy = other.path().join("state.db");
    let copy = copy.to_str().unwrap();
    let made = json_of(home, &["backup", copy]).await;
    assert_eq!(made["bytes"], std::fs::metadata(copy).unwrap().len());
    let mut log = CommandLog::default();
    assert_eq!(code(&logged(&mut log, home, &["backup", copy]).await), 2);
    assert_eq!(code(&logged(&mut log, home, &["backup", copy, "--force"]).await), 0);
    let export = ["export", "-"];
    assert_eq!(stdout(&sessions(other.path(), &export).await), stdout(&sessions(home, &export).await));
    let itself = home.join("state.db");
    assert_eq!(code(&logged(&mut log, home, &["backup", itself.to_str().unwrap(), "--force"]).await), 2);
    insta::assert_snapshot!("backup", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn export_is_imported_into_an_empty_home() {
    let home = filled().await;
    let (home, other) = (home.path(), TempHome::new());
    let file = home.join("all.jsonl");
    let file = file.to_str().unwrap();
    assert_eq!(code(&sessions(home, &["export", file]).await), 0);
    let mut log = CommandLog::default();
    assert_eq!(code(&logged(&mut log, other.path(), &["import", file]).await), 0);
    let exported = stdout(&sessions(other.path(), &["export", "-"]).await);
    assert_eq!(exported, std::fs::read_to_string(file).unwrap());
    std::fs::write(file, format!("{exported}{{\"id\": 5}}\n")).unwrap();
    let out = sessions(other.path(), &["import", file, "--json"]).await;
    assert_eq!(code(&out), 1);
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["skipped"].as_array().unwrap().len(), 2);
    assert_eq!(report["problems"], json!([{ "line": 3, "text": "`id` is missing or not a text" }]));
    assert_eq!(code(&logged(&mut log, other.path(), &["import", "no-such-file"]).await), 2);
    insta::assert_snapshot!("import", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn prune_lists_confirms_and_deletes() {
    let home = filled().await;
    let home = home.path();
    let none = json_of(home, &["prune"]).await;
    assert_eq!(none, json!({ "prunable": [], "deleted": [] }));
    let cron = ["prune", "--older-than", "0", "--source", "cron"];
    let shown = json_of(home, &[&cron[..], &["--dry-run"]].concat()).await;
    assert_eq!((&shown["prunable"][0]["preview"], &shown["deleted"]), (&json!("Again"), &json!([])));
    let mut log = CommandLog::default();
    let asked = logged(&mut log, home, &cron).await;
    assert_eq!(code(&asked), 2, "without a terminal it needs --yes");
    logged(&mut log, home, &[&cron[..], &["--yes"]].concat()).await;
    insta::assert_snapshot!("prune", log);
    assert_eq!(json_of(home, &["stats"]).await["total"]["sessions"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn prune_keeps_sessions_that_have_not_ended() {
    let home = filled().await;
    let db = SessionDb::open(&home.path().join("state.db"), Arc::new(|| 1_000.0)).unwrap();
    let left = NewSession {
        id: SessionId::new("left-open"),
        source: "cli".into(),
        model: "m".into(),
        provider: "p".into(),
        base_url: String::new(),
        system_prompt: String::new(),
        cwd: None,
        parent: None,
        delegating_call: None,
        model_config: serde_json::Map::new(),
    };
    db.ensure(left).await.unwrap();
    let prune = ["prune", "--older-than", "1000", "--dry-run"];
    let count = |found: Value| found["prunable"].as_array().unwrap().len();
    assert_eq!(count(json_of(home.path(), &prune).await), 0);
    assert_eq!(count(json_of(home.path(), &[&prune[..], &["--all"]].concat()).await), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_keep_the_settings_they_started_with() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&format!("{}agent:\n  max_turns: 12\n", custom_model(&provider.base_url())));
    provider.reply(ReplyScript::text("Hello."));
    assert_eq!(code(&run(home.path(), &["-z", "hi"]).await), 0);
    let stored = process::exported(home.path()).await[0]["model_config"].as_str().unwrap().to_owned();
    let want = json!({ "max_iterations": 12, "reasoning_config": null, "max_tokens": null });
    assert_eq!(serde_json::from_str::<Value>(&stored).unwrap(), want);
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
async fn insights_of_the_last_days() {
    let home = filled().await;
    let home = home.path();
    let found = process::json_of(home, &["insights", "--days", "7"]).await;
    let overview = &found["overview"];
    assert_eq!((&found["days"], &overview["sessions"]), (&json!(7), &json!(2)));
    let said = json!({ "total": 6, "user": 2, "assistant": 3, "tool": 1, "other": 0 });
    assert_eq!((&overview["messages"], &overview["api_calls"]), (&said, &json!(3)));
    assert_eq!(found["tools"], json!([{ "tool": "terminal", "count": 1 }]));
    assert_eq!(found["turn_exit_reasons"][0]["count"], 2);
    assert_eq!((&found["models"][0]["model"], &found["models"][0]["sessions"]), (&json!("m"), &json!(2)));
    let by_day = found["activity"]["by_day"].as_object().unwrap();
    assert_eq!((by_day.len(), by_day.values().filter_map(Value::as_u64).sum::<u64>()), (7, 6));

    let mut log = CommandLog::default();
    let mut insights = async |home: &Path, args: &[&str]| {
        let args = [&["insights"], args].concat();
        let out = run(home, &args).await;
        log.add(&args, &out);
        out
    };
    let page = stdout(&run(home, &["insights"]).await);
    assert!(page.contains("cron") && page.contains("terminal"), "{page}");
    assert!(!page.contains('\x1b') && page.lines().all(|line| line.chars().count() <= 80), "{page}");
    insights(home, &["--source", "none"]).await;
    assert_eq!(code(&insights(home, &["--days", "0"]).await), 2);

    let empty = TempHome::new();
    assert_eq!(code(&insights(empty.path(), &[]).await), 0);
    insta::assert_snapshot!("insights", log);
    assert!(!empty.path().join("state.db").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_home_stays_empty() {
    let home = TempHome::new();
    let mut log = CommandLog::default();
    for command in ["stats", "reindex", "verify", "optimize", "prune"] {
        assert_eq!(code(&logged(&mut log, home.path(), &[command]).await), 2, "{command}");
        assert!(!home.path().join("state.db").exists(), "{command}");
    }
    insta::assert_snapshot!("empty_home", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_session_has_ended_until_it_is_resumed() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&custom_model(&provider.base_url()));
    let home = home.path();
    for (args, messages) in [(&["-z", "One"][..], 2), (&["--continue", "-z", "Two"], 4)] {
        provider.reply(ReplyScript::text("Fine."));
        assert_eq!(code(&run(home, args).await), 0, "{args:?}");
        let shown = json_of(home, &["show", "latest"]).await;
        assert_eq!((&shown["end_reason"], shown["ended_at"].is_number()), (&json!("cli_close"), true));
        assert_eq!(shown["message_count"], messages);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn export_writes_lines_or_an_array() {
    let home = filled().await;
    let home = home.path();
    let out = sessions(home, &["export", "-"]).await;
    let (lines, parsed) = (stdout(&out), json_lines(&out));
    let array = stdout(&sessions(home, &["export", "-", "--format", "json"]).await);
    assert_eq!((parsed.len(), serde_json::from_str::<Value>(&array).unwrap()), (2, json!(parsed)));
    let file = home.join("all.json");
    let mut log = CommandLog::default();
    logged(&mut log, home, &["export", file.to_str().unwrap(), "--format", "json"]).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), array);
    let other = TempHome::new();
    let empty = sessions(other.path(), &["export", "-", "--format", "json"]).await;
    assert_eq!(stdout(&empty), "[]\n");
    assert_eq!(code(&sessions(other.path(), &["import", file.to_str().unwrap()]).await), 0);
    assert_eq!(stdout(&sessions(other.path(), &["export", "-"]).await), lines);
    assert_eq!(code(&logged(&mut log, home, &["export", "no/such/file"]).await), 77);
    assert_eq!(code(&logged(&mut log, home, &["export", "-", "--lineage"]).await), 2);
    insta::assert_snapshot!("export", log);
    let id = parsed[1]["id"].as_str().unwrap();
    let one = sessions(home, &["export", "-", "--session-id", id, "--lineage"]).await;
    assert_eq!(stdout(&one), format!("{}\n", lines.lines().nth(1).unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_filtered_and_sessions_archived() {
    let home = filled().await;
    let home = home.path();
    let previews = async |args: &[&str]| -> Vec<String> {
        let found = json_of(home, &[&["list"], args].concat()).await;
        let lines = found.as_array().unwrap().clone();
        lines.iter().map(|line| line["preview"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(previews(&[]).await, ["Again", "Say it"]);
    assert_eq!(previews(&["--limit", "1", "--offset", "1"]).await, ["Say it"]);
    assert_eq!(previews(&["--exclude-source", "cron"]).await, ["Say it"]);
    assert_eq!(
        previews(&["--exclude-source", "cron", "--exclude-source", "cli"]).await,
        Vec::<String>::new()
    );
    let mut log = CommandLog::default();
    logged(&mut log, home, &["archive", "latest"]).await;
    assert_eq!(
        (previews(&[]).await, previews(&["--archived"]).await),
        (vec!["Say it".into()], vec!["Again".into()])
    );
    let id = json_of(home, &["list", "--archived"]).await[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(code(&logged(&mut log, home, &["archive", &id, "--undo"]).await), 0);
    assert_eq!(previews(&["--children"]).await, ["Again", "Say it"]);
    logged(&mut log, home, &["list", "--archived"]).await;
    assert_eq!(code(&logged(&mut log, home, &["archive", "unknown"]).await), 2);
    insta::assert_snapshot!("archive", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn old_sessions_are_pruned_at_start_only_if_enabled() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let model = custom_model(&provider.base_url());
    home.write_config(&model);
    let old = json!({ "id": "old", "source": "cli", "started_at": 5, "ended_at": 6, "messages": [] });
    let file = home.path().join("old.jsonl");
    std::fs::write(&file, format!("{old}\n")).unwrap();
    let path = home.path();
    assert_eq!(code(&sessions(path, &["import", file.to_str().unwrap()]).await), 0);
    let asked = async |args: &[&str]| {
        provider.reply(ReplyScript::text("Fine."));
        let out = run(path, args).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
        stderr(&out)
    };
    assert_eq!(asked(&["-z", "One"]).await, "");
    home.write_config(&format!("{model}sessions:\n  auto_prune: true\n"));
    asked(&["--resume", "old", "-z", "Still there?"]).await;
    assert_eq!(json_of(path, &["stats"]).await["total"]["sessions"], 2);
    std::fs::write(&file, format!("{}\n", old.to_string().replace("\"old\"", "\"older\""))).unwrap();
    assert_eq!(code(&sessions(path, &["import", file.to_str().unwrap()]).await), 0);
    insta::assert_snapshot!(asked(&["-z", "Two"]).await, @"hermes: deleted 1 old session (sessions.auto_prune)");
    assert_eq!(asked(&["-z", "Three"]).await, "");
    let left = json_of(path, &["list"]).await;
    let mut left: Vec<_> = left.as_array().unwrap().iter().map(|line| &line["preview"]).collect();
    left.sort_by_key(|preview| preview.to_string());
    assert_eq!(left, ["One", "Still there?", "Three", "Two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn trusted_import_resumes_with_the_same_bytes() {
    let (home, other, provider) = (TempHome::new(), TempHome::new(), FakeProvider::start().await);
    let config = custom_model(&provider.base_url());
    for home in [&home, &other] {
        home.write_config(&config);
    }
    provider.reply(ReplyScript::call("terminal", json!({ "command": "echo \"é 1.10\"" })));
    for text in ["Ready.", "More.", "More."] {
        provider.reply(ReplyScript::text(text));
    }
    assert_eq!(code(&run(home.path(), &["--yolo", "-z", "Say it \u{1f600}"]).await), 0);
    let file = home.path().join("all.jsonl");
    let file = file.to_str().unwrap();
    assert_eq!(code(&sessions(home.path(), &["export", file]).await), 0);
    assert_eq!(code(&sessions(other.path(), &["import", file]).await), 0);
    assert_eq!(code(&sessions(other.path(), &["trust", "latest", "--yes"]).await), 0);
    for home in [&home, &other] {
        let args = ["--no-restore-cwd", "--resume", "latest", "-z", "And on"];
        assert_eq!(code(&run(home.path(), &args).await), 0);
    }
    let requests = provider.requests();
    assert_eq!(requests.len(), 4);
    assert_eq!(requests[2].body, requests[3].body);
}

#[tokio::test(flavor = "multi_thread")]
async fn compacted_conversation_is_listed_once_and_resumed_at_its_end() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&custom_model(&provider.base_url()));
    let said = |text: &str| json!([{ "role": "user", "content": text, "timestamp": 2 }, { "role": "assistant", "content": "yes", "timestamp": 3 }]);
    let first = json!({ "id": "first", "source": "cli", "started_at": 1, "ended_at": 2, "title": "Sea",
        "end_reason": "compression", "messages": said("long ago") });
    let second = json!({ "id": "second", "source": "cli", "started_at": 2, "parent_session_id": "first",
        "messages": said("so far") });
    let file = home.path().join("two.json");
    std::fs::write(&file, json!([second, first]).to_string()).unwrap();
    let home = home.path();
    assert_eq!(code(&sessions(home, &["import", file.to_str().unwrap()]).await), 0);
    let listed = json_of(home, &["list"]).await;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!((&listed[0]["id"], &listed[0]["lineage_root"]), (&json!("second"), &json!("first")));
    provider.reply(ReplyScript::text("On it."));
    assert_eq!(code(&run(home, &["--resume", "Sea", "-z", "Go on"]).await), 0);
    let request = &provider.requests()[0];
    let asked: Vec<_> = request.messages().iter().map(|message| message["content"].clone()).collect();
    assert_eq!(asked[1..], ["so far", "yes", "Go on"]);
    assert_eq!(json_of(home, &["show", "first"]).await["end_reason"], "compression");
}

#[tokio::test(flavor = "multi_thread")]
async fn show_prints_tool_calls() {
    let home = filled().await;
    let mut log = CommandLog::default();
    logged(&mut log, home.path(), &["search", "walrus"]).await;
    let hits = json_of(home.path(), &["search", "walrus", "--role", "assistant"]).await;
    let tools: Vec<_> = hits["hits"].as_array().unwrap().iter().map(|hit| hit["tool_name"].clone()).collect();
    assert!(tools.contains(&json!("terminal")), "{hits}");
    let id = hits["hits"][0]["session_id"].as_str().unwrap().to_owned();
    let all = json_of(home.path(), &["list"]).await;
    let first = all.as_array().unwrap().iter().find(|row| row["tool_call_count"] == 1).unwrap_or(&all[0]);
    logged(&mut log, home.path(), &["show", first["id"].as_str().unwrap_or(&id)]).await;
    insta::assert_snapshot!("tool_calls", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn show_prints_images_by_size_and_kind() {
    let home = filled().await;
    let png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA";
    let session = json!({ "id": "with-image", "source": "cli", "model": "m", "started_at": 1000.0, "messages": [
        { "role": "user", "timestamp": 1000.0, "content": [
            { "type": "text", "text": "a photo of a lighthouse" },
            { "type": "image_url", "image_url": { "url": png } } ] },
        { "role": "assistant", "content": "Nice.", "timestamp": 1001.0 } ] });
    let file = home.path().join("image.jsonl");
    std::fs::write(&file, format!("{session}\n")).unwrap();
    let imported = sessions(home.path(), &["import", file.to_str().unwrap()]).await;
    assert_eq!(code(&imported), 0, "{}{}", stdout(&imported), stderr(&imported));
    let mut log = CommandLog::default();
    logged(&mut log, home.path(), &["show", "with-image"]).await;
    logged(&mut log, home.path(), &["search", "lighthouse"]).await;
    insta::assert_snapshot!("images", log);
}

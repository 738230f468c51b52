//! Settings that do less than they say: named at the start of a run and by `doctor`, and where they promise
//! safety, not ignored.

use crate::command_log::{CommandLog, masked};
use crate::process::{code, custom_model, run, stderr, stdout};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Map, Value, json};

const PYTHON_DEFAULTS: &str = include_str!("../../../config/src/python_defaults.json");

async fn home_with(more: &str) -> (TempHome, FakeProvider) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&format!("{}{more}", custom_model(&provider.base_url())));
    (home, provider)
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_refused_by_unsupported_safety_settings() {
    let mut log = CommandLog::default();
    for (setting, key) in [("terminal:\n  backend: vercel_sandbox\n", "terminal.backend")] {
        let (home, provider) = home_with(setting).await;
        let mark = home.path().join("ran-on-the-host");
        provider
            .reply(ReplyScript::call("terminal", json!({ "command": format!("touch {}", mark.display()) })));
        provider.reply(ReplyScript::text("It was refused."));
        let out = run(home.path(), &["--yolo", "-z", "do it"]).await;
        assert_eq!(stdout(&out), "It was refused.\n", "{}", stderr(&out));
        assert!(!mark.exists(), "{key}");
        log.add(&["--yolo", "-z", "do it"], &out);
        let told = provider.requests()[1].json["messages"].to_string();
        assert!(told.contains("terminal was not run: ") && told.contains(key), "{told}");
        let doctor = run(home.path(), &["doctor"]).await;
        assert_eq!(code(&doctor), 1);
        let page = stdout(&doctor);
        let lines: Vec<&str> = page.lines().filter(|line| line.contains(" settings ")).collect();
        log.text("$ hermes doctor (the line about settings)", &lines.join("\n"));
    }
    insta::assert_snapshot!("commands_refused", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn unsupported_privacy_setting_stops_the_run() {
    let (home, provider) = home_with("privacy:\n  redact_pii: true\n").await;
    let out = run(home.path(), &["--yolo", "-z", "hi"]).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (78, ""), "{}", stderr(&out));
    insta::assert_snapshot!("privacy", masked(&stderr(&out)));
    assert_eq!(provider.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn unused_settings_are_one_line() {
    let more = "memory:\n  provider: honcho\nmcp_servers:\n  a: {command: x, args: [y]}\nagent:\n  max_turn: 3\n\
                security:\n  tirith_fail_open: false\n";
    let (home, provider) = home_with(more).await;
    provider.reply(ReplyScript::text("Hello."));
    let out = run(home.path(), &["-z", "hi"]).await;
    insta::assert_snapshot!("unused_settings", stderr(&out));
    let doctor = run(home.path(), &["doctor"]).await;
    let warnings: Vec<_> =
        stdout(&doctor).lines().filter(|line| line.starts_with('⚠')).map(str::to_owned).collect();
    assert_eq!((warnings.len(), code(&doctor)), (4, 0), "{}", stdout(&doctor));
}

/// All defaults of Python 0.19, with the model of the test.
fn written_out(base_url: &str) -> String {
    let defaults: Map<String, Value> = serde_json::from_str(PYTHON_DEFAULTS).unwrap();
    let mut tree = Map::new();
    for (key, value) in defaults {
        let mut parts: Vec<&str> = key.split('.').collect();
        let leaf = parts.pop().unwrap();
        let place = parts.into_iter().fold(&mut tree, |place, part| {
            place.entry(part).or_insert_with(|| json!({})).as_object_mut().unwrap()
        });
        place.insert(leaf.to_owned(), value);
    }
    tree["model"] = json!({ "provider": "custom", "base_url": base_url, "default": "m" });
    tree["auxiliary"]["title_generation"]["enabled"] = json!(false);
    Value::Object(tree).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn home_with_python_defaults_has_no_warnings() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&written_out(&provider.base_url()));
    let doctor = run(home.path(), &["doctor"]).await;
    let text = stdout(&doctor);
    assert_eq!(code(&doctor), 0, "{text}");
    assert!(text.lines().count() < 12 && !text.contains('⚠'), "{text}");
    provider.reply(ReplyScript::text("Hello."));
    let out = run(home.path(), &["-z", "hi"]).await;
    assert_eq!((stdout(&out).as_str(), stderr(&out).as_str()), ("Hello.\n", ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn unused_and_wrong_settings_are_named_with_file_line_and_expectation() {
    let more = "agent:\n  max_turn: 3\n  max_turns: many\nmemory:\n  provider: honcho\n  nudge_interval: 10\n\
                terminal:\n  timeout: [1]\nkanban:\n  enabled: true\n";
    let (home, _provider) = home_with(more).await;
    let mut log = CommandLog::default();
    for args in [&["config", "show"][..], &["config", "get", "agent.max_turns"]] {
        log.add(args, &run(home.path(), args).await);
    }
    let doctor = run(home.path(), &["doctor"]).await;
    let page = stdout(&doctor);
    let lines: Vec<&str> = page.lines().filter(|line| line.contains(" settings ")).collect();
    log.text("$ hermes doctor (the lines about settings)", &lines.join("\n"));
    insta::assert_snapshot!("unused_and_wrong_settings", log);
}

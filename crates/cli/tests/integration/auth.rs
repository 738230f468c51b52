//! Stored credentials through the binary: `hermes auth`, and turns that use them.

use crate::command_log::{CommandLog, masked};
use crate::process::{hermes, stderr, stdout};
use crate::pty::Terminal;
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

const KEYS: [&str; 3] =
    ["sk-first-0123456789abcdef", "sk-second-0123456789abcdef", "sk-third-0123456789abcdef"];

fn command(home: &TempHome, args: &[&str]) -> Command {
    let mut command = hermes(home.path(), home.path(), args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs, and checks that no key is printed whatever happens.
fn run(home: &TempHome, args: &[&str], input: Option<&str>) -> Output {
    let mut command = command(home, args);
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().unwrap();
    if let Some(text) = input {
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    }
    let out = child.wait_with_output().unwrap();
    let all = stdout(&out) + &stderr(&out);
    for key in KEYS {
        assert!(!all.contains(key), "{args:?} shows {key}: {all}");
    }
    out
}

/// Runs `hermes ARGS` and adds it to the log.
fn logged(log: &mut CommandLog, home: &TempHome, args: &[&str], input: Option<&str>) -> Output {
    let out = run(home, args, input);
    log.add(args, &out);
    out
}

fn listed(home: &TempHome, args: &[&str]) -> Value {
    serde_json::from_str(&stdout(&run(home, args, None))).unwrap()
}

fn pool(home: &TempHome, provider: &str) -> Vec<Value> {
    let root: Value = serde_json::from_str(&home.read("auth.json")).unwrap();
    root["credential_pool"][provider].as_array().cloned().unwrap_or_default()
}

#[test]
fn keys_are_added_listed_reset_and_removed() {
    let home = TempHome::new();
    let mut log = CommandLog::default();
    logged(&mut log, &home, &["auth", "list"], None);
    assert!(!home.path().join("auth.json").exists() && !home.path().join("auth.lock").exists());

    let typed = format!("{}\n", KEYS[0]);
    logged(&mut log, &home, &["auth", "add", "or", "--label", "work"], Some(&typed));
    logged(&mut log, &home, &["auth", "add", "openrouter", "--api-key", KEYS[1]], None);
    let entries = pool(&home, "openrouter");
    assert_eq!(
        (&entries[0]["access_token"], &entries[1]["access_token"]),
        (&json!(KEYS[0]), &json!(KEYS[1]))
    );

    let list = listed(&home, &["auth", "list", "openrouter", "--json"]);
    let first = &list[0]["credentials"][0];
    assert_eq!(
        (&first["label"], &first["key"], &first["next"]),
        (&json!("work"), &json!("sk-…cdef"), &json!(true))
    );
    logged(&mut log, &home, &["auth", "list"], None);

    // What rests is told, with the reason, and reset.
    let marked =
        home.read("auth.json").replacen("\"last_status\": null", "\"last_status\": \"exhausted\"", 1);
    let marked = marked.replacen("\"last_error_reset_at\": null", "\"last_error_reset_at\": 4000000000", 1);
    let said = format!("\"last_error_message\": \"limit for {}\"", KEYS[0]);
    home.write("auth.json", &marked.replacen("\"last_error_message\": null", &said, 1));
    logged(&mut log, &home, &["auth", "status", "openrouter"], None);
    logged(&mut log, &home, &["auth", "reset", "openrouter"], None);
    logged(&mut log, &home, &["auth", "status"], None);
    for target in ["work", "1"] {
        logged(&mut log, &home, &["auth", "remove", "openrouter", target], None);
    }
    assert_eq!(pool(&home, "openrouter"), [] as [Value; 0]);
    insta::assert_snapshot!("keys", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn typed_key_is_hidden_and_cancelling_stores_nothing() {
    let home = TempHome::new();
    let mut screen = Terminal::start(home.path(), home.path(), &["auth", "add", "openrouter"]);
    screen.expect("Key for openrouter: ").await;
    screen.type_keys("\x03");
    assert_eq!(screen.ended().await, 130);
    assert!(!home.path().join("auth.json").exists());

    let mut screen = Terminal::start(home.path(), home.path(), &["auth", "add", "openrouter"]);
    screen.expect("Key for openrouter: ").await;
    screen.type_keys(&format!("x\x7f{}\r", KEYS[0]));
    screen.expect("Stored `api-key-1` for openrouter").await;
    assert_eq!(screen.ended().await, 0);
    assert!(!screen.seen.lock().unwrap().contains("0123456789"), "{}", screen.seen.lock().unwrap());
    assert_eq!(pool(&home, "openrouter")[0]["access_token"], KEYS[0]);
}

#[test]
fn invalid_arguments_name_the_next_step() {
    let home = TempHome::new();
    let mut log = CommandLog::default();
    for (args, input) in [
        (&["auth", "add", "acme"][..], Some("k")),
        (&["auth", "add", "custom"], Some("k")),
        (&["auth", "add", "openrouter"], Some("\n")),
        (&["auth", "add", "openrouter"], Some("two words")),
        (&["auth", "remove", "openrouter", "x"], None),
    ] {
        let out = logged(&mut log, &home, args, input);
        assert_eq!(out.status.code(), Some(2), "{args:?} {}", stderr(&out));
    }
    assert!(!home.path().join("auth.json").exists());
    let broken = home.write("auth.json", "{\"credential_pool\": ");
    for args in [&["auth", "list"][..], &["auth", "add", "openrouter", "--api-key", KEYS[0]]] {
        assert_eq!(logged(&mut log, &home, args, None).status.code(), Some(78), "{args:?}");
        assert_eq!(std::fs::read_to_string(&broken).unwrap(), "{\"credential_pool\": ");
    }
    insta::assert_snapshot!("refusals", log);
}

/// A home whose model is at a named endpoint, with these keys stored for it.
async fn world(keys: &[&str]) -> (TempHome, FakeProvider) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let url = provider.base_url();
    home.write_config(&format!(
        "model: {{provider: box, default: m}}\ncustom_providers: [{{name: box, base_url: '{url}'}}]\n"
    ));
    for key in keys {
        assert!(run(&home, &["auth", "add", "box"], Some(key)).status.success());
    }
    (home, provider)
}

/// The keys that a provider was sent.
fn sent(provider: &FakeProvider) -> Vec<String> {
    let requests = provider.requests();
    let all = requests.iter().map(|request| request.header("authorization").unwrap_or_default());
    all.map(|text| text.trim_start_matches("Bearer ").to_owned()).collect()
}

async fn ask(home: &TempHome, args: &[&str]) -> Output {
    let child = command(home, args).spawn().unwrap();
    let out = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    let all = format!("{}{}", stdout(&out), stderr(&out));
    assert!(KEYS.iter().all(|key| !all.contains(key)), "{args:?}: {all}");
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_continues_with_the_next_key_and_cooldown_is_stored() {
    let (home, provider) = world(&KEYS).await;
    let limit = json!({"error": {"message": format!("slow down {}", KEYS[0])}}).to_string();
    let limited =
        Fault::Status { code: 429, headers: vec![("retry-after".into(), "600".into())], body: limit };
    provider.fault(limited.clone());
    provider.fault(limited);
    provider.fault(Fault::status(402, "no credit left"));
    provider.reply(ReplyScript::text("Here."));
    let out = ask(&home, &["--json", "-z", "Anyone?"]).await;
    assert!(out.status.success(), "{} {}", stdout(&out), stderr(&out));
    assert_eq!(sent(&provider), [KEYS[0], KEYS[0], KEYS[1], KEYS[2]]);
    assert!(stdout(&out).contains("trying again with a stored key of custom:box"), "{}", stdout(&out));
    let states: Vec<_> = pool(&home, "custom:box").iter().map(|entry| entry["last_status"].clone()).collect();
    assert_eq!(states, [json!("exhausted"), json!("exhausted"), json!(null)]);
    assert!(!pool(&home, "custom:box")[0]["last_error_message"].to_string().contains(KEYS[0]));

    provider.reply(ReplyScript::text("Again."));
    assert!(ask(&home, &["-z", "And now?"]).await.status.success());
    assert_eq!(sent(&provider)[4..], [KEYS[2]]);
    let status = stdout(&run(&home, &["auth", "status", "box"], None));
    assert!(status.contains("`api-key-3`") && status.contains("`api-key-1` in cooldown until"), "{status}");
    provider.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn all_keys_are_tried_before_a_fallback_model() {
    let (home, provider) = world(&KEYS[..2]).await;
    let other = FakeProvider::start().await;
    let config = home.read("config.yaml");
    let fallback = format!(
        "{config}fallback_providers: [{{provider: custom, model: two, base_url: '{}', api_key: {}}}]\n",
        other.base_url(),
        KEYS[2]
    );
    home.write_config(&fallback);
    provider.fault(Fault::status(402, "no credit left"));
    provider.fault(Fault::status(402, "no credit left"));
    other.reply(ReplyScript::text("Here."));
    let out = ask(&home, &["-z", "Anyone?"]).await;
    assert_eq!(stdout(&out), "Here.\n", "{}", stderr(&out));
    assert_eq!((sent(&provider), sent(&other)), (vec![KEYS[0].into(), KEYS[1].into()], vec![KEYS[2].into()]));
    provider.finish();
    other.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn fallback_model_has_its_own_credential_pool() {
    let (home, provider) = world(&KEYS[..1]).await;
    let other = FakeProvider::start().await;
    let (here, there) = (provider.base_url(), other.base_url());
    home.write_config(&format!(
        "model: {{provider: box, default: m}}\n\
         custom_providers: [{{name: box, base_url: '{here}'}}, {{name: spare, base_url: '{there}'}}]\n\
         fallback_providers: [{{provider: spare, model: two}}]\n"
    ));
    for key in &KEYS[1..] {
        assert!(run(&home, &["auth", "add", "spare"], Some(key)).status.success());
    }
    provider.fault(Fault::status(402, "no credit left"));
    other.fault(Fault::status(402, "no credit left"));
    other.reply(ReplyScript::text("Here."));
    let out = ask(&home, &["-z", "Anyone?"]).await;
    assert_eq!(stdout(&out), "Here.\n", "{}", stderr(&out));
    assert_eq!((sent(&provider), sent(&other)), (vec![KEYS[0].into()], vec![KEYS[1].into(), KEYS[2].into()]));
    // The only key of the first is not put aside on a guess.
    assert_eq!(pool(&home, "custom:box")[0]["last_status"], Value::Null);
    assert_eq!(pool(&home, "custom:spare")[0]["last_status"], "exhausted");
    provider.finish();
    other.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_auth_file_is_reported_and_other_keys_work() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let url = provider.base_url();
    home.write_config(&format!(
        "model: {{provider: custom, base_url: '{url}', api_key: {}, default: m}}\n",
        KEYS[0]
    ));
    home.write("auth.json", "{ broken");
    provider.reply(ReplyScript::text("Here."));
    let out = ask(&home, &["--json", "-z", "Anyone?"]).await;
    assert!(out.status.success(), "{}", stderr(&out));
    assert!(stdout(&out).contains("auth.json is not valid JSON"), "{}", stdout(&out));
    assert_eq!(home.read("auth.json"), "{ broken");
    // Where it would have had the only key, the reason is in the error.
    home.write_config("model: {provider: openrouter, default: m}\n");
    let out = ask(&home, &["-z", "Anyone?"]).await;
    insta::assert_snapshot!("broken_file", masked(&stderr(&out)));
    provider.finish();
}

#[test]
fn killed_writer_leaves_a_readable_file() {
    let home = TempHome::new();
    assert!(run(&home, &["auth", "add", "openrouter"], Some(KEYS[0])).status.success());
    let begin = || {
        (
            Instant::now(),
            command(&home, &["auth", "add", "openrouter", "--api-key", KEYS[1]]).spawn().unwrap(),
        )
    };
    let (started, mut child) = begin();
    assert!(child.wait().unwrap().success());
    let whole = started.elapsed();
    // One after the other, each killed a little later than the one before.
    const ROUNDS: u32 = 80;
    let mut killed = 0;
    for round in 0..ROUNDS {
        let (started, mut child) = begin();
        while started.elapsed() < whole * round / ROUNDS {
            std::thread::yield_now();
        }
        let _ = child.kill();
        killed += u32::from(!child.wait().unwrap().success());
        let entries = pool(&home, "openrouter");
        assert_eq!(entries[0]["access_token"], KEYS[0], "round {round}");
    }
    assert!(killed > 0, "all were too quick");
    // A dead process does not block others.
    assert!(run(&home, &["auth", "add", "openrouter"], Some(KEYS[2])).status.success());
    let left = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut left: Vec<_> = left.map(|name| name.into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, ["auth.json", "auth.lock"]);
}

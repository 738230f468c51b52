//! `hermes model`, as people and programs use it.

use crate::command_log::CommandLog;
use crate::process;
use crate::pty::Terminal;
use hermes_scripted::Listener;
use hermes_scripted::http::{Connection, whole};
use hermes_testkit::TempHome;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

async fn run(home: &Path, args: &[&str], env: &[(&str, &str)]) -> Output {
    // Not in the home: some of these have none yet.
    let mut command = process::hermes(home, Path::new("."), args);
    command.envs(env.iter().copied());
    process::finished(command).await
}

/// Runs `hermes ARGS` and adds it to the log.
async fn logged(log: &mut CommandLog, home: &Path, args: &[&str], env: &[(&str, &str)]) -> Output {
    let out = run(home, args, env).await;
    log.add(args, &out);
    out
}

fn said(out: &Output) -> (i32, String, String) {
    (process::code(out), process::stdout(out), process::stderr(out))
}

fn parsed(out: &Output) -> Value {
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {:?}", said(out)))
}

/// A server with two models and an Ollama's manners.
async fn server() -> Listener {
    let serve = |mut connection: Connection| async move {
        while let Ok(Some(request)) = connection.next_request().await {
            let (status, body) = match request.path.as_str() {
                "/v1/models" => {
                    (200, json!({"data": [{"id": "zeta"}, {"id": "alpha", "context_length": 4096}]}))
                }
                "/api/version" => (200, json!({"version": "1"})),
                "/api/ps" => (
                    200,
                    json!({"models": [{"name": "alpha:latest", "context_length": 8192}, {"name": "tiny:latest", "context_length": 2048}]}),
                ),
                "/v1/chat/completions" => (400, json!({"error": {"message": "not today"}})),
                _ => (404, json!({})),
            };
            if connection.send(&whole(status, &[], body.to_string().as_bytes())).await.is_err() {
                return;
            }
        }
    };
    Listener::start(serve).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn list_creates_no_home_and_names_missing_keys() {
    let outside = tempfile::tempdir().unwrap();
    let home = outside.path().join("home");
    let env = [("DEEPSEEK_API_KEY", "sk-deep-secret-123456")];
    let mut log = CommandLog::default();
    for args in [&["model", "list"][..], &["model", "list", "--all"]] {
        assert_eq!(process::code(&logged(&mut log, &home, args, &env).await), 0);
    }
    let rows = parsed(&run(&home, &["model", "list", "--all", "--json"], &env).await);
    let row = |id: &str| rows.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap().clone();
    assert_eq!(row("deepseek")["key"], json!({"found": true, "source": "DEEPSEEK_API_KEY"}));
    assert_eq!((&row("zai")["status"], &row("zai")["reason"]), (&json!("needs"), &json!("set GLM_API_KEY")));
    assert_eq!(row("bedrock")["status"], "not_yet");
    for args in [["model", "show"], ["model", "resolve"]] {
        logged(&mut log, &home, &args, &env).await;
    }
    assert!(!home.exists(), "looking made a home");
    insta::assert_snapshot!("list", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn resolve_prints_the_choice_and_its_reasons() {
    let home = TempHome::new();
    let env = [("OPENROUTER_API_KEY", "sk-or-secret-123456"), ("DEEPSEEK_API_KEY", "sk-deep-secret-123456")];
    let found = parsed(&run(home.path(), &["model", "resolve", "-m", "a/b", "--json"], &env).await);
    assert_eq!(
        (&found["provider"], &found["model"], &found["api_mode"], &found["reasons"]["provider"]),
        (
            &json!("openrouter"),
            &json!("a/b"),
            &json!("chat_completions"),
            &json!("OPENROUTER_API_KEY is set")
        )
    );
    let mut log = CommandLog::default();
    for (args, code) in [
        (vec!["model", "resolve", "--provider", "deepseek", "-m", "x"], 0),
        (vec!["model", "resolve", "--provider", "acme", "-m", "x"], 2),
        (vec!["model", "resolve", "--provider", "copilot-acp", "-m", "x"], 78),
        (vec!["model", "resolve", "--provider", "anthropic", "-m", "x"], 78),
        (vec!["model", "resolve"], 78),
        (vec!["model", "list", "bedrock"], 78),
        (vec!["model", "list", "acme"], 2),
        (vec!["model"], 2),
    ] {
        let out = logged(&mut log, home.path(), &args, &env).await;
        assert_eq!(process::code(&out), code, "{args:?}: {:?}", said(&out));
    }
    let log = log.to_string();
    assert!(!log.contains("secret"), "{log}");
    insta::assert_snapshot!("resolve", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn vendor_logins_are_used_or_named() {
    let home = TempHome::new();
    let resolve = |provider: &'static str| ["model", "resolve", "--provider", provider, "-m", "x"];
    let mut log = CommandLog::default();
    let mut exits = Vec::new();
    let mut logged = async |args: &[&str], env: &[(&str, &str)]| {
        exits.push(process::code(&logged(&mut log, home.path(), args, env).await));
    };
    logged(&resolve("codex"), &[]).await;
    // It can be chosen all the same, as one without its key can.
    logged(&["model", "set", "--provider", "codex", "gpt-5"], &[]).await;
    let codex = r#"{"tokens": {"access_token": "opaque-secret-1", "account_id": "acc"}}"#;
    home.write(".codex/auth.json", codex);
    logged(&resolve("codex"), &[]).await;
    let own = home.write("own/auth.json", "{");
    let env = [("CODEX_HOME", own.parent().unwrap().to_str().unwrap())];
    logged(&resolve("codex"), &env).await;

    let expired = r#"{"claudeAiOauth": {"accessToken": "sk-ant-oat01-secret", "expiresAt": 1000}}"#;
    home.write(".claude/.credentials.json", expired);
    logged(&resolve("claude"), &[]).await;
    let copied = [("ANTHROPIC_TOKEN", "sk-ant-oat01-copied-secret")];
    logged(&resolve("claude"), &copied).await;
    home.write(".claude/.credentials.json", &expired.replace("1000", "0"));
    let found = run(home.path(), &["model", "resolve", "--provider", "claude", "-m", "x", "--json"], &copied);
    assert_eq!(parsed(&found.await)["key"], json!({"found": true, "source": "login of Claude Code"}));
    logged(&["model", "list"], &[]).await;
    assert_eq!(exits, [78, 0, 0, 78, 78, 0, 0]);
    let log = log.to_string();
    assert!(!log.contains("secret"), "{log}");
    insta::assert_snapshot!("logins", log);
    // Reading is all that was done to them.
    assert_eq!(home.read(".codex/auth.json"), codex);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_saves_a_choice_and_removes_keys_of_another_provider() {
    let home = TempHome::new();
    let before = "# mine\nmodel:\n  provider: custom\n  base_url: http://127.0.0.1:1/v1\n  api_key: old-secret-key\n  default: m\n  context_length: 5000\n";
    home.write_config(before);
    let mut log = CommandLog::default();
    for args in [
        vec!["model", "set", "--provider", "deepseek", "chat"],
        vec!["model", "set", "bedrock/x"],
        vec!["model", "set", "--provider", "bedrock", "x"],
        vec!["model", "set", "--provider", "acme", "x"],
    ] {
        let out = logged(&mut log, home.path(), &args, &[]).await;
        assert_eq!(process::code(&out), 2, "{args:?}: {:?}", said(&out));
        assert_eq!(home.read("config.yaml"), before, "{args:?}");
    }
    // Another model at the same place keeps the place.
    logged(&mut log, home.path(), &["model", "set", "other"], &[]).await;
    let other = "# mine\nmodel:\n  provider: custom\n  base_url: http://127.0.0.1:1/v1\n  api_key: old-secret-key\n  default: other\n";
    assert_eq!(home.read("config.yaml"), other);
    let args = ["model", "set", "--provider", "deepseek", "chat", "--yes"];
    let out = logged(&mut log, home.path(), &args, &[]).await;
    assert_eq!(process::code(&out), 0, "{:?}", said(&out));
    assert_eq!(home.read("config.yaml"), "# mine\nmodel:\n  provider: deepseek\n  default: chat\n");
    let log = log.to_string();
    assert!(!log.contains("old-secret"), "{log}");
    insta::assert_snapshot!("set", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_knows_the_current_provider_without_its_key() {
    let home = TempHome::new();
    home.write_config("model: {provider: openrouter, default: a/b}\n");
    let mut log = CommandLog::default();
    let out = logged(&mut log, home.path(), &["model", "set", "openai/gpt"], &[]).await;
    assert_eq!(process::code(&out), 2);
    let out = logged(&mut log, home.path(), &["model", "set", "deepseek"], &[]).await;
    assert_eq!(process::code(&out), 0);
    insta::assert_snapshot!("set_without_key", log);
    let entry = "custom_providers: [{name: box, base_url: 'http://127.0.0.1:9/v1'}]\n";
    home.write_config(&format!("{entry}model: {{provider: box, default: a, max_tokens: 5}}\n"));
    let (code, _, error) = said(&run(home.path(), &["model", "set", "box/other"], &[]).await);
    assert_eq!((code, error.as_str()), (0, ""));
    let config = home.read("config.yaml");
    assert!(config.contains("default: other") && config.contains("max_tokens: 5"), "{config}");
}

#[tokio::test(flavor = "multi_thread")]
async fn local_server_reports_models_and_window() {
    let (home, server) = (TempHome::new(), server().await);
    home.write_config(&format!(
        "model: {{provider: box, default: alpha}}\ncustom_providers: [{{name: box, base_url: '{}'}}]\n",
        server.base_url()
    ));
    let (_, models, error) = said(&run(home.path(), &["model", "list", "box"], &[]).await);
    assert_eq!(models, "alpha  4096 tokens\nzeta\n", "{error}");
    let shown = parsed(&run(home.path(), &["model", "show", "--json"], &[]).await);
    assert_eq!(shown["endpoint"]["provider"], "custom:box");
    assert_eq!(
        (&shown["server"]["name"], &shown["server"]["context_length"]),
        (&json!("Ollama"), &json!(8192))
    );
    let doctor = process::stdout(&run(home.path(), &["doctor"], &[]).await);
    let server: Vec<&str> = doctor.lines().filter(|line| line.contains("server")).collect();
    insta::assert_snapshot!(server.join("\n"), @"✓ server    Ollama, window 8192 tokens (loaded with it)");
    assert!(!doctor.contains("custom_providers"), "a setting in use is not named as unused: {doctor}");
}

#[tokio::test(flavor = "multi_thread")]
async fn window_too_small_for_tools_is_reported_before_a_request() {
    let server = server().await;
    let mut log = CommandLog::default();
    let named = format!("custom_providers: [{{name: ollama, base_url: '{}'}}]\n", server.base_url());
    for (model, toolsets, exit_reason) in [
        // As the server says: 2,048.
        ("default: tiny", "", "ollama_runtime_context_too_small"),
        // A small window is enough.
        ("default: alpha", "", "all_retries_exhausted_no_response"),
        // As the settings say, before any server.
        ("default: tiny, ollama_num_ctx: 65536", "", "all_retries_exhausted_no_response"),
        ("default: zeta, ollama_num_ctx: 4095", "", "ollama_runtime_context_too_small"),
        ("default: zeta, context_length: 4095", "", "local_processing_error(context_window_too_small)"),
        // Nobody knows.
        ("default: zeta", "", "all_retries_exhausted_no_response"),
        // Nothing that needs room is sent.
        ("default: tiny", "agent: {disabled_toolsets: [all]}\n", "all_retries_exhausted_no_response"),
    ] {
        let home = TempHome::new();
        home.write_config(&format!("model: {{provider: ollama, {model}}}\n{named}{toolsets}"));
        let out = run(home.path(), &["-z", "hi", "--json"], &[]).await;
        let last = process::stdout(&out).lines().last().map(str::to_owned).unwrap_or_default();
        let last: Value = serde_json::from_str(&last).unwrap_or_else(|_| panic!("{:?}", said(&out)));
        assert_eq!(last["turn_exit_reason"], exit_reason, "{model}: {last}");
        if exit_reason.ends_with("too_small") {
            assert_eq!((&last["api_calls"], &last["failed"]), (&json!(0), &json!(true)), "{model}");
            let out = run(home.path(), &["-z", "hi"], &[]).await;
            assert_ne!(process::code(&out), 0, "{:?}", said(&out));
            log.text(model, &process::stderr(&out));
        }
    }
    insta::assert_snapshot!("small_window", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn provider_and_model_are_picked_by_number() {
    let (home, server) = (TempHome::new(), server().await);
    home.write_config(&format!("custom_providers: [{{name: box, base_url: '{}'}}]\n", server.base_url()));
    let mut screen = Terminal::start(home.path(), home.path(), &["model"]);
    screen.expect("1  custom:box").await;
    screen.expect("Provider (number or name): ").await;
    screen.type_keys("999\r");
    screen.expect("Unknown provider").await;
    screen.expect("Provider (number or name): ").await;
    screen.type_keys("1\r");
    screen.expect("1  alpha").await;
    screen.expect("2  zeta").await;
    screen.expect("Model (number or name): ").await;
    screen.type_keys("2\r");
    screen.expect("Set model.default = zeta").await;
    assert_eq!(screen.ended().await, 0);
    let config = home.read("config.yaml");
    assert!(config.contains("provider: custom:box") && config.contains("default: zeta"), "{config}");

    // Leaving without an answer changes nothing.
    let mut screen = Terminal::start(home.path(), home.path(), &["model"]);
    screen.expect("Provider (number or name): ").await;
    screen.type_keys("\r");
    screen.expect("No change.").await;
    assert_eq!(screen.ended().await, 1);
    assert_eq!(home.read("config.yaml"), config);
}

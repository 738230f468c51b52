//! `hermes model`, as people and programs use it.

use crate::process;
use crate::pty::Terminal;
use hermes_scripted::Listening;
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

fn said(out: &Output) -> (i32, String, String) {
    (process::code(out), process::stdout(out), process::stderr(out))
}

fn parsed(out: &Output) -> Value {
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {:?}", said(out)))
}

/// A server with two models and an Ollama's manners.
async fn server() -> Listening {
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
    Listening::start(serve).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_creates_nothing_and_lists_say_what_is_missing() {
    let outside = tempfile::tempdir().unwrap();
    let home = outside.path().join("home");
    let env = [("DEEPSEEK_API_KEY", "sk-deep-secret-123456")];
    let (code, text, _) = said(&run(&home, &["model", "list"], &env).await);
    assert_eq!(code, 0);
    assert!(text.starts_with("✓ deepseek"), "{text}");
    assert!(text.contains("set OPENROUTER_API_KEY") && text.contains("cannot be used yet"), "{text}");
    assert!(!text.contains("bedrock"), "{text}");
    let (_, all, _) = said(&run(&home, &["model", "list", "--all"], &env).await);
    assert!(all.contains("✗ bedrock") && all.contains("not yet: AWS credentials"), "{all}");
    let rows = parsed(&run(&home, &["model", "list", "--all", "--json"], &env).await);
    let row = |id: &str| rows.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap().clone();
    assert_eq!(row("deepseek")["key"], json!({"found": true, "source": "DEEPSEEK_API_KEY"}));
    assert_eq!((&row("zai")["status"], &row("zai")["reason"]), (&json!("needs"), &json!("set GLM_API_KEY")));
    assert_eq!(row("bedrock")["status"], "not_yet");
    for args in [["model", "show"], ["model", "resolve"]] {
        run(&home, &args, &env).await;
    }
    assert!(!home.exists(), "looking made a home");
}

#[tokio::test(flavor = "multi_thread")]
async fn resolve_says_what_and_why_or_what_to_do() {
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
    let (_, text, _) =
        said(&run(home.path(), &["model", "resolve", "--provider", "deepseek", "-m", "x"], &env).await);
    assert!(text.contains("provider  deepseek  (--provider)"), "{text}");
    assert!(!text.contains("secret"), "{text}");
    for (args, code, words) in [
        (vec!["model", "resolve", "--provider", "nobody", "-m", "x"], 2, "unknown provider `nobody`"),
        (vec!["model", "resolve", "--provider", "copilot-acp", "-m", "x"], 78, "cannot be used yet"),
        (vec!["model", "resolve", "--provider", "anthropic", "-m", "x"], 78, "ANTHROPIC_API_KEY"),
        (vec!["model", "resolve"], 78, "no model is chosen"),
        (vec!["model", "list", "bedrock"], 78, "cannot be used yet: AWS"),
        (vec!["model", "list", "nobody"], 2, "unknown provider"),
        (vec!["model"], 2, "needs a terminal"),
    ] {
        let (got, _, error) = said(&run(home.path(), &args, &env).await);
        assert!(got == code && error.contains(words), "{args:?}: {got} {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_of_vendors_programs_are_used_or_named() {
    let home = TempHome::new();
    let resolve = |provider: &'static str| ["model", "resolve", "--provider", provider, "-m", "x"];
    let (code, _, error) = said(&run(home.path(), &resolve("codex"), &[]).await);
    assert!(
        code == 78 && error.contains("run `codex login`; or use `openai` with OPENAI_API_KEY"),
        "{error}"
    );
    // It can be chosen all the same, as one without its key can.
    let (code, text, error) =
        said(&run(home.path(), &["model", "set", "--provider", "codex", "gpt-5"], &[]).await);
    assert!(code == 0 && error.contains("run `codex login`"), "{text} {error}");
    let codex = r#"{"tokens": {"access_token": "opaque-secret-1", "account_id": "acc"}}"#;
    home.write(".codex/auth.json", codex);
    let (code, text, error) = said(&run(home.path(), &resolve("codex"), &[]).await);
    assert!(code == 0 && text.contains("key  login of Codex  (login of Codex in "), "{text} {error}");
    let own = home.write("own/auth.json", "{");
    let env = [("CODEX_HOME", own.parent().unwrap().to_str().unwrap())];
    let (code, _, error) = said(&run(home.path(), &resolve("codex"), &env).await);
    assert!(code == 78 && error.contains("own/auth.json cannot be read: it is not JSON"), "{error}");

    let expired = r#"{"claudeAiOauth": {"accessToken": "sk-ant-oat01-secret", "expiresAt": 1000}}"#;
    home.write(".claude/.credentials.json", expired);
    let (code, _, error) = said(&run(home.path(), &resolve("claude"), &[]).await);
    assert!(code == 78 && error.contains("has expired: run `claude`, which renews it"), "{error}");
    let copied = [("ANTHROPIC_TOKEN", "sk-ant-oat01-copied-secret")];
    let (code, text, _) = said(&run(home.path(), &resolve("claude"), &copied).await);
    assert!(code == 0 && text.contains("key  ANTHROPIC_TOKEN") && text.contains("run `claude`"), "{text}");
    home.write(".claude/.credentials.json", &expired.replace("1000", "0"));
    let found = run(home.path(), &["model", "resolve", "--provider", "claude", "-m", "x", "--json"], &copied);
    assert_eq!(parsed(&found.await)["key"], json!({"found": true, "source": "login of Claude Code"}));
    let (_, text, _) = said(&run(home.path(), &["model", "list"], &[]).await);
    assert!(text.contains("login of Codex") && text.contains("login of Claude Code"), "{text}");
    assert!(!text.contains("secret"), "{text}");
    // Reading is all that was done to them.
    assert_eq!(home.read(".codex/auth.json"), codex);
}

#[tokio::test(flavor = "multi_thread")]
async fn set_saves_a_choice_whole_and_drops_what_belonged_to_another() {
    let home = TempHome::new();
    let before = "# mine\nmodel:\n  provider: custom\n  base_url: http://127.0.0.1:1/v1\n  api_key: old-secret-key\n  default: m\n  context_length: 5000\n";
    home.write_config(before);
    for (args, words) in [
        (vec!["model", "set", "--provider", "deepseek", "chat"], "add --yes"),
        (vec!["model", "set", "bedrock/x"], "may be a model of custom"),
        (vec!["model", "set", "--provider", "bedrock", "x"], "cannot be used yet"),
        (vec!["model", "set", "--provider", "nobody", "x"], "unknown provider"),
    ] {
        let (code, _, error) = said(&run(home.path(), &args, &[]).await);
        assert!(code == 2 && error.contains(words), "{args:?}: {code} {error}");
        assert_eq!(home.read("config.yaml"), before, "{args:?}");
    }
    // Another model at the same place keeps the place.
    said(&run(home.path(), &["model", "set", "other"], &[]).await);
    let other = "# mine\nmodel:\n  provider: custom\n  base_url: http://127.0.0.1:1/v1\n  api_key: old-secret-key\n  default: other\n";
    assert_eq!(home.read("config.yaml"), other);
    let out = run(home.path(), &["model", "set", "--provider", "deepseek", "chat", "--yes"], &[]).await;
    let (code, text, error) = said(&out);
    assert_eq!(code, 0, "{error}");
    assert_eq!(home.read("config.yaml"), "# mine\nmodel:\n  provider: deepseek\n  default: chat\n");
    assert!(text.contains("Removed model.api_key") && !text.contains("old-secret"), "{text}");
    assert!(error.contains("set DEEPSEEK_API_KEY"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn set_knows_the_provider_in_use_also_without_its_key() {
    let home = TempHome::new();
    home.write_config("model: {provider: openrouter, default: a/b}\n");
    let (code, _, error) = said(&run(home.path(), &["model", "set", "openai/gpt"], &[]).await);
    assert!(code == 2 && error.contains("--provider openrouter openai/gpt"), "{error}");
    let (code, _, error) = said(&run(home.path(), &["model", "set", "deepseek"], &[]).await);
    assert!(code == 0 && error.contains("model.default is still \"a/b\""), "{error}");
    let entry = "custom_providers: [{name: box, base_url: 'http://127.0.0.1:9/v1'}]\n";
    home.write_config(&format!("{entry}model: {{provider: box, default: a, max_tokens: 5}}\n"));
    let (code, _, error) = said(&run(home.path(), &["model", "set", "box/other"], &[]).await);
    assert_eq!((code, error.as_str()), (0, ""));
    let config = home.read("config.yaml");
    assert!(config.contains("default: other") && config.contains("max_tokens: 5"), "{config}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_this_machine_tells_its_models_and_window() {
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
    let (_, doctor, _) = said(&run(home.path(), &["doctor"], &[]).await);
    assert!(doctor.contains("✓ server    Ollama, window 8192 tokens (loaded with it)"), "{doctor}");
    assert!(!doctor.contains("is kept but not used"), "{doctor}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_too_small_for_tools_is_told_before_anything_is_asked() {
    let server = server().await;
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
            let (code, _, error) = said(&run(home.path(), &["-z", "hi"], &[]).await);
            assert!(code != 0 && error.contains("at least 4096"), "{code} {error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_and_a_model_are_picked_by_number() {
    let (home, server) = (TempHome::new(), server().await);
    home.write_config(&format!("custom_providers: [{{name: box, base_url: '{}'}}]\n", server.base_url()));
    let mut screen = Terminal::start(home.path(), home.path(), &["model"]);
    screen.expect("1  custom:box").await;
    screen.expect("Provider (number or name): ").await;
    screen.type_keys("999\r");
    screen.expect("no such provider").await;
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
    screen.expect("Nothing was changed.").await;
    assert_eq!(screen.ended().await, 1);
    assert_eq!(home.read("config.yaml"), config);
}

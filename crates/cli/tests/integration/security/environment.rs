//! Commands of the model find no secret in the environment of the agent and of its supervisor.

use super::scene::Scene;
use crate::process::{code, hermes, stderr};
use hermes_testkit::ReplyScript;
use serde_json::{Value, json};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

const NOBODY: u32 = 65534;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Everything below a folder belongs to `user` from now on.
fn give(folder: &Path, user: u32) {
    let done = Command::new("chown").args(["-R", &format!("{user}:{user}")]).arg(folder).status().unwrap();
    assert!(done.success());
}

/// Runs a turn in which the model looks into the processes of its user, and gives what it saw.
async fn looked(scene: &Scene, key: &str, user: Option<u32>) -> Value {
    // The process id is that of the program that was started: it keeps it.
    let look = "until [ -s pid ]; do :; done; agent=$(cat pid); grep -c . /proc/$agent/cmdline; \
        for p in $agent $PPID; do tr '\\0' '\\n' < /proc/$p/environ && echo READ $p; done 2>&1; \
        cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c \"$(rev < yek)\"; \
        for p in $agent $PPID; do head -c 1 /proc/$p/maps && echo MAPPED; done; env; echo END";
    scene.home.write("work/yek", &key.chars().rev().collect::<String>());
    scene.provider.reply(ReplyScript::call("terminal", json!({ "command": look })));
    scene.provider.reply(ReplyScript::text("Done."));
    let mut command = hermes(scene.home.path(), &scene.work(), &["--yolo", "-z", "look"]);
    command.env("SOME_API_KEY", key).env("PGPASSWORD", key).env("HARMLESS", "yes").env("LANG", "C.UTF-8");
    if let Some(user) = user {
        give(scene.home.path(), user);
        command.uid(user).gid(user);
    }
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::fs::write(scene.work().join("pid.new"), child.id().to_string()).unwrap();
    std::fs::rename(scene.work().join("pid.new"), scene.work().join("pid")).unwrap();
    let out = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    assert_eq!(stderr(&out), "", "nothing is said about it");
    let bodies = scene.provider.bodies();
    let messages = bodies.last().unwrap()["messages"].as_array().unwrap();
    serde_json::from_str(messages.last().unwrap()["content"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn environment_of_agent_and_supervisor_has_no_secrets() {
    let scene = Scene::new().await;
    let key = "unlikely-value-4711-of-this-test";
    let seen = looked(&scene, key, None).await;
    let output = seen["output"].as_str().unwrap();
    assert!(output.contains("\nEND") && !output.contains(key) && !output.contains("redacted"), "{output}");
    // No process has it: neither these two, nor one in between.
    assert!(output.lines().any(|line| line == "0"), "{output}");
    if is_root() {
        // Root reads everything, so it has to be gone.
        assert!(output.contains("HARMLESS=yes") && output.contains("READ "), "{output}");
    }
}

#[tokio::test]
async fn other_processes_of_the_user_cannot_read_memory() {
    if !is_root() {
        return println!("skipped: only root can change its user");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_hermes"));
    let reached =
        Command::new(program).arg("--version").uid(NOBODY).gid(NOBODY).stdout(Stdio::null()).status();
    if !reached.is_ok_and(|status| status.success()) {
        return println!("skipped: the other user cannot run {}", program.display());
    }
    let scene = Scene::new().await;
    let key = "unlikely-value-4712-of-this-test";
    let seen = looked(&scene, key, Some(NOBODY)).await;
    let output = seen["output"].as_str().unwrap();
    assert!(output.contains("\nEND") && !output.contains(key), "{output}");
    assert!(!output.contains("READ ") && !output.contains("MAPPED"), "{output}");
    assert!(output.contains("Permission denied"), "{output}");
}

#[tokio::test]
async fn secrets_of_the_environment_still_reach_their_settings() {
    let scene = Scene::new().await;
    let config = std::fs::read_to_string(scene.home.path().join("config.yaml")).unwrap();
    scene.home.write_config(&config.replace("  default: m\n", "  default: m\n  api_key: ${BOX_API_KEY}\n"));
    let mut command = hermes(scene.home.path(), &scene.work(), &["-z", "hi"]);
    // A name that means something to us and points nowhere does no harm.
    command.env("BOX_API_KEY", "box-key-value").env("HERMES_ENVIRONMENT_FD", "1");
    let out = crate::process::finished(command).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let sent = scene.provider.requests()[0].header("authorization").map(str::to_owned);
    assert_eq!(sent.as_deref(), Some("Bearer box-key-value"));
}

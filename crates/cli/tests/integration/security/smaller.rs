//! Mistakes and malice that used to pass silently.

use super::scene::Scene;
use crate::command_log::{CommandLog, masked};
use crate::process::{code, finished, hermes, stderr};
use hermes_testkit::ReplyScript;
use serde_json::json;
use std::process::Stdio;

#[tokio::test]
async fn invalid_settings_are_reported_with_key_and_line() {
    let scene = Scene::new().await;
    let plain = std::fs::read_to_string(scene.home.path().join("config.yaml")).unwrap();
    let mut log = CommandLog::default();
    for more in [
        "agent:\n\tmax_turns: 5\n",
        "agent:\n  max_turns: -5\n",
        "tool_output:\n  max_lines: -1\n",
        "network:\n  proxy: ${NOT_SET_HERE}\n",
    ] {
        scene.home.write_config(&format!("{plain}{more}"));
        let out = scene.run(&["-z", "hi"]).await;
        assert_eq!(code(&out), 78, "{more}: {}", stderr(&out));
        log.text(more, &stderr(&out));
    }
    scene.home.write_config(&format!("{plain}# {}\n", "x".repeat(70 << 20)));
    let out = scene.run(&["-z", "hi"]).await;
    assert_eq!(code(&out), 78, "{}", stderr(&out));
    log.text("a huge file", &stderr(&out));
    insta::assert_snapshot!("wrong_settings", log);
    assert_eq!(scene.provider.requests().len(), 0);
}

#[tokio::test]
async fn flags_that_do_not_apply_are_usage_errors() {
    let scene = Scene::new().await;
    let mut log = CommandLog::default();
    for args in [
        &["sessions", "list", "-z", "foo"][..],
        &["sessions", "list", "--yolo"],
        &["insights", "--resume", "latest"],
        &["config", "get", "model.default", "-z", "foo"],
        &["doctor", "--image", "x.png"],
        &["auth", "list", "--max-turns", "3"],
        &["logs", "--continue"],
        &["skills", "list", "--usage-file", "u.json"],
        &["config", "get", "agent.max_turns", "--max-turns", "7"],
        &["-z", "foo", "sessions", "list"],
        &["--yolo", "logs"],
    ] {
        let out = scene.run(args).await;
        assert_eq!(code(&out), 2, "{args:?}: {}", stderr(&out));
        log.add(args, &out);
    }
    insta::assert_snapshot!("flags_of_other_commands", log);
}

#[tokio::test]
async fn closed_standard_output_is_an_error() {
    let scene = Scene::new().await;
    let program = env!("CARGO_BIN_EXE_hermes");
    let mut shell = hermes(scene.home.path(), &scene.work(), &[]);
    shell = {
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", &format!("exec '{program}' -z hi >&-")])
            .current_dir(shell.get_current_dir().unwrap());
        command.env("HOME", scene.home.path()).env("HERMES_HOME", scene.home.path());
        command
    };
    let out = finished(shell).await;
    assert_eq!(code(&out), 70, "{}", stderr(&out));
    insta::assert_snapshot!("closed_output", stderr(&out));
    assert_eq!(scene.provider.requests().len(), 0, "nothing is asked for an answer that cannot be given");
    // A reader that left: the answer is lost, and the exit says so.
    let mut command = hermes(scene.home.path(), &scene.work(), &["-z", "hi"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let out = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!(code(&out), 70, "{}", stderr(&out));
    // Thrown away on purpose.
    let mut command = hermes(scene.home.path(), &scene.work(), &["-z", "hi"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = tokio::task::spawn_blocking(move || command.status().unwrap()).await.unwrap();
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn shell_variables_are_not_created_as_directories() {
    let scene = Scene::new().await;
    let mut log = CommandLog::default();
    for (home, want) in [("$PLACE/x", 77), ("~nosuchuser/x", 77)] {
        let mut command = hermes(scene.home.path(), &scene.work(), &["-z", "hi"]);
        command.env("HERMES_HOME", home);
        let out = finished(command).await;
        assert_eq!(code(&out), want, "{home}: {}", stderr(&out));
        log.text(home, &stderr(&out));
    }
    insta::assert_snapshot!("names_for_a_shell", log);
    let write = |path: &str| ReplyScript::call("write_file", json!({ "path": path, "content": "x" }));
    scene.provider.replies([write("$HOME/a.txt"), write("~nosuchuser/b.txt"), write("$PLACE/c.txt")]);
    scene.provider.reply(ReplyScript::text("Done."));
    let out = scene.run(&["--yolo", "-z", "write"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    assert_eq!(std::fs::read_dir(scene.work()).unwrap().count(), 0);
    // The home of Hermes is the user's here, so that it is expanded shows in the refusal.
    assert!(scene.sent().contains(&format!("{}/a.txt belongs to Hermes", scene.home.path().display())));
    assert!(scene.sent().contains("is not replaced here; write the path itself"));
}

#[tokio::test]
async fn too_many_calls_in_a_reply_are_reported() {
    let scene = Scene::new().await;
    let many = || (0..1_100).fold(ReplyScript::text(""), |reply, _| reply.and_call("todo", json!({})));
    scene.provider.answer_with(move |_| many());
    let out = scene.run(&["-z", "hi"]).await;
    assert_eq!(code(&out), 1, "{}", stderr(&out));
    insta::assert_snapshot!("too_many_calls", masked(&stderr(&out)));
}

#[tokio::test]
async fn temporary_files_of_killed_writers_are_removed() {
    let scene = Scene::new().await;
    let left = scene.home.path().join(".hermes-left.tmp");
    std::fs::write(&left, "OPENAI_API_KEY=x").unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    std::fs::File::options().write(true).open(&left).unwrap().set_modified(old).unwrap();
    let out = scene.run(&["config", "set", "agent.max_turns", "9"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    assert!(!left.exists());
}

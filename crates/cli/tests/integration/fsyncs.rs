//! The number of disk syncs of a terminal call, in Hermes and its child processes.

use crate::process::{code, custom_model, finished, hermes, stderr};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::json;
use std::process::Command;

/// The fsyncs of a turn with so many terminal calls, the supervisor's included.
async fn fsyncs(calls: usize) -> usize {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&custom_model(&provider.base_url()));
    for number in 0..calls {
        provider.reply(ReplyScript::call(
            "terminal",
            json!({ "command": format!("echo output {number}; : > f{number}") }),
        ));
    }
    provider.reply(ReplyScript::text("Done."));
    let trace = home.path().join("trace");
    let plain = hermes(home.path(), home.path(), &["--yolo", "-z", "go"]);
    let mut watched = Command::new("strace");
    watched.args(["-f", "-y", "-s", "16", "-e", "trace=fsync,fdatasync", "-o"]).arg(&trace);
    watched.arg(plain.get_program()).args(plain.get_args()).current_dir(home.path()).env_clear();
    watched.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let out = finished(watched).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let trace = std::fs::read_to_string(&trace).unwrap();
    trace.lines().filter(|line| line.contains("fsync(") || line.contains("fdatasync(")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn terminal_call_waits_for_the_disk_twice() {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: strace is not installed");
        return;
    }
    // Each waits for the end of its supervisor, so side by side. No log is long enough for a checkpoint.
    let (one, four) = tokio::join!(fsyncs(1), fsyncs(4));
    assert!(four - one <= 3 * 2, "{one} fsyncs with one call, {four} with four");
}

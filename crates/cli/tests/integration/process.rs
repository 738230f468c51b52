//! The binary as a process of its own, for tests that run it and look at what it says.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The settings for one model at this address, which is asked for nothing but what a test says.
pub(crate) fn custom_model(base_url: &str) -> String {
    format!(
        "model:\n  provider: custom\n  base_url: {base_url}\n  default: m\n\
         auxiliary:\n  title_generation:\n    enabled: false\n"
    )
}

/// The binary in a clean environment, without variables of the user who runs the tests.
pub(crate) fn hermes(home: &Path, cwd: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
    command.args(args).current_dir(cwd).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    // The tests work in the home directory, which the sandbox hides.
    command.env("HOME", home).env("HERMES_HOME", home).env("HERMES_SANDBOX", "full");
    command
}

/// Waits for the end without blocking the provider, which answers on this runtime.
pub(crate) async fn finished(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.stdin(Stdio::null()).output().unwrap()).await.unwrap()
}

/// Runs it in its own home.
pub(crate) async fn run(home: &Path, args: &[&str]) -> Output {
    finished(hermes(home, home, args)).await
}

/// The value that `hermes ARGS --json` prints; it must succeed.
pub(crate) async fn json_of(home: &Path, args: &[&str]) -> Value {
    let out = run(home, &[args, &["--json"]].concat()).await;
    assert_eq!(code(&out), 0, "{args:?}: {}", stderr(&out));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Every session of a home, as it is exported.
pub(crate) async fn exported(home: &Path) -> Vec<Value> {
    let out = run(home, &["sessions", "export", "-"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    json_lines(&out)
}

/// Standard output, where every line is JSON.
pub(crate) fn json_lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

/// Checks what `hermes replay` printed: it must have sent this many requests, all as recorded.
pub(crate) fn assert_identical(replayed: &Output, requests: usize) {
    let plural = if requests == 1 { "" } else { "s" };
    let want = format!("identical: {requests} request{plural}, ");
    let text = stdout(replayed);
    assert!(code(replayed) == 0 && text.starts_with(&want), "{requests}: {text}{}", stderr(replayed));
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns true if a process has exactly this command line.
pub(crate) fn is_running(command: &str) -> bool {
    let wanted: Vec<&str> = command.split(' ').collect();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.into_iter().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<_> = line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
        words.len() == wanted.len() && words.iter().zip(&wanted).all(|(a, b)| *a == b.as_bytes())
    })
}

/// A command that sleeps for hours and that no other test runs, also not in another run of the tests.
pub(crate) fn unique_sleep() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(10);
    format!("sleep {}{}.25", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Kills the supervisor, whose id a command wrote into `file` with `echo $PPID`.
pub(crate) fn kill_supervisor(file: &Path) {
    let id = std::fs::read_to_string(file).unwrap();
    assert!(Command::new("kill").args(["-KILL", id.trim()]).status().unwrap().success());
}

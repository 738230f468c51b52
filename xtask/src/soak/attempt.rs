//! One hermes process, undisturbed or killed.

use crate::home::Home;
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// The time after which a turn counts as stuck.
const PATIENCE: Duration = Duration::from_secs(90);

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Killed,
    /// Exited with this code.
    Exited(Option<i32>),
    /// Killed because it was stuck.
    Stuck,
}

/// The result of one process.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) ended: Ended,
    /// True if hermes acknowledged the user's message.
    pub(super) accepted: bool,
    /// The final text of a successful turn.
    pub(super) answer: Option<String>,
    /// Its standard error.
    pub(super) errors: String,
}

/// The request to hermes.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) prompt: &'a str,
    pub(super) is_resume: bool,
    pub(super) kill_after: Option<Duration>,
    /// Distinguishes the output files of one run.
    pub(super) number: u32,
}

/// Runs hermes and kills it at the planned time.
pub(super) async fn attempt(hermes: &Path, home: &Home, request: Request<'_>) -> Result<Attempt> {
    let mut arguments = vec!["--json", "--yolo", "-z", request.prompt];
    if request.is_resume {
        arguments.extend(["--resume", "latest"]);
    }
    let file = |kind: &str| -> PathBuf { home.work().join(format!("{kind}-{}", request.number)) };
    let mut command = Command::from(home.command(hermes, arguments));
    command.stdout(File::create(file("stdout"))?).stderr(File::create(file("stderr"))?).kill_on_drop(true);
    let mut process = command.spawn().context("hermes could not be started")?;
    let ended = match timeout(request.kill_after.unwrap_or(PATIENCE), process.wait()).await {
        Ok(status) => Ended::Exited(status?.code()),
        Err(_) => {
            // Kills only this process: the next one must find and end the processes of its tools.
            process.kill().await?;
            if request.kill_after.is_some() { Ended::Killed } else { Ended::Stuck }
        }
    };
    let output = fs::read_to_string(file("stdout")).unwrap_or_default();
    Ok(Attempt {
        ended,
        accepted: output.lines().any(|line| line.contains(r#""type":"accepted""#)),
        answer: answer(&output),
        errors: fs::read_to_string(file("stderr")).unwrap_or_default(),
    })
}

fn answer(output: &str) -> Option<String> {
    let last: serde_json::Value = serde_json::from_str(output.lines().last()?).ok()?;
    last["final_response"].as_str().map(str::to_owned)
}

//! A child process of a long run, and its messages.

use anyhow::{Context, Result};
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A running child. Dropping it ends the process.
pub(super) struct Worker {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

/// A message of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkerMessage {
    Ready,
    /// All rows up to this number are acknowledged; the last `count` took this long together.
    Acked {
        number: u32,
        count: u32,
        micros: u64,
    },
    Found {
        complete: bool,
        micros: u64,
    },
    Commits {
        all: u64,
        full: u64,
    },
}

/// The end of a child.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) said: Vec<WorkerMessage>,
    /// Its standard error, if it failed.
    pub(super) failure: Option<String>,
}

impl Worker {
    pub(super) fn start(role: &str, database: &Path, numbers: &[u32]) -> Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(role)
            .arg(database)
            .args(numbers.iter().map(u32::to_string))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("a child could not be started")?;
        let input = process.stdin.take().context("a child has no input")?;
        let output = process.stdout.take().context("a child has no output")?;
        Ok(Self { process, input, output: BufReader::new(output).lines() })
    }

    /// The next message; `None` if it has ended or sends something else.
    pub(super) async fn next_message(&mut self) -> Option<WorkerMessage> {
        said(&self.output.next_line().await.ok()??)
    }

    pub(super) async fn begin(&mut self) {
        // The exit of a child is noticed at the end of its output.
        let _ = self.input.write_all(b"go\n").await;
    }

    /// Kills it. Its earlier messages are still read from the pipe.
    pub(super) async fn kill(mut self) -> Result<Ended> {
        let ended_by_itself = self.process.try_wait()?.is_some();
        if !ended_by_itself {
            self.process.start_kill()?;
        }
        let Self { process, input: _input, output } = self;
        let ended = hear_out(process, output).await?;
        Ok(Ended { failure: ended.failure.filter(|_| ended_by_itself), ..ended })
    }

    /// Asks it to end and waits for it.
    pub(super) async fn stop(self) -> Result<Ended> {
        let Self { process, input, output } = self;
        drop(input);
        hear_out(process, output).await
    }
}

async fn hear_out(mut process: Child, mut output: Lines<BufReader<ChildStdout>>) -> Result<Ended> {
    let mut heard = Vec::new();
    while let Some(line) = output.next_line().await? {
        heard.extend(said(&line));
    }
    let mut complaint = String::new();
    if let Some(mut errors) = process.stderr.take() {
        errors.read_to_string(&mut complaint).await?;
    }
    let status = process.wait().await?;
    let failure = (!status.success()).then(|| format!("{status}: {}", complaint.trim()));
    Ok(Ended { said: heard, failure })
}

fn said(line: &str) -> Option<WorkerMessage> {
    let mut words = line.split(' ');
    let kind = words.next()?;
    let mut number = || words.next()?.parse::<u64>().ok();
    Some(match kind {
        "ready" => WorkerMessage::Ready,
        "ack" => WorkerMessage::Acked {
            number: u32::try_from(number()?).ok()?,
            count: u32::try_from(number()?).ok()?,
            micros: number()?,
        },
        "found" => {
            number()?;
            WorkerMessage::Found { complete: number()? == 1, micros: number()? }
        }
        "commits" => WorkerMessage::Commits { all: number()?, full: number()? },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_parsed_and_other_lines_ignored() {
        for (line, want) in [
            ("ready", Some(WorkerMessage::Ready)),
            ("ack 7 2 150", Some(WorkerMessage::Acked { number: 7, count: 2, micros: 150 })),
            ("found 20 0 9000", Some(WorkerMessage::Found { complete: false, micros: 9000 })),
            ("commits 5 4", Some(WorkerMessage::Commits { all: 5, full: 4 })),
            ("ack 7 2", None),
            ("", None),
        ] {
            assert_eq!(said(line), want, "{line}");
        }
    }
}

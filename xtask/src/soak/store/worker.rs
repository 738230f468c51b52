//! One child of a long run, and what it said.

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

/// Something a child said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Ready,
    /// All rows up to this number are acknowledged; the last `count` took so long together.
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

/// How a child ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) said: Vec<Said>,
    /// What it complained about, if it ended by itself and not well.
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

    /// The next thing it says; nothing when it has ended or speaks otherwise.
    pub(super) async fn hear(&mut self) -> Option<Said> {
        said(&self.output.next_line().await.ok()??)
    }

    pub(super) async fn begin(&mut self) {
        // A child that is gone is noticed when its output ends.
        let _ = self.input.write_all(b"go\n").await;
    }

    /// Kills it. What it said before stays in its pipe and is read here.
    pub(super) async fn kill(mut self) -> Result<Ended> {
        let ended_by_itself = self.process.try_wait()?.is_some();
        if !ended_by_itself {
            self.process.start_kill()?;
        }
        let Self { process, input: _input, output } = self;
        let ended = hear_out(process, output).await?;
        Ok(Ended { failure: ended.failure.filter(|_| ended_by_itself), ..ended })
    }

    /// Asks it to come to an end and waits for it.
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

fn said(line: &str) -> Option<Said> {
    let mut words = line.split(' ');
    let kind = words.next()?;
    let mut number = || words.next()?.parse::<u64>().ok();
    Some(match kind {
        "ready" => Said::Ready,
        "ack" => Said::Acked {
            number: u32::try_from(number()?).ok()?,
            count: u32::try_from(number()?).ok()?,
            micros: number()?,
        },
        "found" => {
            number()?;
            Said::Found { complete: number()? == 1, micros: number()? }
        }
        "commits" => Said::Commits { all: number()?, full: number()? },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_child_says_is_understood_or_ignored() {
        for (line, want) in [
            ("ready", Some(Said::Ready)),
            ("ack 7 2 150", Some(Said::Acked { number: 7, count: 2, micros: 150 })),
            ("found 20 0 9000", Some(Said::Found { complete: false, micros: 9000 })),
            ("commits 5 4", Some(Said::Commits { all: 5, full: 4 })),
            ("ack 7 2", None),
            ("", None),
        ] {
            assert_eq!(said(line), want, "{line}");
        }
    }
}

//! Runs a program and measures it: CPU time with children, peak memory, wall time.
//!
//! The program is started by a new process of this program (`__measure`). The system counts the memory of the
//! parent process into the child's peak, so a large parent would be measured instead; and a parent with a
//! single child can query its children's CPU time without mixing runs.

use crate::flags::Flags;
use crate::resource_usage::children_usage;
use crate::wrapped_command::wrapped;
use anyhow::{Context, Result, ensure};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// The cost of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// User and system time of the program and all processes it waited for.
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    /// In bytes.
    pub(crate) peak_rss: u64,
}

/// Runs a command, which must have a cleared environment and succeed, and whose output must contain `expected`:
/// a run that does something else may be faster.
pub(crate) fn run(command: &Command, expected: &str) -> Result<Sample> {
    let report = tempfile::NamedTempFile::new()?;
    let mut starter = Command::new(std::env::current_exe()?);
    starter.arg("__measure").arg(report.path());
    let output = wrapped(starter, command).output().context("a measured program could not be started")?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success() && stdout.contains(expected),
        "{:?} was to succeed and print `{expected}`; {}; it printed `{}`; {}",
        command,
        output.status,
        last(&stdout),
        last(&String::from_utf8_lossy(&output.stderr)),
    );
    parse(&std::fs::read_to_string(report.path())?).context("a run left no report")
}

/// The process of `__measure REPORT PROGRAM ARGUMENTS…`.
pub(crate) fn child(mut flags: Flags) -> Result<ExitCode> {
    let report = flags.next().context("`__measure` needs a report file")?;
    let program = flags.next().context("`__measure` needs a program")?;
    let start = Instant::now();
    let status = Command::new(&program).args(flags.rest()).status().with_context(|| program.clone())?;
    let wall = start.elapsed();
    let usage = children_usage()?;
    let text = format!("{} {} {}", usage.cpu.as_nanos(), wall.as_nanos(), usage.peak_rss);
    std::fs::write(report, text)?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn parse(text: &str) -> Option<Sample> {
    let mut numbers = text.split(' ').map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    Some(Sample {
        cpu: Duration::from_nanos(next()?),
        wall: Duration::from_nanos(next()?),
        peak_rss: next()?,
    })
}

/// The end of a text, which usually has the error message.
fn last(text: &str) -> &str {
    let start = text.char_indices().rev().nth(300).map_or(0, |(at, _)| at);
    text[start..].trim()
}

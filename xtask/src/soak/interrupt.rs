//! Stops hermes with Ctrl-C at random points of a turn and checks the result.
//!
//! Each run is a turn that never ends by itself: some text, some short commands, then one that runs for minutes
//! and has a child process. SIGINT comes somewhere in it. Afterwards the turn is closed, no process of the
//! command runs, and the session answers the next prompt. The time from the signal to the exit is an upper
//! bound for the time to the closed turn.

use super::processes::marked;
use super::say;
use crate::flags::Flags;
use crate::home::Home;
use crate::random::{self, Random};
use anyhow::{Context, Result, bail};
use hermes_testkit::{FakeProvider, ReplyScript};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

/// The maximum acceptable time for a stop.
const LIMIT: Duration = Duration::from_secs(1);

/// The time after which a run counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// The signal comes within this time after the message was accepted: the long command runs from about the
/// middle of it.
const SPAN: Duration = Duration::from_millis(900);

const ANSWER: &str = "still here";

pub(super) fn run(mut flags: Flags) -> Result<ExitCode> {
    let runs: u32 = flags.value("--runs")?.unwrap_or(1000);
    let seed: u64 = flags.value("--seed")?.unwrap_or_else(random::seed);
    let hermes = crate::hermes::find(&mut flags)?;
    flags.finish()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(soak(&hermes, runs, seed))
}

async fn soak(hermes: &Path, runs: u32, seed: u64) -> Result<ExitCode> {
    let mut random = Random::new(seed);
    let (mut times, mut violations, mut places) = (Vec::new(), 0, Places::default());
    for number in 1..=runs {
        let stopped = Run::new(hermes, number).await?.play(random.within(SPAN)).await?;
        times.push(stopped.took);
        places.add(&stopped.result);
        violations += stopped.violations.len();
        for violation in &stopped.violations {
            say(&format!("VIOLATED in run {number} (seed {seed}): {violation}"));
        }
        if let Some(kept) = &stopped.kept {
            say(&format!("  kept: {}", kept.display()));
        }
        if number % 50 == 0 {
            say(&format!("{number} runs; {}", summary(&times)));
        }
    }
    let late = times.iter().filter(|took| **took > LIMIT).count();
    let places = format!("{} while the model was asked, {} while tools ran", places.model, places.tools);
    crate::say(&format!(
        "{runs} interrupts ({places}); {}; {late} later than {} s; {violations} violations; seed {seed}\n",
        summary(&times),
        LIMIT.as_secs()
    ))?;
    Ok(if violations == 0 && late == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The states in which the signals arrived.
#[derive(Default)]
struct Places {
    model: u32,
    tools: u32,
}

impl Places {
    fn add(&mut self, result: &Value) {
        match result["turn_exit_reason"].as_str() {
            Some("interrupted_during_api_call") => self.model += 1,
            Some("interrupted_by_user") => self.tools += 1,
            _ => {}
        }
    }
}

/// The result of one run.
struct Stopped {
    took: Duration,
    /// The last line that hermes printed.
    result: Value,
    violations: Vec<String>,
    /// The directory of a failed run, kept for inspection.
    kept: Option<PathBuf>,
}

struct Run {
    hermes: PathBuf,
    home: Home,
    provider: FakeProvider,
    /// A number of seconds to sleep that no other run uses.
    marker: String,
}

impl Run {
    async fn new(hermes: &Path, number: u32) -> Result<Self> {
        let provider = FakeProvider::start().await;
        let home = Home::new(&provider.base_url())?;
        let marker = format!("300.{}{number:06}", std::process::id());
        let known = marker.clone();
        provider.answer_with(move |body| reply(body, &known));
        Ok(Self { hermes: hermes.to_owned(), home, provider, marker })
    }

    async fn play(self, after: Duration) -> Result<Stopped> {
        let mut violations = Vec::new();
        let (mut process, mut lines) = self.start(&["-z", "go"])?;
        let id = process.id().context("hermes has no process id")?;
        wait_for(&mut lines, "accepted").await?;
        tokio::time::sleep(after).await;
        let signalled = Instant::now();
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).context("an odd process id")?;
        kill_process(pid, Signal::INT).context("hermes ended by itself")?;
        let result = wait_for(&mut lines, "result").await?;
        let status = timeout(PATIENCE, process.wait()).await.context("hermes did not end")??;
        let took = signalled.elapsed();
        if status.code() != Some(130) || result["interrupted"] != true {
            violations.push(format!("hermes ended with {status} and {result}"));
        }
        let open = hermes_store::check(&self.home.hermes().join("state.db")).open_turns;
        if open != Some(0) {
            violations.push(format!("open turns: {open:?}"));
        }
        // Killed processes may take a moment to disappear.
        if !marked(&self.marker).is_empty() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        for (id, line) in marked(&self.marker) {
            violations.push(format!("process {id} is left: {line}"));
        }
        let (mut again, mut lines) = self.start(&["--resume", "latest", "-z", "again"])?;
        let answer = wait_for(&mut lines, "result").await?;
        again.wait().await?;
        if answer["final_response"] != ANSWER {
            violations.push(format!("the session does not answer: {answer}"));
        }
        violations.extend(self.provider.rejections().iter().map(|refused| format!("{refused:?}")));
        let kept = (!violations.is_empty()).then(|| self.home.keep());
        Ok(Stopped { took, result, violations, kept })
    }

    fn start(&self, arguments: &[&str]) -> Result<(Child, Lines<BufReader<ChildStdout>>)> {
        let arguments = ["--json", "--yolo"].iter().chain(arguments);
        let mut command = Command::from(self.home.command(&self.hermes, arguments));
        command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut process = command.spawn().context("hermes could not be started")?;
        let output = process.stdout.take().context("hermes has no output")?;
        Ok((process, BufReader::new(output).lines()))
    }
}

/// Reads lines up to one of this type.
async fn wait_for(lines: &mut Lines<BufReader<ChildStdout>>, kind: &str) -> Result<Value> {
    loop {
        let line =
            timeout(PATIENCE, lines.next_line()).await.with_context(|| format!("no `{kind}` came"))??;
        let Some(line) = line else { bail!("hermes ended without `{kind}`") };
        let line: Value = serde_json::from_str(&line)?;
        if line["type"] == kind {
            return Ok(line);
        }
    }
}

/// The next step is the number of replies with calls in the request.
fn reply(body: &Value, marker: &str) -> ReplyScript {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    if messages.last().is_some_and(|last| last["content"] == "again") {
        return ReplyScript::text(ANSWER);
    }
    let command = |text: String| ReplyScript::call("terminal", json!({ "command": text }));
    match messages.iter().filter(|message| message["tool_calls"].is_array()).count() {
        0 => command("sleep 0.05".to_owned())
            .with_text("First I have a look around here.")
            .streamed_in(8)
            .with_delay(Duration::from_millis(10)),
        1 => command("sleep 0.05; echo one".to_owned()).and_call("todo", json!({})),
        2 => ReplyScript::call("todo", json!({}))
            .with_text("Now for the long one.")
            .streamed_in(8)
            .with_delay(Duration::from_millis(10)),
        _ => command(format!("sleep {marker} & sleep {marker}")),
    }
}

/// The median, the tail and the maximum.
fn summary(times: &[Duration]) -> String {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |percent: usize| {
        let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(place).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
    };
    let (p50, p90, p99, most) = (at(50), at(90), at(99), at(100));
    format!("stopped after p50 {p50:.0} ms, p90 {p90:.0} ms, p99 {p99:.0} ms, at most {most:.0} ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_use_sorted_times() {
        let times: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        assert_eq!(summary(&times), "stopped after p50 100 ms, p90 180 ms, p99 198 ms, at most 200 ms");
        assert_eq!(summary(&[]), "stopped after p50 0 ms, p90 0 ms, p99 0 ms, at most 0 ms");
    }

    #[test]
    fn script_ends_in_a_long_command_and_then_answers() {
        let asked = json!({"role": "assistant", "tool_calls": []});
        let long = reply(&json!({"messages": vec![asked; 3]}), "300.1");
        assert!(long.calls[0].arguments.contains("300.1"));
        let again = reply(&json!({"messages": [{"role": "user", "content": "again"}]}), "300.1");
        assert_eq!(again.text, [ANSWER]);
    }
}

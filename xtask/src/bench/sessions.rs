//! Many concurrent sessions in one process.
//!
//! The sessions run in a separate process (`__sessions`), so that nothing else is in its memory, on one thread
//! as in the binary, against the scripted model in a third process. A probe sends an event through its own
//! channel every few milliseconds: its latency is the latency of any event.

use super::in_process::{memory, open, say_to};
use crate::flags::Flags;
use crate::home::Home;
use crate::serve::{Scenario, Served};
use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use hermes_conversation::{TurnEvent, events};
use hermes_runtime::{Parting, Runtime};
use hermes_tools::NoUser;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PROBE: Duration = Duration::from_millis(5);

pub(super) fn run(mut flags: Flags) -> Result<()> {
    let sessions: usize = flags.value("--sessions")?.unwrap_or(100);
    let calls: usize = flags.value("--calls")?.unwrap_or(20);
    flags.finish()?;
    let served = Served::start(Scenario::Calls(calls))?;
    let home = Home::new(&served.base_url)?;
    let numbers = [sessions.to_string(), calls.to_string()];
    let program = std::env::current_exe()?;
    let mut command: Command = home.command(&program, ["__sessions", &numbers[0], &numbers[1]]);
    command.current_dir(home.work());
    let output = command.output().context("the sessions could not be started")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    crate::say(&String::from_utf8_lossy(&output.stdout))
}

/// The process of `__sessions COUNT CALLS`.
pub(crate) fn child(mut flags: Flags) -> Result<()> {
    let sessions: usize = flags.next().context("how many sessions?")?.parse()?;
    let calls: usize = flags.next().context("how many calls?")?.parse()?;
    let waiting = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    waiting.block_on(measure(sessions, calls))
}

async fn measure(sessions: usize, calls: usize) -> Result<()> {
    let runtime = open(Vec::new())?;
    // One session first, so that shared state exists before anything is counted.
    converse(&runtime, calls).await?;
    let alone = memory("VmRSS")?;
    let begun = Instant::now();
    let all = try_join_all((0..sessions).map(|_| converse(&runtime, calls)));
    let (done, late) = probed(all).await;
    done?;
    let (took, peak) = (begun.elapsed().as_secs_f64(), memory("VmHWM")?);
    let made = sessions * calls;
    let each = peak.saturating_sub(alone) as f64 / sessions.saturating_sub(1).max(1) as f64 / 1024.0;
    let at = |part: f64| late[((late.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    let cpu = crate::resource_usage::process_cpu(std::process::id())?.as_secs_f64();
    crate::say(&format!(
        "{sessions} sessions of {calls} tool calls in one process: {took:.1} s, {:.0} calls a second, {:.2} ms of \
         this process's CPU a call\nevents late by: median {:.1} ms, p99 {:.1} ms, longest {:.1} ms ({} probes)\n\
         memory: {:.1} MiB with one session, {:.1} MiB at most with all, {each:.2} MiB for each further one \
         (target: under 2)\n",
        made as f64 / took,
        cpu * 1e3 / made as f64,
        at(0.5),
        at(0.99),
        at(1.0),
        late.len(),
        alone as f64 / 1024.0,
        peak as f64 / 1024.0,
    ))
}

/// One session: a turn of so many calls.
async fn converse(runtime: &Runtime, calls: usize) -> Result<()> {
    let mut session = runtime.start(Arc::new(NoUser))?;
    let (answer, _) = say_to(&mut session, "go").await?;
    ensure!(answer.contains(&Scenario::Calls(calls).ending()), "a session answered `{answer}`");
    session.close(Parting::Left).await;
    Ok(())
}

/// Runs `work`, and returns the event latencies meanwhile, sorted.
async fn probed<T>(work: impl Future<Output = T>) -> (T, Vec<Duration>) {
    let (sink, mut stream) = events();
    let zero = Instant::now();
    let sending = async move {
        loop {
            tokio::time::sleep(PROBE).await;
            sink.send(TurnEvent::Status(zero.elapsed().as_nanos().to_string())).await;
        }
    };
    let receiving = tokio::spawn(async move {
        let mut late = Vec::new();
        while let Some(event) = stream.next().await {
            let TurnEvent::Status(sent) = event else { continue };
            let sent = Duration::from_nanos(sent.parse().unwrap_or_default());
            late.push(zero.elapsed().saturating_sub(sent));
        }
        late
    });
    let sender = tokio::spawn(sending);
    let done = work.await;
    sender.abort();
    let mut late = receiving.await.unwrap_or_default();
    late.sort();
    if late.is_empty() {
        late.push(Duration::ZERO);
    }
    (done, late)
}

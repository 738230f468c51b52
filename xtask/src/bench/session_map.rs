//! Many sessions known to one `SessionMap`: memory of evicted ones, the start of a turn in any of them, and
//! many turns at once.
//!
//! Runs in a separate process (`__session-map`) with nothing else in its memory, against the scripted model in
//! a third process.

use super::in_process::{memory, open};
use crate::flags::Flags;
use crate::home::Home;
use crate::random::Random;
use crate::serve::{Scenario, Served};
use anyhow::{Context, Result, bail, ensure};
use hermes_conversation::TurnEvent;
use hermes_runtime::{MapLimits, Opening, Prompt, SessionEvent, SessionKey, SessionMap, Submitted, Surface};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sessions that are open when memory is first measured.
const FIRST: usize = 100;
/// Sessions whose next turn is timed.
const TIMED: usize = 200;

pub(super) fn run(mut flags: Flags) -> Result<()> {
    let sessions: usize = flags.value("--sessions")?.unwrap_or(10_000);
    let at_once: usize = flags.value("--at-once")?.unwrap_or(200);
    flags.finish()?;
    ensure!(sessions > FIRST && at_once <= sessions, "at least {} sessions are needed", FIRST.max(at_once));
    let served = Served::start(Scenario::Text)?;
    let home = Home::new(&served.base_url)?;
    let numbers = [sessions.to_string(), at_once.to_string()];
    let program = std::env::current_exe()?;
    let mut command: Command = home.command(&program, ["__session-map", &numbers[0], &numbers[1]]);
    command.current_dir(home.work());
    let output = command.output().context("the sessions could not be started")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    crate::say(&String::from_utf8_lossy(&output.stdout))
}

/// The process of `__session-map SESSIONS AT_ONCE`.
pub(crate) fn child(mut flags: Flags) -> Result<()> {
    let sessions: usize = flags.next().context("how many sessions?")?.parse()?;
    let at_once: usize = flags.next().context("how many at once?")?.parse()?;
    let waiting = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    waiting.block_on(measure(sessions, at_once))
}

async fn measure(sessions: usize, at_once: usize) -> Result<()> {
    let map = Arc::new(SessionMap::new(open(Vec::new())?, MapLimits::default()));
    for number in 0..FIRST {
        turn(&map, number).await?;
    }
    let first = memory("VmRSS")?;
    for number in FIRST..sessions {
        turn(&map, number).await?;
    }
    let all = memory("VmRSS")?;
    let each = all.saturating_sub(first) as f64 / (sessions - FIRST) as f64;
    let (known, resident) = map.counts();
    crate::say(&format!(
        "{known} sessions with one turn each, {resident} resident and {} evicted: {:.1} MiB with the first \
         {FIRST}, {:.1} MiB with all, {each:.1} KiB for each further one (target: 40)\n",
        known - resident,
        first as f64 / 1024.0,
        all as f64 / 1024.0,
    ))?;
    let mut random = Random::new(1);
    let mut starts = Vec::new();
    for _ in 0..TIMED {
        starts.push(turn(&map, random.below(sessions)).await?.started);
    }
    say_times("a turn in any of them starts after", starts, "target: 50 ms")?;
    let begun = Instant::now();
    let turns = (0..at_once).map(|number| {
        let map = map.clone();
        tokio::spawn(async move { turn(&map, number * (sessions / at_once)).await })
    });
    let mut stored = Vec::new();
    for done in futures::future::join_all(turns).await {
        stored.push(done??.stored);
    }
    let took = begun.elapsed().as_secs_f64();
    crate::say(&format!("{at_once} turns at once: all ended after {took:.1} s, events in order\n"))?;
    say_times("from the submission to the stored message", stored, "target: p99 250 ms")?;
    map.close().await;
    Ok(())
}

/// Times of one turn.
struct Times {
    /// From the submission to the start of the turn.
    started: Duration,
    /// From the start of the turn to its message on disk.
    stored: Duration,
}

/// Runs one turn in a session and checks the order of its events.
async fn turn(map: &SessionMap, number: usize) -> Result<Times> {
    let key = SessionKey::Chat { platform: "bench".into(), chat: number.to_string(), thread: None };
    let opening = || Opening::on(Surface::of("bench"));
    let begun = Instant::now();
    let (handle, _, mut observer) = map.observe(&key, opening).await?;
    let Submitted::Turn(running) = handle.submit(Prompt::typed("hi")).await? else {
        bail!("session {number} was busy");
    };
    let started = begun.elapsed();
    let turn = running.turn;
    let mut stored = None;
    let mut text = String::new();
    let mut has_started = false;
    loop {
        match observer.next().await.context("the session was closed")? {
            SessionEvent::TurnStarted { .. } => has_started = true,
            SessionEvent::Turn(TurnEvent::Accepted) => {
                ensure!(has_started && text.is_empty(), "session {number}: events out of order");
                stored = Some(begun.elapsed().saturating_sub(started));
            }
            SessionEvent::Turn(TurnEvent::Text(piece)) => text.push_str(&piece),
            SessionEvent::TurnEnded { turn: ended, .. } => {
                ensure!(ended == turn && text == "ok", "session {number}: events out of order");
                break;
            }
            SessionEvent::TurnFailed { error, .. } => bail!("session {number}: {error}"),
            _ => {}
        }
    }
    running.report().await?;
    Ok(Times { started, stored: stored.context("the message was not stored")? })
}

fn say_times(what: &str, mut times: Vec<Duration>, target: &str) -> Result<()> {
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    crate::say(&format!(
        "{what}: median {:.1} ms, p99 {:.1} ms, at most {:.1} ms ({} turns; {target})\n",
        at(0.5),
        at(0.99),
        at(1.0),
        times.len(),
    ))
}

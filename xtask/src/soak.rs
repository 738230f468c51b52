//! Kills hermes at random points of a turn and checks the result.
//!
//! Each run is a turn of forty steps against a strict provider. Hermes is killed somewhere in it, resumed,
//! perhaps killed again, and resumed until the turn is done. Then all invariants are checked, among them that
//! files and answer equal those of a turn without a kill. Random choices come from the seed, but the timing of
//! a kill varies: a seed repeats the plan of a run, not its exact outcome.

mod attempt;
mod checks;
mod interrupt;
mod processes;
mod run;
mod script;
pub(crate) mod store;
mod tally;

use crate::flags::Flags;
use crate::random::{self, Random};
use anyhow::{Context, Result, bail};
use run::{Left, Run};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tally::Tally;

const USAGE: &str = "say what to do: `cargo xtask soak kill`, `interrupt`, `sim`, `queries`, `store contend` or \
                     `store kill`";

pub(crate) fn run(mut flags: Flags) -> Result<ExitCode> {
    match flags.next().as_deref() {
        Some("kill") => kill(flags),
        Some("sim") => simulate(flags),
        Some("interrupt") => interrupt::run(flags),
        Some("store") => store::run(flags),
        _ => bail!(USAGE),
    }
}

/// Runs the simulation, a test of the agent, for longer.
fn simulate(mut flags: Flags) -> Result<ExitCode> {
    let seeds: u64 = flags.value("--seeds")?.unwrap_or(100_000);
    let seed: Option<u64> = flags.value("--seed")?;
    flags.finish()?;
    let mut command = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args([
        "test",
        "--release",
        "-p",
        "hermes-agent",
        "--test",
        "integration",
        "simulation::",
        "--",
        "--nocapture",
    ]);
    match seed {
        Some(seed) => command.env("HERMES_SIM_SEED", seed.to_string()),
        None => command.env("HERMES_SIM_SEEDS", seeds.to_string()),
    };
    let status = command.status().context("cargo could not be started")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn kill(mut flags: Flags) -> Result<ExitCode> {
    let runs: u32 = flags.value("--runs")?.unwrap_or(200);
    let seed: u64 = flags.value("--seed")?.unwrap_or_else(random::seed);
    let hermes = crate::hermes::find(&mut flags)?;
    flags.finish()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(soak(&hermes, runs, seed))
}

async fn soak(hermes: &Path, runs: u32, seed: u64) -> Result<ExitCode> {
    let (turn, left) = undisturbed(hermes).await.context("a turn without any kill went wrong")?;
    say(&format!("an undisturbed turn takes {} ms; seed {seed}", turn.as_millis()));
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    // A turn that ends before its kill is checked but does not count.
    for number in 1.. {
        let outcome = Run::new(hermes, number, turn).await?.play(&mut random, &left).await?;
        tally.add(&outcome);
        if !outcome.violations.is_empty() {
            report(&outcome, number, seed);
        }
        if tally.runs % 10 == 0 {
            say(&tally.to_string());
        }
        if tally.killed_runs >= runs {
            break;
        }
    }
    crate::say(&format!("{tally}; seed {seed}\n"))?;
    Ok(if tally.violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The duration and the result of an undisturbed turn; the shortest of a few, so that hardly any kill comes too
/// late.
async fn undisturbed(hermes: &Path) -> Result<(Duration, Left)> {
    let (mut shortest, mut leaves) = (Duration::MAX, None);
    for number in 0..3 {
        let run = Run::new(hermes, 900_000 + number, Duration::ZERO).await?;
        let (outcome, took, left) = run.undisturbed().await?;
        if !outcome.violations.is_empty() {
            report(&outcome, number, 0);
            bail!("{}", outcome.violations.join("; "));
        }
        shortest = shortest.min(took);
        if leaves.replace(left.clone()).is_some_and(|other| other != left) {
            bail!("undisturbed turns do not leave the same");
        }
    }
    Ok((shortest, leaves.context("no turn was tried")?))
}

fn report(outcome: &tally::Outcome, number: u32, seed: u64) {
    for violation in &outcome.violations {
        say(&format!("VIOLATED in run {number} (seed {seed}): {violation}"));
    }
    if let Some(kept) = &outcome.kept {
        say(&format!("  kept: {}", kept.display()));
    }
}

/// Prints progress to standard error.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

//! The memory of a session with many compactions.
//!
//! The session runs in a separate process (`__compactions`), with a context window so small that it is
//! compacted every few turns, against the scripted model in a third process.

use super::in_process::{memory, open, say_to};
use super::row::{Quantity, Row, Target};
use crate::flags::Flags;
use crate::home::Home;
use crate::serve::{Scenario, Served};
use anyhow::{Context, Result, ensure};
use hermes_runtime::Parting;
use hermes_tools::NoUser;
use std::sync::Arc;

const FEW: u64 = 10;

/// The memory of the process after many compactions compared with a few, for each engine.
pub(super) fn rows(many: u64) -> Result<Vec<Row>> {
    ["compressor", "lossless"].into_iter().map(|engine| row(engine, many)).collect()
}

fn row(engine: &str, count: u64) -> Result<Row> {
    let served = Served::start(Scenario::Summaries)?;
    let home = Home::new(&served.base_url)?;
    let output =
        home.command(&std::env::current_exe()?, ["__compactions", engine, &count.to_string()]).output();
    let output = output.context("the session could not be started")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = said.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let &[few, many, turns] = &numbers[..] else { anyhow::bail!("not three numbers: {said}") };
    let bytes = |kib: u64| Quantity::Bytes(kib as f64 * 1024.0);
    Ok(Row::new(format!("memory after {count} compactions, {engine}"), bytes(many))
        .beside("after 10", bytes(few))
        .target(Target::Times(1.25))
        .note(format!("resident, {turns} turns in one session and one process")))
}

/// The process of `__compactions ENGINE COUNT`: prints the memory after a few and after many compactions in
/// KiB, and the number of turns.
pub(crate) fn child(mut flags: Flags) -> Result<()> {
    let engine: String = flags.next().context("which engine?")?;
    let count: u64 = flags.next().context("how many compactions?")?.parse()?;
    let waiting = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    waiting.block_on(measure(engine, count))
}

async fn measure(engine: String, count: u64) -> Result<()> {
    let settings = [
        ("context.engine", engine.as_str()),
        ("model.context_length", "20000"),
        ("compression.threshold", "0.5"),
        ("auxiliary.title_generation.enabled", "false"),
    ];
    let flags = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let runtime = open(flags)?;
    let mut session = runtime.start(Arc::new(NoUser))?;
    let (mut compactions, mut turns, mut few) = (0, 0_u64, None);
    while compactions < count {
        ensure!(turns < 20 * count, "only {compactions} compactions in {turns} turns");
        let words = format!("Question {turns}: {}", "what about this and that? ".repeat(300));
        let (answer, made) = say_to(&mut session, &words).await?;
        ensure!(!answer.is_empty(), "turn {turns} has no answer");
        compactions += made;
        turns += 1;
        if compactions >= FEW && few.is_none() {
            few = Some(memory("VmRSS")?);
        }
    }
    let many = memory("VmRSS")?;
    session.close(Parting::Left).await;
    runtime.leave().await;
    crate::say(&format!("{} {many} {turns}\n", few.unwrap_or(many)))
}

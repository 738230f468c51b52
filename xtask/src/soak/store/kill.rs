//! Writers that are killed at random times and restarted.

use super::verdict::{Acknowledged, judge};
use super::worker::{Ended, Worker, WorkerMessage};
use super::{Folder, findings};
use crate::flags::Flags;
use crate::random::{self, Random};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// Kills of each writer between two checks of the database. The last one is at the same time for all writers.
const LIVES_PER_ROUND: u32 = 25;
/// The time for writing in a life, besides its start.
const WRITING: Duration = Duration::from_millis(80);
/// The maximum time for the start of a life.
const SLOWEST: Duration = Duration::from_millis(500);
/// Some lives are longer, so that kills also hit checkpoints.
const LONG_LIVES: f64 = 0.1;
const HOW_LONG: u32 = 8;
/// The maximum number of similar violations that are printed.
const MOST_SHOWN: usize = 20;

pub(super) struct Plan {
    kills: u32,
    writers: u32,
    seed: u32,
}

impl Plan {
    pub(super) fn read(mut flags: Flags) -> Result<Self> {
        let plan = Self {
            kills: flags.value("--kills")?.unwrap_or(2000),
            writers: flags.value("--writers")?.unwrap_or(4),
            seed: flags.value("--seed")?.unwrap_or_else(random::seed32),
        };
        flags.finish()?;
        ensure!(plan.writers > 0, "`--writers` must be at least 1");
        Ok(plan)
    }
}

pub(super) async fn run(plan: Plan) -> Result<ExitCode> {
    let folder = Folder::new()?;
    let start = Instant::now();
    let mut run = Run {
        path: folder.database(),
        longest: longest_life(&plan).await?,
        acknowledged: Acknowledged::default(),
        kills: 0,
        barren: 0,
        violations: Vec::new(),
        plan,
    };
    crate::soak::say(&format!(
        "most lives last up to {} ms; seed {}",
        run.longest.as_millis(),
        run.plan.seed
    ));
    for round in 0.. {
        run.round(round).await?;
        let summary = run.look(start)?;
        if run.kills >= run.plan.kills || !run.violations.is_empty() {
            crate::say(&format!("{summary}; seed {}\n", run.plan.seed))?;
            break;
        }
        crate::soak::say(&summary);
    }
    run.violations.truncate(MOST_SHOWN);
    Ok(folder.close(&run.violations, run.plan.seed.into()))
}

/// A lifetime in which most lives write something and many end during their start. Measured with all writers on
/// a separate database.
async fn longest_life(plan: &Plan) -> Result<Duration> {
    let folder = Folder::new()?;
    let start = Instant::now();
    let mut workers = Vec::new();
    for writer in 0..plan.writers {
        let mut worker = Worker::start("__store-writer", &folder.database(), &[writer, 0, plan.seed])?;
        worker.begin().await;
        workers.push(worker);
    }
    for worker in &mut workers {
        while !matches!(worker.next_message().await, Some(WorkerMessage::Acked { .. }) | None) {}
    }
    Ok((start.elapsed() * 2).min(SLOWEST) + WRITING)
}

struct Run {
    plan: Plan,
    path: PathBuf,
    longest: Duration,
    acknowledged: Acknowledged,
    kills: u32,
    /// Lives that ended before any acknowledgement.
    barren: u32,
    violations: Vec<String>,
}

/// One finished life of a writer.
struct Life {
    writer: u32,
    life: u32,
    ended: Ended,
}

impl Run {
    /// Runs several lives of every writer.
    async fn round(&mut self, round: u32) -> Result<()> {
        let left = (self.plan.kills - self.kills).div_ceil(self.plan.writers);
        let lives = left.min(LIVES_PER_ROUND);
        let together = Arc::new(Barrier::new(self.plan.writers as usize));
        let mut slots = JoinSet::new();
        for writer in 0..self.plan.writers {
            let slot = Slot {
                writer,
                first: round * LIVES_PER_ROUND,
                seed: self.plan.seed,
                longest: self.longest,
                path: self.path.clone(),
                together: together.clone(),
            };
            slots.spawn(slot.live(lives));
        }
        while let Some(lived) = slots.join_next().await {
            lived??.into_iter().for_each(|life| self.count(life));
        }
        Ok(())
    }

    fn count(&mut self, Life { writer, life, ended }: Life) {
        let rows = ended.said.iter().filter_map(|said| match said {
            WorkerMessage::Acked { number, .. } => Some(*number),
            _ => None,
        });
        match rows.max() {
            Some(number) => self.acknowledged.add(writer, life, number),
            None => self.barren += 1,
        }
        self.kills += 1;
        if let Some(failure) = ended.failure {
            self.violations.push(format!("life {life} of writer {writer} ended by itself: {failure}"));
        }
    }

    /// Checks everything while no writer runs.
    fn look(&mut self, start: Instant) -> Result<String> {
        let verdict = judge(&self.path, &self.acknowledged)?;
        self.violations.extend(verdict.violations);
        self.violations.extend(findings(&self.path));
        Ok(format!(
            "{} kills in {} s ({} before the first row), {} messages stored, {} rows acknowledged, \
             {} stored but not acknowledged, {} violations",
            self.kills,
            start.elapsed().as_secs(),
            self.barren,
            verdict.stored,
            self.acknowledged.rows(),
            verdict.unacknowledged,
            self.violations.len(),
        ))
    }
}

/// The slot of one writer during a round.
struct Slot {
    writer: u32,
    first: u32,
    seed: u32,
    longest: Duration,
    path: PathBuf,
    together: Arc<Barrier>,
}

impl Slot {
    async fn live(self, lives: u32) -> Result<Vec<Life>> {
        let mut random =
            Random::new(u64::from(self.seed) + (u64::from(self.first) << 20) + u64::from(self.writer));
        let mut lived = Vec::new();
        for life in self.first..self.first + lives {
            let mut worker = self.start(&self.path, life)?;
            worker.begin().await;
            let longest = self.longest * if random.chance(LONG_LIVES) { HOW_LONG } else { 1 };
            tokio::time::sleep(random.within(longest)).await;
            if life + 1 == self.first + lives {
                self.together.wait().await;
            }
            lived.push(Life { writer: self.writer, life, ended: worker.kill().await? });
        }
        Ok(lived)
    }

    fn start(&self, path: &Path, life: u32) -> Result<Worker> {
        Worker::start("__store-writer", path, &[self.writer, life, self.seed])
    }
}

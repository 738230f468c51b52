//! Many processes on one database, each at full speed.

use super::percentiles::Times;
use super::verdict::{Acknowledged, judge};
use super::worker::{Ended, Worker, WorkerMessage};
use super::{Folder, findings};
use crate::flags::Flags;
use crate::random;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub(super) struct Plan {
    writers: u32,
    searchers: u32,
    seconds: u64,
    seed: u32,
}

impl Plan {
    pub(super) fn read(mut flags: Flags) -> Result<Self> {
        let plan = Self {
            writers: flags.value("--writers")?.unwrap_or(8),
            searchers: flags.value("--searchers")?.unwrap_or(2),
            seconds: flags.value("--seconds")?.unwrap_or(60),
            seed: flags.value("--seed")?.unwrap_or_else(random::seed32),
        };
        flags.finish()?;
        ensure!(plan.writers > 0, "`--writers` must be at least 1");
        Ok(plan)
    }
}

pub(super) async fn run(plan: Plan) -> Result<ExitCode> {
    let folder = Folder::new()?;
    let path = folder.database();
    let mut workers = Vec::new();
    for writer in 0..plan.writers {
        workers.push(Worker::start("__store-writer", &path, &[writer, 0, plan.seed])?);
    }
    for _ in 0..plan.searchers {
        workers.push(Worker::start("__store-searcher", &path, &[])?);
    }
    for worker in &mut workers {
        ensure!(worker.next_message().await == Some(WorkerMessage::Ready), "a child could not start");
    }
    let (over, is_over) = watch::channel(false);
    let mut listeners = JoinSet::new();
    for (place, worker) in (0..).zip(workers) {
        let is_over = is_over.clone();
        listeners.spawn(async move { (place, follow(worker, is_over).await) });
    }
    let largest_log = watch_log(&path, Duration::from_secs(plan.seconds)).await;
    over.send(true).context("all children ended early")?;
    let mut results = Results::new(&plan);
    while let Some(ended) = listeners.join_next().await {
        let (place, ended) = ended?;
        results.add(place, ended?);
    }
    results.finish(&plan, &path, largest_log)?;
    Ok(folder.close(&results.violations, plan.seed.into()))
}

/// Reads the messages of a child until the time is over and the child has exited.
async fn follow(mut worker: Worker, mut is_over: watch::Receiver<bool>) -> Result<Ended> {
    worker.begin().await;
    let mut said = Vec::new();
    loop {
        tokio::select! {
            heard = worker.next_message() => match heard {
                Some(heard) => said.push(heard),
                None => break,
            },
            _ = is_over.wait_for(|over| *over) => break,
        }
    }
    let ended = worker.stop().await?;
    said.extend(ended.said);
    Ok(Ended { said, ..ended })
}

/// The maximum size of the write-ahead log during this time, in bytes.
async fn watch_log(path: &Path, time: Duration) -> u64 {
    let log = path.with_file_name("state.db-wal");
    let mut largest = 0;
    let watching = async {
        loop {
            largest = largest.max(std::fs::metadata(&log).map_or(0, |log| log.len()));
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let _: Result<(), _> = tokio::time::timeout(time, watching).await;
    largest
}

/// The sum over all children.
struct Results {
    rows: Vec<u64>,
    appends: Times,
    searches: Times,
    counts: Counts,
    acknowledged: Acknowledged,
    violations: Vec<String>,
}

#[derive(Default)]
struct Counts {
    appends: u64,
    searches: u64,
    incomplete: u64,
    failed_writers: u64,
    failed_searchers: u64,
    commits: u64,
    full_commits: u64,
}

impl Results {
    fn new(plan: &Plan) -> Self {
        Self {
            rows: vec![0; plan.writers as usize],
            appends: Times::default(),
            searches: Times::default(),
            counts: Counts::default(),
            acknowledged: Acknowledged::default(),
            violations: Vec::new(),
        }
    }

    fn add(&mut self, place: u32, ended: Ended) {
        let writer = self.rows.get_mut(place as usize);
        if let Some(failure) = ended.failure {
            let kind = if writer.is_some() { "writer" } else { "searcher" };
            match &writer {
                Some(_) => self.counts.failed_writers += 1,
                None => self.counts.failed_searchers += 1,
            }
            self.violations.push(format!("{kind} {place} failed: {failure}"));
        }
        let mut rows = 0;
        for said in ended.said {
            match said {
                WorkerMessage::Ready => {}
                WorkerMessage::Acked { number, count, micros } => {
                    self.acknowledged.add(place, 0, number);
                    rows += u64::from(count);
                    self.counts.appends += 1;
                    self.appends.add(micros);
                }
                WorkerMessage::Found { complete, micros } => {
                    self.counts.searches += 1;
                    self.counts.incomplete += u64::from(!complete);
                    self.searches.add(micros);
                }
                WorkerMessage::Commits { all, full } => {
                    self.counts.commits += all;
                    self.counts.full_commits += full;
                }
            }
        }
        if let Some(writer) = writer {
            *writer = rows;
        }
    }

    /// Checks the database and prints the table.
    fn finish(&mut self, plan: &Plan, path: &Path, largest_log: u64) -> Result<()> {
        let verdict = judge(path, &self.acknowledged)?;
        let found = findings(path);
        let (lost, unsound) = (verdict.violations.len(), found.len());
        self.violations.extend(verdict.violations);
        self.violations.extend(found);
        let counts = &self.counts;
        let rows: u64 = self.rows.iter().sum();
        let least = self.rows.iter().min().copied().unwrap_or_default();
        let most = self.rows.iter().max().copied().unwrap_or_default();
        let lines = [
            (
                "plan",
                format!(
                    "{} writers, {} searchers, {} s, seed {}",
                    plan.writers, plan.searchers, plan.seconds, plan.seed
                ),
            ),
            ("rows acknowledged", format!("{rows} ({} a second)", rows / plan.seconds.max(1))),
            ("rows of a writer", format!("least {least}, most {most}")),
            ("one append", self.appends.to_string()),
            (
                "commits",
                format!(
                    "{}, of them synced {}; {:.2} rows each",
                    counts.commits,
                    counts.full_commits,
                    rows as f64 / counts.commits.max(1) as f64
                ),
            ),
            (
                "searches",
                format!("{}, of them on an index that was behind {}", counts.searches, counts.incomplete),
            ),
            ("one search", self.searches.to_string()),
            ("largest log", format!("{:.1} MiB", largest_log as f64 / f64::from(1 << 20))),
            ("failed writers, searchers", format!("{}, {}", counts.failed_writers, counts.failed_searchers)),
            ("rows lost, doubled, out of order", lost.to_string()),
            ("findings of verify", unsound.to_string()),
        ];
        let table: String = lines.iter().map(|(name, value)| format!("{name:<34}{value}\n")).collect();
        crate::say(&table)
    }
}

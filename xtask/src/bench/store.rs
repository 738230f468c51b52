//! The cost of the session store, compared with SQLite doing the same work.
//!
//! Both sides run in this process, alternating, on the same files; CPU time is that of the whole process,
//! including the store's threads.

mod append;
mod data;
mod open;
mod search;

use super::row::Row;
use super::{note, table};
use crate::flags::Flags;
use crate::resource_usage::process_cpu;
use anyhow::{Context, Result};
use hermes_store::{Clock, SessionDb};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const FULL: Effort = Effort { sizes: &[100_000, 1_000_000], rounds: 9, appends: 400 };
const QUICK: Effort = Effort { sizes: &[20_000], rounds: 3, appends: 100 };

#[derive(Debug, Clone, Copy)]
struct Effort {
    /// The number of searched messages.
    sizes: &'static [u32],
    rounds: usize,
    /// Rows per round.
    appends: u32,
}

pub(super) fn run(mut flags: Flags) -> Result<()> {
    let effort = if flags.has("--quick") { QUICK } else { FULL };
    let as_json = flags.has("--json");
    let sizes = if flags.has("--append-only") { &[] } else { effort.sizes };
    flags.finish()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut rows = Vec::new();
    note("appending");
    rows.extend(append::rows(&runtime, effort)?);
    for &size in sizes {
        note(&format!("making {size} messages"));
        let home = tempfile::tempdir()?;
        let path = home.path().join("state.db");
        data::fill(&path, size)?;
        note("indexing them");
        rows.push(search::indexing(&runtime, &path, size)?);
        note("searching");
        rows.extend(search::rows(&runtime, &path, size, effort)?);
        if size == effort.sizes[0] {
            rows.extend(open::rows(&runtime, &path, effort)?);
        }
    }
    let text = if as_json { table::json(&rows) } else { table::text(&rows) };
    crate::say(&text)
}

fn open_store(path: &Path) -> Result<SessionDb> {
    let clock: Clock = Arc::new(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0.0, |now| now.as_secs_f64())
    });
    SessionDb::open(path, clock).with_context(|| format!("cannot open {}", path.display()))
}

/// CPU time of this process during `work`.
pub(super) fn cpu_of<T>(work: impl FnOnce() -> Result<T>) -> Result<(Duration, T)> {
    let before = process_cpu(std::process::id())?;
    let answer = work()?;
    Ok((process_cpu(std::process::id())?.saturating_sub(before), answer))
}

fn wall_of<T>(work: impl FnOnce() -> Result<T>) -> Result<(Duration, T)> {
    let start = Instant::now();
    let answer = work()?;
    Ok((start.elapsed(), answer))
}

pub(super) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Two implementations of the same work, measured alternately.
fn side_by_side(
    rounds: usize,
    mut ours: impl FnMut() -> Result<Duration>,
    mut theirs: impl FnMut() -> Result<Duration>,
) -> Result<(Duration, Duration)> {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        times.0.push(ours()?);
        times.1.push(theirs()?);
    }
    Ok((median(times.0), median(times.1)))
}

type Rows = Result<Vec<Row>>;

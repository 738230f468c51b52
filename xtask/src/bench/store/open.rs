//! Opening an up-to-date database, and loading a long session.

use super::data::{LONG, LONG_MESSAGES};
use super::{Effort, Rows, cpu_of, open_store, side_by_side};
use crate::bench::row::{Quantity, Row, Target};
use anyhow::{Result, ensure};
use hermes_conversation::SessionId;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

pub(super) fn rows(runtime: &Runtime, path: &Path, effort: Effort) -> Rows {
    Ok(vec![opening(path, effort)?, loading(runtime, path, effort)?])
}

fn opening(path: &Path, effort: Effort) -> Result<Row> {
    let before = std::fs::read(path)?;
    let (ours, theirs) = side_by_side(
        effort.rounds,
        || repeated(|| open_store(path).map(drop)),
        || repeated(|| plainly_opened(path)),
    )?;
    ensure!(std::fs::read(path)? == before, "opening changed {}", path.display());
    Ok(Row::new("open an up-to-date database, CPU", ours)
        .beside("raw", theirs)
        .target(Target::Below(Quantity::Millis(2.0)))
        .note("the file is the same afterwards"))
}

fn repeated(mut open: impl FnMut() -> Result<()>) -> Result<Duration> {
    let repeats = 20;
    let (cpu, ()) = cpu_of(|| (0..repeats).try_for_each(|_| open()))?;
    Ok(cpu / repeats)
}

fn plainly_opened(path: &Path) -> Result<()> {
    let db = Connection::open(path)?;
    db.query_row("SELECT version FROM schema_version", [], |row| row.get::<_, i64>(0))?;
    Ok(())
}

fn loading(runtime: &Runtime, path: &Path, effort: Effort) -> Result<Row> {
    let store = open_store(path)?;
    let raw = Connection::open(path)?;
    let wanted = usize::try_from(LONG_MESSAGES)?;
    let (ours, theirs) = side_by_side(
        effort.rounds,
        || {
            let (cpu, stored) = cpu_of(|| Ok(runtime.block_on(store.load(&SessionId::new(LONG)))?))?;
            ensure!(stored.messages.len() == wanted, "{} messages were loaded", stored.messages.len());
            Ok(cpu)
        },
        || {
            let (cpu, found) = cpu_of(|| selected(&raw))?;
            ensure!(found == wanted, "{found} rows were selected");
            Ok(cpu)
        },
    )?;
    Ok(Row::new(format!("load a session of {LONG_MESSAGES} messages, CPU"), ours)
        .beside("SELECT", theirs)
        .target(Target::Times(3.0)))
}

/// All columns of a message, read with plain SQLite.
fn selected(raw: &Connection) -> Result<usize> {
    let mut find = raw.prepare_cached(
        "SELECT role, content, tool_call_id, tool_calls, tool_name, finish_reason, reasoning, api_content
         FROM messages WHERE session_id = ?1 AND active = 1 ORDER BY id",
    )?;
    let mut rows = find.query([LONG])?;
    let mut kept: Vec<Vec<Option<String>>> = Vec::new();
    while let Some(row) = rows.next()? {
        kept.push((0..8).map(|column| row.get(column)).collect::<rusqlite::Result<_>>()?);
    }
    Ok(kept.len())
}

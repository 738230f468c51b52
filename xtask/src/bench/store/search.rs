//! Searching, compared with the ranked full-text query for the same rows.

use super::data::PLANTED;
use super::{Effort, Rows, cpu_of, open_store, side_by_side, wall_of};
use crate::bench::row::{Quantity, Row, Target};
use anyhow::{Result, ensure};
use hermes_store::{SearchFilter, SessionDb};
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

const PAGE: usize = 20;

/// Builds the index of pairs, as `hermes sessions reindex` and the first searches do.
pub(super) fn indexing(runtime: &Runtime, path: &Path, size: u32) -> Result<Row> {
    let store = open_store(path)?;
    let index = path.with_file_name("search.db");
    let (wall, (cpu, searches)) = wall_of(|| cpu_of(|| search_until_known(runtime, &store, &index, size)))?;
    let bytes = Quantity::Bytes(std::fs::metadata(&index)?.len() as f64);
    Ok(Row::new(format!("{size} messages into the index of pairs, CPU"), cpu)
        .note(format!("by {searches} searches, {:.1} s, {bytes}", wall.as_secs_f64())))
}

/// Each search extends the index.
fn search_until_known(runtime: &Runtime, store: &SessionDb, index: &Path, size: u32) -> Result<u32> {
    let mut searches = 0;
    loop {
        let filter = SearchFilter { limit: 1, ..SearchFilter::default() };
        runtime.block_on(store.search_with("蓝鲸", filter))?;
        searches += 1;
        let known: u32 =
            Connection::open(index)?.query_row("SELECT last FROM about", [], |row| row.get(0))?;
        if known >= size {
            return Ok(searches);
        }
    }
}

pub(super) fn rows(runtime: &Runtime, path: &Path, size: u32, effort: Effort) -> Rows {
    let store = open_store(path)?;
    let raw = Connection::open(path)?;
    let mut rows = Vec::new();
    for planted in PLANTED {
        let hits = size.div_ceil(planted.every);
        let word = format!("\"{}\"", planted.word);
        let signs = format!("\"{}\"", planted.signs);
        let part = format!("\"{}\"", planted.part);
        for (query, table, text, times) in [
            (planted.word, "messages_fts", &word, 2.0),
            (planted.signs, "messages_fts_trigram", &signs, 2.0),
            (planted.part, "messages_fts_trigram", &part, 2.0),
            (planted.pair, "messages_fts", &word, 4.0),
        ] {
            let (ours, theirs) = compared(runtime, &store, &raw, effort, (query, table, text))?;
            let name = format!("search {size}: `{query}`, {hits} hits, CPU");
            rows.push(Row::new(name, ours).beside("raw", theirs).target(Target::Times(times)));
            if query == planted.pair {
                let name = format!("search {size}: two characters, {hits} hits, CPU");
                rows.push(Row::new(name, ours).target(Target::Below(Quantity::Millis(50.0))));
            }
        }
    }
    Ok(rows)
}

fn compared(
    runtime: &Runtime,
    store: &SessionDb,
    raw: &Connection,
    effort: Effort,
    (query, table, text): (&str, &str, &str),
) -> Result<(Duration, Duration)> {
    // One short query is faster than the resolution of the clock.
    let repeats = 5;
    side_by_side(
        effort.rounds,
        || {
            let (cpu, ()) = cpu_of(|| (0..repeats).try_for_each(|_| searched(runtime, store, query)))?;
            Ok(cpu / repeats)
        },
        || {
            let (cpu, ()) = cpu_of(|| (0..repeats).try_for_each(|_| ranked(raw, table, text)))?;
            Ok(cpu / repeats)
        },
    )
}

fn searched(runtime: &Runtime, store: &SessionDb, query: &str) -> Result<()> {
    let filter = SearchFilter { limit: PAGE, ..SearchFilter::default() };
    let report = runtime.block_on(store.search_with(query, filter))?;
    ensure!(!report.hits.is_empty() && !report.loosened, "`{query}` found nothing");
    ensure!(report.complete, "the index is behind");
    Ok(())
}

/// The same columns of the same rows, best first, with snippets.
fn ranked(raw: &Connection, table: &str, text: &str) -> Result<()> {
    let mut find = raw.prepare_cached(&format!(
        "SELECT m.session_id, m.id, m.role, m.timestamp, snippet({table}, 0, '>>>', '<<<', '...', 40)
         FROM {table} JOIN messages AS m ON m.id = {table}.rowid WHERE {table} MATCH ?1 ORDER BY rank LIMIT {PAGE}"
    ))?;
    let found = find.query_map([text], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, i64>(1)?,
            row.get::<_, String>(2)?,
            row.get::<_, String>(4)?,
        ))
    })?;
    let found: Vec<_> = found.collect::<rusqlite::Result<_>>()?;
    ensure!(!found.is_empty(), "`{text}` found nothing");
    Ok(())
}

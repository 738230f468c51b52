//! A process that searches while others write.

use super::parent_link::ParentLink;
use super::writer::clock;
use crate::flags::Flags;
use anyhow::{Context, Result};
use hermes_store::{SearchFilter, SessionDb};
use std::path::PathBuf;
use std::time::Instant;

/// One query for each kind of search: terms, a phrase, a prefix, parts of terms, and one too short for the
/// index.
const QUERIES: [&str; 5] = ["configuration error", "\"returns an\"", "pars*", "日本語", "本"];

/// The process of `__store-searcher DATABASE`.
pub(crate) fn child(mut flags: Flags) -> Result<()> {
    let lifeline = ParentLink::watch();
    let path: PathBuf = flags.next().context("a searcher needs a database")?.into();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let db = SessionDb::open(&path, clock())?;
        crate::say("ready\n")?;
        lifeline.wait_to_begin()?;
        for query in QUERIES.iter().cycle() {
            if lifeline.is_stopping() {
                break;
            }
            let start = Instant::now();
            let report = db.search_with(query, SearchFilter::default()).await?;
            let took = start.elapsed().as_micros();
            crate::say(&format!("found {} {} {took}\n", report.hits.len(), u8::from(report.complete)))?;
        }
        Ok(())
    })
}

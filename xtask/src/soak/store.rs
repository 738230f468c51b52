//! Long runs of the session store alone: many processes on one database.
//!
//! `contend` runs writers and searchers concurrently and measures them; `kill` kills writers at random times
//! and restarts them. Both then compare the acknowledged rows with the stored ones. The writers and searchers
//! are separate processes of this program.

mod contend;
mod kill;
mod parent_link;
mod percentiles;
mod rows;
mod searcher;
mod verdict;
mod worker;
mod writer;

pub(crate) use searcher::child as searcher;
pub(crate) use writer::child as writer;

use crate::flags::Flags;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tempfile::TempDir;

const USAGE: &str = "say what to do to the store: `cargo xtask soak store contend|kill`";

pub(super) fn run(mut flags: Flags) -> Result<ExitCode> {
    let what = flags.next();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match what.as_deref() {
        Some("contend") => runtime.block_on(contend::run(contend::Plan::read(flags)?)),
        Some("kill") => runtime.block_on(kill::run(kill::Plan::read(flags)?)),
        _ => bail!(USAGE),
    }
}

/// A directory with one database, kept only after a violation.
struct Folder(TempDir);

impl Folder {
    fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("hermes-xtask-").tempdir();
        Ok(Self(folder.context("no temporary folder could be made")?))
    }

    fn database(&self) -> PathBuf {
        self.0.path().join("state.db")
    }

    /// Prints the violations, if any, and returns the exit code.
    fn close(self, violations: &[String], seed: u64) -> ExitCode {
        if violations.is_empty() {
            return ExitCode::SUCCESS;
        }
        for violation in violations {
            super::say(&format!("VIOLATED (seed {seed}): {violation}"));
        }
        super::say(&format!("  kept: {}", self.0.keep().display()));
        ExitCode::FAILURE
    }
}

/// The findings of the store's own verification.
fn findings(path: &Path) -> Vec<String> {
    let seen = hermes_store::verify(path);
    seen.findings.iter().map(|finding| format!("{}: {}", finding.check.as_str(), finding.text)).collect()
}

//! Long runs of the session store alone: many processes on one database.
//!
//! `contend` lets writers and searchers run side by side and measures them; `kill` ends writers
//! at random moments and starts them again. Both then hold what was acknowledged against what is
//! stored. The writers and searchers are this program itself, in processes of their own.

mod contend;
mod figures;
mod judge;
mod kill;
mod lifeline;
mod rows;
mod searcher;
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

/// A folder with one database in it, kept only if there is something to look at.
struct Folder(TempDir);

impl Folder {
    fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("hermes-xtask-").tempdir();
        Ok(Self(folder.context("no temporary folder could be made")?))
    }

    fn database(&self) -> PathBuf {
        self.0.path().join("state.db")
    }

    /// Prints what is wrong, if anything, and says how the program is to end.
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

/// What the store itself finds wrong with the file.
fn findings(path: &Path) -> Vec<String> {
    let seen = hermes_store::verify(path);
    seen.findings.iter().map(|finding| format!("{}: {}", finding.check.as_str(), finding.text)).collect()
}

//! The results of the runs.

use std::fmt;
use std::path::PathBuf;

/// The kinds of violations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Lost,
    Doubled,
    Orphan,
    Store,
    Prefix,
    Results,
    Rejected,
    Stuck,
    Different,
}

const KINDS: [(Kind, &str); 9] = [
    (Kind::Lost, "lost"),
    (Kind::Doubled, "doubled"),
    (Kind::Orphan, "orphans"),
    (Kind::Store, "store failures"),
    (Kind::Prefix, "prefix violations"),
    (Kind::Results, "calls without exactly one result"),
    (Kind::Rejected, "rejected requests"),
    (Kind::Stuck, "turns that did not finish"),
    (Kind::Different, "turns that left something else than undisturbed ones"),
];

/// The outcome of one run.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) kills: u32,
    pub(super) resumes: u32,
    /// Processes of tools that survived a kill, for the next process to end.
    pub(super) outlived: usize,
    /// Calls with unknown outcome.
    pub(super) unknown: usize,
    pub(super) found: Vec<Kind>,
    pub(super) violations: Vec<String>,
    /// The directory of a failed run, kept for inspection.
    pub(super) kept: Option<PathBuf>,
}

impl Outcome {
    pub(super) fn violated(&mut self, kind: Kind, what: impl Into<String>) {
        self.found.push(kind);
        self.violations.push(format!("{kind:?}: {}", what.into()));
    }
}

/// The sum over all runs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) runs: u32,
    pub(super) killed_runs: u32,
    pub(super) violations: usize,
    kills: u32,
    resumes: u32,
    outlived: usize,
    unknown: usize,
    found: Vec<Kind>,
}

impl Tally {
    pub(super) fn add(&mut self, outcome: &Outcome) {
        self.runs += 1;
        self.killed_runs += u32::from(outcome.kills > 0);
        self.kills += outcome.kills;
        self.resumes += outcome.resumes;
        self.outlived += outcome.outlived;
        self.unknown += outcome.unknown;
        self.violations += outcome.violations.len();
        self.found.extend(&outcome.found);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (runs, killed) = (self.runs, self.killed_runs);
        write!(f, "{runs} runs ({killed} killed), {} kills, {} resumes", self.kills, self.resumes)?;
        write!(f, ", {} processes outlived a kill for a while", self.outlived)?;
        write!(f, ", {} calls of unknown outcome", self.unknown)?;
        for (kind, name) in KINDS {
            let count = self.found.iter().filter(|found| **found == kind).count();
            write!(f, ", {count} {name}")?;
        }
        Ok(())
    }
}

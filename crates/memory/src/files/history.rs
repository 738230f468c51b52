//! The history of a memory file: changes with author, time and outcome.

use super::journal::{JournalEntries, Record, infer_outcome};
use super::{ChangeId, Target};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One change of a memory file.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub id: ChangeId,
    /// Seconds since 1970.
    pub at: f64,
    pub origin: Origin,
    pub session: Option<String>,
    /// `add`, `replace`, `remove`, `batch`, `undo` or `outside`.
    pub action: String,
    /// The change that this one undoes.
    pub undoes: Option<ChangeId>,
    pub before: Vec<String>,
    pub after: Vec<String>,
    pub outcome: ChangeOutcome,
}

impl Change {
    fn of(target: Target, record: Record, outcome: ChangeOutcome) -> Self {
        let id = |number| ChangeId { target, number };
        Self {
            id: id(record.change),
            at: record.at,
            origin: record.origin,
            session: record.session,
            action: record.action,
            undoes: record.undoes.map(id),
            before: record.before,
            after: record.after,
            outcome,
        }
    }

    /// The removed entries.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.before.iter().filter(|entry| !self.after.contains(entry)).map(String::as_str)
    }

    /// The added entries.
    pub fn added(&self) -> impl Iterator<Item = &str> {
        self.after.iter().filter(|entry| !self.before.contains(entry)).map(String::as_str)
    }
}

/// The origin of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    #[serde(rename = "person")]
    User,
    Model,
    /// A model that reviewed a session in the background.
    Review,
    /// Another program or an editor; detected at the next change.
    Outside,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            other => other.as_str(),
        })
    }
}

impl Origin {
    /// The value in the history file and in `--json` output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "person",
            Self::Model => "model",
            Self::Review => "review",
            Self::Outside => "outside",
        }
    }
}

/// The outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeOutcome {
    Made,
    /// The program stopped or failed before the file was replaced.
    NotMade,
    /// The program stopped meanwhile, and the file was changed by others since.
    Unclear,
}

impl ChangeOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::NotMade => "not_made",
            Self::Unclear => "unclear",
        }
    }
}

/// Returns the changes with outcomes. A missing outcome is inferred from the entries that the next change
/// found, or, for the last change, from the current file.
pub(super) fn described(target: Target, known: JournalEntries, current: &[String]) -> Vec<Change> {
    let outcome = |at: usize, record: &Record| {
        let locked = known.records.get(at + 1).map_or(current, |next| &next.before);
        known.outcome(record.change).unwrap_or_else(|| infer_outcome(record, locked))
    };
    let outcomes: Vec<ChangeOutcome> =
        known.records.iter().enumerate().map(|(at, record)| outcome(at, record)).collect();
    known
        .records
        .into_iter()
        .zip(outcomes)
        .map(|(record, outcome)| Change::of(target, record, outcome))
        .collect()
}

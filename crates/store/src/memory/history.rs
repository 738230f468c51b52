//! What a history says: who changed what, when, and what became of it.

use super::journal::{JournalEntries, Record, infer_outcome};
use super::{ChangeId, Target};
use serde::{Deserialize, Serialize};

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
    /// The change that this one took back.
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

    /// The entries that it took away.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.before.iter().filter(|entry| !self.after.contains(entry)).map(String::as_str)
    }

    /// The entries that it brought.
    pub fn added(&self) -> impl Iterator<Item = &str> {
        self.after.iter().filter(|entry| !self.before.contains(entry)).map(String::as_str)
    }
}

/// Who changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    #[serde(rename = "person")]
    User,
    Model,
    /// A model that looked back on a session in the background.
    Review,
    /// Another program, or an editor: found when the file was next changed here.
    Outside,
}

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "person",
            Self::Model => "model",
            Self::Review => "review",
            Self::Outside => "outside",
        }
    }
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeOutcome {
    Made,
    /// The program was stopped, or failed, before the file was replaced.
    NotMade,
    /// The program was stopped on the way, and the file was changed by others since.
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

/// The changes, with an end also for those that have none written down: what the file held afterwards is
/// what the next change found, and after the last one what it holds now.
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

//! Decides what taking a change back means, also when others came after it.

use super::{Change, ChangeId, ChangeOutcome, MemoryError, Origin};
use std::collections::BTreeSet;

/// The change to take back: the one that is named, or the newest that still counts.
pub(super) fn chosen(history: &[Change], wanted: Option<ChangeId>) -> Result<&Change, MemoryError> {
    let undone = undone(history);
    let Some(id) = wanted else {
        // What other programs did is theirs, unless it is named; and going back twice goes back further.
        let counts = |change: &&Change| {
            change.outcome == ChangeOutcome::Made
                && change.origin != Origin::Outside
                && change.undoes.is_none()
                && !undone.contains(&change.id)
        };
        return history.iter().rfind(counts).ok_or(MemoryError::NothingToUndo);
    };
    let found = history.iter().find(|change| change.id == id);
    let change = found.ok_or_else(|| MemoryError::UnknownChange { id: id.to_string() })?;
    match change.outcome {
        ChangeOutcome::NotMade => Err(MemoryError::NeverMade { id }),
        _ if undone.contains(&id) => Err(MemoryError::AlreadyUndone { id }),
        ChangeOutcome::Made | ChangeOutcome::Unclear => Ok(change),
    }
}

/// Changes that were taken back, and not brought back since.
pub(super) fn undone(history: &[Change]) -> BTreeSet<ChangeId> {
    let mut undone = BTreeSet::new();
    for change in history.iter().rev().filter(|change| change.outcome == ChangeOutcome::Made) {
        if let Some(earlier) = change.undoes
            && !undone.contains(&change.id)
        {
            undone.insert(earlier);
        }
    }
    undone
}

/// The entries without what a change did. Entries of other changes stay.
pub(super) fn reversed(current: &[String], change: &Change) -> Result<Vec<String>, MemoryError> {
    if current == change.after {
        return Ok(change.before.clone());
    }
    let mut entries = current.to_vec();
    for added in change.added() {
        let Some(at) = entries.iter().position(|entry| entry == added) else {
            return Err(MemoryError::ChangedSince { id: change.id, entry: super::change::preview(added) });
        };
        entries.remove(at);
    }
    for removed in change.removed() {
        if !entries.iter().any(|entry| entry == removed) {
            let at = change.before.iter().position(|entry| entry == removed).unwrap_or(0);
            entries.insert(at.min(entries.len()), removed.to_owned());
        }
    }
    Ok(entries)
}

#[cfg(test)]
#[path = "undo_tests.rs"]
mod tests;

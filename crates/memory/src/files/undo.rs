//! Decides the effect of an undo, also after later changes.

use super::{Change, ChangeId, ChangeOutcome, MemoryError, Origin};
use std::collections::BTreeSet;

/// Returns the change to undo: the named one, or the newest effective one.
pub(super) fn chosen(history: &[Change], wanted: Option<ChangeId>) -> Result<&Change, MemoryError> {
    let undone = undone(history);
    let Some(id) = wanted else {
        // Changes of other programs are undone only by name; and a second undo goes back further.
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

/// Returns the changes that were undone and not redone since.
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

/// Returns the entries without the effect of a change. Entries of other changes stay.
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

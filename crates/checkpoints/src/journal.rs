//! The journal of a project: checkpoints, and the changes that the agent made after each.
//!
//! A restore compares it with the files to tell changes of the agent from edits by hand. What is missing in it, after a
//! crash or because another release took the checkpoint, counts as an edit by hand: it is never overwritten silently.

use crate::CheckpointError;
use crate::tree::{Changed, Version};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A checkpoint was taken, with this tree.
    Checkpoint { tree: String },
    /// The agent changed a file.
    Change { path: String, before: Option<Version>, after: Option<Version> },
}

impl From<Changed> for Entry {
    fn from(change: Changed) -> Self {
        Self::Change { path: change.path, before: change.before, after: change.after }
    }
}

/// Adds lines. A line that a crash cut off is ended first.
pub(crate) fn append(file: &Path, entries: &[Entry]) -> Result<(), CheckpointError> {
    if entries.is_empty() {
        return Ok(());
    }
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory).map_err(CheckpointError::io("create", directory))?;
    }
    let mut text = String::new();
    for entry in entries {
        let line = serde_json::to_string(entry).map_err(std::io::Error::other);
        text.push('\n');
        text.push_str(&line.map_err(CheckpointError::io("write", file))?);
    }
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(file);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(CheckpointError::io("write", file))
}

/// Reads the journal. Lines that cannot be read are left out.
pub(crate) fn read(file: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Writes the journal again with the entries since its `most` newest checkpoints.
pub(crate) fn shorten(file: &Path, most: usize) -> Result<(), CheckpointError> {
    let entries = read(file);
    let starts: Vec<usize> = entries
        .iter()
        .enumerate()
        .filter_map(|(place, entry)| matches!(entry, Entry::Checkpoint { .. }).then_some(place))
        .collect();
    let Some(first) =
        starts.len().checked_sub(most).filter(|dropped| *dropped > 0).map(|dropped| starts[dropped])
    else {
        return Ok(());
    };
    let fresh = file.with_extension("new");
    let removed = std::fs::remove_file(&fresh);
    if let Err(error) = removed.or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }) {
        return Err(CheckpointError::io("remove", fresh)(error));
    }
    append(&fresh, &entries[first..])?;
    std::fs::rename(&fresh, file).map_err(CheckpointError::io("write", file))
}

/// The changes of the agent by path, oldest first.
pub(crate) type Changes = HashMap<String, Vec<(Option<Version>, Option<Version>)>>;

/// The changes since a checkpoint. `trees` has the trees of all checkpoints from the newest to that one. `None` if the
/// journal does not have that checkpoint.
pub(crate) fn changes_since(entries: &[Entry], trees: &[String]) -> Option<Changes> {
    let mut place = entries.len();
    // Checkpoints are found by their trees from the newest on: their ids change when older ones are dropped.
    for tree in trees {
        let is_it = |entry: &Entry| matches!(entry, Entry::Checkpoint { tree: other } if other == tree);
        place = entries[..place].iter().rposition(is_it)?;
    }
    let mut changes = Changes::new();
    for entry in &entries[place..] {
        if let Entry::Change { path, before, after } = entry {
            changes.entry(path.clone()).or_default().push((before.clone(), after.clone()));
        }
    }
    Some(changes)
}

/// The author of the difference between a checkpoint and the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    Agent,
    Hand,
    Both,
}

/// Determines who made the difference between `target`, in the checkpoint, and `current`.
pub(crate) fn author(
    target: Option<&Version>,
    current: Option<&Version>,
    changes: &[(Option<Version>, Option<Version>)],
) -> Author {
    let mut known = target;
    for (before, after) in changes {
        // A change by hand back to the checkpoint is not lost by a restore either.
        if before.as_ref() == known || before.as_ref() == target {
            known = after.as_ref();
        } else if after.as_ref() != known {
            // An edit by hand between two changes of the agent. If both lead to the same content, none is left, or the
            // change was noted twice.
            return Author::Both;
        }
    }
    match (known == target, known == current) {
        (true, _) => Author::Hand,
        (false, true) => Author::Agent,
        (false, false) => Author::Both,
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;

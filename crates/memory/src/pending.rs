//! Changes of the memory that wait for the user's approval: one JSON file each under `pending/memory`.
//!
//! The format is that of the Python release; `payload` has the arguments of the tool.

use crate::files::{Op, Target};
use hermes_config::clock;
use hermes_config::home::{Home, PRIVATE_FILE, ensure_private_dir, write_atomically};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// A change of the memory that waits for approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingChange {
    pub id: String,
    subsystem: String,
    action: String,
    /// The change in one line.
    pub summary: String,
    /// The id of the session that asked for it.
    pub origin: String,
    pub created_at: f64,
    payload: Payload,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Payload {
    target: String,
    operations: Vec<Operation>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Operation {
    action: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    content: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    old_text: String,
}

impl PendingChange {
    fn new(id: String, target: Target, ops: &[Op], origin: &str, now: f64) -> Self {
        Self {
            id,
            subsystem: "memory".to_owned(),
            action: if ops.len() == 1 { ops[0].name().to_owned() } else { "batch".to_owned() },
            summary: summary(target, ops),
            origin: origin.to_owned(),
            created_at: now,
            payload: Payload {
                target: target.as_str().to_owned(),
                operations: ops.iter().map(operation).collect(),
            },
        }
    }

    /// The change itself; `None` if the file names a target or an action that does not exist.
    pub fn change(&self) -> Option<(Target, Vec<Op>)> {
        let target = Target::ALL.into_iter().find(|target| target.as_str() == self.payload.target)?;
        let ops: Option<Vec<Op>> = self.payload.operations.iter().map(op).collect();
        ops.filter(|ops| !ops.is_empty()).map(|ops| (target, ops))
    }
}

/// The changes in one line.
pub(crate) fn summary(target: Target, ops: &[Op]) -> String {
    let each = ops.iter().map(|op| match op {
        Op::Add { content } => format!("add {content:?}"),
        Op::Replace { old_text, content } => format!("replace {old_text:?} with {content:?}"),
        Op::Remove { old_text } => format!("remove {old_text:?}"),
    });
    format!("{}: {}", target.file_name(), each.collect::<Vec<_>>().join("; "))
}

fn operation(op: &Op) -> Operation {
    let (content, old_text) = match op.clone() {
        Op::Add { content } => (content, String::new()),
        Op::Replace { old_text, content } => (content, old_text),
        Op::Remove { old_text } => (String::new(), old_text),
    };
    Operation { action: op.name().to_owned(), content, old_text }
}

fn op(operation: &Operation) -> Option<Op> {
    let Operation { action, content, old_text } = operation.clone();
    Some(match action.as_str() {
        "add" => Op::Add { content },
        "replace" => Op::Replace { old_text, content },
        "remove" => Op::Remove { old_text },
        _ => return None,
    })
}

/// Stores a change until the user decides, and returns its id.
pub(crate) fn stage(home: &Path, target: Target, ops: &[Op], origin: &str) -> io::Result<String> {
    let id = format!("{:08x}", rand::random::<u32>());
    let change = PendingChange::new(id.clone(), target, ops, origin, clock::now());
    for dir in [home.join("pending"), folder(home)] {
        ensure_private_dir(&dir).map_err(io::Error::other)?;
    }
    let text = serde_json::to_vec_pretty(&change)?;
    write_atomically(&file(home, &id), &text, PRIVATE_FILE).map_err(io::Error::other)?;
    Ok(id)
}

/// Returns the pending changes, oldest first. Files that cannot be read are skipped.
pub fn pending(home: &Home) -> Vec<PendingChange> {
    let entries = std::fs::read_dir(folder(home.path())).into_iter().flatten().flatten();
    let read = |path: PathBuf| serde_json::from_slice::<PendingChange>(&std::fs::read(path).ok()?).ok();
    let mut all: Vec<PendingChange> = entries.filter_map(|entry| read(entry.path())).collect();
    all.sort_by(|a, b| a.created_at.total_cmp(&b.created_at).then_with(|| a.id.cmp(&b.id)));
    all
}

/// Removes a change that the user approved or rejected.
pub fn forget_pending(home: &Home, change: &PendingChange) -> io::Result<()> {
    match is_id(&change.id) {
        true => std::fs::remove_file(file(home.path(), &change.id)),
        false => Err(io::Error::other("its id is not one of ours; remove the file by hand")),
    }
}

/// Ids are parts of file names, so only letters and digits are valid.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|char| char.is_ascii_alphanumeric())
}

fn folder(home: &Path) -> PathBuf {
    home.join("pending").join("memory")
}

fn file(home: &Path, id: &str) -> PathBuf {
    folder(home).join(format!("{id}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_back_as_it_was_staged() {
        let home = hermes_testkit::TempHome::new();
        let ops = vec![
            Op::Add { content: "likes tea".into() },
            Op::Replace { old_text: "a".into(), content: "b".into() },
            Op::Remove { old_text: "c".into() },
        ];
        let id = stage(home.path(), Target::User, &ops, "s1").unwrap();
        let home = Home::at(home.path().to_owned());
        let all = pending(&home);
        assert_eq!((all.len(), all[0].id.as_str(), all[0].origin.as_str()), (1, id.as_str(), "s1"));
        assert_eq!(all[0].change(), Some((Target::User, ops)));
        assert_eq!(all[0].summary, "USER.md: add \"likes tea\"; replace \"a\" with \"b\"; remove \"c\"");
        forget_pending(&home, &all[0]).unwrap();
        assert_eq!(pending(&home), []);
    }

    #[test]
    fn an_id_that_is_a_path_is_not_removed() {
        let home = hermes_testkit::TempHome::new();
        let mut change = PendingChange::new("x".into(), Target::Memory, &[], "s", 0.0);
        change.id = "../../config".to_owned();
        assert!(forget_pending(&Home::at(home.path().to_owned()), &change).is_err());
    }
}

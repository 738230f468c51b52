//! Restoring a checkpoint: which files go back, which are kept because they were edited by hand, and which refuse it.

use crate::apply::{Write, apply};
use crate::journal::{Author, Changes, Entry, author, changes_since};
use crate::layout::key;
use crate::tree::{Changed, Version};
use crate::walk::is_plain;
use crate::{Checkpoint, CheckpointError, CheckpointStore, journal};
use std::collections::HashSet;
use std::path::Path;

/// A restore as a user asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restore {
    /// The number of the checkpoint, or the beginning of its hash.
    pub wanted: String,
    /// Files and directories to restore; everything if empty.
    pub files: Vec<String>,
    /// Also restores files that were edited by hand.
    pub force: bool,
}

/// A file that was edited by hand and refuses a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub path: String,
    /// It is part of the checkpoint that is taken before a forced restore.
    pub is_saved: bool,
    is_known: bool,
}

impl Conflict {
    pub fn reason(&self) -> &'static str {
        match (self.is_saved, self.is_known) {
            (false, _) => {
                "exists, but is excluded from checkpoints, so it cannot be saved before it is replaced"
            }
            (true, true) => "was edited by hand",
            (true, false) => {
                "may have been edited by hand (the checkpoint has no record of the agent's changes)"
            }
        }
    }
}

/// A finished restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub checkpoint: Checkpoint,
    /// Files that have the content of the checkpoint again.
    pub restored: Vec<String>,
    /// Files that the checkpoint does not have and that were removed.
    pub removed: Vec<String>,
    /// Files that were edited by hand only, and left alone.
    pub kept: Vec<String>,
    /// Those of the restored and removed files that were edited by hand.
    pub forced: Vec<String>,
}

/// The decision about every file that differs from the checkpoint.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    restore: Vec<Changed>,
    kept: Vec<String>,
    conflicts: Vec<Conflict>,
}

impl CheckpointStore {
    /// Restores files of a project. The files as they are become a checkpoint first. Nothing is restored if a file has
    /// edits by hand that would be lost, unless `force` is set.
    pub async fn restore(&self, project: &Path, request: &Restore) -> Result<Restored, CheckpointError> {
        let files = request.files.iter().map(|file| inside(project, file)).collect::<Result<Vec<_>, _>>()?;
        if !self.layout.exists() {
            return Err(CheckpointError::None { project: project.to_owned() });
        }
        self.ensure(project).await?;
        let _held = self.lock(project).await?;
        let (checkpoint, entries, trees) = self.history(project, &request.wanted).await?;
        let now = self.snapshot(project).tree().await?;
        let changes = self.changes(project, &checkpoint.tree, &now).await?;
        let changes: Vec<Changed> =
            changes.into_iter().filter(|change| is_among(&change.path, &files)).collect();
        if let (true, Some(path)) = (changes.is_empty(), request.files.first()) {
            let (path, wanted) = (path.clone(), request.wanted.clone());
            return Err(CheckpointError::NothingAt { path, wanted });
        }
        let by_agent = changes_since(&entries, &trees);
        let saved: HashSet<String> = changes
            .iter()
            .filter(|change| change.after.is_some())
            .map(|change| change.path.clone())
            .collect();
        let plan =
            plan(changes, by_agent.as_ref(), !files.is_empty(), |path| is_unsaved(project, path, &saved));
        let can_force = request.force && plan.conflicts.iter().all(|conflict| conflict.is_saved);
        if !plan.conflicts.is_empty() && !can_force {
            return Err(CheckpointError::Conflicts { conflicts: plan.conflicts });
        }
        if !plan.restore.is_empty() {
            let reason = format!("pre-rollback snapshot (restoring to {})", short(&checkpoint.hash));
            self.commit(project, &now, &reason).await?;
            self.write_back(project, &checkpoint.tree, &plan.restore).await?;
        }
        Ok(finished(checkpoint, plan))
    }

    /// The checkpoint, the journal of the project, and the trees from the newest checkpoint to that one.
    async fn history(
        &self,
        project: &Path,
        wanted: &str,
    ) -> Result<(Checkpoint, Vec<Entry>, Vec<String>), CheckpointError> {
        let checkpoint = self.checkpoint(project, wanted).await?;
        let all = self.list(project).await?;
        let trees = all.into_iter().take(checkpoint.number).map(|one| one.tree).collect();
        Ok((checkpoint, journal::read(&self.layout.journal(&key(project))), trees))
    }

    async fn write_back(
        &self,
        project: &Path,
        tree: &str,
        changes: &[Changed],
    ) -> Result<(), CheckpointError> {
        let staging = tempfile::Builder::new().prefix("restore-").tempdir_in(self.layout.store());
        let staging = staging.map_err(CheckpointError::io("create a directory in", self.layout.store()))?;
        let paths: Vec<&str> = changes
            .iter()
            .filter(|change| change.before.is_some())
            .map(|change| change.path.as_str())
            .collect();
        let git = self.git(project);
        if !paths.is_empty() {
            let index = git.with_index(staging.path().join("index"));
            index.run(&["read-tree", tree]).await?;
            let prefix = format!("--prefix={}/files/", staging.path().display());
            let input = (paths.join("\0") + "\0").into_bytes();
            index.feed(&["checkout-index", &prefix, "-z", "--stdin"], input).await?;
        }
        self.refuse_changed(project, changes).await?;
        let writes = changes.iter().map(|change| Write {
            path: &change.path,
            version: change.before.as_ref(),
            staged: staging.path().join("files").join(&change.path),
        });
        let (done, failed) = apply(project, writes.collect());
        // What was restored before a failure is a change of the agent, too: a second attempt may go over it.
        let entries: Vec<Entry> = changes
            .iter()
            .filter(|change| done.contains(&change.path))
            .map(|change| Entry::Change {
                path: change.path.clone(),
                before: change.after.clone(),
                after: change.before.clone(),
            })
            .collect();
        journal::append(&self.layout.journal(&key(project)), &entries)?;
        match failed {
            None => Ok(()),
            Some((path, why)) => {
                Err(CheckpointError::Partly { done: done.len(), all: changes.len(), path, why })
            }
        }
    }

    /// Refuses files that changed since they were saved a moment ago.
    async fn refuse_changed(&self, project: &Path, changes: &[Changed]) -> Result<(), CheckpointError> {
        let modified = self.git(project).run(&["ls-files", "-z", "-m", "-d"]).await?;
        let modified: HashSet<&str> = modified.split_terminator('\0').collect();
        match changes.iter().find(|change| modified.contains(change.path.as_str())) {
            Some(change) => Err(CheckpointError::Changed { path: change.path.clone() }),
            None => Ok(()),
        }
    }
}

fn finished(checkpoint: Checkpoint, plan: Plan) -> Restored {
    let path = |change: &Changed| change.path.clone();
    let (restored, removed): (Vec<&Changed>, Vec<&Changed>) =
        plan.restore.iter().partition(|change| change.before.is_some());
    Restored {
        checkpoint,
        restored: restored.into_iter().map(path).collect(),
        removed: removed.into_iter().map(path).collect(),
        kept: plan.kept,
        forced: plan.conflicts.into_iter().map(|conflict| conflict.path).collect(),
    }
}

/// Decides about every file. `by_agent` has the recorded changes since the checkpoint; `None` if they are unknown.
/// A file that the user named is never just kept: it is restored or it refuses. Files with conflicts are in both lists.
fn plan(
    changes: Vec<Changed>,
    by_agent: Option<&Changes>,
    is_named: bool,
    is_unsaved: impl Fn(&str) -> bool,
) -> Plan {
    let mut plan = Plan::default();
    let mut by_hand = Vec::new();
    for change in changes {
        let is_file = |version: &Option<Version>| version.as_ref().is_none_or(Version::is_file);
        if !is_plain(&change.path) || !is_file(&change.before) || !is_file(&change.after) {
            continue;
        }
        let path = change.path.clone();
        if change.after.is_none() && is_unsaved(&path) {
            plan.conflicts.push(Conflict { path, is_saved: false, is_known: true });
            continue;
        }
        let of_path = by_agent.map(|by_agent| by_agent.get(&path).map(Vec::as_slice).unwrap_or_default());
        let by = of_path
            .map_or(Author::Both, |known| author(change.before.as_ref(), change.after.as_ref(), known));
        match by {
            Author::Hand if !is_named => by_hand.push(change),
            Author::Agent => plan.restore.push(change),
            Author::Hand | Author::Both => {
                plan.conflicts.push(Conflict { path, is_saved: true, is_known: by_agent.is_some() });
                plan.restore.push(change);
            }
        }
    }
    for change in by_hand {
        // A file or a link that was made by hand may be in the place of a directory.
        let place = std::slice::from_ref(&change.path);
        let is_in_the_way = |other: &Changed| other.before.is_some() && is_among(&other.path, place);
        match plan.restore.iter().any(is_in_the_way) {
            true => {
                plan.conflicts.push(Conflict { path: change.path.clone(), is_saved: true, is_known: true });
                plan.restore.push(change);
            }
            false => plan.kept.push(change.path),
        }
    }
    plan
}

/// Returns true if something that is not saved is at a path of the checkpoint, or is a link or a file in the place of a
/// directory above it. What is `saved` is decided about by itself, and so are the files of a directory.
fn is_unsaved(project: &Path, path: &str, saved: &HashSet<String>) -> bool {
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    for here in ends.map(|end| &path[..end]) {
        match project.join(here).symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return !saved.contains(here),
            Err(_) => return false,
        }
    }
    false
}

/// A path that a user named, relative to the project.
fn inside(project: &Path, file: &str) -> Result<String, CheckpointError> {
    let outside = || CheckpointError::Outside { path: file.to_owned(), project: project.to_owned() };
    let path = Path::new(file.trim());
    let relative = match path.is_absolute() {
        true => path.strip_prefix(project).map_err(|_| outside())?,
        false => path,
    };
    let text = relative.to_str().ok_or_else(outside)?.trim_start_matches("./").trim_end_matches('/');
    if is_plain(text) { Ok(text.to_owned()) } else { Err(outside()) }
}

fn is_among(path: &str, files: &[String]) -> bool {
    let is_it = |file: &String| {
        path == file || path.strip_prefix(file.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    files.is_empty() || files.iter().any(is_it)
}

fn short(hash: &str) -> &str {
    hash.get(..8).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_files_stay_in_the_project() {
        let project = Path::new("/p");
        for (file, want) in [
            ("a/b", Some("a/b")),
            ("./a/", Some("a")),
            ("/p/a", Some("a")),
            ("/q/a", None),
            ("../a", None),
            ("a/../../b", None),
            (".git/hooks/x", None),
            ("", None),
            ("/p", None),
        ] {
            assert_eq!(inside(project, file).ok().as_deref(), want, "{file}");
        }
        let files = ["src".to_owned()];
        assert!(is_among("src/a", &files) && is_among("src", &files) && !is_among("src2/a", &files));
    }

    #[test]
    fn every_file_is_decided_about_once() {
        let version = |id: &str| Some(Version::new("100644", id));
        let change = |path: &str, before, after| Changed { path: path.to_owned(), before, after };
        let changes = || {
            vec![
                change("agent", version("a"), version("b")),
                change("hand", version("a"), version("h")),
                change("both", version("a"), version("h")),
                change("ignored", version("a"), None),
                change(".git/config", version("a"), version("b")),
            ]
        };
        let by_agent: Changes = ["agent", "both"]
            .map(|path| (path.to_owned(), vec![(version("a"), version("b"))]))
            .into_iter()
            .collect();
        let conflicts = |plan: &Plan| plan.conflicts.iter().map(|one| one.path.clone()).collect::<Vec<_>>();
        let restored = |plan: &Plan| plan.restore.iter().map(|one| one.path.clone()).collect::<Vec<_>>();
        let all = plan(changes(), Some(&by_agent), false, |path| path == "ignored");
        assert_eq!(restored(&all), ["agent", "both"]);
        assert_eq!(all.kept, ["hand"]);
        assert_eq!(conflicts(&all), ["both", "ignored"]);
        assert!(!all.conflicts[1].is_saved);
        let named = plan(changes(), Some(&by_agent), true, |path| path == "ignored");
        assert_eq!(conflicts(&named), ["hand", "both", "ignored"]);
        let unknown = plan(changes(), None, false, |path| path == "ignored");
        assert_eq!(conflicts(&unknown), ["agent", "hand", "both", "ignored"]);
    }
}

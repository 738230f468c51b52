//! The current files of a project as a tree in the store, and as a commit.
//!
//! The index of the project keeps the times and sizes of saved files, so an unchanged file costs one `stat`. Git lists
//! what changed since the index was written while the files are listed here.

use crate::CheckpointError;
use crate::git::Git;
use crate::layout::reference;
use crate::tree::Version;
use crate::walk::{Wanted, files};
use rustix::fs::{Access, access};
use std::collections::HashSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// More files than these are written as one pack.
const MANY: usize = 500;

/// The files of one project. The caller holds its lock.
pub(crate) struct Snapshot {
    pub(crate) git: Git,
    pub(crate) wanted: Wanted,
    pub(crate) key: String,
    /// Bytes of the largest file that is saved.
    pub(crate) largest: u64,
}

/// The newest checkpoint of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tip {
    pub(crate) commit: String,
    pub(crate) tree: String,
}

impl Snapshot {
    /// Saves the files and returns the id of their tree.
    pub(crate) async fn tree(&self) -> Result<String, CheckpointError> {
        Ok(self.tree_and_tip().await?.0)
    }

    /// Saves the files and returns the id of their tree, and the newest checkpoint.
    pub(crate) async fn tree_and_tip(&self) -> Result<(String, Option<Tip>), CheckpointError> {
        self.remove_stale_lock();
        match self.attempt().await {
            Err(CheckpointError::Git { command, output }) => {
                // A clean-up of the Python release removes objects that only an index names.
                tracing::warn!(command, output, "the index of a project is built again");
                if let Some(index) = &self.git.index {
                    let _ = std::fs::remove_file(index);
                }
                self.attempt().await
            }
            other => other,
        }
    }

    async fn attempt(&self) -> Result<(String, Option<Tip>), CheckpointError> {
        let patience = self.git.timeout;
        let listing = ["ls-files", "-z", "-t", "-c", "-m", "-d"];
        let (files, tracked, tip) =
            tokio::join!(files(self.wanted.clone(), patience), self.git.run(&listing), self.tip());
        let (files, tracked, tip) = (files?, tracked?, tip?);
        let mut change = index_change(&files, &tracked);
        // Only the tree of a checkpoint certainly still exists.
        if change.is_empty()
            && let Some(tip) = &tip
            && self.known_tree().as_ref() == Some(&tip.tree)
        {
            return Ok((tip.tree.clone(), Some(tip.clone())));
        }
        let is_large = |path: &str| {
            let metadata = self.wanted.root.join(path).symlink_metadata();
            metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() > self.largest)
        };
        let (large, add): (Vec<&str>, Vec<&str>) = change.add.iter().partition(|path| is_large(path));
        let large: Vec<&str> = large.into_iter().filter(|path| change.is_tracked(path)).collect();
        change.add = add;
        change.remove.extend(large);
        if !change.remove.is_empty() {
            self.update(&["--force-remove"], &change.remove).await?;
        }
        if !change.add.is_empty() {
            self.add(&change.add).await?;
        }
        let tree = self.git.run(&["write-tree"]).await?.trim().to_owned();
        self.note_tree(&tree);
        Ok((tree, tip))
    }

    /// The tree of the index, if it is known that the index has not changed since it was written.
    fn known_tree(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.git.layout.tree(&self.key)).ok()?;
        let (stamp, tree) = text.split_once(' ')?;
        (stamp == self.index_stamp()?).then(|| tree.to_owned())
    }

    /// Notes the tree of the index. It is only a cache.
    fn note_tree(&self, tree: &str) {
        let file = self.git.layout.tree(&self.key);
        let directory = file.parent().map(std::fs::create_dir_all);
        if let (Some(stamp), Some(Ok(()))) = (self.index_stamp(), directory) {
            let _ = std::fs::write(file, format!("{stamp} {tree}"));
        }
    }

    /// Git replaces an index when it writes it, so inode, time and size tell two versions apart.
    fn index_stamp(&self) -> Option<String> {
        let metadata = self.git.index.as_ref()?.metadata().ok()?;
        let times = (metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec());
        Some(format!("{}:{}:{}.{}:{}.{}", metadata.ino(), metadata.len(), times.0, times.1, times.2, times.3))
    }

    /// Takes files into the index; those that cannot be read are left out.
    async fn add(&self, paths: &[&str]) -> Result<(), CheckpointError> {
        const ADD: [&str; 3] = ["--add", "--remove", "--replace"];
        let Err(error) = self.update(&ADD, paths).await else { return Ok(()) };
        let is_readable = |path: &&&str| {
            let path = self.wanted.root.join(path);
            path.is_symlink() || access(&path, Access::READ_OK).is_ok()
        };
        let (readable, unreadable): (Vec<&str>, Vec<&str>) =
            paths.iter().copied().partition(|path| is_readable(&path));
        if unreadable.is_empty() {
            return Err(error);
        }
        tracing::warn!(
            count = unreadable.len(),
            first = unreadable.first(),
            "unreadable files are not in a checkpoint"
        );
        self.update(&["--force-remove"], &unreadable).await?;
        self.update(&ADD, &readable).await
    }

    async fn update(&self, options: &[&str], paths: &[&str]) -> Result<(), CheckpointError> {
        let mut arguments = [&["update-index"], options, &["-z", "--stdin"]].concat();
        if paths.len() > MANY {
            // Many files go into one pack: creating a file for each takes most of the time.
            arguments.splice(0..0, ["-c", "core.bigFileThreshold=1", "-c", "pack.compression=1"]);
        }
        let mut input = paths.join("\0").into_bytes();
        input.push(0);
        // The first checkpoint of a large project writes every file.
        self.git.feed_within(&arguments, input, self.git.timeout * 2).await.map(drop)
    }

    /// The newest checkpoint, if there is one.
    pub(crate) async fn tip(&self) -> Result<Option<Tip>, CheckpointError> {
        let reference = reference(&self.key);
        let text = self.git.run(&["for-each-ref", "--format=%(objectname) %(tree)", &reference]).await?;
        let found = text.lines().next().and_then(|line| line.split_once(' '));
        Ok(found.map(|(commit, tree)| Tip { commit: commit.to_owned(), tree: tree.to_owned() }))
    }

    /// Makes a tree the newest checkpoint. Returns its commit.
    pub(crate) async fn commit(
        &self,
        tree: &str,
        tip: Option<&Tip>,
        reason: &str,
    ) -> Result<String, CheckpointError> {
        let mut arguments = vec!["commit-tree", tree, "-m", reason];
        if let Some(tip) = tip {
            arguments.extend(["-p", &tip.commit]);
        }
        let commit = self.git.run(&arguments).await?.trim().to_owned();
        let before = tip.map_or("", |tip| &tip.commit);
        self.git.run(&["update-ref", &reference(&self.key), &commit, before]).await?;
        Ok(commit)
    }

    /// The version of a single file as a tree would have it; `None` if there is no such file.
    pub(crate) async fn version(&self, path: &str) -> Result<Option<Version>, CheckpointError> {
        let full = self.wanted.root.join(path);
        let Ok(metadata) = full.symlink_metadata() else { return Ok(None) };
        if metadata.is_symlink() {
            let target = std::fs::read_link(&full).map_err(CheckpointError::io("read", &full))?;
            let bytes = target.into_os_string().into_encoded_bytes();
            let id = self.git.feed(&["hash-object", "--stdin", "--no-filters"], bytes).await?;
            return Ok(Some(Version::new("120000", id.trim())));
        }
        if !metadata.is_file() {
            return Ok(None);
        }
        let mode = if metadata.permissions().mode() & 0o100 == 0 { "100644" } else { "100755" };
        let id = self.git.run(&["hash-object", "--no-filters", "--", path]).await?;
        Ok(Some(Version::new(mode, id.trim())))
    }

    /// Removes the lock of an index whose git was killed. The lock of the project is held, so only a Python release
    /// could be using it, and it ends its git within two minutes.
    fn remove_stale_lock(&self) {
        let Some(index) = &self.git.index else { return };
        let lock = index.with_extension("lock");
        if is_older(&lock, Duration::from_secs(120)) {
            let _ = std::fs::remove_file(lock);
        }
    }
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = path.symlink_metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|since| since > age))
}

/// The difference between an index and the files.
#[derive(Debug, PartialEq, Eq)]
struct IndexChange<'a> {
    add: Vec<&'a str>,
    remove: Vec<&'a str>,
    /// The paths of the index, sorted.
    known: Vec<&'a str>,
}

impl IndexChange<'_> {
    fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }

    fn is_tracked(&self, path: &str) -> bool {
        self.known.binary_search(&path).is_ok()
    }
}

/// Compares the files with `git ls-files -z -t -c -m -d`, in which `C` marks a changed file and `R` a deleted one.
fn index_change<'a>(files: &'a [String], tracked: &'a str) -> IndexChange<'a> {
    let (mut known, mut changed) = (Vec::new(), HashSet::new());
    for entry in tracked.split_terminator('\0') {
        match entry.split_once(' ') {
            Some(("C" | "M", path)) => {
                changed.insert(path);
            }
            Some(("R", _)) | None => {}
            Some((_, path)) => known.push(path),
        }
    }
    known.dedup();
    let is_known = |path: &str| known.binary_search(&path).is_ok();
    let is_file = |path: &str| files.binary_search_by(|file| file.as_str().cmp(path)).is_ok();
    let (add, remove) = (
        files.iter().map(String::as_str).filter(|path| !is_known(path) || changed.contains(path)).collect(),
        known.iter().copied().filter(|path| !is_file(path)).collect(),
    );
    IndexChange { add, remove, known }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_new_and_missing_files_are_found() {
        let files = ["a", "b b", "d", "e"].map(str::to_owned);
        let tracked = "H a\0H b b\0C b b\0H c\0R c\0C c\0H e\0S f\0";
        let change = index_change(&files, tracked);
        assert_eq!((change.add.as_slice(), change.remove.as_slice()), (&["b b", "d"][..], &["c", "f"][..]));
        assert!(change.is_tracked("b b") && !change.is_tracked("d"));
        assert_eq!(index_change(&files, "").add.len(), 4);
    }
}

//! The checkpoints of all projects: list, difference, and the way to a project.

use crate::CheckpointError;
use crate::git::Git;
use crate::layout::{ATTRIBUTES, CONFIG, EXCLUDES, Layout, key, reference};
use crate::lock::{Held, lock};
use crate::project::{Found, existing_directory, project_of};
use crate::snapshot::Snapshot;
use crate::tree::{Changed, parse_raw_diff, parse_shortstat};
use crate::walk::Wanted;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The setting `checkpoints.enabled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enabled {
    /// In projects with a marker such as `.git` or `Cargo.toml`.
    Auto,
    /// In every directory but home directories.
    On,
    Off,
}

/// The settings and places of checkpoints.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// `<home>/checkpoints`.
    pub base: PathBuf,
    pub hermes_home: PathBuf,
    pub user_home: Option<PathBuf>,
    /// The `PATH` in which git is searched for.
    pub path: String,
    pub enabled: Enabled,
    pub max_snapshots: usize,
    /// Bytes of the store.
    pub max_total: u64,
    /// Bytes of a file that is saved.
    pub max_file: u64,
    pub auto_prune: bool,
    pub retention: Duration,
    pub delete_orphans: bool,
    pub min_interval: Duration,
    /// The time limit of one run of git.
    pub timeout: Duration,
}

/// One checkpoint. Number 1 is the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    pub number: usize,
    pub hash: String,
    pub short_hash: String,
    /// ISO 8601.
    pub timestamp: String,
    pub reason: String,
    /// Compared with the checkpoint before it.
    pub files_changed: u64,
    pub insertions: u64,
    pub deletions: u64,
    pub(crate) tree: String,
}

/// The changes of the files since a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub checkpoint: Checkpoint,
    /// A line per file, and the sum.
    pub stat: String,
    pub diff: String,
}

/// The checkpoints of all projects of a Hermes home.
#[derive(Debug, Clone)]
pub struct CheckpointStore {
    pub(crate) options: StoreOptions,
    pub(crate) layout: Layout,
}

/// The fields of `git log` that make a checkpoint.
/// Bytes of the index of about 2,000 files.
const SMALL_INDEX: u64 = 256 * 1024;
const LOG_FORMAT: &str = "--format=%x01%H%x00%h%x00%aI%x00%T%x00%s%x00";

impl CheckpointStore {
    pub fn new(options: StoreOptions) -> Self {
        let layout = Layout { base: options.base.clone() };
        Self { options, layout }
    }

    pub fn enabled(&self) -> Enabled {
        self.options.enabled
    }

    /// The project that checkpoints of `directory` are taken of.
    pub fn project_of(&self, directory: &Path) -> Result<PathBuf, CheckpointError> {
        let none = || CheckpointError::NoProject { project: directory.to_owned() };
        let found = self.find(directory)?.ok_or_else(none)?;
        Ok(found.root)
    }

    /// The project to save before a change at `directory`; `None` if the settings or the place exclude it.
    pub(crate) fn project_to_save(&self, directory: &Path) -> Result<Option<PathBuf>, CheckpointError> {
        let found = self.find(directory)?;
        let is_wanted = |found: &Found| match self.options.enabled {
            Enabled::Off => false,
            Enabled::On => true,
            Enabled::Auto => found.is_marked,
        };
        Ok(found.filter(is_wanted).map(|found| found.root))
    }

    fn find(&self, directory: &Path) -> Result<Option<Found>, CheckpointError> {
        let Some(directory) = existing_directory(directory) else { return Ok(None) };
        let user_home = self.options.user_home.as_deref().and_then(|home| home.canonicalize().ok());
        let hermes_home = self.hermes_home();
        let Some(found) = project_of(&directory, user_home.as_deref(), &hermes_home) else { return Ok(None) };
        match found.root.to_str() {
            Some(_) => Ok(Some(found)),
            None => Err(CheckpointError::NotUtf8 { path: found.root }),
        }
    }

    fn hermes_home(&self) -> PathBuf {
        self.options.hermes_home.canonicalize().unwrap_or_else(|_| self.options.hermes_home.clone())
    }

    /// Lists the checkpoints of a project, newest first.
    pub async fn list(&self, project: &Path) -> Result<Vec<Checkpoint>, CheckpointError> {
        if !self.layout.exists() || !self.has_tip(project).await? {
            return Ok(Vec::new());
        }
        let count = self.options.max_snapshots.to_string();
        let reference = reference(&key(project));
        let log = self
            .git(project)
            .run(&["log", LOG_FORMAT, "--shortstat", "--no-renames", "-n", &count, &reference, "--"])
            .await?;
        Ok(parse_log(&log))
    }

    /// Compares the files of a project with a checkpoint. `wanted` is a number or the beginning of a hash.
    pub async fn diff(&self, project: &Path, wanted: &str) -> Result<Difference, CheckpointError> {
        let checkpoint = self.checkpoint(project, wanted).await?;
        let _held = self.lock(project).await?;
        let now = self.snapshot(project).tree().await?;
        let git = self.git(project);
        let common = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"];
        let trees = [checkpoint.tree.as_str(), now.as_str(), "--"];
        let run = |option: &'static str| [common.as_slice(), &[option], &trees].concat();
        let stat = git.run(&run("--stat")).await?;
        let diff = git.run(&run("--patch")).await?;
        Ok(Difference { checkpoint, stat, diff })
    }

    /// The checkpoint that a user named, by its number or the beginning of its hash.
    pub(crate) async fn checkpoint(
        &self,
        project: &Path,
        wanted: &str,
    ) -> Result<Checkpoint, CheckpointError> {
        let all = self.list(project).await?;
        if all.is_empty() {
            return Err(CheckpointError::None { project: project.to_owned() });
        }
        let count = all.len();
        let unknown =
            || CheckpointError::Unknown { wanted: wanted.to_owned(), project: project.to_owned(), count };
        choose(all, wanted).ok_or_else(unknown)
    }

    pub(crate) fn git(&self, project: &Path) -> Git {
        Git {
            layout: self.layout.clone(),
            work_tree: project.to_owned(),
            index: Some(self.layout.index(&key(project))),
            timeout: self.options.timeout,
            path: self.options.path.clone(),
        }
    }

    pub(crate) fn snapshot(&self, project: &Path) -> Snapshot {
        let wanted = Wanted { root: project.to_owned(), hermes_home: self.hermes_home() };
        Snapshot { git: self.git(project), wanted, key: key(project), largest: self.options.max_file }
    }

    /// Takes the lock of a project.
    pub(crate) async fn lock(&self, project: &Path) -> Result<Held, CheckpointError> {
        lock(&self.layout.lock(&key(project)), project, self.options.timeout).await
    }

    /// Returns true if comparing the files of a project before and after a command is cheap: it has an index, and a
    /// small one. In other projects the changes of commands that look harmless are not noted.
    pub(crate) fn compares_cheaply(&self, project: &Path) -> bool {
        let index = self.layout.index(&key(project));
        index.metadata().is_ok_and(|index| index.len() <= SMALL_INDEX)
    }

    pub(crate) async fn has_tip(&self, project: &Path) -> Result<bool, CheckpointError> {
        Ok(self.layout.exists() && self.snapshot(project).tip().await?.is_some())
    }

    /// The files that differ between two trees.
    pub(crate) async fn changes(
        &self,
        project: &Path,
        from: &str,
        to: &str,
    ) -> Result<Vec<Changed>, CheckpointError> {
        if from == to {
            return Ok(Vec::new());
        }
        let arguments = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to];
        let text = self.git(project).run(&arguments).await?;
        Ok(parse_raw_diff(&text))
    }

    /// Creates the store if there is none.
    pub(crate) async fn ensure(&self, project: &Path) -> Result<(), CheckpointError> {
        let (base, store) = (&self.layout.base, self.layout.store());
        if self.layout.exists() {
            return self.complete();
        }
        let mut private = DirBuilder::new();
        private.recursive(true).mode(0o700);
        private.create(&store).map_err(CheckpointError::io("create", base))?;
        let _held = lock(&self.layout.lock("store"), project, self.options.timeout).await?;
        if self.layout.exists() {
            return Ok(());
        }
        let git = self.git(project);
        git.init().await?;
        self.complete()?;
        let config = store.join("config");
        let written = OpenOptions::new().append(true).open(&config);
        written
            .and_then(|mut file| file.write_all(CONFIG.as_bytes()))
            .map_err(CheckpointError::io("write", config))
    }

    /// Adds what a store of the Python release lacks.
    fn complete(&self) -> Result<(), CheckpointError> {
        let store = self.layout.store();
        // `git gc` removes empty directories without which git does not recognise the store.
        for name in ["info", "indexes", "projects", "refs/heads", "branches"] {
            let path = store.join(name);
            if !path.is_dir() {
                std::fs::create_dir_all(&path).map_err(CheckpointError::io("create", &path))?;
            }
        }
        let excludes = EXCLUDES.join("\n") + "\n";
        for (name, text) in [("info/exclude", excludes.as_str()), ("info/attributes", ATTRIBUTES)] {
            let path = store.join(name);
            if !path.exists() {
                std::fs::write(&path, text).map_err(CheckpointError::io("write", &path))?;
            }
        }
        Ok(())
    }
}

impl Git {
    /// Creates the bare store, without the sample hooks of the system.
    async fn init(&self) -> Result<(), CheckpointError> {
        let git = Self { index: None, ..self.clone() };
        // A bare repository has no work tree.
        git.run_bare(&["init", "--quiet", "--bare", "--template="]).await
    }
}

/// Finds a checkpoint by its number, or by the beginning of its hash.
fn choose(all: Vec<Checkpoint>, wanted: &str) -> Option<Checkpoint> {
    let number = wanted.parse::<usize>().ok().filter(|number| *number <= all.len());
    let is_hash = wanted.len() >= 4 && wanted.chars().all(|sign| sign.is_ascii_hexdigit());
    let hash = wanted.to_ascii_lowercase();
    let is_it = |one: &Checkpoint| Some(one.number) == number || (is_hash && one.hash.starts_with(&hash));
    all.into_iter().find(is_it)
}

/// Reads `git log` in [`LOG_FORMAT`] with `--shortstat`.
fn parse_log(log: &str) -> Vec<Checkpoint> {
    let parse = |(place, record): (usize, &str)| {
        let [hash, short_hash, timestamp, tree, reason, stat] = *record.splitn(6, '\0').collect::<Vec<_>>()
        else {
            return None;
        };
        let counts = parse_shortstat(stat);
        Some(Checkpoint {
            number: place + 1,
            hash: hash.to_owned(),
            short_hash: short_hash.to_owned(),
            timestamp: timestamp.to_owned(),
            reason: reason.to_owned(),
            files_changed: counts.files,
            insertions: counts.insertions,
            deletions: counts.deletions,
            tree: tree.to_owned(),
        })
    };
    log.split('\u{1}').skip(1).enumerate().filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_becomes_checkpoints() {
        let log = "\u{1}aaaa1\0aaaa\x002026-11-18T10:00:00+00:00\0t1\0before patch\0\n\n 2 files changed, 3 insertions(+)\n\
                   \u{1}bbbb2\0bbbb\x002026-11-18T09:00:00+00:00\0t2\0before write_file\0\n";
        let all = parse_log(log);
        let seen: Vec<_> =
            all.iter().map(|one| (one.number, one.reason.as_str(), one.files_changed)).collect();
        assert_eq!(seen, [(1, "before patch", 2), (2, "before write_file", 0)]);
        for (wanted, want) in [
            ("1", Some("aaaa1")),
            ("2", Some("bbbb2")),
            ("bbbb", Some("bbbb2")),
            ("BBBB2", Some("bbbb2")),
            ("3", None),
            ("0", None),
            ("-p", None),
            ("bbb", None),
            ("cccc", None),
            ("--output=/tmp/x", None),
        ] {
            assert_eq!(choose(all.clone(), wanted).map(|one| one.hash).as_deref(), want, "{wanted}");
        }
    }
}

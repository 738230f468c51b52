//! The files of a project that are saved: regular files and symbolic links, without what `.gitignore` and the fixed
//! patterns exclude. Their sizes are not read here.
//!
//! The list is made here and not by `git add`, so that a project cannot undo the fixed patterns (`!.env` in
//! `.gitignore`), a nested repository is saved as files, and no file is opened that is not a regular one.

use crate::CheckpointError;
use crate::layout::EXCLUDES;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Projects with more files have no checkpoints.
pub(crate) const MOST_FILES: usize = 50_000;
const THREADS: usize = 4;

/// The limits of a walk.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) root: PathBuf,
    /// Hermes' own directory, which is never saved.
    pub(crate) hermes_home: PathBuf,
}

/// Returns the paths to save, relative and sorted by bytes. The walk has a thread of its own that is left behind
/// after `patience`: a `.gitignore` that is a pipe would block it forever.
pub(crate) async fn files(wanted: Wanted, patience: Duration) -> Result<Vec<String>, CheckpointError> {
    let project = wanted.root.clone();
    let (send, receive) = tokio::sync::oneshot::channel();
    let spawned = std::thread::Builder::new().name("checkpoint walk".to_owned()).spawn(move || {
        // The receiver is gone after a timeout.
        let _ = send.send(walk(&wanted));
    });
    spawned.map_err(CheckpointError::io("start a thread for", &project))?;
    match tokio::time::timeout(patience, receive).await {
        Ok(Ok(found)) => found,
        Ok(Err(_)) | Err(_) => Err(CheckpointError::SlowWalk { project, after: patience }),
    }
}

fn walk(wanted: &Wanted) -> Result<Vec<String>, CheckpointError> {
    let paths = Mutex::new(Vec::new());
    let (count, is_too_many) = (AtomicUsize::new(0), AtomicBool::new(false));
    builder(wanted)?.build_parallel().run(|| {
        let mut own = Batch { paths: Vec::new(), all: &paths };
        let (count, is_too_many) = (&count, &is_too_many);
        Box::new(move |entry| {
            let Some(path) = entry.ok().and_then(|entry| saved_path(&entry, wanted)) else {
                return WalkState::Continue;
            };
            own.paths.push(path);
            if count.fetch_add(1, Ordering::Relaxed) >= MOST_FILES {
                is_too_many.store(true, Ordering::Relaxed);
                return WalkState::Quit;
            }
            WalkState::Continue
        })
    });
    if is_too_many.load(Ordering::Relaxed) {
        return Err(CheckpointError::TooManyFiles { project: wanted.root.clone(), limit: MOST_FILES });
    }
    let mut paths = paths.into_inner().unwrap_or_default();
    paths.sort_unstable();
    Ok(paths)
}

/// The paths that one thread found. They are added to those of all threads at its end.
struct Batch<'a> {
    paths: Vec<String>,
    all: &'a Mutex<Vec<String>>,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.all.lock() {
            all.append(&mut self.paths);
        }
    }
}

fn builder(wanted: &Wanted) -> Result<WalkBuilder, CheckpointError> {
    let mut builder = WalkBuilder::new(&wanted.root);
    builder
        .standard_filters(false)
        .git_ignore(true)
        .require_git(false)
        .follow_links(false)
        .overrides(excludes(&wanted.root)?)
        .threads(THREADS);
    let home = wanted.hermes_home.clone();
    builder.filter_entry(move |entry| entry.file_name() != ".git" && entry.path() != home);
    Ok(builder)
}

/// The fixed patterns. Overrides have precedence over `.gitignore`.
fn excludes(root: &Path) -> Result<Override, CheckpointError> {
    let mut overrides = OverrideBuilder::new(root);
    let wrong = |error: ignore::Error| CheckpointError::Io {
        doing: "read the excluded patterns of",
        path: root.to_owned(),
        source: std::io::Error::other(error),
    };
    for pattern in EXCLUDES {
        overrides.add(&format!("!{pattern}")).map_err(wrong)?;
    }
    overrides.build().map_err(wrong)
}

/// The path of an entry that is saved. Names that are not UTF-8 are left out.
fn saved_path(entry: &DirEntry, wanted: &Wanted) -> Option<String> {
    let kind = entry.file_type()?;
    let path = entry.path().strip_prefix(&wanted.root).ok()?.to_str()?;
    ((kind.is_file() || kind.is_symlink()) && is_plain(path)).then(|| path.to_owned())
}

/// Returns true if a path may be in a checkpoint: relative, without `..`, and not in a `.git` directory.
pub(crate) fn is_plain(path: &str) -> bool {
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
    !path.contains('\0') && path.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn list(root: &Path) -> Vec<String> {
        let root = root.canonicalize().unwrap();
        let wanted = Wanted { hermes_home: root.join("home"), root };
        walk(&wanted).unwrap()
    }

    #[test]
    fn excluded_and_special_files_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".gitignore", "!.env\n!*.log\nignored\n/deep/*\n!/deep/kept\n");
        for path in [
            "src/a.rs",
            ".env",
            "sub/.env.local",
            "x.log",
            "ignored",
            "deep/kept",
            "deep/left",
            "node_modules/m/i.js",
            ".git/config",
            "nested/.git/config",
            "nested/b",
            "home/state.db",
            ".hidden",
            "file with space\nand line",
        ] {
            write(path, "x");
        }
        symlink("/etc", dir.path().join("link")).unwrap();
        assert!(
            std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap().success()
        );
        let want = [
            ".gitignore",
            ".hidden",
            "deep/kept",
            "file with space\nand line",
            "link",
            "nested/b",
            "src/a.rs",
        ];
        assert_eq!(list(dir.path()), want);
    }

    #[test]
    fn paths_that_leave_the_project_are_not_plain() {
        for path in [
            "../a",
            "a/../../b",
            "/a",
            "",
            "a//b",
            ".git/hooks/pre-commit",
            "sub/.GIT/config",
            "a/./b",
            "a\0",
        ] {
            assert!(!is_plain(path), "{path}");
        }
        assert!(is_plain("a/.gitignore") && is_plain("a/..b"));
    }

    #[tokio::test]
    async fn walk_that_hangs_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join(".gitignore");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::fs::write(dir.path().join("a"), "").unwrap();
        let root = dir.path().canonicalize().unwrap();
        let wanted = Wanted { hermes_home: root.join("home"), root };
        let listed = files(wanted, Duration::from_millis(300)).await;
        assert!(matches!(listed, Err(CheckpointError::SlowWalk { .. })), "{listed:?}");
        // Lets the thread go.
        drop(std::fs::OpenOptions::new().write(true).open(pipe).unwrap());
    }
}

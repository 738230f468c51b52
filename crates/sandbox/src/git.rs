//! The parts of a git repository that git runs or obeys.

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, mkdirat, open, openat2};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The directories of a repository and its protected parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Repository {
    /// Directories outside of the project that git must write: those of a worktree or a submodule.
    pub(crate) writable: Vec<PathBuf>,
    /// Paths that are read-only. All exist.
    pub(crate) read_only: Vec<PathBuf>,
    /// Mount points without a change of access, so that they cannot be renamed.
    pub(crate) fixed: Vec<PathBuf>,
    /// Directories with settings and hooks.
    pub(crate) main: Vec<PathBuf>,
    /// Files that make git obey another directory, and for which no harmless content exists.
    pub(crate) unwanted: Vec<PathBuf>,
}

/// Parts of a git directory that are obeyed or run, and have no effect when they are empty.
const DIRECTORIES: [&str; 4] = ["hooks", "modules", "worktrees", "info"];
const FILES: [&str; 1] = ["info/attributes"];
const LIMIT: u64 = 64 * 1024;
/// Worktrees that are writable; further ones are read-only.
const MOST_TREES: usize = 64;

impl Repository {
    /// Creates missing parts of a project's repository, so that a command cannot.
    pub(crate) fn complete(project: &Path) {
        for git_dir in Self::of(project, true).into_iter().flat_map(|found| found.main) {
            fill(&git_dir);
        }
    }

    /// Finds the repository of a project; `None` if there is none. Without mounts only writable directories are found,
    /// and fewer of them.
    pub(crate) fn of(project: &Path, has_mounts: bool) -> Option<Self> {
        let dot_git = project.join(".git");
        let mut found = Self::default();
        if has_mounts && is_bare(project) {
            found.protect(project);
            return Some(found);
        }
        let kind = std::fs::symlink_metadata(&dot_git).ok()?.file_type();
        if kind.is_dir() && has_mounts {
            found.fixed.push(dot_git.clone());
            found.protect(&dot_git);
        } else if kind.is_file() {
            let git_dir = linked(&dot_git, "gitdir: ")?.canonicalize().ok()?;
            found.read_only.extend(has_mounts.then_some(dot_git));
            found.add_elsewhere(project, &git_dir, has_mounts);
        }
        Some(found)
    }

    /// The main directory of a repository.
    fn protect(&mut self, git_dir: &Path) {
        self.main.push(git_dir.to_owned());
        let names = ["config", "config.worktree", "hooks", "modules", "worktrees", "info/attributes"];
        let here = names.iter().map(|name| git_dir.join(name));
        self.read_only.extend(here.filter(|path| path.symlink_metadata().is_ok()));
        self.fixed.push(git_dir.join("info"));
        self.protect_worktrees(&git_dir.join("worktrees"));
        match git_dir.join("commondir") {
            path if path.exists() => self.read_only.push(path),
            path => self.unwanted.push(path),
        }
    }

    /// The directories of worktrees: git writes their logs from the main tree, too.
    fn protect_worktrees(&mut self, directory: &Path) {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        for entry in
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).take(MOST_TREES)
        {
            let own = entry.path();
            let names = ["commondir", "gitdir", "config.worktree"];
            let here = names.iter().map(|name| own.join(name));
            self.read_only.extend(here.filter(|path| path.symlink_metadata().is_ok()));
            self.writable.push(own);
        }
    }

    /// The directory of a worktree or submodule, outside of the project.
    fn add_elsewhere(&mut self, project: &Path, git_dir: &Path, has_mounts: bool) {
        let common = linked(&git_dir.join("commondir"), "").and_then(|path| path.canonicalize().ok());
        match common {
            Some(common) if git_dir.starts_with(common.join("worktrees")) && names_back(project, git_dir) => {
                self.add_worktree(&common, git_dir, has_mounts);
            }
            // Another directory is obeyed already; its parts are not ours to judge, so git cannot write.
            Some(_) => {}
            None if is_module_of_parent(project, git_dir) => {
                self.writable.push(git_dir.to_owned());
                if has_mounts {
                    self.protect(git_dir);
                }
            }
            None => {}
        }
    }

    /// A worktree: its directory is in `worktrees` of the common one.
    fn add_worktree(&mut self, common: &Path, git_dir: &Path, has_mounts: bool) {
        if has_mounts {
            self.writable.push(common.to_owned());
            self.protect(common);
        } else {
            // Enough for commits and branches; settings and hooks stay out of reach.
            self.writable.extend(["objects", "refs", "logs"].map(|name| common.join(name)));
        }
        if !self.writable.iter().any(|path| path == git_dir) {
            self.writable.push(git_dir.to_owned());
        }
    }
}

/// The path that a file names, relative to the file's directory.
fn linked(file: &Path, prefix: &str) -> Option<PathBuf> {
    // A command may have put a pipe or a link there.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = File::from(open(file, flags, Mode::empty()).ok()?);
    if !opened.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    opened.take(LIMIT).read_to_string(&mut text).ok()?;
    let named = text.lines().next()?.strip_prefix(prefix)?.trim_end();
    Some(file.parent()?.join(named))
}

/// Creates missing parts.
fn fill(git_dir: &Path) {
    // Nothing here follows a link: a command may have put one there.
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(here) = openat2(CWD, git_dir, directory, Mode::empty(), ResolveFlags::NO_SYMLINKS) else { return };
    for name in DIRECTORIES {
        let _ = mkdirat(&here, name, Mode::from_raw_mode(0o777));
    }
    for name in FILES {
        let create = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        let inside = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
        let _ = openat2(&here, name, create, Mode::from_raw_mode(0o666), inside);
    }
}

/// Returns true for a repository without a working tree.
fn is_bare(project: &Path) -> bool {
    project.join("HEAD").is_file() && project.join("objects").is_dir() && project.join("refs").is_dir()
}

/// Returns true if a worktree's directory names the project. A forged `.git` file must not make an arbitrary
/// repository writable.
fn names_back(project: &Path, git_dir: &Path) -> bool {
    linked(&git_dir.join("gitdir"), "").is_some_and(|named| named == project.join(".git"))
}

/// Returns true for a submodule in a repository that contains the project.
fn is_module_of_parent(project: &Path, git_dir: &Path) -> bool {
    let is_git_dir = git_dir.join("HEAD").is_file() && git_dir.join("objects").is_dir();
    is_git_dir && project.ancestors().skip(1).any(|parent| git_dir.starts_with(parent.join(".git/modules")))
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;

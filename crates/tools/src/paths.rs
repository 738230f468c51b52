//! Resolution of paths, and locks on the paths that are being written.

use crate::user_home;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::OwnedMutexGuard;

/// `path` made absolute: `~` is the user's home, relative paths start at `cwd`, dots are
/// resolved by name, and links are followed as far as the path exists.
pub(crate) fn resolve(path: &Path, cwd: &Path, user_home: Option<&Path>) -> PathBuf {
    real(&normalised(&cwd.join(expanded(path, user_home))))
}

/// Returns true if one path is the other or lies above it.
pub(crate) fn overlap(a: &Path, b: &Path) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// The part of a path below the name of the user's home directory, if it begins with one.
pub(crate) fn below_home(path: &Path) -> Option<&Path> {
    ["~", "$HOME", "${HOME}"].iter().find_map(|name| path.strip_prefix(name).ok())
}

fn expanded(path: &Path, user_home: Option<&Path>) -> PathBuf {
    let mut parts = path.components();
    let Some(Component::Normal(first)) = parts.next() else { return path.to_owned() };
    let home = match first.to_str() {
        Some("~" | "$HOME" | "${HOME}") => user_home.map(Path::to_owned),
        Some(name) => name.strip_prefix('~').and_then(user_home::of),
        None => None,
    };
    home.map_or_else(|| path.to_owned(), |home| home.join(parts.as_path()))
}

/// The reason why a literal path would create an unintended directory, if any: it has the name of a
/// variable or of a user's home directory that a shell would have replaced.
pub(crate) fn unexpanded(path: &Path, user_home: Option<&Path>) -> Option<String> {
    literal_name(&expanded(path, user_home))
}

/// The reason why the first name of a path is not meant literally, if any.
pub(crate) fn literal_name(path: &Path) -> Option<String> {
    let mut parts = path.components();
    let first = parts.next()?.as_os_str().to_str()?.to_owned();
    parts.next()?;
    let is_name = |name: &str| name.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
    let is_user = first == "~" || first.strip_prefix('~').is_some_and(is_name);
    let is_variable = first.strip_prefix('$').is_some_and(|rest| is_name(rest.trim_start_matches('{')));
    (is_user || is_variable)
        .then(|| format!("`{first}` in {} is not replaced here; write the path itself", path.display()))
}

/// `path` with its dots resolved by name.
pub(crate) fn normalised(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Links that are followed one after another, at most.
const MAX_LINKS: usize = 40;

/// Follows links in the part of the path that exists; the rest is kept as written. A link whose target is missing is
/// followed, too: writing to it would create the target.
pub(crate) fn real(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match followed(&path) {
            Followed::Real(real) => return real,
            Followed::Link(target) => path = target,
        }
    }
    path
}

enum Followed {
    Real(PathBuf),
    /// The path with its first link without a target replaced by that target.
    Link(PathBuf),
}

fn followed(path: &Path) -> Followed {
    let mut below = None;
    for ancestor in path.ancestors() {
        if let (Ok(found), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            // The component below it is missing, or a link without a target.
            let link: Option<(&Path, PathBuf)> =
                below.and_then(|link: &Path| std::fs::read_link(link).ok().map(|target| (link, target)));
            return match link.and_then(|(link, target)| Some((path.strip_prefix(link).ok()?, target))) {
                Some((rest, target)) => Followed::Link(normalised(&found.join(target).join(rest))),
                None if rest.as_os_str().is_empty() => Followed::Real(found),
                None => Followed::Real(found.join(rest)),
            };
        }
        below = Some(ancestor);
    }
    Followed::Real(path.to_owned())
}

/// One lock per path, shared by every session of the process, so that two writers of one file
/// take turns.
#[derive(Debug, Default)]
pub struct PathLocks {
    locks: Mutex<HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>>,
    /// The session that last wrote a file.
    writers: Mutex<HashMap<PathBuf, String>>,
}

/// Files whose last writer is remembered.
const MOST_WRITERS: usize = 1000;

impl PathLocks {
    /// Waits for the turn to write `path`.
    pub(crate) async fn lock(&self, path: &Path) -> OwnedMutexGuard<()> {
        self.entry(path).lock_owned().await
    }

    /// Notes that a session wrote the file.
    pub(crate) fn note_writer(&self, path: &Path, session: &str) {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        if writers.len() >= MOST_WRITERS {
            writers.clear();
        }
        writers.insert(path.to_owned(), session.to_owned());
    }

    /// Returns true if the last session that wrote the file is another one.
    pub(crate) fn written_by_another(&self, path: &Path, session: &str) -> bool {
        let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers.get(path).is_some_and(|writer| writer != session)
    }

    fn entry(&self, path: &Path) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(path).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::new(tokio::sync::Mutex::new(()));
        locks.insert(path.to_owned(), Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_absolute() {
        let home = Path::new("/nohome/me");
        for (path, want) in [
            ("a/b", "/nowhere/cwd/a/b"),
            ("./a/../b", "/nowhere/cwd/b"),
            ("/x//y/.", "/x/y"),
            ("~", "/nohome/me"),
            ("~/a", "/nohome/me/a"),
            ("~root/a", "/root/a"),
            ("$HOME/a", "/nohome/me/a"),
            ("${HOME}/a", "/nohome/me/a"),
            ("a/$HOME", "/nowhere/cwd/a/$HOME"),
            ("../../../../a", "/a"),
        ] {
            let resolved = resolve(Path::new(path), Path::new("/nowhere/cwd"), Some(home));
            assert_eq!(resolved, Path::new(want), "{path}");
        }
    }

    #[test]
    fn names_that_a_shell_replaces_are_not_made_as_folders() {
        let home = Path::new("/nohome/me");
        for (path, is_refused) in [
            ("~nosuchuser/a", true),
            ("$PROJECT/a", true),
            ("${PROJECT}/a", true),
            ("~/a", false),
            ("$HOME/a", false),
            ("~root/a", false),
            ("~$lock.docx", false),
            ("~backup", false),
            ("$5/a", false),
            ("a/$HOME/b", false),
        ] {
            assert_eq!(unexpanded(Path::new(path), Some(home)).is_some(), is_refused, "{path}");
        }
        assert!(unexpanded(Path::new("~/a"), None).is_some());
    }

    #[test]
    fn links_are_followed_as_far_as_they_exist() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        assert_eq!(resolve(Path::new("link/new/x"), &root, None), root.join("real/new/x"));
        // Links without a target, and links in a circle.
        let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, root.join(name)).unwrap();
        link("real/missing", "dangling");
        link("dangling", "twice");
        link("b", "a");
        link("a", "b");
        assert_eq!(resolve(Path::new("dangling"), &root, None), root.join("real/missing"));
        assert_eq!(resolve(Path::new("twice/below"), &root, None), root.join("real/missing/below"));
        let circle = resolve(Path::new("a"), &root, None);
        assert!(circle == root.join("a") || circle == root.join("b"), "{}", circle.display());
    }

    #[tokio::test]
    async fn writers_of_one_path_take_turns() {
        let locks = PathLocks::default();
        let held = locks.lock(Path::new("/a")).await;
        assert!(locks.entry(Path::new("/a")).try_lock().is_err());
        assert!(locks.entry(Path::new("/b")).try_lock().is_ok());
        drop(held);
        assert!(locks.entry(Path::new("/a")).try_lock().is_ok());
    }
}

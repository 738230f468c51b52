//! Where a path leads, and who may write there now.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::OwnedMutexGuard;

/// `path` made absolute: `~` is the user's home, relative paths start at `cwd`, dots are
/// resolved by name, and links are followed as far as the path exists.
pub(crate) fn resolve(path: &Path, cwd: &Path, user_home: Option<&Path>) -> PathBuf {
    real(&normalised(&cwd.join(expanded(path, user_home))))
}

/// Whether one path is the other or lies above it.
pub(crate) fn overlap(a: &Path, b: &Path) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

fn expanded(path: &Path, user_home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), user_home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

fn normalised(path: &Path) -> PathBuf {
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

/// Follows links in the part of the path that exists; the rest is kept as written.
pub(crate) fn real(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(found), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return if rest.as_os_str().is_empty() { found } else { found.join(rest) };
        }
    }
    path.to_owned()
}

/// One lock per path, shared by every session of the process, so that two writers of one file
/// take turns.
#[derive(Debug, Default)]
pub struct PathLocks(Mutex<HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>>);

impl PathLocks {
    /// Waits for the turn to write `path`.
    pub(crate) async fn lock(&self, path: &Path) -> OwnedMutexGuard<()> {
        self.entry(path).lock_owned().await
    }

    fn entry(&self, path: &Path) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
            ("~other/a", "/nowhere/cwd/~other/a"),
            ("../../../../a", "/a"),
        ] {
            let resolved = resolve(Path::new(path), Path::new("/nowhere/cwd"), Some(home));
            assert_eq!(resolved, Path::new(want), "{path}");
        }
    }

    #[test]
    fn links_are_followed_as_far_as_they_exist() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        assert_eq!(resolve(Path::new("link/new/x"), &root, None), root.join("real/new/x"));
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

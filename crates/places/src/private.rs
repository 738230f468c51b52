//! Private directories and locks below the temporary directory, which every user can write.

use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A directory of the user alone; `None` if another user may have made it.
pub(crate) fn directory(temporary: &Path, name: &str) -> Option<PathBuf> {
    let directory = temporary.join(name);
    // It may exist.
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&directory);
    let found = std::fs::symlink_metadata(&directory).ok()?;
    let is_ours = found.is_dir()
        && found.uid() == rustix::process::geteuid().as_raw()
        && found.mode().trailing_zeros() >= 6;
    is_ours.then_some(directory)
}

/// Held by one process of this user at a time, until it is dropped.
pub(crate) struct Lock(#[expect(dead_code, reason = "the lock ends with its file")] File);

/// Waits for the lock `name`. `None` if there is no private directory for it; the work then goes on without.
pub(crate) async fn lock(temporary: PathBuf, name: String) -> Option<Lock> {
    let wait = move || {
        let path = directory(&temporary, "hermes-locks")?.join(name);
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).ok()?;
        flock(&file, FlockOperation::LockExclusive).ok()?;
        Some(Lock(file))
    };
    tokio::task::spawn_blocking(wait).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn directories_that_others_can_open_are_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let ours = directory(dir.path(), "ours").unwrap();
        assert_eq!(directory(dir.path(), "ours"), Some(ours.clone()));
        std::fs::set_permissions(&ours, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(directory(dir.path(), "ours"), None);
        std::os::unix::fs::symlink("/", dir.path().join("link")).unwrap();
        assert_eq!(directory(dir.path(), "link"), None);
    }

    #[tokio::test]
    async fn second_holder_waits_for_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let take = || lock(dir.path().to_owned(), "name".to_owned());
        let first = take().await.unwrap();
        let mut second = std::pin::pin!(take());
        assert!(futures_now(second.as_mut()).await.is_none());
        drop(first);
        assert!(second.await.is_some());
    }

    /// The output of a future, if it is ready after a while.
    async fn futures_now<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        tokio::time::timeout(std::time::Duration::from_millis(50), future).await.ok()
    }
}

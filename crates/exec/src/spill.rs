//! The files for output that is too long to keep in memory.
//!
//! They are private, and together they stay below a limit: whoever makes one removes the oldest
//! of its neighbours first.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes that the files of one directory may have together.
const TOTAL: u64 = 2 * 1024 * 1024 * 1024;

/// Makes the file `path`, which will have at most `bytes` bytes, with the directories above it.
/// The directory it stands in must hold nothing but such files.
pub fn create_spill(path: &Path, bytes: u64) -> std::io::Result<File> {
    if let Some(dir) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        make_room(dir, TOTAL.saturating_sub(bytes));
    }
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Removes the oldest files of `dir` until the rest has at most `most` bytes.
fn make_room(dir: &Path, most: u64) {
    let mut files: Vec<(SystemTime, u64, PathBuf)> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, bytes, path) in files {
        if total <= most {
            return;
        }
        match std::fs::remove_file(&path) {
            Ok(()) => total -= bytes,
            Err(error) => tracing::warn!(%error, path = %path.display(), "an old spill file stays"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    #[test]
    fn the_oldest_go_when_room_is_needed() {
        let dir = tempfile::tempdir().unwrap();
        for (age, name) in [(30, "b"), (10, "a"), (20, "c")] {
            let mut file = File::create(dir.path().join(name)).unwrap();
            file.write_all(&[b'x'; 100]).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        for (most, left) in [(300, "a b c folder"), (299, "a c folder"), (100, "a folder"), (0, "folder")] {
            make_room(dir.path(), most);
            let mut names: Vec<_> = std::fs::read_dir(dir.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            assert_eq!(names.join(" "), left, "{most}");
        }
    }

    #[test]
    fn files_and_directories_are_private_and_bounded_together() {
        let dir = tempfile::tempdir().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = dir.path().join("deep/er/spill.txt");
        // Sparse: the length counts, not the disk.
        create_spill(&path, 10).unwrap().set_len(TOTAL - 10).unwrap();
        assert_eq!((mode(&path), mode(&dir.path().join("deep"))), (0o600, 0o700));
        create_spill(&path.with_file_name("small"), 10).unwrap();
        assert!(path.exists());
        create_spill(&path.with_file_name("large"), 11).unwrap();
        assert!(!path.exists());
    }
}

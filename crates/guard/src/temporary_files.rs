//! Removal of temporary files that killed processes left behind. They may contain keys, and nothing else
//! removes them.

use std::path::Path;
use std::time::Duration;

/// The prefix of temporary file names.
pub const TEMPORARY_PREFIX: &str = ".hermes-";
/// The suffix of temporary file names.
pub const TEMPORARY_SUFFIX: &str = ".tmp";
/// The age of a stale file; writing one takes milliseconds.
const STALE: Duration = Duration::from_secs(3600);
/// Entries of a directory that are examined.
const MAX_ENTRIES: usize = 2_000;

/// Removes stale temporary files from a directory that is about to be written to.
pub fn remove_stale_temporaries(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten().take(MAX_ENTRIES) {
        let name = entry.file_name();
        let is_ours = name
            .to_str()
            .is_some_and(|name| name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX));
        let age = || entry.metadata().ok().filter(|file| file.is_file())?.modified().ok()?.elapsed().ok();
        if is_ours && age().is_some_and(|age| age > STALE) {
            // A file that cannot be removed now is tried again next time.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn only_old_temporary_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - STALE - Duration::from_secs(60);
        for (name, is_old) in [
            (".hermes-a1.tmp", true),
            (".hermes-b2.tmp", false),
            (".hermes-keep", true),
            ("notes.tmp", true),
            ("file", true),
        ] {
            let file = std::fs::File::create(dir.path().join(name)).unwrap();
            if is_old {
                file.set_modified(old).unwrap();
            }
        }
        remove_stale_temporaries(dir.path());
        remove_stale_temporaries(&dir.path().join("none"));
        let entries = std::fs::read_dir(dir.path()).unwrap().flatten();
        let mut left: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, [".hermes-b2.tmp", ".hermes-keep", "file", "notes.tmp"]);
    }
}

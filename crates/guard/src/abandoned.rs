//! Temporary files that killed writers left behind. They may hold what the file itself would have held, keys
//! included, and nothing else ever removes them.

use std::path::Path;
use std::time::Duration;

/// How names of temporary files begin.
pub const TEMPORARY_PREFIX: &str = ".hermes-";
/// How names of temporary files end.
pub const TEMPORARY_SUFFIX: &str = ".tmp";
/// A writer takes milliseconds; what is this old was left by one that was killed.
const ABANDONED: Duration = Duration::from_secs(3600);
/// Folders with more entries are not looked through to their end.
const MOST_ENTRIES: usize = 2_000;

/// Removes abandoned temporary files from a folder that is about to be written to.
pub fn sweep_abandoned(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten().take(MOST_ENTRIES) {
        let name = entry.file_name();
        let is_ours = name
            .to_str()
            .is_some_and(|name| name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX));
        let age = || entry.metadata().ok().filter(|file| file.is_file())?.modified().ok()?.elapsed().ok();
        if is_ours && age().is_some_and(|age| age > ABANDONED) {
            // One that cannot be removed is as old tomorrow.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn old_temporary_files_go_and_everything_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - ABANDONED - Duration::from_secs(60);
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
        sweep_abandoned(dir.path());
        sweep_abandoned(&dir.path().join("none"));
        let entries = std::fs::read_dir(dir.path()).unwrap().flatten();
        let mut left: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, [".hermes-b2.tmp", ".hermes-keep", "file", "notes.tmp"]);
    }
}

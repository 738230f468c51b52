use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

fn names(dir: &Path) -> String {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.join(" ")
}

fn aged(dir: &Path, name: &str, bytes: usize, seconds: u64) {
    let mut file = File::create(dir.join(name)).unwrap();
    file.write_all(&vec![b'x'; bytes]).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

fn spilled(dir: &Path, text: &str, limits: SpillLimits) -> PathBuf {
    let mut file = SpillFile::create(dir, limits).unwrap();
    for piece in text.as_bytes().chunks(3) {
        file.write(piece).unwrap();
    }
    file.finish().unwrap()
}

#[test]
fn oldest_files_are_removed_to_free_space() {
    let dir = tempfile::tempdir().unwrap();
    for (age, name) in [(30, "b"), (10, "a"), (20, "c")] {
        aged(dir.path(), name, 100, age);
    }
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    for (most, left) in [(300, "a b c folder"), (299, "a c folder"), (100, "a folder"), (0, "folder")] {
        make_room(dir.path(), most, None);
        assert_eq!(names(dir.path()), left, "{most}");
    }
}

#[test]
fn abandoned_files_are_removed_and_unfinished_ones_kept() {
    let dir = tempfile::tempdir().unwrap();
    aged(dir.path(), "7-0.part", 100, 60);
    aged(dir.path(), "8-0.part", 100, 25 * 60 * 60);
    aged(dir.path(), "old.txt", 100, 120);
    make_room(dir.path(), 1_000, None);
    assert_eq!(names(dir.path()), "7-0.part old.txt");
    make_room(dir.path(), 0, Some(&dir.path().join("old.txt")));
    assert_eq!(names(dir.path()), "7-0.part old.txt");
    make_room(dir.path(), 0, None);
    assert_eq!(names(dir.path()), "7-0.part");
}

#[test]
fn finished_file_is_named_after_its_content_and_stored_once() {
    let dir = tempfile::tempdir().unwrap();
    let first = spilled(dir.path(), "abc", SpillLimits::default());
    // The well-known SHA-256 of "abc".
    assert_eq!(first, dir.path().join("ba7816bf8f01cfea414140de5dae2223.txt"));
    let long_ago = SystemTime::now() - Duration::from_secs(1_000);
    File::open(&first).unwrap().set_modified(long_ago).unwrap();
    let before = std::fs::metadata(&first).unwrap().mtime();
    assert_eq!(spilled(dir.path(), "abc", SpillLimits::default()), first);
    assert!(std::fs::metadata(&first).unwrap().mtime() > before, "used again");
    assert_ne!(spilled(dir.path(), "abd", SpillLimits::default()), first);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "{}", names(dir.path()));
}

#[test]
fn damaged_file_is_replaced_by_equal_output() {
    let dir = tempfile::tempdir().unwrap();
    let path = spilled(dir.path(), "abc", SpillLimits::default());
    std::fs::write(&path, "abX").unwrap();
    spilled(dir.path(), "abc", SpillLimits::default());
    assert_eq!(std::fs::read_to_string(path).unwrap(), "abc");
}

#[test]
fn dropped_file_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = SpillFile::create(dir.path(), SpillLimits::default()).unwrap();
    file.write(b"half").unwrap();
    assert!(names(dir.path()).ends_with(".part"));
    drop(file);
    assert_eq!(names(dir.path()), "");
}

#[test]
fn files_are_private_and_their_total_size_is_limited() {
    let dir = tempfile::tempdir().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let deep = dir.path().join("deep/er");
    let limits = SpillLimits { bytes: 10, total: 80 };
    let first = spilled(&deep, &"x".repeat(70), limits);
    assert_eq!((mode(&first), mode(&dir.path().join("deep"))), (0o600, 0o700));
    let second = spilled(&deep, "0123456789", limits);
    assert!(first.exists() && second.exists(), "just enough");
    spilled(&deep, "a", limits);
    assert!(!first.exists(), "the oldest made room");
    // A file is kept even if it exceeds the total limit by itself.
    let large = spilled(&deep, &"y".repeat(90), limits);
    assert_eq!(names(&deep), large.file_name().unwrap().to_str().unwrap());
}

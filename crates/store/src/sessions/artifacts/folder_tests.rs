use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

/// The hash of "a".
const A: &str = "ca978112ca1bbdcafac231b39a23dc4d.txt";

#[test]
fn file_used_since_it_was_listed_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(A);
    std::fs::write(&path, "a").unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(1_000);
    File::open(&path).unwrap().set_modified(long_ago).unwrap();
    let listed = list(dir.path()).unwrap();
    // As `exec` does when a command writes the same content again.
    File::open(&path).unwrap().set_modified(SystemTime::now()).unwrap();
    assert!(remove(dir.path(), &listed).is_empty() && path.exists());
    let listed = list(dir.path()).unwrap();
    assert_eq!(remove(dir.path(), &listed), [A]);
    assert!(!path.exists());
    assert!(remove(dir.path(), &listed).is_empty(), "already removed");
}

#[test]
fn only_intact_regular_files_are_copied() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("from"), dir.path().join("new/to"));
    let try_with = |make: &dyn Fn(&Path)| {
        let _ = std::fs::remove_dir_all(&from);
        std::fs::create_dir(&from).unwrap();
        make(&from.join(A));
        copy(&from, &to, A).unwrap()
    };
    std::fs::write(dir.path().join("real"), "a").unwrap();
    for (name, make, want) in [
        ("none", &(|_: &Path| {}) as &dyn Fn(&Path), CopyResult::Missing),
        ("other bytes", &|path| std::fs::write(path, "b").unwrap(), CopyResult::Damaged),
        ("a link", &|path| symlink(dir.path().join("real"), path).unwrap(), CopyResult::Missing),
        ("a directory", &|path| std::fs::create_dir(path).unwrap(), CopyResult::Missing),
        (
            "too long",
            &|path| File::create(path).unwrap().set_len(MAX_BYTES + 1).unwrap(),
            CopyResult::TooLong,
        ),
    ] {
        assert_eq!(try_with(make), want, "{name}");
        assert!(list(&to).unwrap().is_empty(), "{name} left a file");
    }
    assert_eq!(try_with(&|path| std::fs::write(path, "a").unwrap()), CopyResult::Whole);
    assert_eq!(std::fs::read_dir(&to).unwrap().count(), 1);
    assert_eq!(std::fs::metadata(to.join(A)).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(is_whole(&to, A).unwrap());
}

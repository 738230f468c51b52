use super::*;

#[test]
fn replaced_file_keeps_its_mode_and_link() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real.md"), dir.path().join("MEMORY.md"));
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    fs::write(dir.path().join(".mem_real.tmp"), "left by a killed process").unwrap();
    write(&link, "new").unwrap();
    assert!(link.is_symlink());
    assert_eq!(read(&link).unwrap().as_deref(), Some("new"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    let fresh = dir.path().join("USER.md");
    write(&fresh, "x").unwrap();
    assert_eq!(fs::metadata(&fresh).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn error_names_the_unreadable_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    assert_eq!(read(&path("none")).unwrap(), None);
    fs::write(path("latin"), b"caf\xe9").unwrap();
    fs::create_dir(path("folder")).unwrap();
    fs::write(path("large"), "a".repeat(1024 * 1024 + 1)).unwrap();
    std::os::unix::fs::symlink(path("gone"), path("link")).unwrap();
    for (name, want) in [
        ("latin", "not UTF-8 text"),
        ("folder", "not a regular file"),
        ("large", "larger than 1 MiB"),
        ("link", "broken symbolic link"),
    ] {
        let error = read(&path(name)).unwrap_err().to_string();
        assert!(error.contains(want), "{name}: {error}");
    }
}

#[test]
fn equal_text_is_backed_up_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("USER.md");
    let first = back_up(&path, "one", 7).unwrap();
    assert_eq!(first, dir.path().join("USER.md.bak.7"));
    assert_eq!(back_up(&path, "one", 9).unwrap(), first);
    assert_eq!(back_up(&path, "two", 7).unwrap(), dir.path().join("USER.md.bak.8"));
}

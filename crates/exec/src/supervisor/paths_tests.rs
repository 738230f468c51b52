use super::*;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

fn paths(dir: &Path) -> SupervisorPaths {
    SupervisorPaths { spool: dir.join("spool"), runtime: Some(dir.to_owned()) }
}

#[test]
fn directory_must_be_private_to_this_user() {
    for (owner, mode, fine) in [
        (5, 0o40700, true),
        (5, 0o40500, true),
        (6, 0o40700, false),
        (5, 0o40710, false),
        (5, 0o40707, false),
    ] {
        assert_eq!(objection(owner, mode, 5).is_none(), fine, "{owner} {mode:o}");
    }
}

#[test]
fn error_names_the_obstacle() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link, open) = (dir.path().join("file"), dir.path().join("link"), dir.path().join("open"));
    std::fs::write(&file, "mine").unwrap();
    std::os::unix::fs::symlink(dir.path(), &link).unwrap();
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
    for (path, problem) in [(&file, "not a directory"), (&link, "not a directory"), (&open, "mode 755")] {
        let error = Folder::create(path).unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains(path.to_str().unwrap()), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

/// Only root can change the owner; others skip this test, and the table above covers the rule.
#[test]
fn directory_of_another_user_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("given");
    Folder::create(&path).unwrap();
    if std::os::unix::fs::chown(&path, Some(12345), None).is_ok() {
        let error = Folder::create(&path).unwrap_err().to_string();
        assert!(error.contains("belongs to user 12345"), "{error}");
    }
}

#[test]
fn peers_of_other_users_are_rejected() {
    assert!(check_peer(own_uid()).is_ok());
    assert!(matches!(check_peer(own_uid() + 1), Err(SuperviseError::ForeignPeer { .. })));
}

#[test]
fn home_directory_has_one_tag_and_one_lock() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(dir.path(), dir.path().join("again")).unwrap();
    let first = paths(dir.path()).prepared().unwrap();
    let second = paths(&dir.path().join("again")).prepared().unwrap();
    assert_eq!(first.tag(), second.tag());
    assert_eq!(first.folder().parent(), Some(dir.path()));
    let held = first.try_lock_serving().unwrap();
    assert!(held.is_some() && second.try_lock_serving().unwrap().is_none());
    assert_eq!(first.address().unwrap(), None);
    first.publish(Path::new("/x/y")).unwrap();
    assert_eq!(second.address().unwrap(), Some("/x/y".into()));
}

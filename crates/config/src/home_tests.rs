//! The location of the home directory, and atomic private writes.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_home_follows_the_environment() {
    for (hermes, home, want) in [
        (None, Some("/h"), Some("/h/.hermes")),
        (Some("/x"), Some("/h"), Some("/x")),
        (Some("~/y"), Some("/h"), Some("/h/y")),
        (Some("~"), Some("/h"), Some("/h")),
        (Some("$HOME/y"), Some("/h"), Some("/h/y")),
        (Some("${HOME}/y"), Some("/h"), Some("/h/y")),
        (Some("$OTHER/y"), Some("/h"), None),
        (Some("~other/y"), Some("/h"), None),
        (Some("~/y"), None, None),
        (Some("  "), Some("/h"), Some("/h/.hermes")),
        (Some("/x"), None, Some("/x")),
        (None, None, None),
        (None, Some(""), None),
    ] {
        let env = |name: &str| match name {
            "HERMES_HOME" => hermes.map(str::to_owned),
            "HOME" => home.map(str::to_owned),
            _ => None,
        };
        let found = Home::locate(env).ok().map(|home| home.path().to_owned());
        assert_eq!(found.as_deref(), want.map(Path::new), "{hermes:?} {home:?}");
    }
}

#[test]
fn ensure_creates_a_private_directory() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().join("a/b"));
    home.ensure().unwrap();
    assert_eq!((mode(home.path()), mode(&dir.path().join("a"))), (0o700, 0o700));
}

#[test]
fn a_file_in_the_way_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("home");
    fs::write(&path, "").unwrap();
    assert!(
        matches!(Home::at(&path).ensure(), Err(HomeError::NotADirectory { path: named }) if named == path)
    );
}

#[test]
fn writing_replaces_the_whole_file_and_its_mode() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, "a long old text").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    write_atomically(&path, b"new", PRIVATE_FILE).unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("new", 0o600));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays behind");
}

#[test]
fn a_link_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("real")).unwrap();
    let (link, real) = (dir.path().join("link"), dir.path().join("real/file"));
    symlink("real/file", &link).unwrap();
    for text in ["created through a dangling link", "replaced"] {
        write_atomically(&link, text.as_bytes(), PRIVATE_FILE).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), text);
    }
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    symlink(&a, &b).unwrap();
    symlink(&b, &a).unwrap();
    assert!(write_atomically(&a, b"", PRIVATE_FILE).is_err());
}

#[test]
fn a_missing_directory_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let error = write_atomically(&dir.path().join("no/f"), b"", PRIVATE_FILE).unwrap_err();
    assert!(error.to_string().ends_with("/no"), "{error}");
}

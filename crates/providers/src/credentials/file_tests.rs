use super::*;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

fn at(dir: &Path) -> AuthFile {
    AuthFile::at(dir.join("auth.json"))
}

fn put(data: &mut AuthData, name: &str) {
    data.root_mut().insert(name.to_owned(), json!(true));
}

#[test]
fn missing_file_is_empty_and_reading_creates_none() {
    let dir = tempfile::tempdir().unwrap();
    let file = at(&dir.path().join("deeper"));
    assert_eq!(file.read().unwrap(), AuthData::default());
    assert!(!dir.path().join("deeper").exists());
    file.change(1.0, |_| ()).unwrap();
    assert!(!file.path().exists(), "a change of nothing writes nothing");
    file.change(1.0, |data| put(data, "x")).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file.path()), mode(&dir.path().join("deeper"))), (0o600, 0o700));
    assert_eq!(mode(&dir.path().join("deeper/auth.lock")), 0o600);
}

#[test]
fn unreadable_file_is_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let file = at(dir.path());
    for text in ["{\"credential_pool\": ", "[]", "{\"credential_pool\": 5}"] {
        std::fs::write(file.path(), text).unwrap();
        let refused = file.change(1.0, |data| put(data, "x")).unwrap_err().to_string();
        assert!(refused.contains("auth.json") && refused.contains("left as it is"), "{refused}");
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), text);
    }
}

#[test]
fn a_loose_mode_is_tightened_and_a_link_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let (file, real) = (at(dir.path()), dir.path().join("elsewhere.json"));
    std::fs::write(&real, "{}").unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink(&real, file.path()).unwrap();
    // A crash before the rename leaves this file.
    std::fs::write(dir.path().join("elsewhere.json.hermes-new"), "half").unwrap();
    file.change(1.0, |data| put(data, "x")).unwrap();
    assert!(file.path().is_symlink());
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&real).unwrap().contains("\"x\": true"));
    assert!(!dir.path().join("elsewhere.json.hermes-new").exists());
}

#[test]
fn two_writers_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = at(dir.path());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let file = &file;
            scope.spawn(move || {
                for round in 0..25 {
                    file.change(1.0, |data| put(data, &format!("{writer}-{round}"))).unwrap();
                }
            });
        }
    });
    let found = file.read().unwrap().root().keys().filter(|name| name.contains('-')).count();
    assert_eq!(found, 100);
}

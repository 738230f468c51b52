//! An upgrade that is interrupted by an error or a kill leaves the old or the new file.

use super::*;
use crate::sessions::connection::connect::{connect, prepare_writer};
use std::process::Command;

const OLD: [(i64, &str); 3] = [
    (1, include_str!("../../../tests/store/old/schema_1.sql")),
    (3, include_str!("../../../tests/store/old/schema_3.sql")),
    (6, include_str!("../../../tests/store/old/schema_6.sql")),
];
const PATH: &str = "HERMES_TEST_UPGRADE_PATH";
const STEP: &str = "HERMES_TEST_UPGRADE_DIES_AFTER";

struct File {
    path: PathBuf,
    dir: tempfile::TempDir,
}

fn made_by(sql: &str) -> File {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    File { path, dir }
}

fn upgrade_until(path: &Path, watch: Watch<'_>) -> Result<(), StoreError> {
    let db = connect(path).unwrap();
    prepare_writer(&db).unwrap();
    // A small cache, so that pages reach the log before the commit.
    db.pragma_update(None, "cache_size", 2).unwrap();
    upgrade_watched(&db, path, watch)
}

/// The user's data, equal in every version except that equal titles are numbered.
fn rows(path: &Path) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let mut find = db
        .prepare(
            "SELECT concat_ws('|', id, source, started_at, message_count) FROM sessions
             UNION ALL SELECT concat_ws('|', id, session_id, role, content, tool_calls, tool_name, timestamp) FROM messages
             ORDER BY 1",
        )
        .unwrap();
    let found = find.query_map([], |row| row.get(0)).unwrap();
    found.collect::<rusqlite::Result<_>>().unwrap()
}

/// Version, tables and result of the integrity check.
fn state(path: &Path) -> (i64, Vec<String>, String) {
    let db = Connection::open(path).unwrap();
    let version = db.query_row("SELECT MAX(version) FROM schema_version", [], |row| row.get(0)).unwrap();
    let mut find =
        db.prepare("SELECT type || name || COALESCE(sql, '') FROM sqlite_master ORDER BY 1").unwrap();
    let schema = find.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
    (version, schema, db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap())
}

fn upgrades_now(file: &File, wanted: &[String], name: &str) {
    drop(crate::sessions::connection::connect::writer(&file.path).unwrap());
    let (version, _, sound) = state(&file.path);
    assert_eq!((version, sound.as_str()), (schema::VERSION, "ok"), "{name}");
    assert_eq!(rows(&file.path), wanted, "{name}");
}

#[test]
fn error_after_any_step_leaves_the_old_file_and_names_the_backup() {
    for (version, sql) in OLD {
        for stop in 0..=STEPS.len() {
            let name = format!("version {version}, step {stop}");
            let file = made_by(sql);
            let (before, kept) = (state(&file.path), rows(&file.path));
            let mut watch = |done| if done == stop { Err(rusqlite::Error::InvalidQuery) } else { Ok(()) };
            let error = upgrade_until(&file.path, &mut watch).unwrap_err();
            let StoreError::Upgrade { from, backup: Some(backup), .. } = error else {
                panic!("{name}: {error}")
            };
            assert_eq!(from, version, "{name}");
            for path in [&file.path, &backup] {
                assert_eq!(state(path), before, "{name}: {}", path.display());
                assert_eq!(rows(path), kept, "{name}: {}", path.display());
            }
            upgrades_now(&file, &kept, &name);
            let left = std::fs::read_dir(file.dir.path()).unwrap().count();
            assert!(left >= 3, "{name}: both backups are kept");
        }
    }
}

#[test]
fn kill_after_any_step_leaves_the_old_or_the_new_file() {
    let me = std::env::current_exe().unwrap();
    for (version, sql) in OLD {
        for stop in 0..=STEPS.len() + 1 {
            let name = format!("version {version}, step {stop}");
            let file = made_by(sql);
            let (before, kept) = (state(&file.path), rows(&file.path));
            let killed = Command::new(&me)
                .args(["--exact", "sessions::schema::migrate::tests::dies_after_a_step", "--ignored"])
                .env(PATH, &file.path)
                .env(STEP, stop.to_string())
                .output()
                .unwrap();
            assert!(killed.status.code().is_none(), "{name}: was not killed: {killed:?}");
            let after = state(&file.path);
            if stop > STEPS.len() {
                assert_eq!(after.0, schema::VERSION, "{name}");
            } else {
                assert_eq!(after, before, "{name}");
            }
            assert_eq!(rows(&file.path), kept, "{name}");
            upgrades_now(&file, &kept, &name);
        }
    }
}

/// Runs in the process that is killed. A step number past the last one means after the commit.
#[test]
#[ignore = "started by the test above, in a process of its own"]
fn dies_after_a_step() {
    let (Some(path), Ok(stop)) = (std::env::var_os(PATH), std::env::var(STEP)) else { return };
    let stop: usize = stop.parse().unwrap();
    let die =
        || rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
    let mut watch = |done| {
        if done == stop {
            die();
        }
        Ok(())
    };
    upgrade_until(Path::new(&path), &mut watch).unwrap();
    die();
}

#[test]
fn every_step_is_idempotent() {
    for (version, sql) in OLD {
        let file = made_by(sql);
        let db = connect(&file.path).unwrap();
        prepare_writer(&db).unwrap();
        let old = OldFile { db: &db, version, home: file.dir.path() };
        let run = || STEPS.iter().for_each(|step| (step.run)(&old).unwrap());
        run();
        let (once, kept) = (state(&file.path), rows(&file.path));
        run();
        assert_eq!((state(&file.path), rows(&file.path)), (once, kept), "{version}");
    }
}

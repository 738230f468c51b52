//! The file format: equal to the Python release's, private, and never created over another program's file.

use crate::desk::{Desk, ticking};
use hermes_conversation::{Mail, MailMode};
use hermes_store::{SessionDb, StoreError, check};
use rusqlite::Connection;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Type, name, table and columns of all schema objects in a file of release 0.19; a column of a table is
/// `name|type|not null|default|position in the key`.
const PYTHON_RELEASE: &str = include_str!("schema_22.txt");

fn described(db: &Connection) -> String {
    let mut items = db
        .prepare(
            "SELECT type, name, tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2",
        )
        .unwrap();
    let items: Vec<(String, String, String)> = items
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    let mut lines = String::new();
    for (kind, name, table) in items.into_iter().filter(|item| !item.2.starts_with("hx_")) {
        let columns = match kind.as_str() {
            "table" => columns(
                db,
                "SELECT name || '|' || type || '|' || \"notnull\" || '|' || COALESCE(dflt_value, '') || '|' || pk
                 FROM pragma_table_info(?1)",
                &name,
            ),
            "index" => columns(db, "SELECT name FROM pragma_index_info(?1)", &name),
            _ => String::new(),
        };
        lines.push_str(format!("{kind} {name} {table} {columns}").trim_end());
        lines.push('\n');
    }
    lines
}

fn columns(db: &Connection, sql: &str, of: &str) -> String {
    let mut find = db.prepare(sql).unwrap();
    let found = find.query_map([of], |row| row.get(0)).unwrap();
    found.collect::<rusqlite::Result<Vec<String>>>().unwrap().join(";")
}

fn open(path: &Path) -> Result<(), StoreError> {
    SessionDb::open(path, ticking()).map(drop)
}

#[test]
fn new_file_has_the_schema_of_the_python_release() {
    let desk = Desk::new();
    let raw = desk.raw();
    for (ours, theirs) in described(&raw).lines().zip(PYTHON_RELEASE.lines()) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(described(&raw), PYTHON_RELEASE);
    let version: (i64, i64) = raw
        .query_row("SELECT COUNT(*), MAX(version) FROM schema_version", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(version, (1, 22));
    let touching: i64 = raw
        .query_row(
            "SELECT COUNT(*) FROM sqlite_master
             WHERE name LIKE 'hx\\_%' ESCAPE '\\' AND (sql LIKE '%REFERENCES%' OR type = 'trigger')",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(touching, 0);
}

#[test]
fn new_file_and_its_log_are_private() {
    let desk = Desk::new();
    for suffix in ["", "-wal", "-shm"] {
        let path = format!("{}{suffix}", desk.path.display());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{path}");
    }
}

#[test]
fn empty_file_is_treated_as_new() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    std::fs::write(&path, b"").unwrap();
    open(&path).unwrap();
    open(&path).unwrap();
    assert!(check(&path).is_sound());
    assert!(matches!(open(&dir.path().join("missing/state.db")).unwrap_err(), StoreError::Create { .. }));
}

#[test]
fn file_of_the_python_release_only_gets_our_tables() {
    let desk = Desk::new();
    let raw = desk.raw();
    raw.execute_batch(
        "DROP TABLE hx_turns; DROP TABLE hx_intents; DROP TABLE hx_leases; DROP TABLE hx_outbox;
         DROP TABLE hx_message_ext; DROP TABLE hx_session_ext; DROP TABLE hx_artifacts; DROP TABLE hx_marks;
         INSERT INTO sessions (id, source, started_at) VALUES ('theirs', 'cli', 1)",
    )
    .unwrap();
    let again = desk.again();
    assert_eq!(described(&again.raw()), PYTHON_RELEASE);
    assert_eq!(check(&desk.path).open_turns, Some(0));
    assert_eq!(check(&desk.path).sessions, Some(1));
}

/// A file of a build without mailbox, with a session in it.
#[tokio::test]
async fn file_of_an_earlier_build_gets_the_mailbox() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    desk.say(&lease, "hello", "hi").await;
    desk.raw().execute_batch("DROP TABLE hx_mailbox").unwrap();
    let again = desk.again();
    let id = again.db.post(&lease.session, MailMode::Queue, "later").await.unwrap();
    let waiting = again.db.waiting(&lease.session).await.unwrap();
    assert_eq!(waiting, [Mail { id, mode: MailMode::Queue, text: "later".into() }]);
    assert_eq!(again.messages("s").await.len(), 2);
    assert!(check(&desk.path).is_sound());
}

#[test]
fn file_of_another_program_is_not_changed() {
    let with = |sql: &str| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("made.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        std::fs::read(path).unwrap()
    };
    let version = |n: i64| {
        with(&format!(
            "CREATE TABLE schema_version (version INTEGER); INSERT INTO schema_version VALUES ({n})"
        ))
    };
    let mut torn = version(22);
    torn[100..400].fill(0xee);
    type Expected = fn(&StoreError) -> bool;
    let cases: [(&str, Vec<u8>, Expected); 5] = [
        ("garbage", b"not a database at all\n".repeat(500), |error| {
            matches!(error, StoreError::Corrupt { .. })
        }),
        ("torn", torn, |error| matches!(error, StoreError::Corrupt { .. })),
        ("old", version(6), |error| matches!(error, StoreError::SchemaTooOld { found: 6, needs: 22, .. })),
        ("new", version(23), |error| matches!(error, StoreError::SchemaTooNew { found: 23, newest: 22, .. })),
        ("foreign", with("CREATE TABLE t (x)"), |error| matches!(error, StoreError::Foreign { .. })),
    ];
    for (name, bytes, expected) in cases {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        std::fs::write(&path, &bytes).unwrap();
        let error = open(&path).unwrap_err();
        assert!(expected(&error), "{name}: {error}");
        assert!(!check(&path).is_sound(), "{name}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{name}");
    }
}

#[test]
fn check_reports_problems_and_never_fails() {
    let desk = Desk::new();
    let health = check(&desk.path);
    assert!(health.is_sound(), "{health:?}");
    assert_eq!(health.schema_version, Some(22));
    assert_eq!(health.journal_mode.as_deref(), Some("wal"));
    assert!(health.log_bytes > 0);
    let missing = check(Path::new("/nowhere/state.db"));
    assert!(!missing.exists && missing.is_sound());
}

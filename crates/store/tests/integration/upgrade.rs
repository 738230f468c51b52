//! Files of older versions are upgraded when they are opened, without losing data.

use crate::desk::{closing, opening, owner, ticking};
use hermes_conversation::{Message, SessionId, Transcript};
use hermes_store::{ListFilter, SessionDb, StoreError, check};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const OLD: [(i64, &str); 3] = [
    (1, include_str!("old/schema_1.sql")),
    (3, include_str!("old/schema_3.sql")),
    (6, include_str!("old/schema_6.sql")),
];
/// The list `schema.rs` compares a new file with.
const PYTHON_RELEASE: &str = include_str!("schema_22.txt");

struct Old {
    path: PathBuf,
    dir: tempfile::TempDir,
}

impl Old {
    fn made_by(sql: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        Self { path, dir }
    }

    fn open(&self) -> SessionDb {
        SessionDb::open(&self.path, ticking()).unwrap()
    }

    fn raw(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    fn text(&self, sql: &str) -> String {
        self.raw().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn backups(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.dir.path()).unwrap().map(|file| file.unwrap().path());
        files.filter(|path| path.to_string_lossy().contains(".bak-v")).collect()
    }
}

/// All schema objects of the file, as `schema_22.txt` lists them. Added columns are last in their table, so
/// the order of columns is compared only within an index.
fn described(db: &Connection) -> BTreeSet<(String, BTreeSet<String>)> {
    let mut items = db
        .prepare(
            "SELECT concat_ws(' ', type, name, tbl_name,
                 CASE type
                 WHEN 'table' THEN (SELECT group_concat(concat_ws('|', name, type, \"notnull\", COALESCE(dflt_value, ''), pk), ';')
                                    FROM pragma_table_info(m.name))
                 WHEN 'index' THEN (SELECT group_concat(name, ';') FROM pragma_index_info(m.name)) END)
             FROM sqlite_master AS m WHERE name NOT LIKE 'sqlite_%' AND tbl_name NOT LIKE 'hx\\_%' ESCAPE '\\'",
        )
        .unwrap();
    let lines = items.query_map([], |row| row.get::<_, String>(0)).unwrap();
    lines.map(|line| listed(&line.unwrap())).collect()
}

fn listed(line: &str) -> (String, BTreeSet<String>) {
    match line.strip_prefix("table ").and_then(|_| line.rsplit_once(' ')) {
        Some((name, columns)) => (name.to_owned(), columns.split(';').map(str::to_owned).collect()),
        None => (line.to_owned(), BTreeSet::new()),
    }
}

async fn finds(db: &SessionDb, query: &str) -> Vec<String> {
    let report = db.search(query, 9).await.unwrap();
    assert!(report.complete, "{query}");
    report.hits.into_iter().map(|hit| format!("{} {}", hit.session, hit.role)).collect()
}

#[test]
fn old_file_gets_the_schema_of_the_python_release() {
    let want: BTreeSet<_> = PYTHON_RELEASE.lines().map(listed).collect();
    for (version, sql) in OLD {
        let old = Old::made_by(sql);
        drop(old.open());
        let got = described(&old.raw());
        let differ: Vec<_> = got.symmetric_difference(&want).collect();
        assert!(differ.is_empty(), "version {version}: {differ:#?}");
        assert_eq!(old.text("SELECT group_concat(version) FROM schema_version"), "22");
        assert!(check(&old.path).is_sound(), "version {version}: {:?}", check(&old.path));
    }
}

#[test]
fn upgraded_file_has_the_statements_of_a_new_one() {
    let statements = |path: &Path| {
        let db = Connection::open(path).unwrap();
        let mut find = db
            .prepare("SELECT sql FROM sqlite_master WHERE tbl_name NOT IN ('sessions', 'messages') OR type = 'trigger'")
            .unwrap();
        let found = find.query_map([], |row| row.get(0)).unwrap();
        found.collect::<rusqlite::Result<BTreeSet<Option<String>>>>().unwrap()
    };
    let dir = tempfile::tempdir().unwrap();
    let new = dir.path().join("state.db");
    drop(SessionDb::open(&new, ticking()).unwrap());
    for (version, sql) in OLD {
        let old = Old::made_by(sql);
        drop(old.open());
        let (got, want) = (statements(&old.path), statements(&new));
        let differ: Vec<_> = got.symmetric_difference(&want).flatten().collect();
        assert!(differ.is_empty(), "version {version}: {differ:#?}");
    }
}

#[tokio::test]
async fn messages_of_an_old_file_are_loaded_and_found() {
    for (version, sql) in OLD {
        let old = Old::made_by(sql);
        let db = old.open();
        let one = db.load(&SessionId::new("one")).await.unwrap();
        assert_eq!((one.usage.input, one.usage.output), (7, 3), "version {version}");
        let [Message::User(_), Message::Assistant(call), Message::Tool(result), Message::Assistant(answer)] =
            one.messages.as_slice()
        else {
            panic!("version {version}: {:?}", one.messages)
        };
        assert_eq!((call.calls[0].name.as_str(), result.call_id.as_str()), ("terminal", "c1"));
        assert_eq!(answer.text, "温室里种番茄", "version {version}");
        for (query, want) in [
            ("tomatoes", vec!["one user"]),
            // Tool calls are in the index only since version 11.
            ("greenhouse", vec!["one assistant"]),
            ("温室里", vec!["one assistant"]),
            ("nowhere", vec![]),
        ] {
            assert_eq!(finds(&db, query).await, want, "version {version}, {query}");
        }
        let mut listed: Vec<_> = db
            .list(ListFilter::default())
            .await
            .unwrap()
            .into_iter()
            .map(|line| line.id.to_string())
            .collect();
        listed.sort();
        // `three` continues `two` after a compaction, and `four` was delegated by `one`.
        assert_eq!(listed, ["one", "three"], "version {version}");
    }
}

#[tokio::test]
async fn upgraded_session_can_be_resumed() {
    for (version, sql) in OLD {
        let old = Old::made_by(sql);
        let db = old.open();
        let lease = db.acquire_existing(SessionId::new("one"), owner(1)).await.unwrap().lease;
        let turn = db.open_turn(&lease, opening("and peppers?")).await.unwrap();
        db.close(&lease, turn, closing("there too")).await.unwrap();
        let again = old.open();
        assert_eq!(again.load(&lease.session).await.unwrap().messages.len(), 6, "version {version}");
        assert_eq!(finds(&again, "peppers").await, ["one user"], "version {version}");
        assert_eq!(old.backups().len(), 1, "version {version}: an upgrade happens once");
    }
}

#[tokio::test]
async fn equal_titles_are_numbered_and_resolve_to_the_newest() {
    let old = Old::made_by(OLD[1].1);
    let db = old.open();
    assert_eq!(
        old.text("SELECT group_concat(id || '=' || COALESCE(title, ''), ', ') FROM (SELECT * FROM sessions ORDER BY started_at)"),
        "one=garden plan, four=, two=garden plan #2, three=garden plan #3"
    );
    assert_eq!(db.resolve("garden plan").await.unwrap(), SessionId::new("three"));
    let old = Old::made_by(OLD[2].1);
    assert_eq!(old.open().resolve("roof").await.unwrap(), SessionId::new("three"));
}

#[test]
fn token_totals_become_usage_by_model() {
    for ((version, sql), want) in OLD.iter().zip([
        "one m '' 7/3/0 0.0, two unknown '' 0/5/0 0.0",
        "one m '' 7/3/0 0.0, two unknown '' 0/5/0 0.0",
        "one m 'p' 7/3/2 0.5, two unknown '' 0/5/0 0.0",
    ]) {
        let old = Old::made_by(sql);
        drop(old.open());
        let usage = old.text(
            "SELECT group_concat(session_id || ' ' || model || ' ''' || billing_provider || ''' ' || input_tokens || '/'
                 || output_tokens || '/' || cache_read_tokens || ' ' || estimated_cost_usd, ', ')
             FROM (SELECT * FROM session_model_usage WHERE task = '' ORDER BY session_id)",
        );
        assert_eq!(usage, want, "version {version}");
    }
}

#[test]
fn usage_of_version_21_gets_a_task() {
    let old = Old::made_by(OLD[2].1);
    drop(old.open());
    old.raw()
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             CREATE TABLE kept AS SELECT * FROM session_model_usage; ALTER TABLE kept DROP COLUMN task;
             DROP TABLE session_model_usage;
             CREATE TABLE session_model_usage (
               session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, model TEXT NOT NULL,
               billing_provider TEXT NOT NULL DEFAULT '', billing_base_url TEXT NOT NULL DEFAULT '',
               billing_mode TEXT NOT NULL DEFAULT '', api_call_count INTEGER NOT NULL DEFAULT 0,
               input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
               cache_read_tokens INTEGER NOT NULL DEFAULT 0, cache_write_tokens INTEGER NOT NULL DEFAULT 0,
               reasoning_tokens INTEGER NOT NULL DEFAULT 0, estimated_cost_usd REAL NOT NULL DEFAULT 0,
               actual_cost_usd REAL NOT NULL DEFAULT 0, cost_status TEXT, cost_source TEXT, first_seen REAL,
               last_seen REAL,
               PRIMARY KEY (session_id, model, billing_provider, billing_base_url, billing_mode));
             INSERT INTO session_model_usage SELECT * FROM kept; DROP TABLE kept;
             INSERT INTO session_model_usage (session_id, model, input_tokens) VALUES ('gone', 'm', 9);
             UPDATE schema_version SET version = 21",
        )
        .unwrap();
    drop(old.open());
    assert_eq!(described(&old.raw()), PYTHON_RELEASE.lines().map(listed).collect());
    assert_eq!(
        old.text("SELECT group_concat(session_id || task || input_tokens) FROM session_model_usage"),
        "one7,two0,gone9"
    );
    let backups = old.backups();
    assert_eq!(backups.len(), 2, "{backups:?}");
}

#[test]
fn chats_of_the_gateway_are_copied() {
    let old = Old::made_by(OLD[2].1);
    std::fs::create_dir(old.dir.path().join("sessions")).unwrap();
    std::fs::write(
        old.dir.path().join("sessions/sessions.json"),
        r#"{"_note": 1, "agent:main:telegram": {"session_id": "two", "chat_type": "dm", "display_name": "Ann",
            "origin": {"chat_id": 77, "platform": "telegram"}, "memory_flushed": true}, "odd": []}"#,
    )
    .unwrap();
    drop(old.open());
    assert_eq!(
        old.text(
            "SELECT concat_ws(' ', session_key, chat_id, chat_type, display_name, origin_json, expiry_finalized)
             FROM sessions WHERE id = 'two'"
        ),
        r#"agent:main:telegram 77 dm Ann {"chat_id":77,"platform":"telegram"} 1"#
    );
}

#[test]
fn backup_equals_the_old_file_and_is_private() {
    for (version, sql) in OLD {
        let old = Old::made_by(sql);
        let before = described(&old.raw());
        drop(old.open());
        let backups = old.backups();
        let [backup] = backups.as_slice() else { panic!("{backups:?}") };
        let name = backup.file_name().unwrap().to_string_lossy();
        let stamp = name.strip_prefix(&format!("state.db.bak-v{version}-"));
        assert!(stamp.is_some_and(|stamp| stamp.parse::<u64>().is_ok()), "{name}");
        assert_eq!(std::fs::metadata(backup).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(described(&Connection::open(backup).unwrap()), before, "{name}");
    }
}

#[test]
fn failed_step_leaves_the_file_and_names_the_backup() {
    // No column can be added to a view.
    let old = Old::made_by(OLD[2].1);
    old.raw().execute_batch("CREATE VIEW state_meta AS SELECT 1 AS other").unwrap();
    let before = described(&old.raw());
    let error = SessionDb::open(&old.path, ticking()).unwrap_err();
    let StoreError::Upgrade { from: 6, backup: Some(backup), doing: "add the missing columns", .. } = &error
    else {
        panic!("{error}")
    };
    assert!(error.to_string().contains(&backup.display().to_string()), "{error}");
    assert_eq!(described(&old.raw()), before);
    assert_eq!(old.text("SELECT group_concat(version) FROM schema_version"), "6");
}

#[test]
fn programs_that_open_an_old_file_at_once_upgrade_it_once() {
    let old = Old::made_by(OLD[2].1);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| drop(old.open()));
        }
    });
    assert_eq!(old.backups().len(), 1);
    assert!(check(&old.path).is_sound());
}

#[tokio::test]
async fn files_with_a_wrong_version_are_repaired() {
    for (name, damage) in [
        ("a column without its default", "ALTER TABLE messages ADD COLUMN active INTEGER"),
        ("no version", "DELETE FROM schema_version"),
        ("a later version than its search table", "UPDATE schema_version SET version = 15"),
        ("two versions", "INSERT INTO schema_version VALUES (5)"),
        ("no search table", "DROP TRIGGER messages_fts_insert; DROP TABLE messages_fts"),
        ("settings with invalid JSON", "UPDATE sessions SET model_config = '{' WHERE id = 'one'"),
    ] {
        let old = Old::made_by(OLD[2].1);
        old.raw().execute_batch(damage).unwrap();
        let db = old.open();
        assert_eq!(db.load(&SessionId::new("one")).await.unwrap().messages.len(), 4, "{name}");
        assert_eq!(finds(&db, "greenhouse").await, ["one assistant"], "{name}");
        assert_eq!(old.text("SELECT group_concat(version) FROM schema_version"), "22", "{name}");
        assert!(check(&old.path).is_sound(), "{name}");
    }
}

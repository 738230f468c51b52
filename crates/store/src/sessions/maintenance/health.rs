//! Health check of the database, for `hermes doctor`.
//!
//! Problems are returned as values and never as an error.

use crate::sessions::rows::counts::count;
use crate::sessions::schema::{self, FileContents};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};

/// The state of a database file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Health {
    pub path: PathBuf,
    pub exists: bool,
    pub bytes: u64,
    /// Size of the write-ahead log.
    pub log_bytes: u64,
    pub schema_version: Option<i64>,
    pub journal_mode: Option<String>,
    pub sessions: Option<u64>,
    pub messages: Option<u64>,
    /// Messages that are not indexed yet.
    pub outbox: Option<u64>,
    pub open_turns: Option<u64>,
    /// Problems; empty for a healthy database.
    pub problems: Vec<String>,
    pub index: IndexHealth,
}

/// The state of the search index, which can always be rebuilt from the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexHealth {
    #[default]
    Sound,
    /// SQLite versions read it differently; it is corrected when the file is opened next.
    Unaligned,
    /// It does not match the messages.
    Damaged,
}

impl Health {
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns true if the file has an older schema, which is upgraded when the file is opened.
    pub fn needs_upgrade(&self) -> bool {
        self.schema_version.is_some_and(|version| version < schema::VERSION)
    }
}

/// Checks a database without changing it. Reads all of it, so it takes a while.
pub fn check(path: &Path) -> Health {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let mut health = Health {
        path: path.to_owned(),
        exists: path.exists(),
        bytes: size(path),
        log_bytes: size(Path::new(&log)),
        ..Health::default()
    };
    if !health.exists {
        return health;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let examined = Connection::open_with_flags(path, flags).and_then(|db| examine(&db, &mut health));
    if let Err(error) = examined {
        health.problems.push(error.to_string());
    }
    health
}

fn examine(db: &Connection, health: &mut Health) -> rusqlite::Result<()> {
    db.busy_timeout(std::time::Duration::from_secs(1))?;
    health.journal_mode = Some(db.pragma_query_value(None, "journal_mode", |row| row.get(0))?);
    let mut is_aligned = true;
    match schema::inspect(db)? {
        FileContents::Nothing => {}
        FileContents::Foreign => health.problems.push("not a session database".to_owned()),
        FileContents::Schema { version, has_sessions, aligned, .. } => {
            health.schema_version = Some(version);
            if !has_sessions {
                health.problems.push("not a session database".to_owned());
            }
            // An older one is upgraded when the file is opened next.
            if version > schema::VERSION {
                let newest = schema::VERSION;
                health.problems.push(format!("schema {version}; this version supports up to {newest}"));
            }
            is_aligned = aligned;
        }
    }
    let counted = |sql| db.query_row(sql, [], |row| count(row, 0)).ok();
    health.sessions = counted("SELECT COUNT(*) FROM sessions");
    health.messages = counted("SELECT COUNT(*) FROM messages");
    health.outbox = counted("SELECT COUNT(*) FROM hx_outbox");
    health.open_turns = counted("SELECT COUNT(*) FROM hx_turns WHERE state = 'open'");
    let mut quick_check = db.prepare("PRAGMA quick_check(20)")?;
    let findings = quick_check.query_map([], |row| row.get::<_, String>(0))?;
    for finding in findings {
        match finding?.as_str() {
            "ok" => {}
            finding if is_of_index(finding) && is_aligned => health.index = IndexHealth::Damaged,
            finding if is_of_index(finding) => health.index = IndexHealth::Unaligned,
            finding => health.problems.push(finding.to_owned()),
        }
    }
    Ok(())
}

/// Returns true if a finding of SQLite's integrity check is about the search index.
pub(crate) fn is_of_index(finding: &str) -> bool {
    finding.contains("FTS5 table main.messages_fts") || finding.contains("fts5:")
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

//! Health check of the stored files, for `hermes doctor`. Changes nothing.

use super::folder::{self, Entry};
use super::mentions;
use super::names::FileKind;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// The state of the directory of stored files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilesHealth {
    pub files: u64,
    pub bytes: u64,
    /// Files that no stored message mentions; `None` if the database cannot be read.
    pub orphans: Option<u64>,
    pub orphan_bytes: u64,
    /// Files being written, or left by a dead writer.
    pub growing: u64,
    /// Files that do not match the hash in their names.
    pub damaged: Vec<String>,
    /// Files that were not checked, because the budget was used up.
    pub unchecked: u64,
    /// Errors of the check itself.
    pub problems: Vec<String>,
}

/// Checks the files in `dir` and compares up to `budget` bytes of them with their names, newest first.
/// Mentions are read from the database at `db`.
pub fn check_files(db: &Path, dir: &Path, budget: u64) -> FilesHealth {
    let mut health = FilesHealth::default();
    let entries = match folder::list(dir) {
        Ok(entries) => entries,
        Err(error) => {
            health.problems.push(error.to_string());
            return health;
        }
    };
    for entry in &entries {
        health.files += 1;
        health.bytes += entry.bytes;
        health.growing += u64::from(entry.kind == FileKind::Growing);
    }
    count_orphans(db, &entries, &mut health);
    find_damage(dir, &entries, budget, &mut health);
    health
}

fn content(entries: &[Entry]) -> impl DoubleEndedIterator<Item = &Entry> {
    entries.iter().filter(|entry| entry.kind == FileKind::Content)
}

fn count_orphans(db: &Path, entries: &[Entry], health: &mut FilesHealth) {
    if entries.is_empty() {
        health.orphans = Some(0);
        return;
    }
    match all_mentions(db) {
        Ok(mentions) => {
            let orphans = || content(entries).filter(|entry| !mentions.contains_key(&entry.name));
            health.orphans = u64::try_from(orphans().count()).ok();
            health.orphan_bytes = orphans().map(|entry| entry.bytes).sum();
        }
        Err(error) => health.problems.push(format!("the store does not say what is mentioned: {error}")),
    }
}

fn all_mentions(db: &Path) -> rusqlite::Result<mentions::FileMentions> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(db, flags)?;
    db.busy_timeout(std::time::Duration::from_secs(1))?;
    db.execute_batch("BEGIN")?;
    // Without the table nothing is noted, and all messages are read.
    let mut mentions = mentions::recorded(&db).unwrap_or_default();
    mentions::unscanned(&db)?.add_to(&mut mentions);
    Ok(mentions)
}

fn find_damage(dir: &Path, entries: &[Entry], mut budget: u64, health: &mut FilesHealth) {
    for entry in content(entries).rev() {
        if entry.bytes > budget {
            health.unchecked += 1;
            continue;
        }
        budget -= entry.bytes;
        match folder::is_whole(dir, &entry.name) {
            Ok(true) => {}
            Ok(false) => health.damaged.push(entry.name.clone()),
            Err(error) => health.problems.push(format!("{}: {error}", entry.name)),
        }
    }
}

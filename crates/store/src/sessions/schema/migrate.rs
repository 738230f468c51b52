//! Brings a file of an older version up to the version this build writes.
//!
//! All steps run in one transaction, so a file is old or new and never in between. The write lock
//! is taken before the backup is made: what the backup holds is exactly what the steps start from,
//! and of two programs that open the same old file only one upgrades it. The steps follow from what
//! the file lacks wherever that can be seen, because files that forks made lie about their version.

mod backup;
mod columns;
mod full_text;
mod gateway;
mod steps;
mod titles;
mod usage;

use super::Found;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::begin_write::{begin, real_path};
use crate::sessions::connection::lock_wait::{WRITE_PATIENCE, insist};
use crate::sessions::connection::write_queue::Queue;
use crate::sessions::schema;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use steps::{Old, STEPS};

/// Is told after each step how many are done; an error ends the upgrade. For tests.
type Watch<'a> = &'a mut dyn FnMut(usize) -> rusqlite::Result<()>;

/// Upgrades the file in place. Its triggers must be off on `db`.
pub(crate) fn upgrade(db: &Connection, path: &Path) -> Result<(), StoreError> {
    upgrade_watched(db, path, &mut |_| Ok(()))
}

fn upgrade_watched(db: &Connection, path: &Path, watch: Watch<'_>) -> Result<(), StoreError> {
    // Old files may hold rows that break a reference; copying them must not fail. Has to be said
    // outside a transaction.
    db.pragma_update(None, "foreign_keys", false).doing("prepare an upgrade")?;
    let turn = begin(db, &mut Queue::to_write(&real_path(db, path)), path, WRITE_PATIENCE);
    let outcome = turn.and_then(|turn| {
        let outcome = in_one_transaction(db, path, watch);
        if outcome.is_err() && !db.is_autocommit() {
            // The error that matters is the first one; an open transaction ends with `db`.
            let _ = db.execute_batch("ROLLBACK");
        }
        drop(turn);
        outcome
    });
    db.pragma_update(None, "foreign_keys", true).doing("end an upgrade")?;
    outcome
}

fn in_one_transaction(db: &Connection, path: &Path, watch: Watch<'_>) -> Result<(), StoreError> {
    // Another process may have been quicker.
    let found = schema::inspect(db).doing("read the schema")?;
    schema::accept(&found, path)?;
    let Found::Schema { version: from @ ..schema::VERSION, .. } = found else {
        return db.execute_batch("ROLLBACK").doing("end an upgrade");
    };
    let failed = |doing, backup: Option<&PathBuf>, source: rusqlite::Error| StoreError::Upgrade {
        path: path.to_owned(),
        from,
        doing,
        backup: backup.cloned(),
        source: source.into(),
    };
    let now = db.query_row("SELECT unixepoch()", [], |row| row.get(0)).doing("read the time")?;
    let copy = backup::new_file(path, from, now)?;
    backup::fill(&copy, path).map_err(|error| failed("back it up", None, error))?;
    tracing::info!(path = %path.display(), from, to = schema::VERSION, backup = %copy.display(), "upgrading");
    let old = Old { db, version: from, home: path.parent().unwrap_or(Path::new("")) };
    run_steps(&old, watch).map_err(|(doing, error)| failed(doing, Some(&copy), error))
}

/// Runs all steps and commits; a failure comes with what failed.
fn run_steps(old: &Old<'_>, watch: Watch<'_>) -> Result<(), (&'static str, rusqlite::Error)> {
    watch(0).map_err(|error| ("begin", error))?;
    for (done, step) in (1..).zip(STEPS) {
        let outcome = (step.run)(old).and_then(|()| watch(done));
        outcome.map_err(|error| (step.doing, error))?;
    }
    insist(WRITE_PATIENCE, || old.db.execute_batch("COMMIT")).map_err(|error| ("commit", error))
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;

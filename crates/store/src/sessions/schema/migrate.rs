//! Upgrades a file of an older version.
//!
//! All steps run in one transaction, so a file is old or new and never in between. The write lock is taken
//! before the backup: the backup holds exactly the state before the steps, and of two programs that open the
//! same old file only one upgrades it. Steps check the tables themselves where possible, because files of
//! forks have wrong version numbers.

mod backup;
mod columns;
mod full_text;
mod gateway;
mod steps;
mod titles;
mod usage;

use super::FileContents;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::begin_write::{begin, real_path};
use crate::sessions::connection::lock_wait::{WRITE_WAIT, retry_while_locked};
use crate::sessions::connection::write_queue::WriteQueue;
use crate::sessions::schema;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use steps::{OldFile, STEPS};

/// Called after each step with the number of steps done; an error ends the upgrade. For tests.
type Watch<'a> = &'a mut dyn FnMut(usize) -> rusqlite::Result<()>;

/// Upgrades the file in place. Triggers must be disabled on `db`.
pub(crate) fn upgrade(db: &Connection, path: &Path) -> Result<(), StoreError> {
    upgrade_watched(db, path, &mut |_| Ok(()))
}

fn upgrade_watched(db: &Connection, path: &Path, watch: Watch<'_>) -> Result<(), StoreError> {
    // Old files may have rows with broken references, which must be copied, too. The pragma works only
    // outside a transaction.
    db.pragma_update(None, "foreign_keys", false).doing("prepare an upgrade")?;
    let turn = begin(db, &mut WriteQueue::for_writes(&real_path(db, path)), path, WRITE_WAIT);
    let outcome = turn.and_then(|turn| {
        let outcome = in_one_transaction(db, path, watch);
        if outcome.is_err() && !db.is_autocommit() {
            // The first error is returned; an open transaction ends with `db`.
            let _ = db.execute_batch("ROLLBACK");
        }
        drop(turn);
        outcome
    });
    db.pragma_update(None, "foreign_keys", true).doing("end an upgrade")?;
    outcome
}

fn in_one_transaction(db: &Connection, path: &Path, watch: Watch<'_>) -> Result<(), StoreError> {
    // Another process may have upgraded it.
    let found = schema::inspect(db).doing("read the schema")?;
    schema::accept(&found, path)?;
    let FileContents::Schema { version: from @ ..schema::VERSION, .. } = found else {
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
    let old = OldFile { db, version: from, home: path.parent().unwrap_or(Path::new("")) };
    run_steps(&old, watch).map_err(|(doing, error)| failed(doing, Some(&copy), error))
}

/// Runs all steps and commits; an error names the failed step.
fn run_steps(old: &OldFile<'_>, watch: Watch<'_>) -> Result<(), (&'static str, rusqlite::Error)> {
    watch(0).map_err(|error| ("begin", error))?;
    for (done, step) in (1..).zip(STEPS) {
        let outcome = (step.run)(old).and_then(|()| watch(done));
        outcome.map_err(|error| (step.doing, error))?;
    }
    retry_while_locked(WRITE_WAIT, || old.db.execute_batch("COMMIT")).map_err(|error| ("commit", error))
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;

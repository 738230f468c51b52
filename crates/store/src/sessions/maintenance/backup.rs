//! Backs up the database while it is in use.
//!
//! The copy is written under a temporary name, checked, synced and renamed, so that the target is either
//! unchanged or a complete backup. It is one self-contained file, without a log.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::{SessionDb, schema};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

const PAGES_PER_STEP: i32 = 512;
const PAUSE_WHEN_BUSY: Duration = Duration::from_millis(20);

/// The treatment of an existing target file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    Keep,
    Replace,
}

/// Errors of a backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{path} already exists")]
    Exists { path: PathBuf },
    #[error("{path} is the session database itself")]
    IsTheDatabase { path: PathBuf },
    #[error("{path} belongs to a database in use; remove it, or choose another name")]
    InUse { path: PathBuf },
    #[error("cannot write {path}")]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the backup was damaged and removed: {finding}")]
    Damaged { finding: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SessionDb {
    /// Copies the database to `target` and returns the size of the copy. `progress` is called with the pages
    /// done and the total. Writers are not blocked; the copy is the state at the beginning.
    pub async fn backup(
        &self,
        target: &Path,
        existing: Existing,
        progress: impl FnMut(u64, u64) + Send + 'static,
    ) -> Result<u64, BackupError> {
        let target = target.to_owned();
        let made = self.read(move |db| Ok(backup(db, &target, existing, progress))).await;
        made.map_err(BackupError::Store)?
    }
}

fn backup(
    db: &Connection,
    target: &Path,
    existing: Existing,
    progress: impl FnMut(u64, u64),
) -> Result<u64, BackupError> {
    accept(db, target, existing)?;
    let unfinished = Unfinished::beside(target)?;
    copy(db, &unfinished.path, progress)?;
    let bytes = unfinished.file_to(target, existing)?;
    Ok(bytes)
}

fn accept(db: &Connection, target: &Path, existing: Existing) -> Result<(), BackupError> {
    let path = target.to_owned();
    let main = PathBuf::from(db.path().unwrap_or_default());
    let its_files = ["", "-wal", "-shm", "-journal"].map(|end| with_suffix(&main, end));
    if its_files.iter().any(|file| is_same(file, target)) {
        return Err(BackupError::IsTheDatabase { path });
    }
    if existing == Existing::Keep && target.symlink_metadata().is_ok() {
        return Err(BackupError::Exists { path });
    }
    // An old log would be applied to the new file.
    let logs = ["-wal", "-journal"].map(|end| with_suffix(target, end));
    match logs.into_iter().find(|log| log.exists()) {
        Some(path) => Err(BackupError::InUse { path }),
        None => Ok(()),
    }
}

fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// The temporary file, removed on drop.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn beside(target: &Path) -> Result<Self, BackupError> {
        let path = with_suffix(target, &format!(".unfinished-{}", std::process::id()));
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        made.map_err(|source| BackupError::File { path: target.to_owned(), source })?;
        Ok(Self { path })
    }

    fn file_to(self, target: &Path, existing: Existing) -> Result<u64, BackupError> {
        let failed = |source| BackupError::File { path: target.to_owned(), source };
        let file = File::open(&self.path).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        if existing == Existing::Keep && target.symlink_metadata().is_ok() {
            return Err(BackupError::Exists { path: target.to_owned() });
        }
        fs::rename(&self.path, target).map_err(failed)?;
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok(file.metadata().map_err(failed)?.len())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm", "-journal"] {
            // After the rename there is nothing left to remove.
            let _ = fs::remove_file(with_suffix(&self.path, end));
        }
    }
}

fn copy(db: &Connection, path: &Path, progress: impl FnMut(u64, u64)) -> Result<(), BackupError> {
    // The first read begins the snapshot; later writes do not restart the copy.
    schema::inspect(db).doing("read the database")?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copy = Connection::open_with_flags(path, flags).doing("open the copy")?;
    copy_pages(db, &mut copy, progress).doing("copy the database")?;
    copy.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).doing("finish the copy")?;
    let finding: String =
        copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).doing("check the copy")?;
    if finding != "ok" {
        return Err(BackupError::Damaged { finding });
    }
    copy.close().map_err(|(_, error)| error).doing("close the copy")?;
    Ok(())
}

fn copy_pages(
    db: &Connection,
    copy: &mut Connection,
    mut progress: impl FnMut(u64, u64),
) -> rusqlite::Result<()> {
    let backup = Backup::new(db, copy)?;
    loop {
        let step = backup.step(PAGES_PER_STEP)?;
        let pages = backup.progress();
        let count = |pages: i32| u64::try_from(pages).unwrap_or_default();
        progress(count(pages.pagecount - pages.remaining), count(pages.pagecount));
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => std::thread::park_timeout(PAUSE_WHEN_BUSY),
        }
    }
}

//! Atomic writes below the skills folder.
//!
//! Whole folders are written to `.hub/staging` and renamed into place, so that a reader or a crash never
//! sees a partial skill. One process changes skills at a time; the next one removes what a dead process
//! left in the staging folder.

use super::package::PackedFile;
use super::{SkillError, skills_dir};
use hermes_guard::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX, remove_stale_temporaries};
use rustix::fs::{FlockOperation, RenameFlags};
use std::fs::{DirBuilder, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Exclusive access to the skills of a home, until it is dropped.
#[derive(Debug)]
pub(super) struct StagingArea {
    root: PathBuf,
    _lock: File,
}

impl StagingArea {
    /// Waits for the lock and clears the staging folder.
    pub(super) fn lock(home: &Path) -> Result<Self, SkillError> {
        let root = skills_dir(home);
        let hub = root.join(".hub");
        make_dir(&hub)?;
        let lock = File::open(&hub).map_err(SkillError::io("open", &hub))?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| SkillError::io("lock", &hub)(error.into()))?;
        let area = Self { root, _lock: lock };
        clear(&area.dir())?;
        Ok(area)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    fn dir(&self) -> PathBuf {
        self.root.join(".hub").join("staging")
    }

    /// Creates the folder `target` with these files, in one step. An existing folder is exchanged in the
    /// same step if `replaces` is set, and an error otherwise.
    pub(super) fn place(
        &self,
        files: &[PackedFile],
        target: &Path,
        replaces: bool,
    ) -> Result<(), SkillError> {
        let above = target.parent().unwrap_or(&self.root);
        make_dir(above)?;
        let staged = self.dir().join("new");
        make_dir(&staged)?;
        for file in files {
            write_new(&staged, file)?;
        }
        sync_tree(&staged)?;
        let flags = if replaces && target.exists() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
        let here = rustix::fs::CWD;
        rustix::fs::renameat_with(here, &staged, here, target, flags)
            .map_err(|error| SkillError::io("create", target)(error.into()))?;
        sync_dir(above)?;
        clear(&self.dir())
    }

    /// Removes a folder, in one step.
    pub(super) fn remove_folder(&self, dir: &Path) -> Result<(), SkillError> {
        let staging = self.dir();
        make_dir(&staging)?;
        std::fs::rename(dir, staging.join("old")).map_err(SkillError::io("remove", dir))?;
        let above = dir.parent().unwrap_or(&self.root);
        sync_dir(above)?;
        // An empty category is removed with its last skill.
        if above != self.root {
            let _ = std::fs::remove_dir(above);
        }
        clear(&staging)
    }
}

/// Replaces one file atomically.
pub(super) fn write_file(path: &Path, bytes: &[u8], mode: u32) -> Result<(), SkillError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    make_dir(dir)?;
    remove_stale_temporaries(dir);
    let write = || -> std::io::Result<()> {
        let mut builder = tempfile::Builder::new();
        let mut file = builder.prefix(TEMPORARY_PREFIX).suffix(TEMPORARY_SUFFIX).tempfile_in(dir)?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        File::open(dir)?.sync_all()
    };
    write().map_err(SkillError::io("write", path))
}

pub(super) fn make_dir(dir: &Path) -> Result<(), SkillError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(SkillError::io("create", dir))
}

/// Removes a folder with its content, if it exists. Links are not followed.
pub(super) fn clear(dir: &Path) -> Result<(), SkillError> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(SkillError::io("remove", dir)(error))
        }
        _ => Ok(()),
    }
}

fn write_new(root: &Path, file: &PackedFile) -> Result<(), SkillError> {
    let path = root.join(&file.path);
    make_dir(path.parent().unwrap_or(root))?;
    let mode = if file.is_executable { 0o755 } else { 0o644 };
    let write = || -> std::io::Result<()> {
        let mut new = File::create_new(&path)?;
        new.write_all(&file.bytes)?;
        new.set_permissions(Permissions::from_mode(mode))?;
        new.sync_all()
    };
    write().map_err(SkillError::io("write", &path))
}

fn sync_tree(dir: &Path) -> Result<(), SkillError> {
    for entry in std::fs::read_dir(dir).map_err(SkillError::io("read", dir))?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sync_tree(&entry.path())?;
        }
    }
    sync_dir(dir)
}

fn sync_dir(dir: &Path) -> Result<(), SkillError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(SkillError::io("sync", dir))
}

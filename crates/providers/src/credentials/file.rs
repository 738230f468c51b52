//! `auth.json` on disk: read, and changed under its lock in one step.

use super::lock::{self, Lock};
use super::{AuthData, AuthError};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time limit of the lock, as in the Python release.
const PATIENCE: Duration = Duration::from_secs(15);

/// The file of stored credentials.
#[derive(Debug, Clone)]
pub struct AuthFile {
    path: PathBuf,
    patience: Duration,
}

impl AuthFile {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), patience: PATIENCE }
    }

    /// Returns the same file with another time limit for its lock, for a renewal that holds it longer.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the stored credentials; empty if the file does not exist. Reading needs no lock, because the file is always
    /// replaced as a whole.
    pub fn read(&self) -> Result<AuthData, AuthError> {
        match std::fs::read(&self.path) {
            Ok(bytes) => AuthData::parse(&self.path, &bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(AuthData::default()),
            Err(error) => Err(AuthError::io("read", &self.path)(error)),
        }
    }

    /// Waits for the lock of the file. Blocks.
    pub fn lock(&self) -> Result<LockedAuthFile, AuthError> {
        if let Some(dir) = self.path.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
            made.map_err(AuthError::io("create", dir))?;
        }
        let lock = lock::take(&self.path.with_extension("lock"), self.patience)?;
        Ok(LockedAuthFile { file: self.clone(), _lock: lock })
    }

    /// Changes the stored credentials under the lock. Writes nothing if nothing changes. Blocks.
    pub fn change<T>(&self, now: f64, change: impl FnOnce(&mut AuthData) -> T) -> Result<T, AuthError> {
        let locked = self.lock()?;
        let before = locked.read()?;
        let mut data = before.clone();
        let answer = change(&mut data);
        if data != before {
            locked.write(data, now)?;
        }
        Ok(answer)
    }
}

/// The file while its lock is held.
#[derive(Debug)]
pub struct LockedAuthFile {
    file: AuthFile,
    _lock: Lock,
}

impl LockedAuthFile {
    pub fn read(&self) -> Result<AuthData, AuthError> {
        self.file.read()
    }

    /// Replaces the file: after a crash it is the old one or the new one.
    pub fn write(&self, data: AuthData, now: f64) -> Result<(), AuthError> {
        let target = self.target();
        let failed = |doing| AuthError::io(doing, &target);
        // One name is enough, because the writer has the lock. A file that a crash left is removed first.
        let mut scratch = target.clone().into_os_string();
        scratch.push(".hermes-new");
        let scratch = PathBuf::from(scratch);
        match std::fs::remove_file(&scratch) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed("write")(error)),
            _ => {}
        }
        let text = data.into_text(now);
        let write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&scratch)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&scratch, &target)?;
            match target.parent().filter(|dir| !dir.as_os_str().is_empty()) {
                Some(dir) => File::open(dir)?.sync_all(),
                None => Ok(()),
            }
        };
        write().map_err(|error| {
            let _ = std::fs::remove_file(&scratch);
            failed("write")(error)
        })
    }

    /// A symbolic link is kept; the file that it points to is replaced.
    fn target(&self) -> PathBuf {
        self.file.path.canonicalize().unwrap_or_else(|_| self.file.path.clone())
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;

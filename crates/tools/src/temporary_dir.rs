//! The temporary directory of a session, which its commands and hooks know as `TMPDIR`.

use crate::{ToolContext, ToolError};
use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

/// The age at which a temporary directory belongs to no session any more.
const ABANDONED_AFTER: Duration = Duration::from_secs(2 * 24 * 60 * 60);

impl ToolContext {
    /// The temporary directory, created if it is missing.
    pub fn created_temporary(&self) -> Result<Option<&Path>, ToolError> {
        let Some(temporary) = self.temporary() else { return Ok(None) };
        if !temporary.exists() {
            remove_abandoned(temporary.parent());
        }
        // The directory above it is shared by the sessions of this user.
        for dir in temporary.parent().into_iter().chain([temporary]) {
            private_dir(dir).map_err(|error| ToolError::io("create", dir, &error))?;
        }
        Ok(Some(temporary))
    }
}

/// Makes a directory that only its owner sees into; one that is open to others is closed.
pub(crate) fn private_dir(dir: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let found = std::fs::symlink_metadata(dir)?;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(std::io::Error::other("it belongs to another user"));
    }
    let mode = found.permissions().mode();
    if mode & 0o077 != 0 {
        tracing::info!(dir = %dir.display(), "a working directory was open to others and is closed now");
        std::fs::set_permissions(dir, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Deletes temporary directories of sessions that were killed: those that nothing changed for two days.
fn remove_abandoned(dir: Option<&Path>) {
    let Some(Ok(entries)) = dir.map(std::fs::read_dir) else { return };
    for entry in entries.flatten() {
        let age =
            entry.metadata().and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > ABANDONED_AFTER) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

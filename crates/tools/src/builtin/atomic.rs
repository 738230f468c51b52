//! Replacing a file so that a reader sees the old or the new one, never half.

use hermes_guard::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX, remove_stale_temporaries};
use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes `bytes` to `path` through a temporary file beside it. An existing file keeps its
/// mode; a new one gets what the process's mask leaves of 0666. On return the data and the
/// name are on disk.
pub(super) fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = std::fs::metadata(path).ok().map(|metadata| metadata.permissions());
    remove_stale_temporaries(dir);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX).suffix(TEMPORARY_SUFFIX);
    // The mask applies when the file is made; an existing file's mode must not widen before.
    match &mode {
        Some(_) => builder.permissions(Permissions::from_mode(0o600)),
        None => builder.permissions(Permissions::from_mode(0o666)),
    };
    let mut file = builder.tempfile_in(dir)?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_changes_and_mode_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.sh");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o751);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

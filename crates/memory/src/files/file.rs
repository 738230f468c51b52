//! Reads a memory file, and replaces it atomically.

use super::MemoryError;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Maximum size of a memory file, far beyond any limit.
const MAX_BYTES: u64 = 1024 * 1024;
const PRIVATE: u32 = 0o600;

/// Reads the text of a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<String>, MemoryError> {
    let unreadable = |cause: String| MemoryError::Unreadable { path: path.to_owned(), cause };
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(unreadable("broken symbolic link".to_owned()));
        }
        Err(error) => return Err(unreadable(error.to_string())),
    };
    if !found.is_file() {
        return Err(unreadable("not a regular file; move it away".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unreadable("larger than 1 MiB; move other text out of the file".to_owned()));
    }
    let not_text = |_| unreadable("not UTF-8 text; convert it, for example with iconv".to_owned());
    String::from_utf8(bytes).map(Some).map_err(not_text)
}

/// Replaces or creates a file: temporary file, sync, rename, sync of the folder. An existing file keeps its
/// mode, and a link stays a link. Requires the lock.
pub(super) fn write(path: &Path, text: &str) -> Result<(), MemoryError> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mode = fs::metadata(&real).map_or(PRIVATE, |found| found.permissions().mode() & 0o7777);
    let temporary = temporary(&real);
    // Left by a killed process; no other process writes here while this one holds the lock.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(MemoryError::io("replace", &temporary)(error));
        }
        _ => {}
    }
    let written = fill(&temporary, text, mode).and_then(|()| fs::rename(&temporary, &real));
    if written.is_err() {
        // The old file is unchanged; the temporary file is not needed.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(MemoryError::io("write", &real))?;
    sync_folder(&real)
}

fn fill(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

fn temporary(path: &Path) -> PathBuf {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".mem_{name}.tmp"))
}

pub(super) fn sync_folder(path: &Path) -> Result<(), MemoryError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(MemoryError::io("sync", folder))
}

/// Creates the private folder of the files.
pub(super) fn make_folder(path: &Path) -> Result<(), MemoryError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(MemoryError::io("create", path))
}

/// Copies a file to a name with the time in it, unless an equal copy exists.
pub(super) fn back_up(path: &Path, text: &str, epoch: u64) -> Result<PathBuf, MemoryError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!("{name}.bak.");
    let folder = path.parent().unwrap_or(Path::new("."));
    let siblings = fs::read_dir(folder).map_err(MemoryError::io("read", folder))?.flatten();
    let copies = siblings.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    if let Some(same) =
        copies.map(|entry| entry.path()).find(|copy| matches!(read(copy), Ok(Some(kept)) if kept == text))
    {
        return Ok(same);
    }
    for second in epoch.. {
        let copy = path.with_file_name(format!("{prefix}{second}"));
        match fill(&copy, text, PRIVATE) {
            Ok(()) => return sync_folder(&copy).map(|()| copy),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(MemoryError::io("write", &copy)(error)),
        }
    }
    unreachable!("there is always a later second")
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;

//! The directory of stored files: lists, copies and removes files.

use super::names::{self, FileKind, kind_of};
use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// Maximum size of a file; `exec` writes no larger ones.
const MAX_BYTES: u64 = 256 << 20;
const CHUNK: usize = 64 * 1024;

/// A file of the directory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: FileKind,
    pub(crate) bytes: u64,
    /// Seconds since 1970.
    pub(crate) used_at: f64,
}

/// Returns the files of `dir`, the least recently used first. Empty if the directory does not exist.
pub(crate) fn list(dir: &Path) -> io::Result<Vec<Entry>> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        // The file was removed meanwhile.
        let Ok(metadata) = entry.metadata() else { continue };
        // Names that are not UTF-8 are not ours.
        let Ok(name) = entry.file_name().into_string() else { continue };
        if metadata.is_file() {
            let (bytes, used_at) = (metadata.len(), used_at(&metadata));
            files.push(Entry { kind: kind_of(&name), name, bytes, used_at });
        }
    }
    files.sort_by(|a, b| a.used_at.total_cmp(&b.used_at).then_with(|| a.name.cmp(&b.name)));
    Ok(files)
}

fn used_at(metadata: &Metadata) -> f64 {
    let since_1970 = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since_1970.map_or(0.0, |time| time.as_secs_f64())
}

/// Removes `files` unless they were used since they were listed, and returns the removed ones. A file that
/// cannot be removed is logged.
pub(crate) fn remove(dir: &Path, files: &[Entry]) -> Vec<String> {
    let mut gone = Vec::new();
    let _lock = lock(dir);
    for file in files {
        let path = dir.join(&file.name);
        let unused = std::fs::metadata(&path).is_ok_and(|now| used_at(&now) <= file.used_at);
        if !unused {
            continue;
        }
        match std::fs::remove_file(&path) {
            Ok(()) => gone.push(file.name.clone()),
            Err(error) => tracing::warn!(%error, path = %path.display(), "cannot remove a stored file"),
        }
    }
    gone
}

/// Takes the lock that `exec` holds while it renames a file; `None` on file systems without locks.
fn lock(dir: &Path) -> Option<File> {
    let dir = File::open(dir).ok()?;
    flock(&dir, FlockOperation::LockExclusive).ok()?;
    Some(dir)
}

/// Returns true if the content matches the hash in the name.
pub(crate) fn is_whole(dir: &Path, name: &str) -> io::Result<bool> {
    let mut hash = Sha256::new();
    copy_chunks(&mut File::open(dir.join(name))?, &mut |piece| {
        hash.update(piece);
        Ok(())
    })?;
    Ok(names::matches_hash(hash, name))
}

/// The result of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyResult {
    Whole,
    /// Not copied: the content does not match the hash in the name.
    Damaged,
    Missing,
    TooLong,
}

/// Copies an intact file to another directory, which is created if necessary.
pub(crate) fn copy(from: &Path, to: &Path, name: &str) -> io::Result<CopyResult> {
    let source = from.join(name);
    match std::fs::symlink_metadata(&source) {
        // Links, pipes and devices are not copied.
        Ok(file) if !file.is_file() => return Ok(CopyResult::Missing),
        Ok(file) if file.len() > MAX_BYTES => return Ok(CopyResult::TooLong),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(CopyResult::Missing),
        Err(error) => return Err(error),
    }
    DirBuilder::new().recursive(true).mode(0o700).create(to)?;
    let growing = growing(to);
    let copied = copy_as(&source, &growing, name).and_then(|copied| {
        let _lock = lock(to);
        if copied == CopyResult::Whole {
            std::fs::rename(&growing, to.join(name))?;
        }
        Ok(copied)
    });
    // After a successful rename the temporary file does not exist.
    let _ = std::fs::remove_file(&growing);
    copied
}

fn copy_as(source: &Path, growing: &Path, name: &str) -> io::Result<CopyResult> {
    let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(growing)?;
    let mut hash = Sha256::new();
    copy_chunks(&mut File::open(source)?.take(MAX_BYTES), &mut |piece| {
        hash.update(piece);
        target.write_all(piece)
    })?;
    if !names::matches_hash(hash, name) {
        return Ok(CopyResult::Damaged);
    }
    target.sync_all()?;
    Ok(CopyResult::Whole)
}

/// Returns a free name for a temporary file.
fn growing(dir: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(1 << 32);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("{}-{number}.part", std::process::id()));
        if !path.exists() {
            return path;
        }
    }
}

fn copy_chunks(from: &mut dyn Read, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => to(&buffer[..count])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;

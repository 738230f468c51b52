//! The directory of kept files: what is in it, and how something comes in or goes.

use super::names::{self, FileKind, kind_of};
use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// Longer files are not taken in; `exec` makes none.
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

/// The files of `dir`, the least recently used first. One that does not exist has none.
pub(crate) fn list(dir: &Path) -> io::Result<Vec<Entry>> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        // What went away meanwhile is not in the directory.
        let Ok(metadata) = entry.metadata() else { continue };
        // A name that is not text was given by nobody here, and cannot be shown.
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

/// Removes `files` unless they were used since they were listed, and tells which went. What cannot
/// be removed stays, with a warning.
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
            Err(error) => tracing::warn!(%error, path = %path.display(), "a kept file stays"),
        }
    }
    gone
}

/// `exec` holds the same lock while it names a file. A filesystem without locks goes without.
fn lock(dir: &Path) -> Option<File> {
    let dir = File::open(dir).ok()?;
    flock(&dir, FlockOperation::LockExclusive).ok()?;
    Some(dir)
}

/// Whether a file has the bytes that its name promises.
pub(crate) fn is_whole(dir: &Path, name: &str) -> io::Result<bool> {
    let mut hash = Sha256::new();
    copy_chunks(&mut File::open(dir.join(name))?, &mut |piece| {
        hash.update(piece);
        Ok(())
    })?;
    Ok(names::matches_hash(hash, name))
}

/// How a copy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyResult {
    Whole,
    /// Not copied: the bytes are not those that the name promises.
    Damaged,
    Missing,
    TooLong,
}

/// Copies a file between two directories, if it is whole; the second is made when it is missing.
pub(crate) fn copy(from: &Path, to: &Path, name: &str) -> io::Result<CopyResult> {
    let source = from.join(name);
    match std::fs::symlink_metadata(&source) {
        // Neither a link nor anything that could keep a reader waiting.
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
    // Gone already when it was given its name.
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

/// A free name of the kind that a growing file has.
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

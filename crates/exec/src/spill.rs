//! Spill files: full output of commands that is too long for memory.
//!
//! A finished file is named after the hash of its content, so equal output is stored once; the suffix of the
//! name is the kind of output. A file that is still written has a temporary name (`PID-N.part`) that is not
//! published. Files are private, and their total size is limited: creating one removes the least recently used
//! ones. The time of last use is the modification time.

use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Hexadecimal digits of the hash in a name.
const DIGITS: usize = 32;
/// The suffix of plain output.
const PLAIN: &str = ".txt";
/// The age after which an unfinished file is considered abandoned.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Size limits of spill files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpillLimits {
    /// The maximum size of one file in bytes.
    pub bytes: u64,
    /// The maximum total size of the files in one directory, in bytes.
    pub total: u64,
}

impl Default for SpillLimits {
    fn default() -> Self {
        Self { bytes: 256 << 20, total: 2 << 30 }
    }
}

impl SpillLimits {
    /// The effective maximum size of one file.
    pub fn per_file(self) -> u64 {
        self.bytes.min(self.total)
    }

    /// The space to free before the size of a file is known. The rest is freed when it is.
    fn reserve(self) -> u64 {
        self.per_file().min(self.total / 8)
    }
}

/// An unfinished spill file; removed on drop.
#[derive(Debug)]
pub struct SpillFile {
    file: File,
    hash: Sha256,
    /// The number of bytes that were hashed.
    bytes: u64,
    dir: PathBuf,
    growing: PathBuf,
    limits: SpillLimits,
}

impl SpillFile {
    /// Creates a file in `dir`, which is created if missing and must hold nothing else.
    pub fn create(dir: &Path, limits: SpillLimits) -> std::io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        make_room(dir, limits.total - limits.reserve(), None);
        let (file, growing) = create_growing(dir)?;
        Ok(Self { file, hash: Sha256::new(), bytes: 0, dir: dir.to_owned(), growing, limits })
    }

    pub fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let written = self.file.write_all(bytes);
        if written.is_ok() {
            self.hash.update(bytes);
            self.bytes += bytes.len() as u64;
        }
        written
    }

    /// Gives the file its final name. Waits for the disk: the name becomes part of a message that survives a
    /// power cut, so the file must, too.
    ///
    /// An existing file with the same name is replaced: this one is known to be complete, and its time is now.
    pub fn finish(self) -> std::io::Result<PathBuf> {
        self.finish_as(PLAIN)
    }

    /// As [`finish`](Self::finish), with another suffix.
    pub fn finish_as(self, ending: &str) -> std::io::Result<PathBuf> {
        // A full disk may have taken a part of the last piece.
        self.file.set_len(self.bytes)?;
        self.file.sync_all()?;
        let path = self.dir.join(content_name(&self.hash.clone().finalize(), ending));
        {
            let _lock = lock(&self.dir);
            std::fs::rename(&self.growing, &path)?;
        }
        File::open(&self.dir)?.sync_all()?;
        make_room(&self.dir, self.limits.total, Some(&path));
        Ok(path)
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        // Fails if the file was finished.
        let _ = std::fs::remove_file(&self.growing);
    }
}

fn create_growing(dir: &Path) -> std::io::Result<(File, PathBuf)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("{}-{number}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            // Left by a process that had the same id.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return Ok((made?, path)),
        }
    }
}

fn content_name(digest: &[u8], ending: &str) -> String {
    hex(&digest[..DIGITS / 2]) + ending
}

/// Formats `bytes` as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The lock for naming and removing files, so that a renewed file is not removed. A filesystem without locks
/// works without it.
fn lock(dir: &Path) -> Option<File> {
    let dir = File::open(dir).ok()?;
    flock(&dir, FlockOperation::LockExclusive).ok()?;
    Some(dir)
}

struct Neighbour {
    used: SystemTime,
    bytes: u64,
    path: PathBuf,
}

/// Removes abandoned files, then the least recently used ones until at most `most` bytes are left. Never
/// removes `kept` or unfinished files.
fn make_room(dir: &Path, most: u64, kept: Option<&Path>) {
    let _lock = lock(dir);
    let mut files: Vec<Neighbour> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok().filter(Metadata::is_file)?;
            Some(Neighbour { used: metadata.modified().ok()?, bytes: metadata.len(), path: entry.path() })
        })
        .collect();
    files.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
    let mut total: u64 = files.iter().map(|file| file.bytes).sum();
    for Neighbour { used, bytes, path } in files {
        let grows = path.extension().is_some_and(|extension| extension == "part");
        let goes = if grows {
            used.elapsed().is_ok_and(|age| age > ABANDONED)
        } else {
            total > most && kept != Some(path.as_path())
        };
        if !goes {
            continue;
        }
        match std::fs::remove_file(&path) {
            Ok(()) => total -= bytes,
            Err(error) => tracing::warn!(%error, path = %path.display(), "an old spill file stays"),
        }
    }
}

#[cfg(test)]
#[path = "spill_tests.rs"]
mod tests;

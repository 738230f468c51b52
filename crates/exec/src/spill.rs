//! The files for output that is too long to keep in memory.
//!
//! A finished file is named after its bytes, so the same output is kept once. How the name ends says what
//! kind of output it is. While it grows it
//! has a name of its own (`PID-N.part`), under which nobody is told about it. The files are
//! private, and together they stay below a limit: whoever makes one removes the least recently
//! used of its neighbours first. Time of last use is the time of modification.

use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Hexadecimal digits of the hash that are part of a name.
const DIGITS: usize = 32;
/// How names of plain output end.
const PLAIN: &str = ".txt";
/// A growing file that was not written for so long belongs to no command that still runs.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// How much may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpillLimits {
    /// Bytes after which one file stops growing.
    pub bytes: u64,
    /// Bytes that the files of one directory may have together.
    pub total: u64,
}

impl Default for SpillLimits {
    fn default() -> Self {
        Self { bytes: 256 << 20, total: 2 << 30 }
    }
}

impl SpillLimits {
    /// The most that one file may have.
    pub fn per_file(self) -> u64 {
        self.bytes.min(self.total)
    }

    /// The room made before the length of a file is known. The rest is made when it is.
    fn reserve(self) -> u64 {
        self.per_file().min(self.total / 8)
    }
}

/// A file that grows; it is removed unless it is finished.
#[derive(Debug)]
pub struct SpillFile {
    file: File,
    hash: Sha256,
    /// What was hashed, and so what the file may have.
    bytes: u64,
    dir: PathBuf,
    growing: PathBuf,
    limits: SpillLimits,
}

impl SpillFile {
    /// Starts a file in `dir`, which is made when it is missing and must hold nothing else.
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

    /// Gives the file its name. Waits for the disk: the name goes into a message that survives a
    /// power cut, and so must the file.
    ///
    /// An older file of the same name is replaced. It has the same bytes, or had: this one is
    /// known to be whole, and its time is now.
    pub fn finish(self) -> std::io::Result<PathBuf> {
        self.finish_as(PLAIN)
    }

    /// The same, with a name that ends otherwise.
    pub fn finish_as(self, ending: &str) -> std::io::Result<PathBuf> {
        // A disk that became full may have taken half of a piece.
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
        // Gone already when it was finished.
        let _ = std::fs::remove_file(&self.growing);
    }
}

fn create_growing(dir: &Path) -> std::io::Result<(File, PathBuf)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("{}-{number}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            // Left by a process that had our id before us.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return Ok((made?, path)),
        }
    }
}

fn content_name(digest: &[u8], ending: &str) -> String {
    hex(&digest[..DIGITS / 2]) + ending
}

/// `bytes` as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whoever names or removes a file holds this, so that nobody removes what was just renewed. A
/// filesystem without locks goes without.
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

/// Removes abandoned files, and of the others the least recently used, until the rest has at most
/// `most` bytes. `kept` stays, and so does what still grows.
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

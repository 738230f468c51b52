//! A log file that several processes append to and any of them may rotate.
//!
//! A line is one write to a file opened for appending, so lines of different processes never mix.
//! Before each line the name is checked: another process, or the Python release, may have rotated the
//! file.

use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Mode of the log files: they may quote private text.
const PRIVATE_FILE: u32 = 0o600;
/// The name of the log.
pub const AGENT_LOG: &str = "agent.log";
/// The lock held while files are renamed.
const LOCK: &str = ".agent.log.lock";

/// Size and number of the log files that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLimits {
    /// Size at which the file is rotated; 0 means never.
    pub max_bytes: u64,
    /// Number of rotated files that are kept; with 0 the file is never rotated.
    pub backups: u32,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self { max_bytes: 5 << 20, backups: 3 }
    }
}

/// The log of one home.
#[derive(Debug)]
pub struct LogFile {
    dir: PathBuf,
    path: PathBuf,
    limits: LogLimits,
    open: Option<Open>,
    /// A line was cut off by a full disk; the next one begins on a line of its own.
    is_torn: bool,
}

#[derive(Debug)]
struct Open {
    file: File,
    id: (u64, u64),
}

impl LogFile {
    /// Nothing is opened or made yet.
    pub fn new(dir: PathBuf, limits: LogLimits) -> Self {
        Self { path: dir.join(AGENT_LOG), dir, limits, open: None, is_torn: false }
    }

    /// Appends a line, which must end with a newline.
    pub fn append(&mut self, line: &str) -> io::Result<()> {
        let mut there = std::fs::metadata(&self.path).ok();
        if there.as_ref().is_some_and(|there| self.is_full(there, line)) && self.rotate(line)? {
            there = None;
        }
        let is_same = match (&self.open, &there) {
            (Some(open), Some(there)) => open.id == id(there),
            _ => false,
        };
        if !is_same {
            self.open = Some(self.opened()?);
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        let completed;
        let bytes = match self.is_torn {
            true => {
                completed = format!("\n{line}");
                completed.as_bytes()
            }
            false => line.as_bytes(),
        };
        let written = open.file.write(bytes)?;
        self.is_torn = written < bytes.len();
        match self.is_torn {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }

    fn opened(&self) -> io::Result<Open> {
        let open = || OpenOptions::new().append(true).create(true).mode(PRIVATE_FILE).open(&self.path);
        let file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
                open()?
            }
            other => other?,
        };
        let id = id(&file.metadata()?);
        Ok(Open { file, id })
    }

    fn is_full(&self, there: &Metadata, line: &str) -> bool {
        let LogLimits { max_bytes, backups } = self.limits;
        let is_limited = max_bytes > 0 && backups > 0;
        is_limited && there.len() > 0 && there.len() + line.len() as u64 > max_bytes
    }

    /// Renames the full file. Returns `false` when another process is doing that or has done it: a process
    /// that is stopped while it holds the lock must not block the writers.
    fn rotate(&self, line: &str) -> io::Result<bool> {
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(PRIVATE_FILE)
            .open(self.dir.join(LOCK))?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(false);
        }
        let there = std::fs::metadata(&self.path).ok();
        if !there.is_some_and(|there| self.is_full(&there, line)) {
            return Ok(true);
        }
        // Up to the first number that is free, or to the last, whose file goes.
        let last = (1..self.limits.backups).find(|number| !numbered(&self.path, *number).exists());
        for number in (1..last.unwrap_or(self.limits.backups)).rev() {
            renamed(&numbered(&self.path, number), &numbered(&self.path, number + 1))?;
        }
        renamed(&self.path, &numbered(&self.path, 1))?;
        Ok(true)
    }
}

/// The files of a log that are there, the oldest first.
pub fn log_files(dir: &Path) -> Vec<PathBuf> {
    let path = dir.join(AGENT_LOG);
    let mut numbers: Vec<u32> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let number = name.to_str()?.strip_prefix(AGENT_LOG)?.strip_prefix('.')?;
            number.parse().ok().filter(|number: &u32| {
                *number > 0 && number.to_string().len() == name.len() - AGENT_LOG.len() - 1
            })
        })
        .collect();
    numbers.sort_unstable();
    let old = numbers.into_iter().rev().map(|number| numbered(&path, number));
    old.chain(path.exists().then(|| path.clone())).collect()
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    path.with_file_name(format!("{AGENT_LOG}.{number}"))
}

fn renamed(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn id(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;

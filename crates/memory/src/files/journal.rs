//! The history file of a memory file: append-only, one JSON value per line.
//!
//! A change is written and synced here before the memory file is replaced; a second line records that it
//! was applied. So after a crash every applied change is in the history, and the outcome of a change
//! without second line is inferred from the memory file. Appending requires the lock.

use super::{ChangeOutcome, MemoryError, Origin, Target, file};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes at the end that are searched first for the newest lines.
const TAIL: u64 = 256 * 1024;

/// A recorded change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) change: u64,
    /// Seconds since 1970.
    pub(super) at: f64,
    pub(super) origin: Origin,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    /// `add`, `replace`, `remove`, `batch`, `undo` or `outside`.
    pub(super) action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) undoes: Option<u64>,
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Settled {
    settled: u64,
    #[serde(rename = "fate")]
    outcome: ChangeOutcome,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Record(Record),
    Settled(Settled),
}

/// The parsed history of a file, oldest first.
#[derive(Debug, Default, PartialEq)]
pub(super) struct JournalEntries {
    pub(super) records: Vec<Record>,
    outcomes: BTreeMap<u64, ChangeOutcome>,
}

impl JournalEntries {
    /// Parses a history. Incomplete lines and lines of later versions are ignored.
    fn parse(text: &str) -> Self {
        let mut known = Self::default();
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(Line::Record(record)) => known.records.push(record),
                Ok(Line::Settled(Settled { settled, outcome })) => {
                    known.outcomes.insert(settled, outcome);
                }
                Err(_) => {}
            }
        }
        known
    }

    /// Returns the recorded outcome of a change.
    pub(super) fn outcome(&self, change: u64) -> Option<ChangeOutcome> {
        self.outcomes.get(&change).copied()
    }

    pub(super) fn next(&self) -> u64 {
        self.records.iter().map(|record| record.change).max().map_or(1, |last| last + 1)
    }
}

/// Infers the outcome of a change from the content of the file.
pub(super) fn infer_outcome(record: &Record, current: &[String]) -> ChangeOutcome {
    if current == record.after {
        ChangeOutcome::Made
    } else if current == record.before {
        ChangeOutcome::NotMade
    } else {
        ChangeOutcome::Unclear
    }
}

/// The history file of one memory file.
pub(super) struct Journal {
    path: PathBuf,
}

impl Journal {
    pub(super) fn of(folder: &Path, target: Target) -> Self {
        Self { path: folder.join(format!("{}.history.jsonl", target.file_name())) }
    }

    pub(super) fn all(&self) -> Result<JournalEntries, MemoryError> {
        Ok(JournalEntries::parse(&self.text(None)?))
    }

    /// Reads the newest changes; at least one, if there is any.
    pub(super) fn newest(&self) -> Result<JournalEntries, MemoryError> {
        let known = JournalEntries::parse(&self.text(Some(TAIL))?);
        if known.records.is_empty() { self.all() } else { Ok(known) }
    }

    /// Appends a change; it is durable when this returns.
    pub(super) fn begin(&self, record: &Record) -> Result<(), MemoryError> {
        self.append(record, true)
    }

    /// Appends the outcome of a change. If a crash loses this line, the outcome is inferred from the file.
    pub(super) fn settle(&self, change: u64, outcome: ChangeOutcome) -> Result<(), MemoryError> {
        self.append(&Settled { settled: change, outcome }, false)
    }

    fn append(&self, line: &impl Serialize, is_synced: bool) -> Result<(), MemoryError> {
        let failed = || MemoryError::io("write", &self.path);
        let mut text = serde_json::to_string(line).map_err(|error| failed()(error.into()))?;
        text.push('\n');
        let is_new = !self.path.exists();
        let mut open = OpenOptions::new();
        let mut file =
            open.read(true).append(true).create(true).mode(0o600).open(&self.path).map_err(failed())?;
        // An incomplete line from a crash must not be joined with this one.
        if !ends_whole(&mut file).map_err(failed())? {
            text.insert(0, '\n');
        }
        file.write_all(text.as_bytes()).map_err(failed())?;
        if is_synced {
            file.sync_data().map_err(failed())?;
        }
        if is_new { file::sync_folder(&self.path) } else { Ok(()) }
    }

    /// Reads the last `most` bytes, from the beginning of a line, or the whole file.
    fn text(&self, most: Option<u64>) -> Result<String, MemoryError> {
        let failed = || MemoryError::io("read", &self.path);
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(failed()(error)),
        };
        let length = file.metadata().map_err(failed())?.len();
        let from = most.map_or(0, |most| length.saturating_sub(most));
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from)).and_then(|_| file.read_to_end(&mut bytes)).map_err(failed())?;
        let text = String::from_utf8_lossy(&bytes);
        // The first line of a part may be incomplete.
        let whole = if from == 0 { &*text } else { text.split_once('\n').map_or("", |(_, rest)| rest) };
        Ok(whole.to_owned())
    }
}

fn ends_whole(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;

//! The file of a command in the spool: that it was prepared, how it ended, what it said.
//!
//! `KEY.cmd` has a line of JSON at its start, another in its second block, and the output after
//! that: one file, because making files is what costs most. The first line is written before the
//! command's gate can be opened, so no file means that nothing ran. The second is written before
//! anybody is told, and after the output it speaks of. A file without a second line belongs to a
//! command that runs, or to a supervisor that was killed. Output never comes near the lines, so it
//! cannot forge one.
//!
//! The kernel keeps what was written when processes die, so nothing waits for the disk while the owner of the
//! command lives: it records the result itself. Only the end of a command whose owner is gone is synced. After
//! a restart of the machine, a file that is missing or not synced tells nothing.

use super::error::SuperviseError;
use super::spec::Key;
use crate::{Group, this_boot};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The room for each of the two lines.
const BLOCK: usize = 4096;
/// Where the output begins.
pub(crate) const OUTPUT: u64 = 2 * BLOCK as u64;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prepared {
    pub(crate) version: u32,
    pub(crate) digest: String,
    pub(crate) group: Group,
}

/// The second line: what is left of a command that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    pub how: How,
    /// 124 after a timeout, 130 after a stop, 128 + signal after a signal, -1 if not known.
    pub exit_code: i32,
    /// Where the shell was when it ended, if it said so.
    pub cwd: Option<PathBuf>,
    /// Bytes of the output that are kept from its start.
    pub head: u64,
    /// Bytes kept from its end; 0 if `head` is all of it.
    pub tail: u64,
    /// Bytes of the whole output.
    pub total: u64,
    /// More about `how`, for people.
    pub reason: Option<String>,
    /// The record does not outlive the machine, because the owner was there to take the result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsynced: bool,
}

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Exited,
    TimedOut,
    /// Somebody asked for it.
    Stopped,
    /// Killed: its owner died and did not come back in time.
    Orphaned,
    /// Ended with the turn or the session it belonged to.
    OwnerLeft,
    /// Its gate was never opened, so it had no effect.
    NeverStarted,
    /// The supervisor was lost; the command may have had any effect.
    Unknown,
}

impl End {
    /// For a command of which nothing more is known.
    pub(crate) fn unknown(head: u64, reason: impl Into<String>) -> Self {
        let reason = Some(reason.into());
        Self {
            how: How::Unknown,
            exit_code: -1,
            cwd: None,
            head,
            tail: 0,
            total: head,
            reason,
            unsynced: false,
        }
    }
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) prepared: Prepared,
    pub(crate) end: Option<End>,
}

/// Where the file of a command is.
#[derive(Debug, Clone)]
pub(crate) struct CommandFile {
    pub(crate) path: PathBuf,
}

impl CommandFile {
    pub(crate) fn of(dir: &Path, key: &Key) -> Self {
        Self { path: dir.join(format!("{}.cmd", key.as_str())) }
    }

    /// Makes the file with its first line. It appears whole or not at all; two supervisors, which could replace each other's, there never are.
    pub(crate) fn create(&self, prepared: &Prepared) -> Result<File, SuperviseError> {
        let failed = || SuperviseError::io("write the record of a command");
        if self.path.exists() {
            return Err(failed()(ErrorKind::AlreadyExists.into()));
        }
        let growing = self.path.with_extension("new");
        let made = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&growing);
        let file = made.map_err(failed())?;
        file.write_all_at(&line(prepared)?, 0).map_err(failed())?;
        std::fs::rename(&growing, &self.path).map_err(failed())?;
        Ok(file)
    }

    /// How the command ended, from its file; `None` where there is none.
    pub(crate) fn ended(&self) -> Result<Option<(String, End)>, SuperviseError> {
        Ok(self.read()?.map(|recorded| {
            let is_earlier = recorded.prepared.group.boot != this_boot();
            let end = match recorded.end {
                None => End::unknown(0, "its record has no end"),
                Some(end) if end.unsynced && is_earlier => End::unknown(0, "the machine was restarted"),
                Some(end) => end,
            };
            (recorded.prepared.digest, end)
        }))
    }

    /// What the file says; `None` where there is none.
    pub(crate) fn read(&self) -> Result<Option<Recorded>, SuperviseError> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(SuperviseError::io("open the record of a command"))?,
        };
        let mut text = Vec::new();
        let read = file.take(OUTPUT).read_to_end(&mut text);
        read.map_err(SuperviseError::io("read the record of a command"))?;
        parse(&text)
            .map(Some)
            .map_err(|problem| SuperviseError::BadRecord { path: self.path.clone(), problem })
    }

    /// Bytes of output that are there.
    pub(crate) fn output(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |found| found.len().saturating_sub(OUTPUT))
    }

    /// Opens the file to write its end.
    pub(crate) fn reopen(&self) -> Result<File, SuperviseError> {
        let opened = OpenOptions::new().write(true).open(&self.path);
        opened.map_err(SuperviseError::io("open the record of a command"))
    }

    pub(crate) fn remove(&self) -> std::io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Writes the second line, and waits for the disk where it has to outlive the machine. One that was cut short is
/// written over.
pub(crate) fn write_end(file: &File, end: &End) -> Result<(), SuperviseError> {
    let text = match line(end) {
        Ok(text) => text,
        // The directory is the one part that can be long, and the one that can be spared.
        Err(_) => line(&End { cwd: None, ..end.clone() })?,
    };
    let synced = || if end.unsynced { Ok(()) } else { file.sync_data() };
    let written = file.write_all_at(&text, BLOCK as u64).and_then(|()| synced());
    written.map_err(SuperviseError::io("write the end of a command"))
}

fn line(value: &impl Serialize) -> Result<Vec<u8>, SuperviseError> {
    let refused = |why: String| SuperviseError::Refused {
        reason: format!("the command cannot be written down ({why})"),
    };
    let mut line = serde_json::to_vec(value).map_err(|error| refused(error.to_string()))?;
    line.push(b'\n');
    if line.len() > BLOCK {
        return Err(refused(format!("{} bytes", line.len())));
    }
    Ok(line)
}

fn parse(text: &[u8]) -> Result<Recorded, String> {
    let (first, second) = text.split_at(text.len().min(BLOCK));
    let prepared = serde_json::from_slice(whole_line(first).ok_or("it has no first line")?);
    let end = whole_line(second).and_then(|line| serde_json::from_slice(line).ok());
    Ok(Recorded { prepared: prepared.map_err(|error| error.to_string())?, end })
}

/// The line in a block, if its end was written too.
fn whole_line(block: &[u8]) -> Option<&[u8]> {
    let end = block.iter().position(|&byte| byte == b'\n')?;
    Some(&block[..end])
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;

//! The record file of a command in the spool: its start, its end and its output.
//!
//! `KEY.cmd` has a line of JSON at its start, another in its second block, and then the output: one file,
//! because creating files is the most expensive part. The first line is written before the command's gate can
//! be opened, so a missing file means that nothing ran. The second is written before any client gets the
//! result, and after the output. A file without a second line belongs to a running command, or to a supervisor
//! that was killed. Output never overlaps the lines, so it cannot forge one.
//!
//! The kernel keeps written data when processes die, so nothing waits for the disk while the owner of the
//! command lives: the owner records the result itself. Only the end of a command whose owner is gone is synced.
//! After a reboot, a file that is missing or not synced proves nothing.

use super::error::SuperviseError;
use super::spec::Key;
use crate::{Group, this_boot};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The size of the block of each line.
const BLOCK: usize = 4096;
/// The offset of the output.
pub(crate) const OUTPUT: u64 = 2 * BLOCK as u64;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prepared {
    pub(crate) version: u32,
    pub(crate) digest: String,
    pub(crate) group: Group,
}

/// The second line: the end of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    pub how: EndReason,
    /// 124 after a timeout, 130 after a stop, 128 + signal after a signal, -1 if unknown.
    pub exit_code: i32,
    /// The last working directory of the shell, if known.
    pub cwd: Option<PathBuf>,
    /// Bytes kept from the start of the output.
    pub head: u64,
    /// Bytes kept from the end of the output; 0 if `head` is all of it.
    pub tail: u64,
    /// Bytes of the whole output.
    pub total: u64,
    /// More about `how`, for the user.
    pub reason: Option<String>,
    /// The record does not survive a reboot, because the owner was alive to take the result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsynced: bool,
}

/// The reason for which a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    Exited,
    TimedOut,
    /// Stopped on request.
    Stopped,
    /// Killed: its owner died, and no other process took it over in time.
    Orphaned,
    /// Ended with the turn or the session that it belonged to.
    OwnerLeft,
    /// Its gate was never opened, so it had no effect.
    NeverStarted,
    /// The supervisor was lost; the command may have had any effect.
    Unknown,
}

impl End {
    /// The end of a command with unknown outcome.
    pub(crate) fn unknown(head: u64, reason: impl Into<String>) -> Self {
        let reason = Some(reason.into());
        Self {
            how: EndReason::Unknown,
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

/// The content of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) prepared: Prepared,
    pub(crate) end: Option<End>,
}

/// The record file of a command.
#[derive(Debug, Clone)]
pub(crate) struct CommandFile {
    pub(crate) path: PathBuf,
}

impl CommandFile {
    pub(crate) fn of(dir: &Path, key: &Key) -> Self {
        Self { path: dir.join(format!("{}.cmd", key.as_str())) }
    }

    /// Creates the file with its first line, atomically. There is only one supervisor, so two writers cannot
    /// replace each other's file.
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

    /// The end of the command; `None` if there is no file or no end.
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

    /// The content of the file; `None` if there is no file.
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

    /// Bytes of output in the file.
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

/// Writes the second line, and waits for the disk if it must survive a reboot. Overwrites an incomplete line.
pub(crate) fn write_end(file: &File, end: &End) -> Result<(), SuperviseError> {
    let text = match line(end) {
        Ok(text) => text,
        // The directory is the only part that can be long, and it is optional.
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

/// The line in a block, if it is complete.
fn whole_line(block: &[u8]) -> Option<&[u8]> {
    let end = block.iter().position(|&byte| byte == b'\n')?;
    Some(&block[..end])
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;

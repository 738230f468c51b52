//! Decides which files go.

use super::StoredFile;
use super::names::FileKind;

const DAY: f64 = 86_400.0;
/// A growing file that was not written for so long belongs to no command that still runs.
const ABANDONED_AFTER: f64 = DAY;
/// How much the clocks of files and of turns may differ.
const SLACK: f64 = 2.0;

/// What may be kept. The default keeps everything but leftovers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileRule {
    /// Files that were not used for more days go.
    pub older_than_days: Option<u32>,
    /// The least recently used go until the rest has at most so many bytes.
    pub max_bytes: Option<u64>,
    /// Files that no stored message mentions go.
    pub orphans: bool,
}

/// Why a file goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneReason {
    Old,
    Orphan,
    /// Others need the room.
    Space,
    /// Its writer died before it was finished.
    Leftover,
}

impl PruneReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::Orphan => "orphan",
            Self::Space => "room",
            Self::Leftover => "leftover",
        }
    }
}

/// A file that may go.
#[derive(Debug, Clone, PartialEq)]
pub struct PrunableFile {
    pub file: StoredFile,
    pub reason: PruneReason,
}

/// When files are looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PruneContext {
    pub(crate) now: f64,
    /// Files used since then may belong to a turn that is not over.
    pub(crate) in_use_since: Option<f64>,
}

impl PruneContext {
    pub(crate) fn may_be_in_use(self, used_at: f64) -> bool {
        self.in_use_since.is_some_and(|since| used_at + SLACK >= since)
    }
}

/// The files that go, out of `files`, which are sorted by their last use.
pub(crate) fn to_prune(files: Vec<StoredFile>, rule: FileRule, context: PruneContext) -> Vec<PrunableFile> {
    let mut rest: u64 = files.iter().map(|file| file.bytes).sum();
    let (mut to_prune, mut staying) = (Vec::new(), Vec::new());
    for file in files {
        match reason(&file, rule, context) {
            Some(reason) => {
                rest -= file.bytes;
                to_prune.push(PrunableFile { file, reason });
            }
            None => staying.push(file),
        }
    }
    let most = rule.max_bytes.unwrap_or(u64::MAX);
    for file in staying {
        let may_go = file.kind != FileKind::Growing && !context.may_be_in_use(file.used_at);
        if rest > most && may_go {
            rest -= file.bytes;
            to_prune.push(PrunableFile { file, reason: PruneReason::Space });
        }
    }
    to_prune
}

fn reason(file: &StoredFile, rule: FileRule, context: PruneContext) -> Option<PruneReason> {
    let age = context.now - file.used_at;
    if file.kind == FileKind::Growing {
        return (age > ABANDONED_AFTER).then_some(PruneReason::Leftover);
    }
    if context.may_be_in_use(file.used_at) {
        return None;
    }
    if rule.older_than_days.is_some_and(|days| age > f64::from(days) * DAY) {
        return Some(PruneReason::Old);
    }
    (rule.orphans && file.is_orphan()).then_some(PruneReason::Orphan)
}

#[cfg(test)]
#[path = "retention_tests.rs"]
mod tests;

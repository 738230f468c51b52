//! Decides which files are pruned.

use super::StoredFile;
use super::names::FileKind;

const DAY: f64 = 86_400.0;
/// Age at which a file being written counts as abandoned.
const ABANDONED_AFTER: f64 = DAY;
/// Maximum difference between the clocks of files and turns.
const SLACK: f64 = 2.0;

/// The retention rule. The default removes abandoned files only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileRule {
    /// Removes files that were not used for more days.
    pub older_than_days: Option<u32>,
    /// Removes the least recently used files until the rest has at most this many bytes.
    pub max_bytes: Option<u64>,
    /// Removes files that no stored message mentions.
    pub orphans: bool,
}

/// The reason for removing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneReason {
    Old,
    Orphan,
    /// The total size exceeds the limit.
    Space,
    /// Its writer died.
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

/// A file to remove.
#[derive(Debug, Clone, PartialEq)]
pub struct PrunableFile {
    pub file: StoredFile,
    pub reason: PruneReason,
}

/// The time of pruning, and the start of the oldest open turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PruneContext {
    pub(crate) now: f64,
    /// Files used since then may belong to an open turn.
    pub(crate) in_use_since: Option<f64>,
}

impl PruneContext {
    pub(crate) fn may_be_in_use(self, used_at: f64) -> bool {
        self.in_use_since.is_some_and(|since| used_at + SLACK >= since)
    }
}

/// Returns the files to remove; `files` are sorted by last use.
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

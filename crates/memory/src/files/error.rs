//! Errors of the memory.

use super::{ChangeId, Target};
use std::io;
use std::path::{Path, PathBuf};

/// Errors of a memory change. The file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error("empty entry; use remove to delete an entry")]
    EmptyContent,
    #[error("old_text is missing: give a part of the entry to change")]
    NoOldText,
    #[error("a line with only § separates entries; add each entry by itself")]
    HoldsMark,
    #[error("unsafe text ({id}: {excerpt}); memory becomes part of the system prompt")]
    Unsafe { id: String, excerpt: String },
    #[error("no entry contains `{old_text}`")]
    NoMatch { old_text: String },
    #[error("{} entries contain `{old_text}`; give a longer part of the entry", previews.len())]
    SeveralMatches { old_text: String, previews: Vec<String> },
    #[error("{} would have {needed} characters, the limit is {limit}", target.file_name())]
    OverLimit { target: Target, needed: usize, limit: usize },
    #[error("no operations given")]
    NoOperations,
    #[error("operation {number} of {count}: {source}; no operation was applied")]
    InBatch {
        /// Number of the operation, from 1.
        number: usize,
        count: usize,
        source: Box<MemoryError>,
    },
    #[error(
        "{} has text outside of entries or an entry over the limit, which a change could lose; it was not changed, \
         and a backup is in {}. Correct the file (entries separated by a line `§`) and try again",
        path.display(),
        backup.display()
    )]
    Drifted { path: PathBuf, backup: PathBuf },
    #[error("cannot read {}: {cause}; it was not changed", path.display())]
    Unreadable { path: PathBuf, cause: String },
    #[error("{} is locked by another process since {seconds} s; try again", path.display())]
    Busy { path: PathBuf, seconds: u64 },
    #[error("unknown change `{id}`; run `hermes memory history` to list changes")]
    UnknownChange { id: String },
    #[error("change {id} was already undone")]
    AlreadyUndone { id: ChangeId },
    #[error("change {id} was never applied: the program was stopped before")]
    NeverMade { id: ChangeId },
    #[error("cannot undo change {id}: `{entry}` was changed since; edit or remove it instead")]
    ChangedSince { id: ChangeId, entry: String },
    #[error("nothing to undo")]
    NothingToUndo,
    #[error("cannot {doing} {}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl MemoryError {
    pub(super) fn io<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    /// Returns the error of the operation, without the batch around it.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::InBatch { source, .. } => source.innermost(),
            other => other,
        }
    }
}

//! What can keep something from being remembered.

use super::{ChangeId, Target};
use std::io;
use std::path::{Path, PathBuf};

/// What can keep something from being remembered. The file is then as it was.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error("an entry must say something; to take one away, remove it")]
    EmptyContent,
    #[error("a part of the entry to change is needed, one that no other entry has")]
    NoOldText,
    #[error("a line with only § ends an entry; give every entry by itself")]
    HoldsMark,
    #[error("the text looks unsafe ({id}: {excerpt}); everything here becomes part of the system prompt")]
    Unsafe { id: String, excerpt: String },
    #[error("no entry has `{old_text}` in it")]
    NoMatch { old_text: String },
    #[error("{} entries have `{old_text}` in them; give a longer part of the one you mean", previews.len())]
    SeveralMatches { old_text: String, previews: Vec<String> },
    #[error("{} would have {needed} of at most {limit} characters", target.file_name())]
    OverLimit { target: Target, needed: usize, limit: usize },
    #[error("there is nothing to change")]
    NoOperations,
    #[error("operation {number} of {count}: {source}; none of them was carried out")]
    InBatch {
        /// Counting from 1.
        number: usize,
        count: usize,
        source: Box<MemoryError>,
    },
    #[error(
        "{} has text that is no entry, or an entry over the limit, which a change could lose; it was left as it \
         is, and a copy is {}. Bring the file into shape (entries with a line `§` between them) and try again",
        path.display(),
        backup.display()
    )]
    Drifted { path: PathBuf, backup: PathBuf },
    #[error("{} cannot be read and was left as it is: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: String },
    #[error("{} is in use by another process for {seconds} s; try again", path.display())]
    Busy { path: PathBuf, seconds: u64 },
    #[error("there is no change `{id}`; `hermes memory history` lists them")]
    UnknownChange { id: String },
    #[error("change {id} was undone already")]
    AlreadyUndone { id: ChangeId },
    #[error("change {id} was never made: the program was stopped before")]
    NeverMade { id: ChangeId },
    #[error("change {id} cannot be undone: `{entry}` was changed since; edit or remove it instead")]
    ChangedSince { id: ChangeId, entry: String },
    #[error("there is no change that could be undone")]
    NothingToUndo,
    #[error("could not {doing} {}", path.display())]
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

    /// What is wrong, without the operation of a batch that it is wrong with.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::InBatch { source, .. } => source.innermost(),
            other => other,
        }
    }
}

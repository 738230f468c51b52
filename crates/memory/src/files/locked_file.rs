//! A memory file under its lock: checks it, and changes it after its history.

use super::entries::{has_drifted, join, split};
use super::journal::{Journal, Record, infer_outcome};
use super::lock::{self, LOCK_WAIT, Lock};
use super::{Applied, Author, ChangeId, ChangeOutcome, MemoryBook, MemoryError, Origin, Target, file};
use std::path::PathBuf;

/// A file under its lock.
pub(super) struct LockedFile<'a> {
    book: &'a MemoryBook,
    target: Target,
    pub(super) journal: Journal,
    path: PathBuf,
    text: String,
    pub(super) entries: Vec<String>,
    _lock: Lock,
}

impl MemoryBook {
    /// Waits for the lock and reads the file.
    pub(super) fn lock(&self, target: Target) -> Result<LockedFile<'_>, MemoryError> {
        file::make_folder(&self.folder)?;
        let path = self.path(target);
        let lock = lock::take(&self.folder.join(format!("{}.lock", target.file_name())), LOCK_WAIT)?;
        let text = file::read(&path)?.unwrap_or_default();
        let entries = split(&text);
        let journal = Journal::of(&self.folder, target);
        Ok(LockedFile { book: self, target, journal, path, text, entries, _lock: lock })
    }
}

impl LockedFile<'_> {
    /// Returns an error if a change could lose text; a backup is kept.
    pub(super) fn refuse_drift(&self) -> Result<(), MemoryError> {
        if !has_drifted(&self.text, self.book.settings.limit(self.target)) {
            return Ok(());
        }
        // Whole seconds, as the Python release names its copies.
        let epoch = self.book.now().max(0.0) as u64;
        let backup = file::back_up(&self.path, &self.text, epoch)?;
        Err(MemoryError::Drifted { path: self.path.clone(), backup })
    }

    /// Writes the history, then the file, then the outcome to the history.
    pub(super) fn replace(
        self,
        after: Vec<String>,
        author: &Author,
        action: &str,
        undoes: Option<u64>,
    ) -> Result<Applied, MemoryError> {
        if after == self.entries {
            return Ok(Applied { page: self.book.page_of(self.target, after), change: None });
        }
        let number = self.catch_up()?;
        let record = Record {
            change: number,
            at: self.book.now(),
            origin: author.origin,
            session: author.session.clone(),
            action: action.to_owned(),
            undoes,
            before: self.entries.clone(),
            after: after.clone(),
        };
        self.journal.begin(&record)?;
        if let Err(error) = file::write(&self.path, &join(&after)) {
            // If this cannot be written, the next change infers the outcome from the file.
            if let Ok(now) = file::read(&self.path) {
                let outcome = infer_outcome(&record, &split(&now.unwrap_or_default()));
                let _ = self.journal.settle(number, outcome);
            }
            return Err(error);
        }
        // The change is applied; the next one can infer that from the file.
        let _ = self.journal.settle(number, ChangeOutcome::Made);
        let change = Some(ChangeId { target: self.target, number });
        Ok(Applied { page: self.book.page_of(self.target, after), change })
    }

    /// Records the outcome of the last change, and changes by other programs since. Returns the number of the
    /// next change.
    fn catch_up(&self) -> Result<u64, MemoryError> {
        let known = self.journal.newest()?;
        let next = known.next();
        let Some(last) = known.records.last() else { return Ok(next) };
        let outcome = match known.outcome(last.change) {
            Some(outcome) => outcome,
            None => {
                let outcome = infer_outcome(last, &self.entries);
                self.journal.settle(last.change, outcome)?;
                outcome
            }
        };
        let left = if outcome == ChangeOutcome::NotMade { &last.before } else { &last.after };
        if *left == self.entries {
            return Ok(next);
        }
        self.journal.begin(&Record {
            change: next,
            at: self.book.now(),
            origin: Origin::Outside,
            session: None,
            action: Origin::Outside.as_str().to_owned(),
            undoes: None,
            before: left.clone(),
            after: self.entries.clone(),
        })?;
        self.journal.settle(next, ChangeOutcome::Made)?;
        Ok(next + 1)
    }
}

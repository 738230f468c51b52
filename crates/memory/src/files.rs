//! Memory across sessions: `memories/MEMORY.md` and `memories/USER.md`.
//!
//! The files, their lock and their rules are those of the Python release, so both programs can write them
//! at the same time. [`MemoryBook`] reads, decides (in `change` and `undo`, pure functions) and writes, in
//! that order and under the lock. Every change is recorded in a history beside the file before the file is
//! written.
//!
//! The history is a file and not a table: it is written under the lock of the memory file, moves with its
//! folder, and does not depend on the session database.

mod change;
mod entries;
mod error;
mod file;
mod history;
mod journal;
mod lock;
mod locked_file;
mod snapshot;
mod target;
mod undo;

pub use change::Op;
pub use error::MemoryError;
pub use history::{Change, ChangeOutcome, Origin};
pub use snapshot::{MaskedEntry, MemorySnapshot};
pub use target::{ChangeId, Target};

use entries::{chars, split};
use hermes_store::Clock;
use history::described;
use journal::{Journal, JournalEntries};
use std::path::{Path, PathBuf};

/// Settings of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemorySettings {
    pub memory_enabled: bool,
    pub user_profile_enabled: bool,
    /// Maximum characters of `MEMORY.md`.
    pub memory_char_limit: usize,
    /// Maximum characters of `USER.md`.
    pub user_char_limit: usize,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            memory_enabled: true,
            user_profile_enabled: true,
            memory_char_limit: 2_200,
            user_char_limit: 1_375,
        }
    }
}

impl MemorySettings {
    pub fn is_enabled(&self, target: Target) -> bool {
        match target {
            Target::Memory => self.memory_enabled,
            Target::User => self.user_profile_enabled,
        }
    }

    fn limit(&self, target: Target) -> usize {
        match target {
            Target::Memory => self.memory_char_limit,
            Target::User => self.user_char_limit,
        }
    }
}

/// The author of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub origin: Origin,
    pub session: Option<String>,
}

impl Author {
    /// The user at the command line.
    pub fn user() -> Self {
        Self { origin: Origin::User, session: None }
    }

    /// The model of a session.
    pub fn model(session: impl Into<String>) -> Self {
        Self { origin: Origin::Model, session: Some(session.into()) }
    }

    /// A model that reviews a session.
    pub fn review(session: impl Into<String>) -> Self {
        Self { origin: Origin::Review, session: Some(session.into()) }
    }
}

/// The current content of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub target: Target,
    pub entries: Vec<String>,
    /// Characters of all entries together.
    pub used: usize,
    pub limit: usize,
}

impl Page {
    /// Returns the usage, such as `0% — 19/2,200 chars`.
    pub fn usage(&self) -> String {
        snapshot::usage(self.used, self.limit)
    }

    /// Returns the entries for a model: unsafe ones are replaced by a note.
    pub fn entries_for_model(&self) -> Vec<String> {
        snapshot::masked(self.target, &self.entries).0
    }
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The file after the change.
    pub page: Page,
    /// Id in the history; `None` if nothing changed.
    pub change: Option<ChangeId>,
}

/// The memory of one home. Its methods wait for the disk and for other processes.
#[derive(Clone)]
pub struct MemoryBook {
    folder: PathBuf,
    settings: MemorySettings,
    clock: Clock,
}

impl MemoryBook {
    /// Returns the memory of the home at this path, without reading or creating files.
    pub fn open(home: &Path, settings: MemorySettings, clock: Clock) -> Self {
        Self { folder: home.join("memories"), settings, clock }
    }

    pub fn settings(&self) -> &MemorySettings {
        &self.settings
    }

    pub fn path(&self, target: Target) -> PathBuf {
        self.folder.join(target.file_name())
    }

    /// Reads the entries of a file. Readers need no lock: the file is replaced atomically.
    pub fn page(&self, target: Target) -> Result<Page, MemoryError> {
        let text = file::read(&self.path(target))?.unwrap_or_default();
        Ok(self.page_of(target, split(&text)))
    }

    /// Applies all of `ops`, or none of them.
    pub fn apply(&self, target: Target, ops: &[Op], author: &Author) -> Result<Applied, MemoryError> {
        let locked = self.lock(target)?;
        // Adding loses no text, so it may normalise a file that other programs wrote.
        if !matches!(ops, [Op::Add { .. }]) {
            locked.refuse_drift()?;
        }
        let after = change::apply_ops(target, &locked.entries, ops, self.settings.limit(target))?;
        let action = if let [op] = ops { op.name() } else { "batch" };
        locked.replace(after, author, action, None)
    }

    /// Returns all changes of a file, oldest first.
    pub fn history(&self, target: Target) -> Result<Vec<Change>, MemoryError> {
        let journal = Journal::of(&self.folder, target);
        let known = journal.all()?;
        let is_open = |known: &JournalEntries| {
            known.records.last().is_some_and(|last| known.outcome(last.change).is_none())
        };
        if !is_open(&known) {
            return Ok(described(target, known, &[]));
        }
        // Another process may be writing the change at this moment.
        let locked = self.lock(target)?;
        Ok(described(target, locked.journal.all()?, &locked.entries))
    }

    /// Undoes a change: the named one, or the newest effective one of one file or of both. The undo is a
    /// change, too.
    pub fn undo(
        &self,
        wanted: Option<ChangeId>,
        target: Option<Target>,
        author: &Author,
    ) -> Result<(Change, Applied), MemoryError> {
        let target = match (wanted, target) {
            (Some(id), _) => id.target,
            (None, Some(target)) => target,
            (None, None) => self.newest_target()?,
        };
        let locked = self.lock(target)?;
        locked.refuse_drift()?;
        let history = described(target, locked.journal.all()?, &locked.entries);
        let change = undo::chosen(&history, wanted)?;
        let after = undo::reversed(&locked.entries, change)?;
        for restored in after.iter().filter(|entry| !locked.entries.contains(entry)) {
            change::validate(restored)?;
        }
        change::within_limit(target, &locked.entries, &after, self.settings.limit(target))?;
        let (change, number) = (change.clone(), change.id.number);
        Ok((change, locked.replace(after, author, "undo", Some(number))?))
    }

    /// Returns the file with the newest effective change.
    fn newest_target(&self) -> Result<Target, MemoryError> {
        let mut newest: Option<(f64, Target)> = None;
        for target in Target::ALL {
            let history = self.history(target)?;
            let at = match undo::chosen(&history, None) {
                Ok(change) => change.at,
                Err(_) => continue,
            };
            if newest.is_none_or(|(other, _)| at > other) {
                newest = Some((at, target));
            }
        }
        newest.map(|(_, target)| target).ok_or(MemoryError::NothingToUndo)
    }

    fn page_of(&self, target: Target, entries: Vec<String>) -> Page {
        Page { target, used: chars(&entries), limit: self.settings.limit(target), entries }
    }

    fn now(&self) -> f64 {
        (self.clock)()
    }
}

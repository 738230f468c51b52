//! The memory as the model of one session changes it, through the tool `memory`.

use crate::files::{Author, MemoryBook, MemoryError, Op, Target};
use crate::pending;
use hermes_config::{Config, ConfigError};
use hermes_conversation::{BoxFuture, SessionId};
use hermes_tools::{Memory, MemoryChange, MemoryTarget, Remembered, ToolError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// After this many refusals in a row for lack of space, the model is asked to leave the memory unchanged.
const MOST_FAILURES: u32 = 3;

/// The memory as the model of one session writes it.
pub struct SessionMemory {
    book: MemoryBook,
    home: PathBuf,
    approval: WriteApproval,
    session: SessionId,
    failures: AtomicU32,
}

/// The approval that a change by a model needs: `memory.write_approval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteApproval {
    NotNeeded,
    /// The user is present and decides at once.
    Asked,
    /// The change is stored until the user decides.
    Staged,
}

impl WriteApproval {
    /// The approval that the settings ask for; `is_watched` says that a user can answer.
    pub fn of(config: &Config, is_watched: bool) -> Result<Self, ConfigError> {
        Ok(match (config.settings.memory.write_approval.value()?, is_watched) {
            (false, _) => Self::NotNeeded,
            (true, true) => Self::Asked,
            (true, false) => Self::Staged,
        })
    }
}

impl SessionMemory {
    /// Changes are written to `book`, or staged under `home`.
    pub fn new(book: MemoryBook, home: &Path, approval: WriteApproval, session: SessionId) -> Self {
        Self { book, home: home.to_owned(), approval, session, failures: AtomicU32::new(0) }
    }

    /// Stores changes until the user decides.
    fn stage(&self, target: Target, ops: &[Op]) -> Result<Remembered, ToolError> {
        let staged = pending::stage(&self.home, target, ops, self.session.as_str());
        let id = staged.map_err(|error| ToolError::failed(format!("the change cannot be kept: {error}")))?;
        let page = self.book.page(target).map_err(|error| ToolError::failed(with_cause(&error)))?;
        let (usage, entry_count) = (page.usage(), page.entries.len());
        Ok(Remembered { usage, entry_count, is_changed: false, pending: Some(id) })
    }

    /// The error for the model, with what it needs to try again.
    async fn explained(&self, target: Target, error: MemoryError) -> ToolError {
        let refused = ToolError::failed(with_cause(&error));
        match error.innermost() {
            MemoryError::SeveralMatches { previews, .. } => refused.with("matches", previews.clone()),
            MemoryError::Drifted { backup, .. } => refused.with("drift_backup", backup.display().to_string()),
            MemoryError::OverLimit { .. } => {
                if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_FAILURES {
                    let given_up =
                        "there is still no room; leave the memory as it is and go on with your answer";
                    return ToolError::failed(given_up);
                }
                let text = format!(
                    "{error}. Make room in the same turn: merge or remove entries (see current_entries) and add \
                     this again, best in one call with operations"
                );
                self.with_entries(target, ToolError { text, ..refused }).await
            }
            MemoryError::NoMatch { .. } | MemoryError::NoOldText => self.with_entries(target, refused).await,
            _ => refused,
        }
    }

    async fn with_entries(&self, target: Target, refused: ToolError) -> ToolError {
        let book = self.book.clone();
        let page = tokio::task::spawn_blocking(move || book.page(target)).await;
        match page {
            Ok(Ok(page)) => {
                refused.with("current_entries", page.entries_for_model()).with("usage", page.usage())
            }
            _ => refused,
        }
    }
}

impl Memory for SessionMemory {
    fn asks_first(&self) -> bool {
        self.approval == WriteApproval::Asked
    }

    fn change(
        &self,
        target: MemoryTarget,
        changes: Vec<MemoryChange>,
    ) -> BoxFuture<'_, Result<Remembered, ToolError>> {
        Box::pin(async move {
            let target = stored(target);
            if !self.book.settings().is_enabled(target) {
                return Err(ToolError::failed(format!(
                    "{} is switched off in the settings",
                    target.file_name()
                )));
            }
            let ops: Vec<Op> = changes.into_iter().map(op).collect();
            if self.approval == WriteApproval::Staged {
                return self.stage(target, &ops);
            }
            let (book, author) = (self.book.clone(), Author::model(self.session.as_str()));
            // Waits for the disk and possibly for another process; a started change is completed.
            let written = tokio::task::spawn_blocking(move || book.apply(target, &ops, &author)).await;
            match written {
                Ok(Ok(done)) => {
                    self.failures.store(0, Ordering::Relaxed);
                    tracing::info!(
                        session = self.session.as_str(),
                        target = target.as_str(),
                        change = done.change.map(|id| id.to_string()),
                        "memory changed"
                    );
                    Ok(Remembered {
                        usage: done.page.usage(),
                        entry_count: done.page.entries.len(),
                        is_changed: done.change.is_some(),
                        pending: None,
                    })
                }
                Ok(Err(error)) => Err(self.explained(target, error).await),
                Err(error) => Err(ToolError::failed(format!("the memory could not be written: {error}"))),
            }
        })
    }
}

fn stored(target: MemoryTarget) -> Target {
    match target {
        MemoryTarget::Memory => Target::Memory,
        MemoryTarget::User => Target::User,
    }
}

fn op(change: MemoryChange) -> Op {
    match change {
        MemoryChange::Add { content } => Op::Add { content },
        MemoryChange::Replace { old_text, content } => Op::Replace { old_text, content },
        MemoryChange::Remove { old_text } => Op::Remove { old_text },
    }
}

fn with_cause(error: &MemoryError) -> String {
    match std::error::Error::source(error).filter(|_| matches!(error, MemoryError::Io { .. })) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

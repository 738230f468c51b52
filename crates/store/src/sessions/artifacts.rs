//! Files of messages: results that are too long for a row, in a directory beside the store.
//!
//! A message mentions its file in its text, and `hx_artifacts` records the sessions that mention a file.
//! Files are named after the hash of their content, so several sessions can share one; it is removed with
//! the last of them. Tools write the files; this module counts, copies and removes them.

mod folder;
mod health;
mod mentions;
mod names;
mod retention;

pub use health::{FilesHealth, check_files};
pub(crate) use mentions::{note, note_row, release};
pub use names::FileKind;
pub use retention::{FileRule, PrunableFile, PruneReason};

use super::SessionDb;
use super::connection::writer::Level;
use crate::StoreError;
use crate::error::Doing;
use folder::{CopyResult, Entry};
use hermes_conversation::SessionId;
use mentions::FileMentions;
use retention::PruneContext;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A stored file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredFile {
    pub name: String,
    pub kind: FileKind,
    pub bytes: u64,
    /// Time of the last write, in seconds since 1970.
    pub used_at: f64,
    /// Sessions that mention it.
    pub sessions: Vec<SessionId>,
}

impl StoredFile {
    /// Returns true if no stored message mentions it. Files with other names are not orphans.
    pub fn is_orphan(&self) -> bool {
        self.kind == FileKind::Content && self.sessions.is_empty()
    }

    fn new(entry: Entry, mentions: &FileMentions) -> Self {
        let Entry { name, kind, bytes, used_at } = entry;
        let sessions = mentions.get(&name).into_iter().flatten().cloned().collect();
        Self { name, kind, bytes, used_at, sessions }
    }

    fn entry(&self) -> Entry {
        Entry { name: self.name.clone(), kind: self.kind, bytes: self.bytes, used_at: self.used_at }
    }
}

/// The result of copying files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CopiedFiles {
    pub copied: Vec<String>,
    /// Files that are mentioned but missing.
    pub missing: Vec<String>,
    /// Files that were not copied, with the reason.
    pub problems: Vec<String>,
}

impl SessionDb {
    /// Sets the directory of the messages' files. Without it there are no files.
    pub fn with_files(mut self, dir: PathBuf) -> Self {
        self.files = Some(Arc::new(dir));
        self
    }

    /// Returns the stored files with the sessions that mention them, the least recently used first.
    pub async fn files(&self) -> Result<Vec<StoredFile>, StoreError> {
        let mentions = self.file_mentions().await?;
        Ok(self.entries().await?.into_iter().map(|entry| StoredFile::new(entry, &mentions)).collect())
    }

    /// Returns the files that [`prune_files`](Self::prune_files) removes, without those that an open turn may
    /// need.
    pub async fn prunable_files(&self, rule: FileRule) -> Result<Vec<PrunableFile>, StoreError> {
        // Mentions may require reading many messages; age and size do not need them.
        let mentions = if rule.orphans { self.file_mentions().await? } else { FileMentions::new() };
        let files =
            self.entries().await?.into_iter().map(|entry| StoredFile::new(entry, &mentions)).collect();
        Ok(retention::to_prune(files, rule, self.prune_context().await?))
    }

    /// Removes those of `chosen` that still match the rule, and returns them. A file that cannot be removed
    /// is logged.
    pub async fn prune_files(&self, rule: FileRule, chosen: &[String]) -> Result<Vec<String>, StoreError> {
        let still = self.prunable_files(rule).await?;
        let to_prune = still.iter().filter(|old| chosen.contains(&old.file.name));
        Ok(self.remove_files(to_prune.map(|old| old.file.entry()).collect()).await)
    }

    /// Prunes files when the program exits, and returns their names. Takes at most `max`; an error is only
    /// logged, because the next exit tries again.
    pub async fn tidy_files(&self, rule: FileRule, max: Duration) -> Vec<String> {
        let tidied = async {
            let to_prune = self.prunable_files(rule).await?;
            Ok::<_, StoreError>(
                self.remove_files(to_prune.iter().map(|old| old.file.entry()).collect()).await,
            )
        };
        match tokio::time::timeout(max, tidied).await {
            Ok(Ok(gone)) => gone,
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot remove old files");
                Vec::new()
            }
            Err(_) => {
                tracing::warn!("timeout while removing old files");
                Vec::new()
            }
        }
    }

    /// Returns the files that these sessions mention, existing or not.
    pub async fn files_of(&self, sessions: &[SessionId]) -> Result<BTreeSet<String>, StoreError> {
        let mut mentions = self.file_mentions().await?;
        mentions.retain(|_, mentioning| sessions.iter().any(|session| mentioning.contains(session)));
        Ok(mentions.into_keys().collect())
    }

    /// Copies the files that these sessions mention to the directory `to`, which is created if there are any.
    pub async fn export_files(&self, sessions: &[SessionId], to: &Path) -> Result<CopiedFiles, StoreError> {
        let names = self.files_of(sessions).await?;
        Ok(self.copy_files(names, |dir| (dir, to.to_owned())).await)
    }

    /// Copies the files that these sessions mention from the directory `from`; existing and missing files are
    /// skipped.
    pub async fn import_files(&self, sessions: &[SessionId], from: &Path) -> Result<CopiedFiles, StoreError> {
        let mut names = self.files_of(sessions).await?;
        for entry in self.entries().await? {
            names.remove(&entry.name);
        }
        Ok(self.copy_files(names, |dir| (from.to_owned(), dir)).await)
    }

    /// Removes those of `released` that no session mentions any more. An error is only logged: the session is
    /// deleted all the same.
    pub(crate) async fn remove_unmentioned(&self, released: BTreeSet<String>) {
        if released.is_empty() {
            return;
        }
        let removed = async {
            let mut entries = self.entries().await?;
            entries.retain(|entry| released.contains(&entry.name));
            if entries.is_empty() {
                return Ok(());
            }
            let (mentions, context) = (self.file_mentions().await?, self.prune_context().await?);
            entries
                .retain(|entry| !mentions.contains_key(&entry.name) && !context.may_be_in_use(entry.used_at));
            self.remove_files(entries).await;
            Ok::<(), StoreError>(())
        };
        if let Err(error) = removed.await {
            tracing::warn!(%error, "cannot remove files of a deleted session");
        }
    }

    async fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        let Some(dir) = self.files.clone() else { return Ok(Vec::new()) };
        let listed = blocking(move || {
            folder::list(&dir)
                .map_err(|error| StoreError::Files { path: dir.to_path_buf(), cause: error.to_string() })
        });
        listed.await?
    }

    async fn remove_files(&self, entries: Vec<Entry>) -> Vec<String> {
        let Some(dir) = self.files.clone().filter(|_| !entries.is_empty()) else { return Vec::new() };
        blocking(move || folder::remove(&dir, &entries)).await.unwrap_or_default()
    }

    async fn copy_files(
        &self,
        names: BTreeSet<String>,
        way: impl FnOnce(PathBuf) -> (PathBuf, PathBuf),
    ) -> CopiedFiles {
        let Some(dir) = self.files.clone() else { return CopiedFiles::default() };
        let (from, to) = way(dir.to_path_buf());
        blocking(move || copied(&from, &to, names)).await.unwrap_or_default()
    }

    /// Returns all mentions. Mentions in messages that were not scanned before are recorded.
    async fn file_mentions(&self) -> Result<FileMentions, StoreError> {
        let read = self.read(|db| {
            let unscanned = mentions::unscanned(db).doing("find mentioned files")?;
            let mut mentions = mentions::recorded(db).doing("find mentioned files")?;
            unscanned.add_to(&mut mentions);
            Ok((mentions, unscanned))
        });
        let (mentions, unscanned) = read.await?;
        if !unscanned.is_empty() {
            let noted = self
                .write(Level::Normal, move |db| mentions::keep(db, &unscanned).doing("record mentions"))
                .await;
            // The answer does not depend on this write.
            if let Err(error) = noted {
                tracing::debug!(%error, "messages will be searched for files again");
            }
        }
        Ok(mentions)
    }

    async fn prune_context(&self) -> Result<PruneContext, StoreError> {
        let is_alive = self.is_alive;
        let in_use_since = self.read(move |db| mentions::in_use_since(db, is_alive)).await?;
        Ok(PruneContext { now: self.now(), in_use_since })
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| StoreError::Stopped)
}

fn copied(from: &Path, to: &Path, names: BTreeSet<String>) -> CopiedFiles {
    let mut done = CopiedFiles::default();
    for name in names {
        match folder::copy(from, to, &name) {
            Ok(CopyResult::Whole) => done.copied.push(name),
            Ok(CopyResult::Missing) => done.missing.push(name),
            Ok(CopyResult::Damaged) => {
                done.problems.push(format!("{name} does not match the hash in its name"))
            }
            Ok(CopyResult::TooLong) => done.problems.push(format!("{name} is too large")),
            Err(error) => done.problems.push(format!("{name}: {error}")),
        }
    }
    done
}

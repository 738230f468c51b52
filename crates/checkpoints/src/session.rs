//! Checkpoints of one session: at most one per turn and project, and a note of every change of the agent.

use crate::layout::key;
use crate::snapshot::{Snapshot, Tip};
use crate::tree::Version;
use crate::{CheckpointError, CheckpointStore, Enabled, journal};
use hermes_conversation::BoxFuture;
use hermes_tools::{BeforeChange, Checkpoints, PlannedChange, Touches};
use journal::Entry;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinHandle;

/// Takes a notice for the user.
pub type Notify = Arc<dyn Fn(String) + Send + Sync>;

/// The checkpoints of a session.
pub struct SessionCheckpoints {
    store: CheckpointStore,
    notify: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Projects that this turn has a checkpoint of.
    saved: HashSet<PathBuf>,
    /// Projects without checkpoints for the rest of the session, because one failed.
    failed: HashSet<PathBuf>,
    /// Limits of the store are applied beside the session, once.
    maintenance: Option<JoinHandle<()>>,
}

/// The files before a change.
struct Before {
    project: PathBuf,
    state: Saved,
}

enum Saved {
    Files(Vec<(String, Option<Version>)>),
    Tree(String),
}

impl Drop for SessionCheckpoints {
    fn drop(&mut self) {
        if let Some(maintenance) = self.state().maintenance.take() {
            maintenance.abort();
        }
    }
}

impl SessionCheckpoints {
    pub fn new(store: CheckpointStore, notify: Notify) -> Self {
        Self { store, notify, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Saves what a change needs. `None` if nothing of it is saved.
    async fn save(&self, change: &PlannedChange, project: &Path) -> Result<Option<Before>, CheckpointError> {
        let store = &self.store;
        let is_first = !self.state().saved.contains(project);
        let state = match &change.touches {
            Touches::Files(files) => {
                store.ensure(project).await?;
                let _held = store.lock(project).await?;
                let snapshot = store.snapshot(project);
                let paths = files.iter().filter_map(|file| file.strip_prefix(project).ok()?.to_str());
                let checkpoint = async {
                    match is_first {
                        true => self.checkpoint(&snapshot, project, &change.reason).await.map(drop),
                        false => Ok(()),
                    }
                };
                let versions = async {
                    let mut versions = Vec::new();
                    for path in paths {
                        versions.push((path.to_owned(), snapshot.version(path).await?));
                    }
                    Ok::<_, CheckpointError>(versions)
                };
                let (checkpoint, versions) = tokio::join!(checkpoint, versions);
                checkpoint?;
                let versions = versions?;
                Saved::Files(versions)
            }
            Touches::Anything { is_destructive, .. } => {
                if *is_destructive {
                    store.ensure(project).await?;
                } else if !store.compares_cheaply(project) || !store.has_tip(project).await? {
                    // Without a checkpoint there is nothing to restore, so nothing to compare with either.
                    return Ok(None);
                }
                let _held = store.lock(project).await?;
                let snapshot = store.snapshot(project);
                match *is_destructive && is_first {
                    true => Saved::Tree(self.checkpoint(&snapshot, project, &change.reason).await?),
                    false => Saved::Tree(snapshot.tree().await?),
                }
            }
        };
        Ok(Some(Before { project: project.to_owned(), state }))
    }

    /// Takes the checkpoint of a turn. The caller holds the lock. Returns the tree.
    async fn checkpoint(
        &self,
        snapshot: &Snapshot,
        project: &Path,
        reason: &str,
    ) -> Result<String, CheckpointError> {
        let (tree, tip) = snapshot.tree_and_tip().await?;
        self.store.commit_after(tip, project, &tree, reason).await?;
        self.state().saved.insert(project.to_owned());
        Ok(tree)
    }

    /// Notes the changes since `before`.
    async fn note(&self, before: &Before) -> Result<(), CheckpointError> {
        let Before { project, state } = before;
        let _held = self.store.lock(project).await?;
        let snapshot = self.store.snapshot(project);
        let entries: Vec<Entry> = match state {
            Saved::Files(files) => {
                let mut entries = Vec::new();
                for (path, before) in files {
                    let (before, after) = (before.clone(), snapshot.version(path).await?);
                    if before != after {
                        entries.push(Entry::Change { path: path.clone(), before, after });
                    }
                }
                entries
            }
            Saved::Tree(tree) => {
                let after = snapshot.tree().await?;
                self.store.changes(project, tree, &after).await?.into_iter().map(Entry::from).collect()
            }
        };
        journal::append(&self.store.layout.journal(&key(project)), &entries)
    }

    /// Applies the limits of the store beside the session.
    fn maintain(&self) {
        let mut state = self.state();
        if state.maintenance.is_none() && !state.saved.is_empty() {
            let store = self.store.clone();
            state.maintenance = Some(tokio::spawn(async move {
                if let Err(error) = store.maintain().await {
                    tracing::warn!(error = chain(&error), "the limits of checkpoints could not be applied");
                }
            }));
        }
    }

    /// Reports an error once per session, and takes no more checkpoints of the project. Without git nothing is reported
    /// unless the settings ask for checkpoints.
    fn fail(&self, project: &Path, error: &CheckpointError) {
        tracing::warn!(project = %project.display(), error = chain(error), "no checkpoint");
        let is_expected = matches!(
            error,
            CheckpointError::NoGit { .. }
                | CheckpointError::TooManyFiles { .. }
                | CheckpointError::NotUtf8 { .. }
        );
        let is_new = self.state().failed.insert(project.to_owned());
        if is_new && (self.store.enabled() == Enabled::On || !is_expected) {
            (self.notify)(format!("no checkpoints in this session: {}", chain(error)));
        }
    }
}

impl Checkpoints for SessionCheckpoints {
    fn begin_turn(&self) {
        self.state().saved.clear();
    }

    fn before_change<'a>(&'a self, change: &'a PlannedChange) -> BoxFuture<'a, Option<BeforeChange>> {
        Box::pin(async move {
            let place = place_of(&change.touches)?;
            let project = match self.store.project_to_save(&place) {
                Ok(project) => project?,
                Err(error) => {
                    self.fail(&place, &error);
                    return None;
                }
            };
            if self.state().failed.contains(&project) {
                return None;
            }
            let limit = self.store.options.timeout * 2;
            let saved = tokio::time::timeout(limit, self.save(change, &project)).await;
            let late = || CheckpointError::GitTimeout { command: "checkpoint".to_owned(), after: limit };
            match saved.unwrap_or_else(|_| Err(late())) {
                Ok(before) => before.map(|before| Box::new(before) as BeforeChange),
                Err(error) => {
                    self.fail(&project, &error);
                    None
                }
            }
        })
    }

    fn after_change<'a>(&'a self, before: BeforeChange) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Ok(before) = before.downcast::<Before>() else { return };
            let limit = self.store.options.timeout * 2;
            let late = || CheckpointError::GitTimeout { command: "checkpoint".to_owned(), after: limit };
            let noted = tokio::time::timeout(limit, self.note(&before)).await.unwrap_or_else(|_| Err(late()));
            if let Err(error) = noted {
                self.fail(&before.project, &error);
            }
            self.maintain();
        })
    }
}

impl CheckpointStore {
    /// Makes a tree the newest checkpoint, unless the newest one has it. The caller holds the lock.
    pub(crate) async fn commit(
        &self,
        project: &Path,
        tree: &str,
        reason: &str,
    ) -> Result<(), CheckpointError> {
        let tip = self.snapshot(project).tip().await?;
        self.commit_after(tip, project, tree, reason).await
    }

    async fn commit_after(
        &self,
        tip: Option<Tip>,
        project: &Path,
        tree: &str,
        reason: &str,
    ) -> Result<(), CheckpointError> {
        let (key, snapshot) = (key(project), self.snapshot(project));
        self.touch(project, &key)?;
        if tip.as_ref().is_some_and(|tip| tip.tree == tree) {
            return Ok(());
        }
        snapshot.commit(tree, tip.as_ref(), reason).await?;
        journal::append(&self.layout.journal(&key), &[Entry::Checkpoint { tree: tree.to_owned() }])?;
        self.limit(project, &key).await
    }
}

/// The directory by which the project of a change is found.
fn place_of(touches: &Touches) -> Option<PathBuf> {
    match touches {
        Touches::Files(files) => files.first()?.parent().map(Path::to_owned),
        Touches::Anything { directory, .. } => Some(directory.clone()),
    }
}

/// An error with its causes in one line.
fn chain(error: &CheckpointError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        text = format!("{text}: {source}");
        cause = source.source();
    }
    text
}

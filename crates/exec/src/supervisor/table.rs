//! The commands of a supervisor, by key.

use super::command_processes::CommandProcesses;
use super::error::SuperviseError;
use super::paths::SupervisorPaths;
use super::protocol::{CommandStatus, Leaving, State, Stop};
use super::record::{CommandFile, End, EndReason, write_end};
use super::run::{Control, Looked, Run};
use super::spec::{Key, Lifetime, MOST_LOOKED_AT, Owner, Spec, SupervisorSettings};
use super::spool::last_of;
use crate::Group;
use crate::exports::Exports;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};

/// The progress of a command.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    pub(crate) phase: Phase,
    /// Bytes of output that can be read from its file.
    pub(crate) head: u64,
}

#[derive(Debug, Clone)]
pub(crate) enum Phase {
    Preparing,
    /// The shell waits at its gate.
    Held(Group),
    Running(Group),
    Finished(Arc<Ending>),
    /// It could not be prepared, and so did not run.
    Failed(String),
}

/// The end of a command with what is not recorded of it.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) end: End,
    /// In memory only: the values may be secrets.
    pub(crate) exports: Option<Exports>,
}

impl From<End> for Ending {
    fn from(end: End) -> Self {
        Self { end, exports: None }
    }
}

/// Everything that a connection needs to follow a command.
#[derive(Debug)]
pub(crate) struct Follow {
    pub(crate) file: CommandFile,
    pub(crate) progress: watch::Receiver<Progress>,
}

impl Follow {
    pub(crate) fn state(&self) -> (State, Option<Group>) {
        match &self.progress.borrow().phase {
            Phase::Preparing | Phase::Failed(_) => (State::Held, None),
            Phase::Held(group) => (State::Held, Some(group.clone())),
            Phase::Running(group) => (State::Running, Some(group.clone())),
            Phase::Finished(_) => (State::Finished, None),
        }
    }
}

/// The end of the output of a command.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) group: Option<Group>,
    /// `None` while it runs.
    pub(crate) end: Option<End>,
    pub(crate) total: u64,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug)]
struct Entry {
    digest: String,
    session: String,
    lifetime: Lifetime,
    owner: Owner,
    control: mpsc::UnboundedSender<Control>,
    progress: watch::Receiver<Progress>,
}

impl Entry {
    fn group(&self) -> Option<Group> {
        match &self.progress.borrow().phase {
            Phase::Held(group) | Phase::Running(group) => Some(group.clone()),
            Phase::Preparing | Phase::Finished(_) | Phase::Failed(_) => None,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.progress.borrow().phase, Phase::Finished(_) | Phase::Failed(_))
    }
}

/// The state of a supervisor.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) paths: SupervisorPaths,
    pub(crate) settings: SupervisorSettings,
    pub(crate) processes: CommandProcesses,
    entries: Mutex<BTreeMap<Key, Entry>>,
    /// Changes whenever the supervisor may have become idle or busy.
    pub(crate) activity: watch::Sender<()>,
}

impl Table {
    pub(crate) fn new(paths: SupervisorPaths, settings: SupervisorSettings) -> Arc<Self> {
        let (activity, _) = watch::channel(());
        let (processes, entries) = (CommandProcesses::default(), Mutex::default());
        Arc::new(Self { paths, settings, processes, entries, activity })
    }

    pub(crate) fn file(&self, key: &Key) -> CommandFile {
        CommandFile::of(&self.paths.spool, key)
    }

    /// Prepares a command, or finds the one with the same key. Returns when its shell waits at the gate and is
    /// recorded.
    pub(crate) async fn start(
        self: &Arc<Self>,
        key: Key,
        spec: Spec,
        owner: Owner,
    ) -> Result<Follow, SuperviseError> {
        let digest = spec.digest()?;
        let mut follow = match self.known(&key, &digest)? {
            Some(follow) => follow,
            None => self.begin(key, digest, spec, owner)?,
        };
        // An error means that the task is gone; its last progress still counts.
        let _ = follow.progress.wait_for(|progress| !matches!(progress.phase, Phase::Preparing)).await;
        let failed = match &follow.progress.borrow().phase {
            Phase::Failed(reason) => Some(reason.clone()),
            _ => None,
        };
        failed.map_or(Ok(follow), |reason| Err(SuperviseError::Refused { reason }))
    }

    fn known(&self, key: &Key, digest: &str) -> Result<Option<Follow>, SuperviseError> {
        let same = |found: &str| match found == digest {
            true => Ok(()),
            false => Err(SuperviseError::Refused {
                reason: format!("`{}` already names another command", key.as_str()),
            }),
        };
        if let Some(entry) = self.entries().get(key) {
            same(&entry.digest)?;
            return Ok(Some(Follow { file: self.file(key), progress: entry.progress.clone() }));
        }
        let Some((found, follow)) = self.recorded(key)? else {
            return Ok(None);
        };
        same(&found)?;
        Ok(Some(follow))
    }

    /// A finished command, from the spool.
    fn recorded(&self, key: &Key) -> Result<Option<(String, Follow)>, SuperviseError> {
        let file = self.file(key);
        let Some((digest, end)) = file.ended()? else {
            return Ok(None);
        };
        let phase = Phase::Finished(Arc::new(end.into()));
        let (_, progress) = watch::channel(Progress { phase, head: 0 });
        Ok(Some((digest, Follow { file, progress })))
    }

    fn begin(
        self: &Arc<Self>,
        key: Key,
        digest: String,
        spec: Spec,
        owner: Owner,
    ) -> Result<Follow, SuperviseError> {
        if spec.lifetime != Lifetime::Detached && !owner.is_alive() {
            return Err(SuperviseError::Refused {
                reason: format!("process {}, the owner, is gone", owner.pid),
            });
        }
        let (control, orders) = mpsc::unbounded_channel();
        let (reports, progress) = watch::channel(Progress { phase: Phase::Preparing, head: 0 });
        let follow = Follow { file: self.file(&key), progress: progress.clone() };
        let entry = Entry {
            digest: digest.clone(),
            session: spec.session.clone(),
            lifetime: spec.lifetime,
            owner: owner.clone(),
            control,
            progress,
        };
        self.entries().insert(key.clone(), entry);
        let run = Run { table: self.clone(), key: key.clone(), digest, spec, owner, orders, reports };
        let task = tokio::spawn(run.carry_out());
        tokio::spawn(self.clone().ended(key, task));
        Ok(follow)
    }

    /// Removes a command from the table when its task ends. A command whose end could not be recorded stays, so
    /// that its result is at least available from memory.
    async fn ended(self: Arc<Self>, key: Key, task: tokio::task::JoinHandle<bool>) {
        let is_recorded = match task.await {
            Ok(is_recorded) => is_recorded,
            Err(error) => {
                tracing::error!(%error, "the task of a command failed");
                let end = End::unknown(0, "the supervisor failed while it ran");
                self.file(&key).reopen().and_then(|file| write_end(&file, &end)).is_ok()
            }
        };
        if is_recorded {
            self.entries().remove(&key);
        }
        self.processes.kill_strays();
        self.activity.send_replace(());
    }

    /// Finds a command; a new owner takes it over if it runs.
    pub(crate) async fn attach(
        &self,
        key: &Key,
        owner: Option<Owner>,
    ) -> Result<Option<Follow>, SuperviseError> {
        let found = self.entries().get(key).map(|entry| entry.progress.clone());
        let Some(mut progress) = found else {
            return Ok(self.recorded(key)?.map(|(_, follow)| follow));
        };
        let prepared = |progress: &Progress| !matches!(progress.phase, Phase::Preparing);
        let is_running = match progress.wait_for(prepared).await.map(|now| now.phase.clone()) {
            Ok(Phase::Failed(_)) | Err(_) => return Ok(None),
            Ok(phase) => matches!(phase, Phase::Running(_)),
        };
        // A command at its gate remains with the process that prepared it: only that process knows whether it
        // may run.
        if let (true, Some(owner), Some(entry)) = (is_running, owner, self.entries().get_mut(key)) {
            entry.owner = owner.clone();
            let _ = entry.control.send(Control::Adopt(owner));
        }
        Ok(Some(Follow { file: self.file(key), progress }))
    }

    /// The end of the output of a command, and its end if it is over; `None` if there is no record of it.
    pub(crate) async fn look(&self, key: &Key) -> Result<Option<Look>, SuperviseError> {
        let (answer, looked) = oneshot::channel();
        let group = self.entries().get(key).and_then(Entry::group);
        if self.order(key, Control::Look(answer))
            && let Ok(Looked { total, bytes }) = looked.await
        {
            return Ok(Some(Look { group, end: None, total, bytes }));
        }
        let file = self.file(key);
        let Some(recorded) = file.read()? else { return Ok(None) };
        let Some((_, end)) = file.ended()? else { return Ok(None) };
        let failed = || SuperviseError::io("read the output of a command");
        let opened = std::fs::File::open(&file.path).map_err(failed())?;
        let bytes = last_of(&opened, &end, MOST_LOOKED_AT).map_err(failed())?;
        Ok(Some(Look { group: Some(recorded.prepared.group), total: end.total, end: Some(end), bytes }))
    }

    /// Writes to the standard input of a running command.
    pub(crate) async fn write(&self, key: &Key, text: String, closes: bool) -> Result<(), SuperviseError> {
        let (answer, written) = oneshot::channel();
        let over = || "it has ended".to_owned();
        let answered = match self.order(key, Control::Write(text, closes, answer)) {
            true => written.await.unwrap_or_else(|_| Err(over())),
            false => Err(over()),
        };
        answered.map_err(|reason| SuperviseError::Refused { reason })
    }

    /// Sends an instruction to an unfinished command. Returns false if there is none.
    pub(crate) fn order(&self, key: &Key, control: Control) -> bool {
        self.entries().get(key).is_some_and(|entry| entry.control.send(control).is_ok())
    }

    /// Ends the commands of `owner` whose lifetime ends now, and returns their number.
    pub(crate) fn leave(&self, owner: &Owner, session: Option<&str>, leaving: Leaving) -> usize {
        let concerned = |entry: &&Entry| {
            entry.owner == *owner
                && leaving.ends(entry.lifetime)
                && session.is_none_or(|session| session == entry.session)
                && !entry.is_over()
        };
        let order = || Control::End(EndReason::OwnerLeft, Stop::Politely);
        self.entries().values().filter(concerned).filter(|entry| entry.control.send(order()).is_ok()).count()
    }

    /// Ends all commands, because the supervisor exits.
    pub(crate) fn end_all(&self) {
        for entry in self.entries().values() {
            let _ = entry.control.send(Control::End(EndReason::Stopped, Stop::Politely));
        }
    }

    pub(crate) fn status(&self) -> Vec<CommandStatus> {
        let shown = |(key, entry): (&Key, &Entry)| CommandStatus {
            key: key.clone(),
            session: entry.session.clone(),
            lifetime: entry.lifetime,
            owner: entry.owner.clone(),
            group: entry.group(),
        };
        self.entries().iter().filter(|(_, entry)| !entry.is_over()).map(shown).collect()
    }

    /// Removes the record of a finished command.
    pub(crate) fn forget(&self, key: &Key) -> Result<(), SuperviseError> {
        let mut entries = self.entries();
        if entries.get(key).is_some_and(|entry| !entry.is_over()) {
            let reason = format!("`{}` still runs", key.as_str());
            return Err(SuperviseError::Refused { reason });
        }
        entries.remove(key);
        self.file(key).remove().map_err(SuperviseError::io("remove the record of a command"))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries().values().all(Entry::is_over)
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<Key, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

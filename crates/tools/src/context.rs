//! What the tools of one session share.

use crate::builtin::todo::{self, Todo};
use crate::paths::{self, PathLocks};
use crate::protect::Places;
use crate::reads::ReadLog;
use crate::{ToolSettings, user_home};
use hermes_conversation::Message;
use hermes_exec::{Backend, SpillLimits};
use hermes_guard::{Secrets, redact};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The directory of long outputs. Stored messages are searched for this name, so it stays.
const RESULTS: &str = "hermes-results";

/// Everything a context is made of.
pub struct ToolSetup {
    /// Where the session starts.
    pub cwd: PathBuf,
    /// Hermes' own directory, whose settings and keys tools leave alone.
    pub home: PathBuf,
    /// The user's home directory, for `~`; without it, what the system's list of users says.
    pub user_home: Option<PathBuf>,
    /// A private directory for working files; long outputs go to `hermes-results` in it.
    pub scratch: PathBuf,
    pub backend: Arc<dyn Backend>,
    /// The environment of child processes.
    pub child_env: Vec<(String, String)>,
    pub secrets: Arc<Secrets>,
    pub settings: ToolSettings,
    /// Shared by all sessions of a process.
    pub locks: Arc<PathLocks>,
}

/// The state that outlives a call and ends with the session.
pub struct ToolContext {
    setup: ToolSetup,
    places: Places,
    cwd: Mutex<PathBuf>,
    reads: Mutex<ReadLog>,
    todos: Mutex<Vec<Todo>>,
}

impl ToolContext {
    pub fn new(mut setup: ToolSetup) -> Self {
        setup.user_home = setup.user_home.or_else(user_home::from_system);
        let places =
            Places { home: paths::real(&setup.home), user_home: setup.user_home.as_deref().map(paths::real) };
        Self {
            places,
            cwd: Mutex::new(setup.cwd.clone()),
            reads: Mutex::default(),
            todos: Mutex::default(),
            setup,
        }
    }

    /// Where the session is now; commands move it.
    pub fn cwd(&self) -> PathBuf {
        lock(&self.cwd).clone()
    }

    /// Takes up the state that a stored conversation implies.
    pub fn restore(&self, messages: &[Arc<Message>]) {
        if let Some(list) = messages.iter().rev().find_map(|message| todo::list_in(message)) {
            *lock(&self.todos) = list;
        }
    }

    /// Forgets which files were read, for when the conversation was compressed.
    pub fn forget_reads(&self) {
        self.reads().forget();
    }

    /// The plan as it stands.
    pub fn todos(&self) -> Vec<Todo> {
        lock(&self.todos).clone()
    }

    pub fn settings(&self) -> &ToolSettings {
        &self.setup.settings
    }

    pub(crate) fn set_cwd(&self, cwd: PathBuf) {
        *lock(&self.cwd) = cwd;
    }

    pub(crate) fn todos_mut(&self) -> MutexGuard<'_, Vec<Todo>> {
        lock(&self.todos)
    }

    pub(crate) fn reads(&self) -> MutexGuard<'_, ReadLog> {
        lock(&self.reads)
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        self.setup.backend.as_ref()
    }

    pub(crate) fn child_env(&self) -> &[(String, String)] {
        &self.setup.child_env
    }

    pub(crate) fn locks(&self) -> &PathLocks {
        &self.setup.locks
    }

    pub(crate) fn scratch(&self) -> &Path {
        &self.setup.scratch
    }

    /// Where `path` leads from `cwd`.
    pub(crate) fn resolve(&self, path: &Path, cwd: &Path) -> PathBuf {
        paths::resolve(path, cwd, self.setup.user_home.as_deref())
    }

    /// `text` without the secrets Hermes knows of.
    pub(crate) fn clean(&self, text: String) -> String {
        match redact(&self.setup.secrets, &text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        }
    }

    pub(crate) fn secrets(&self) -> Arc<Secrets> {
        self.setup.secrets.clone()
    }

    /// The directory for output that is too long for the model.
    pub(crate) fn results_dir(&self) -> PathBuf {
        self.setup.scratch.join(RESULTS)
    }

    pub(crate) fn spill_limits(&self) -> SpillLimits {
        SpillLimits { total: self.setup.settings.files_total, ..SpillLimits::default() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

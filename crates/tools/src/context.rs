//! The state that the tools of one session share.

use crate::builtin::todo::{self, Todo};
use crate::environment::Environment;
use crate::hints::FolderHints;
use crate::paths::{self, PathLocks};
use crate::protect::Places;
use crate::reads::ReadLog;
use crate::record_reader::RecordReader;
use crate::safety::project_of;
use crate::session_library::SessionLibrary;
use crate::{
    Checkpoints, Delegate, Memory, Processes, Safety, SessionApprovals, Skills, ToolSettings, Vision, Web,
    user_home,
};
use hermes_conversation::{IntentId, Message};
use hermes_exec::supervisor::Key;
use hermes_exec::{Backend, Exports, SpillLimits};
use hermes_far_files::FarShell;
use hermes_guard::{FenceKey, Secrets, redact};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The directory of long outputs. Stored messages are searched for this name, so it stays.
const RESULTS: &str = "hermes-results";

/// Returns the key of the home directory from which fences around untrusted text are derived, when it is
/// needed.
pub type FenceKeys = Arc<dyn Fn() -> FenceKey + Send + Sync>;

/// Everything a context is made of.
pub struct ToolSetup {
    /// The session id, which distinguishes its commands from those of other sessions.
    pub session: String,
    /// The initial working directory of the session.
    pub cwd: PathBuf,
    /// Hermes' own directory, whose settings and keys tools leave alone.
    pub home: PathBuf,
    /// The user's home directory, for `~`; without it, what the system's list of users says.
    pub user_home: Option<PathBuf>,
    /// A private directory for working files; long outputs go to `hermes-results` in it.
    pub scratch: PathBuf,
    pub backend: Arc<dyn Backend>,
    /// Starts sub-agents, if available.
    pub delegate: Option<Arc<dyn Delegate>>,
    /// Keeps facts for later sessions, if available.
    pub memory: Option<Arc<dyn Memory>>,
    /// The skills, where there may be any.
    pub skills: Option<Arc<dyn Skills>>,
    /// Access to summarised messages of the session, if the model may read them.
    pub record: Option<Arc<dyn RecordReader>>,
    /// Past sessions, if the model may read them.
    pub library: Option<Arc<dyn SessionLibrary>>,
    /// Saves files before calls change them, unless checkpoints are disabled.
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
    /// Commands in the background, if there can be any.
    pub processes: Option<Arc<dyn Processes>>,
    /// The web, if the session can reach it.
    pub web: Option<Arc<dyn Web>>,
    /// Models that see images, if the session has the tool that asks them.
    pub vision: Option<Arc<dyn Vision>>,
    /// The environment of child processes.
    pub child_env: Vec<(String, String)>,
    pub secrets: Arc<Secrets>,
    pub fence_key: FenceKeys,
    pub settings: ToolSettings,
    /// Shared by all sessions of a process.
    pub locks: Arc<PathLocks>,
    pub safety: Safety,
}

/// The state that outlives a call and ends with the session.
pub struct ToolContext {
    setup: ToolSetup,
    places: Places,
    cwd: Mutex<PathBuf>,
    environment: Mutex<Arc<Environment>>,
    /// Variables of commands that hold a secret of Hermes.
    secret_variables: OnceLock<Vec<String>>,
    /// The shell of the place of commands, once it was asked.
    far_shell: OnceLock<FarShell>,
    has_moved: AtomicBool,
    reads: Mutex<ReadLog>,
    todos: Mutex<Vec<Todo>>,
    /// Calls that ran a command and are not recorded yet.
    commands: Mutex<Vec<IntentId>>,
    hints: Mutex<FolderHints>,
    approvals: Mutex<SessionApprovals>,
    project: Mutex<PathBuf>,
    /// The unfinished lines that were written to processes, by their ids.
    unfinished_lines: Mutex<HashMap<String, String>>,
}

/// By which the command of a session's call can be found again.
pub fn command_key(session: &str, intent: IntentId) -> Key {
    Key::of(session, intent.0)
}

impl ToolContext {
    pub fn new(mut setup: ToolSetup) -> Self {
        setup.user_home = setup.user_home.or_else(user_home::from_system);
        let places = Places::new(&setup.home, setup.user_home.as_deref());
        let project =
            setup.safety.project.clone().unwrap_or_else(|| project_of(&paths::real(&setup.cwd), &places));
        Self {
            places,
            project: Mutex::new(project),
            cwd: Mutex::new(match &setup.safety.far {
                Some(far) => far.directory.clone(),
                None => setup.cwd.clone(),
            }),
            environment: Mutex::default(),
            secret_variables: OnceLock::new(),
            far_shell: OnceLock::new(),
            has_moved: AtomicBool::new(false),
            reads: Mutex::default(),
            todos: Mutex::default(),
            commands: Mutex::default(),
            hints: Mutex::new(FolderHints::below(&setup.cwd)),
            approvals: Mutex::default(),
            unfinished_lines: Mutex::default(),
            setup,
        }
    }

    /// The current working directory of the session; commands change it.
    pub fn cwd(&self) -> PathBuf {
        lock(&self.cwd).clone()
    }

    /// The changes that commands of the session made to the environment of later ones.
    pub fn environment(&self) -> Arc<Environment> {
        lock(&self.environment).clone()
    }

    /// Takes over the environment, unfinished lines of input, and approvals of a context that this one replaces. The
    /// project and the temporary directory are part of the setup; see [`Inherited`](crate::Inherited).
    pub fn continue_from(&self, other: &Self) {
        if self.far().is_some() {
            *lock(&self.cwd) = other.cwd();
        }
        *lock(&self.environment) = other.environment();
        *lock(&self.unfinished_lines) = lock(&other.unfinished_lines).clone();
        *lock(&self.approvals) = lock(&other.approvals).clone();
    }

    /// Adds the changes that a command made. Returns a sentence for the model about those that are not kept.
    pub(crate) fn add_exports(&self, exports: Exports) -> Option<String> {
        let is_same = exports.changes.is_empty() && exports.left_out.is_empty();
        if is_same {
            return None;
        }
        let mut environment = lock(&self.environment);
        let (changed, sentence) = environment.with(exports, &self.command_env(), &self.setup.secrets);
        *environment = Arc::new(changed);
        sentence
    }

    /// Variables of commands that hold a secret, because the user wants commands to have it.
    pub(crate) fn secret_variables(&self) -> &[String] {
        self.secret_variables.get_or_init(|| {
            let is_secret = |(_, value): &&(String, String)| self.setup.secrets.occur_in(value);
            self.setup.child_env.iter().filter(is_secret).map(|(name, _)| name.clone()).collect()
        })
    }

    /// Takes up the state that a stored conversation implies.
    pub fn restore(&self, messages: &[Arc<Message>]) {
        if let Some(list) = messages.iter().rev().find_map(|message| todo::list_in(message)) {
            *lock(&self.todos) = list;
        }
        lock(&self.hints).restore(messages);
    }

    /// Takes up a plan that stands no longer in the conversation, but before it.
    pub fn restore_todos(&self, todos: Vec<Todo>) {
        *lock(&self.todos) = todos;
    }

    /// The directories that were checked for instructions; `None` if hints are disabled.
    pub(crate) fn hints(&self) -> Option<MutexGuard<'_, FolderHints>> {
        self.setup.settings.folder_hints.then(|| lock(&self.hints))
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

    /// By which the command of a call can be found again.
    pub fn command_key(&self, intent: IntentId) -> Key {
        command_key(&self.setup.session, intent)
    }

    /// The results of these calls are recorded: what is remembered of their commands may go.
    pub fn settled(&self, intents: impl Iterator<Item = IntentId>) {
        let mut ran = lock(&self.commands);
        if ran.is_empty() {
            return;
        }
        let settled: Vec<IntentId> = intents.collect();
        let keys: Vec<Key> = ran
            .extract_if(.., |intent| settled.contains(intent))
            .map(|intent| self.command_key(intent))
            .collect();
        self.setup.backend.forget(keys);
    }

    /// Lets go of what only this context holds, for one that a context of the same session replaced.
    pub async fn leave_to_successor(&self) {
        self.setup.backend.leave().await;
    }

    /// Lets go of what the session holds outside this process.
    pub async fn leave(&self) {
        self.setup.backend.leave().await;
        if let Some(temporary) = self.temporary() {
            // It is missing if no command ran; what cannot be deleted is left to the system.
            let _ = std::fs::remove_dir_all(temporary);
        }
    }

    pub(crate) fn lock_approvals(&self) -> MutexGuard<'_, SessionApprovals> {
        lock(&self.approvals)
    }

    pub(crate) fn safety(&self) -> &Safety {
        &self.setup.safety
    }

    /// The project of the session. Commands that change the directory do not change it.
    pub fn project(&self) -> PathBuf {
        lock(&self.project).clone()
    }

    pub(crate) fn fence_key(&self) -> FenceKey {
        (self.setup.fence_key)()
    }

    pub(crate) fn note_command(&self, intent: IntentId) -> Key {
        lock(&self.commands).push(intent);
        self.command_key(intent)
    }

    /// The new working directory, if a command changed it since the last call. One outside of the project is not
    /// kept for a later run: it would become the project there.
    pub fn take_move(&self) -> Option<PathBuf> {
        if self.far().is_some() {
            return None;
        }
        let moved = self.has_moved.swap(false, Ordering::Relaxed).then(|| self.cwd());
        moved.filter(|cwd| cwd.starts_with(self.project()))
    }

    /// Moves the session to a directory of the user's choice, with its project.
    pub fn relocate(&self, cwd: PathBuf) {
        *lock(&self.project) = project_of(&paths::real(&cwd), &self.places);
        // A directory of this machine is none of another place.
        if self.far().is_none() {
            self.set_cwd(cwd);
        }
    }

    /// Moves the session to another folder, as a command does.
    pub fn set_cwd(&self, cwd: PathBuf) {
        let mut here = lock(&self.cwd);
        if *here != cwd {
            *here = cwd;
            self.has_moved.store(true, Ordering::Relaxed);
        }
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

    pub(crate) fn delegate(&self) -> Option<&Arc<dyn Delegate>> {
        self.setup.delegate.as_ref()
    }

    pub(crate) fn memory(&self) -> Option<&Arc<dyn Memory>> {
        self.setup.memory.as_ref()
    }

    pub(crate) fn skills(&self) -> Option<&Arc<dyn Skills>> {
        self.setup.skills.as_ref()
    }

    pub(crate) fn record(&self) -> Option<&dyn RecordReader> {
        self.setup.record.as_deref()
    }

    pub(crate) fn library(&self) -> Option<&dyn SessionLibrary> {
        self.setup.library.as_deref()
    }

    pub(crate) fn checkpoints(&self) -> Option<&Arc<dyn Checkpoints>> {
        self.setup.checkpoints.as_ref()
    }

    /// A turn begins: its first change of a project is preceded by a checkpoint.
    pub fn begin_turn(&self) {
        if let Some(checkpoints) = self.checkpoints() {
            checkpoints.begin_turn();
        }
    }

    pub(crate) fn processes(&self) -> Option<&Arc<dyn Processes>> {
        self.setup.processes.as_ref()
    }

    pub(crate) fn web(&self) -> Option<&Arc<dyn Web>> {
        self.setup.web.as_ref()
    }

    pub(crate) fn vision(&self) -> Option<&Arc<dyn Vision>> {
        self.setup.vision.as_ref()
    }

    /// The directory for the texts of long web pages.
    pub(crate) fn web_dir(&self) -> PathBuf {
        self.setup.home.join("cache").join("web")
    }

    /// The background processes, for sessions that work for this one.
    pub fn shared_processes(&self) -> Option<Arc<dyn Processes>> {
        self.setup.processes.clone()
    }

    /// `text` after the unfinished line that was written to a process before.
    pub(crate) fn whole_line(&self, process: &str, text: &str) -> String {
        let before = lock(&self.unfinished_lines).get(process).cloned().unwrap_or_default();
        before + text
    }

    pub(crate) fn note_input(&self, process: &str, text: &str) {
        let line = self.whole_line(process, text);
        let unfinished = line.rsplit(['\n', '\r']).next().unwrap_or_default().to_owned();
        lock(&self.unfinished_lines).insert(process.to_owned(), unfinished);
    }

    /// The directory `path` for a command in `cwd`.
    pub(crate) fn command_directory(&self, path: &Path, cwd: &Path) -> PathBuf {
        match self.far() {
            Some(_) if path.is_absolute() || path.starts_with("~") => path.to_owned(),
            Some(_) => cwd.join(path),
            None => self.resolve(path, cwd),
        }
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        self.setup.backend.as_ref()
    }

    /// The environment of the first command.
    pub(crate) fn command_env(&self) -> Vec<(String, String)> {
        let mut env = self.setup.child_env.clone();
        if let Some(temporary) = self.temporary().filter(|_| self.far().is_none()) {
            env.retain(|(name, _)| name != "TMPDIR");
            env.push(("TMPDIR".to_owned(), temporary.display().to_string()));
        }
        env
    }

    /// The session id, which tells its writes from those of other sessions.
    pub(crate) fn session(&self) -> &str {
        &self.setup.session
    }

    pub(crate) fn locks(&self) -> &PathLocks {
        &self.setup.locks
    }

    pub(crate) fn scratch(&self) -> &Path {
        &self.setup.scratch
    }

    /// The facts about the shell of the place of commands, if they are known.
    pub(crate) fn far_shell(&self) -> Option<&FarShell> {
        self.far_shell.get()
    }

    pub(crate) fn far_shell_cell(&self) -> &OnceLock<FarShell> {
        &self.far_shell
    }

    /// Resolves `path` against `cwd`. At another place, links are followed by the call itself.
    pub(crate) fn resolve(&self, path: &Path, cwd: &Path) -> PathBuf {
        if self.far().is_some() {
            return self.far_path(path, cwd);
        }
        self.shared_with_commands(paths::resolve(path, cwd, self.setup.user_home.as_deref()))
    }

    /// Resolves the path of a call that only reads: some files of this machine can be read, wherever commands run.
    pub(crate) fn resolve_to_read(&self, path: &Path, cwd: &Path) -> PathBuf {
        let resolved = self.resolve(path, cwd);
        self.kept_here(&resolved).unwrap_or(resolved)
    }

    /// The reason why `path` is not taken literally, if any.
    pub(crate) fn unexpanded(&self, path: &Path) -> Option<String> {
        match self.far() {
            Some(_) if paths::below_home(path).is_some() => None,
            Some(_) => paths::literal_name(path),
            None => paths::unexpanded(path, self.setup.user_home.as_deref()),
        }
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

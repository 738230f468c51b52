//! A working Hermes: one home with its settings, store and tools.

use crate::meter::{Budget, StoredMeter};
use crate::places::{ConfiguredPlace, configured};
use crate::tool_setup::number;
use crate::{Opening, RuntimeError, Session, Surface, clock, load_config};
use hermes_agent::auxiliary::Cooldowns;
use hermes_agent::recovery::Limits;
use hermes_config::Config;
use hermes_config::home::{Home, WantedModes, fence_key, modes_notice};
use hermes_conversation::SessionId;
use hermes_delegation::Roster;
use hermes_exec::supervisor::{
    Program, SessionCommands, SuperviseError, Supervised, SupervisorPaths, SupervisorSettings,
};
use hermes_exec::{Backend, Local};
use hermes_guard::{FenceKey, Secrets};
use hermes_models::Models;
use hermes_models::model_choice::{self, http_clients};
use hermes_places::FarBackend;
use hermes_plugins::hooks::ShellHooks;
use hermes_processes::{ProcessManager, SessionProcesses, StoreSource};
use hermes_providers::{Endpoint, HttpClients};
use hermes_recording::Recorder;
use hermes_store::{AutoPrune, AutoPruned, Reindexed, SessionDb};
use hermes_telemetry::Exporter;
use hermes_tools::{AskUser, FenceKeys, PathLocks, Places, Processes, Registry};
use hermes_toolsets::{Machine, Offered, Offers};
use hermes_web::{WebClient, WebPorts};
use hermes_wire::Meter;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The inputs of [`Runtime::open`].
pub struct Launch {
    pub home: Home,
    /// Settings from the command line, by their dotted keys.
    pub flags: Vec<(String, String)>,
    /// The environment of the process.
    pub shell: BTreeMap<String, String>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The tag of new sessions: `cli`, or the name of a platform.
    pub source: String,
    /// The program that supervises commands. Without it they run as children of this process.
    pub supervisor: Option<Program>,
}

/// The way a stored session is resumed.
#[derive(Clone, Copy)]
pub struct Resuming<'a> {
    /// Continue in the session's working directory, not in that of the process.
    pub restores_cwd: bool,
    /// Stops a command of the last turn that still runs; otherwise its end is awaited.
    pub stop: &'a CancellationToken,
    /// Receives status lines about what is awaited.
    pub tell: &'a (dyn Fn(&str) + Send + Sync),
}

/// A working Hermes. Cheap to clone; all clones share one state.
#[derive(Clone)]
pub struct Runtime(Arc<Shared>);

impl Deref for Runtime {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The state that the sessions of one process share.
pub struct Shared {
    pub(crate) launch: Launch,
    pub(crate) config: Config,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) clients: HttpClients,
    offers: Offers,
    /// The tools of the terminal when this process started.
    registry: Arc<Registry>,
    pub(crate) locks: Arc<PathLocks>,
    pub(crate) store: Arc<OnceLock<SessionDb>>,
    pub(crate) meter: Arc<dyn Meter>,
    pub(crate) cooldowns: Arc<Cooldowns>,
    supervised: Option<Supervised>,
    processes: OnceLock<ProcessManager>,
    /// The sub-agents that run in this process.
    pub(crate) roster: Roster,
    web: OnceLock<Arc<WebClient>>,
    /// The place of commands, once it is needed; `None` is this machine.
    place: OnceLock<Option<ConfiguredPlace>>,
    pub(crate) hooks: Option<Arc<ShellHooks>>,
    /// Notices for the user, until a front end takes them.
    pub(crate) notices: Arc<Mutex<Vec<String>>>,
    home_notice: Option<String>,
    recorder: OnceLock<Arc<Recorder>>,
    fence_key: OnceLock<FenceKey>,
    /// Sends traces to a collector, if there is one.
    pub(crate) exporter: OnceLock<Exporter>,
}

impl Runtime {
    /// Reads the settings of a home. No connection and no database is opened.
    pub fn open(mut launch: Launch) -> Result<Self, RuntimeError> {
        launch.home.ensure()?;
        let loose = launch.home.tighten(WantedModes::read(|name| launch.shell.get(name).map(String::as_str)));
        let config = load_config(&launch.home, launch.flags.clone(), launch.shell.clone())?;
        let offers = Offers::default();
        let machine = Machine { config: &config, home: &launch.home, shell: &launch.shell };
        let offered = offers.of(machine, &Surface::terminal().platform)?;
        let clients = http_clients(&config)?;
        let store = Arc::new(OnceLock::new());
        let meter = Arc::new(StoredMeter { store: store.clone(), budget: Budget::read(&config)? });
        let (hooks, warnings) = ShellHooks::read(&config, &launch.home, &launch.shell, clock::timestamp);
        let notices = Arc::new(Mutex::new(warnings));
        let supervised =
            launch.supervisor.take().and_then(|program| supervised(program, &launch, &config, &notices));
        Ok(Self(Arc::new(Shared {
            supervised,
            processes: OnceLock::new(),
            roster: Roster::default(),
            web: OnceLock::new(),
            place: OnceLock::new(),
            hooks,
            notices,
            home_notice: modes_notice(&loose),
            secrets: Arc::new(secrets(&config)),
            clients,
            offers,
            registry: offered.registry.clone(),
            locks: Arc::default(),
            store,
            meter,
            cooldowns: Arc::default(),
            recorder: OnceLock::new(),
            fence_key: OnceLock::new(),
            exporter: OnceLock::new(),
            config,
            launch,
        })))
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn home(&self) -> &Home {
        &self.launch.home
    }

    /// The directories that protected files are recognised by.
    pub(crate) fn places(&self) -> Places {
        Places::new(self.launch.home.path(), self.launch.shell.get("HOME").map(Path::new))
    }

    pub fn tool_names(&self) -> Vec<&str> {
        self.registry.names()
    }

    /// Records every turn from now on in a new file; see `hermes_recording`.
    pub fn record(&self, path: &Path) -> Result<(), RuntimeError> {
        let recorder = Recorder::create(path, Secrets::clone(&self.secrets), clock::millis)?;
        // A second call has no effect.
        let _ = self.recorder.set(Arc::new(recorder));
        Ok(())
    }

    /// The recorder of user sessions. Sub-agents are recorded as results of their calls.
    pub(crate) fn recorder(&self) -> Option<Arc<Recorder>> {
        self.recorder.get().cloned()
    }

    /// Returns the reason why the recording is incomplete, if it is.
    pub fn recording_failure(&self) -> Option<String> {
        self.recorder.get()?.failure()
    }

    /// Returns the session store, which is opened by the first call.
    pub fn store(&self) -> Result<&SessionDb, RuntimeError> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let store = SessionDb::open(&self.launch.home.state_db(), Arc::new(clock::now))?
            .with_files(self.launch.home.results_dir());
        let store = self.store.get_or_init(|| store);
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).extend(self.store_notice());
        Ok(store)
    }

    /// Returns a notice if opening the home changed its file modes.
    pub fn home_notice(&self) -> Option<&str> {
        self.home_notice.as_deref()
    }

    /// Returns a notice if opening the store changed it.
    pub fn store_notice(&self) -> Option<String> {
        self.store.get()?.reindexed().map(reindexed_notice)
    }

    /// Deletes old sessions if the settings ask for it and it is due. Otherwise the store is not even opened.
    pub async fn prune_if_wanted(&self) -> Result<Option<AutoPruned>, RuntimeError> {
        let sessions = &self.config.settings.sessions;
        if !sessions.auto_prune.value()? || !self.launch.home.state_db().exists() {
            return Ok(None);
        }
        let default = AutoPrune::default();
        let settings = AutoPrune {
            retention_days: number(&sessions.retention_days, default.retention_days)?,
            min_interval_hours: number(&sessions.min_interval_hours, default.min_interval_hours)?,
            vacuum: sessions.vacuum_after_prune.value()?,
        };
        Ok(self.store()?.auto_prune(settings).await?)
    }

    /// Returns the endpoint and model of new requests.
    pub fn endpoint(&self) -> Result<Endpoint, RuntimeError> {
        Ok(model_choice::endpoint(&self.config)?)
    }

    /// Returns the builder of this home's models.
    pub(crate) fn models(&self) -> Models<'_> {
        Models {
            config: &self.config,
            home: &self.launch.home,
            clients: &self.clients,
            secrets: &self.secrets,
            meter: &self.meter,
            cooldowns: &self.cooldowns,
        }
    }

    /// The opening of a session in the terminal of this process.
    pub fn default_opening(&self) -> Opening {
        Opening { source: Some(self.launch.source.clone()), ..Opening::on(Surface::terminal()) }
    }

    /// Starts a session in this terminal; it is stored with its first message.
    pub fn start(&self, ask: Arc<dyn AskUser>) -> Result<Session, RuntimeError> {
        self.open_session(self.default_opening(), ask)
    }

    /// Starts a session; it is stored with its first message. Unknown skills are named in its notices; if none of
    /// them exists, that is an error.
    pub fn open_session(&self, opening: Opening, ask: Arc<dyn AskUser>) -> Result<Session, RuntimeError> {
        if opening.skills.is_empty() {
            return Session::fresh(self, opening, ask);
        }
        let (text, unknown) = self.preloaded_skills(&opening.skills)?;
        if text.is_empty() {
            return Err(RuntimeError::UnknownSkills(unknown.join(", ")));
        }
        let mut session = Session::fresh(self, Opening { instructions: Some(text), ..opening }, ask)?;
        session.note_unknown_skills(&unknown);
        Ok(session)
    }

    /// Resumes a stored session, given by id, beginning of an id, title, or `latest`.
    pub async fn resume(
        &self,
        which: &str,
        ask: Arc<dyn AskUser>,
        how: Resuming<'_>,
    ) -> Result<Session, RuntimeError> {
        self.resume_on(which, &self.default_opening(), ask, how).await
    }

    /// As [`resume`](Self::resume), from any front end.
    pub async fn resume_on(
        &self,
        which: &str,
        opening: &Opening,
        ask: Arc<dyn AskUser>,
        how: Resuming<'_>,
    ) -> Result<Session, RuntimeError> {
        let store = self.store()?;
        let named = store.resolve(which).await?;
        // A session that was continued in a new one is resumed there, whichever of its parts is named.
        let id = store.resolve_resume(&named).await?;
        Box::pin(Session::resumed(self, id, opening, ask, how)).await
    }

    /// Finishes deferred work: the search index is brought up to date, and traces are sent.
    pub async fn leave(&self) {
        if let Some(store) = self.store.get() {
            store.leave(Duration::from_millis(200)).await;
        }
        if let Some(exporter) = self.exporter.get() {
            exporter.leave().await;
        }
    }

    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.registry.clone()
    }

    /// The tools of a session that starts now on a platform.
    pub(crate) fn offered(&self, platform: &str) -> Result<Offered, RuntimeError> {
        let (config, home, shell) = (&self.config, &self.launch.home, &self.launch.shell);
        Ok(self.offers.of(Machine { config, home, shell }, platform)?)
    }

    pub(crate) fn limits(&self) -> Result<Limits, RuntimeError> {
        let (agent, default) = (&self.config.settings.agent, Limits::default());
        Ok(Limits {
            max_iterations: number(&agent.max_turns, default.max_iterations)?,
            attempts: number(&agent.api_max_retries, default.attempts)?.max(1),
            loops: self.config.loop_limits()?,
            stop_checks: self.config.stop_checks()?,
            ..default
        })
    }

    /// The supervisor of all sessions' commands, if there is one.
    pub(crate) fn supervised(&self) -> Option<&Supervised> {
        self.supervised.as_ref()
    }

    pub(crate) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The place of commands; `None` is this machine.
    pub(crate) fn place(&self) -> Result<Option<&ConfiguredPlace>, RuntimeError> {
        if let Some(place) = self.place.get() {
            return Ok(place.as_ref());
        }
        let launch = &self.launch;
        let place = configured(&self.config, &launch.home, &launch.shell, &launch.cwd)?;
        Ok(self.place.get_or_init(|| place).as_ref())
    }

    pub(crate) fn backend(&self, session: &SessionId) -> Result<Arc<dyn Backend>, RuntimeError> {
        let here = self.local_backend(session);
        Ok(match self.place()? {
            Some(far) => Arc::new(FarBackend::new(far.place.clone(), here)),
            None => here,
        })
    }

    fn local_backend(&self, session: &SessionId) -> Arc<dyn Backend> {
        let Some(supervised) = &self.supervised else {
            return Arc::new(Local);
        };
        let notices = self.notices.clone();
        let fallback = Arc::new(move |error: &SuperviseError| unsupervised(error, &notices));
        Arc::new(SessionCommands::new(supervised.clone(), session.as_str(), fallback))
    }

    /// The background processes of the home directory; `None` without a supervisor.
    pub(crate) fn processes(&self) -> Option<&ProcessManager> {
        let supervised = self.supervised.as_ref()?;
        Some(self.processes.get_or_init(|| {
            let keys = Arc::downgrade(&self.0);
            let fence_key = Arc::new(move || match keys.upgrade() {
                Some(shared) => Runtime(shared).fence_key(),
                None => FenceKey::new(rand::random()),
            });
            ProcessManager::new(supervised.clone(), self.store_source(), self.secrets.clone(), fence_key)
        }))
    }

    /// The session database, for what may outlive this value.
    pub(crate) fn store_source(&self) -> StoreSource {
        let shared = Arc::downgrade(&self.0);
        Arc::new(move || {
            let runtime = Runtime(shared.upgrade().ok_or("Hermes is ending")?);
            runtime.store().cloned().map_err(|error| error.to_string())
        })
    }

    /// The background processes of the home directory, if anything has asked for them in this process.
    pub(crate) fn opened_processes(&self) -> Option<&ProcessManager> {
        self.processes.get()
    }

    /// The background processes of a session. Notices reach one that `goes_on` after a turn.
    pub(crate) fn session_processes(&self, session: &SessionId, goes_on: bool) -> Option<Arc<dyn Processes>> {
        let manager = self.processes()?.clone();
        Some(Arc::new(SessionProcesses { manager, session: session.clone(), delivers: goes_on }))
    }

    /// The web, which all sessions share.
    pub(crate) fn web(&self) -> Result<Arc<WebClient>, RuntimeError> {
        if let Some(web) = self.web.get() {
            return Ok(web.clone());
        }
        let settings = crate::web::settings(&self.config, &self.launch.home)?;
        let (clients, secrets) = (self.clients.clone(), self.secrets.clone());
        let web = WebClient::new(settings, WebPorts { clients, secrets, names: None });
        Ok(self.web.get_or_init(|| Arc::new(web)).clone())
    }

    /// The source of the fence key, which is read or created by the first session that needs it.
    pub(crate) fn fence_keys(&self) -> FenceKeys {
        let shared = self.clone();
        Arc::new(move || shared.fence_key())
    }

    pub(crate) fn fence_key(&self) -> FenceKey {
        self.fence_key.get_or_init(|| fence_key::of(&self.launch.home)).clone()
    }
}

/// The connection to the supervisor, which is started by the first command.
fn supervised(
    program: Program,
    launch: &Launch,
    config: &Config,
    notices: &Mutex<Vec<String>>,
) -> Option<Supervised> {
    let default = SupervisorSettings::default();
    let orphan_grace = Duration::from_secs(*config.settings.terminal.orphan_grace.or_default());
    let place = SupervisorPaths {
        spool: launch.home.commands_dir(),
        runtime: launch.shell.get("XDG_RUNTIME_DIR").map(PathBuf::from),
    };
    let made = Supervised::new(&place, program, SupervisorSettings { orphan_grace, ..default });
    made.inspect_err(|error| unsupervised(error, notices)).ok()
}

fn reindexed_notice(reindexed: Reindexed) -> String {
    let why = "SQLite versions read its text with NUL bytes differently";
    match reindexed {
        Reindexed::Messages(1) => format!("search index updated for 1 message: {why}"),
        Reindexed::Messages(count) => format!("search index updated for {count} messages: {why}"),
        Reindexed::Everything => format!(
            "search index being rebuilt: {why}, and it had entries of deleted messages \
             (`hermes sessions reindex` finishes it at once)"
        ),
    }
}

fn unsupervised(error: &SuperviseError, notices: &Mutex<Vec<String>>) {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    tracing::warn!(%error, cause, "commands run without the supervisor");
    let notice = format!("commands run unsupervised, so a crash would lose their results: {error}{cause}");
    let mut notices = notices.lock().unwrap_or_else(PoisonError::into_inner);
    if !notices.contains(&notice) {
        notices.push(notice);
    }
}

/// The secrets of the settings, and a key that came from elsewhere.
fn secrets(config: &Config) -> Secrets {
    let secrets = config.secrets();
    let key = model_choice::endpoint(config).ok().and_then(|endpoint| endpoint.key);
    key.map_or(secrets.clone(), |key| secrets.with("key", &key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_config::{ConfigFile, Layers};
    use std::path::Path;

    #[test]
    fn keys_from_vendor_files_are_redacted() {
        let home = hermes_testkit::TempHome::new();
        home.write(".codex/auth.json", r#"{"tokens": {"access_token": "opaque-token-1"}}"#);
        let text = "model: {provider: codex, default: m}\n".to_owned();
        let file = ConfigFile::parse(Path::new("/h/config.yaml"), text).unwrap();
        let shell = [("HOME".to_owned(), home.path().display().to_string())].into();
        let config = Config::new(Layers { file, shell, ..Layers::default() });
        assert_eq!(hermes_guard::redact(&secrets(&config), "saw opaque-token-1"), "saw [redacted:key]");
    }
}

//! From flags to a running session: which home, which settings, which way of talking.

use crate::args::{ChatArgs, Common};
use crate::exit::{Exit, Failure};
use crate::json_events::About;
use crate::prompt_text::{self, Prompt};
use crate::sessions_command::trust;
use crate::{chat, environment, oneshot, signals, term, welcome};
use hermes_config::settings::{AgentSettings, ApprovalMode, ApprovalSettings, ModelSettings, Settings};
use hermes_config::{Config, Key, Refused, shell_variables, unused_summary};
use hermes_conversation::SessionId;
use hermes_runtime::{
    Home, Launch, Opening, Program, ResolveError, Resuming, Runtime, RuntimeError, Session,
    credential_warnings, telemetry_problem,
};
use hermes_store::SessionDb;
use hermes_tools::AskUser;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What the program is started with to become the supervisor of commands. Nobody types it.
pub(crate) const SUPERVISE: &str = "__supervise";

/// Opens the home that the environment names, with the settings of the flags on top.
pub(crate) fn open(common: &Common) -> Result<Runtime, Failure> {
    let home = home()?;
    // A folder that was deleted under us is no reason not to list sessions.
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let source = common.source.clone().unwrap_or_else(|| "cli".to_owned());
    let shell = shell_variables(environment::variables());
    let opened =
        Runtime::open(Launch { home, flags: flags(common), shell, cwd, source, supervisor: supervisor() });
    let runtime = opened.map_err(|error| blame_flags(error, common))?;
    if let Some(notice) = runtime.home_notice() {
        term::complain(&format!("hermes: {}", term::printable(notice)));
    }
    runtime.start_logging(Box::new(not_logged))?;
    Ok(runtime)
}

/// This very program, whatever becomes of its file meanwhile.
fn supervisor() -> Option<Program> {
    let program = Program::this(vec![SUPERVISE.to_owned()]);
    let why = "commands will run unsupervised";
    program.inspect_err(|error| term::complain(&format!("hermes: {error}; {why}"))).ok()
}

/// Said once; the work goes on.
fn not_logged(why: &str) {
    let why = term::printable(why);
    term::complain(&format!("hermes: logs/agent.log cannot be written ({why}); going on without it"));
}

/// A wrong value that was typed on this command line is a matter of usage, not of settings.
pub(crate) fn blame_flags(error: impl Into<RuntimeError>, common: &Common) -> Failure {
    let error = error.into();
    let is_typed = match &error {
        RuntimeError::Toolsets(_) => common.toolsets.is_some(),
        RuntimeError::Resolve(ResolveError::UnknownProvider { .. }) => common.provider.is_some(),
        _ => false,
    };
    let failure = Failure::from(error);
    if is_typed { Failure { exit: Exit::Usage, ..failure } } else { failure }
}

/// The home, which need not exist yet.
pub(crate) fn home() -> Result<Home, Failure> {
    // A name that is not text is still a name.
    if let Some(path) = std::env::var_os("HERMES_HOME").filter(|path| path.to_str().is_none()) {
        return Ok(Home::at(PathBuf::from(path)));
    }
    Home::locate(|name| std::env::var(name).ok()).map_err(|error| RuntimeError::from(error).into())
}

pub(crate) fn flags(common: &Common) -> Vec<(String, String)> {
    let mut flags = Vec::new();
    let mut set = |key: Key, value: String| flags.push((key.name.to_owned(), value));
    if let Some(model) = &common.model {
        set(ModelSettings::default, model.clone());
    }
    if let Some(provider) = &common.provider {
        set(ModelSettings::provider, provider.clone());
    }
    if let Some(toolsets) = &common.toolsets {
        set(Settings::toolsets, serde_json::json!(toolsets).to_string());
    }
    if let Some(turns) = common.max_turns {
        set(AgentSettings::max_turns, turns.to_string());
    }
    if common.yolo {
        set(ApprovalSettings::mode, ApprovalMode::Off.as_str().to_owned());
    }
    if common.ignore_rules {
        set(AgentSettings::ignore_rules, "true".to_owned());
    }
    if common.pass_session_id {
        set(AgentSettings::pass_session_id, "true".to_owned());
    }
    if common.accept_hooks {
        set(Settings::hooks_auto_accept, "true".to_owned());
    }
    flags
}

/// Opens the session that the flags ask for: a stored one, or a new one.
pub(crate) async fn session(
    runtime: &Runtime,
    common: &Common,
    opening: Opening,
    ask: Arc<dyn AskUser>,
) -> Result<Session, Failure> {
    let restores_cwd = !common.no_restore_cwd;
    let which = match (&common.resume, &common.continue_) {
        (Some(which), _) => which.clone(),
        (None, Some(title)) if !title.is_empty() => title.clone(),
        (None, Some(_)) => newest(runtime, common).await?,
        (None, None) => {
            let opening = Opening { skills: common.skills.clone(), ..opening };
            return Ok(runtime.open_session(opening, ask)?);
        }
    };
    if !common.skills.is_empty() {
        return Err(Failure::usage("--skills is for new sessions; type /NAME to use a skill in this one"));
    }
    if ask.is_present() && std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        trust::ask_before_resume(runtime.store()?, &which).await?;
    }
    resume(runtime, &which, &opening, ask, restores_cwd).await
}

/// A stored session that somebody wants to look at. Looking where nothing was ever stored creates no
/// database.
pub(crate) async fn stored(runtime: &Runtime, which: &str) -> Result<SessionId, Failure> {
    if !runtime.home().state_db().exists() {
        return Err(Failure::usage("there is no session to look at yet; start one with `hermes`"));
    }
    let store = store(runtime)?;
    let named = store.resolve(which).await?;
    Ok(store.resolve_resume(&named).await?)
}

/// Takes up a stored session. A command of its last turn may still run, and a person need not wait for it.
pub(crate) async fn resume(
    runtime: &Runtime,
    which: &str,
    opening: &Opening,
    ask: Arc<dyn AskUser>,
    restores_cwd: bool,
) -> Result<Session, Failure> {
    let stop = CancellationToken::new();
    let _signals = signals::watch(stop.clone());
    let tell = |what: &str| term::complain(&format!("hermes: {what}"));
    Ok(runtime.resume_on(which, opening, ask, Resuming { restores_cwd, stop: &stop, tell: &tell }).await?)
}

/// The store of a command that has no session to show notices in.
pub(crate) fn store(runtime: &Runtime) -> Result<&SessionDb, Failure> {
    let store = runtime.store()?;
    if let Some(notice) = runtime.store_notice() {
        term::complain(&format!("hermes: {}", term::printable(&notice)));
    }
    Ok(store)
}

async fn newest(runtime: &Runtime, common: &Common) -> Result<String, Failure> {
    let source = common.source.as_deref().unwrap_or("cli");
    let latest = runtime.store()?.latest(Some(source)).await.map_err(RuntimeError::from)?;
    latest
        .map(|id| id.to_string())
        .ok_or_else(|| Failure::usage("there is no session to continue yet; start one with `hermes`"))
}

/// Chooses the way of talking: one answer, or a conversation in this terminal.
pub(crate) async fn converse(args: ChatArgs, common: Common) -> Result<Exit, Failure> {
    let (runtime, prompt) = match prepare(&args, &common) {
        Ok(prepared) => prepared,
        Err(Obstacle::NoModel(home)) => return Err(no_model(&home, &common).await),
        Err(Obstacle::Failure(failure)) => return Err(oneshot::give_up(&common, &About::nothing(), failure)),
    };
    announce_settings(runtime.config());
    if let Some(problem) = telemetry_problem(runtime.config()) {
        term::complain(&format!("hermes: no traces are sent: {}", term::printable(&problem)));
    }
    // Not when an old session is about to be taken up again.
    if common.resume.is_none() && common.continue_.is_none() {
        prune(&runtime).await;
    }
    let exit = match prompt {
        Some(prompt) => oneshot::run(&runtime, &common, prompt).await,
        None => chat::run(&runtime, &common).await,
    };
    if let Some(why) = runtime.recording_failure() {
        term::complain(&format!("hermes: {}", term::printable(&why)));
    }
    runtime.tidy_files().await;
    runtime.leave().await;
    exit
}

/// Names the settings that do less than they say.
fn announce_settings(config: &Config) {
    let mut refused = config.unsupported_safety();
    // The run ends with these.
    refused.retain(|promise| promise.refused != Refused::Run);
    for line in refused.into_iter().map(|promise| promise.text).chain(unused_summary(&config.unused_keys())) {
        term::complain(&format!("hermes: {}", term::printable(&line)));
    }
}

/// Old sessions go before the conversation begins: giving space back keeps all others waiting.
/// Whatever comes of it, the conversation begins.
async fn prune(runtime: &Runtime) {
    match runtime.prune_if_wanted().await {
        Ok(None) => {}
        Ok(Some(done)) if done.old.is_empty() => {}
        Ok(Some(done)) => {
            let plural = if done.old.len() == 1 { "" } else { "s" };
            let count = done.old.len();
            term::complain(&format!("hermes: deleted {count} old session{plural} (sessions.auto_prune)"));
        }
        Err(error) => {
            let cause = Failure::from(error).line;
            term::complain(&format!("hermes: old sessions were not deleted: {}", term::printable(&cause)));
        }
    }
}

/// What can keep a conversation from beginning.
enum Obstacle {
    NoModel(Home),
    Failure(Failure),
}

fn prepare(args: &ChatArgs, common: &Common) -> Result<(Runtime, Option<Prompt>), Obstacle> {
    let runtime = open(common).map_err(Obstacle::Failure)?;
    match runtime.endpoint() {
        Ok(_) => {}
        Err(error) if !credential_warnings(runtime.config()).is_empty() => {
            // The keys may all be in a file that cannot be read.
            let warnings = credential_warnings(runtime.config());
            let failure = blame_flags(error, common);
            let line = format!("{}; {}", failure.line, warnings.join("; "));
            return Err(Obstacle::Failure(Failure { line, ..failure }));
        }
        Err(RuntimeError::Resolve(ResolveError::NothingConfigured)) => {
            return Err(Obstacle::NoModel(runtime.home().clone()));
        }
        Err(error) => return Err(Obstacle::Failure(blame_flags(error, common))),
    }
    let prompt = prompt_text::wanted(args, common, std::io::stdin().is_terminal());
    let prompt = prompt.map_err(Obstacle::Failure)?;
    if let Some(path) = &common.record {
        runtime.record(path).map_err(|error| Obstacle::Failure(error.into()))?;
    }
    Ok((runtime, prompt))
}

/// Five lines on what to do, and the last word for programs.
async fn no_model(home: &Home, common: &Common) -> Failure {
    welcome::no_model(home).await;
    let failure = Failure::new(Exit::Config, "no model is configured");
    Failure { line: String::new(), ..oneshot::give_up(common, &About::nothing(), failure) }
}

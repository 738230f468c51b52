//! Opens the runtime and sessions that the flags ask for.

use crate::commands::sessions::trust;
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_config::settings::{
    AgentSettings, ApprovalMode, ApprovalSettings, ModelSettings, SandboxSettings, Settings,
};
use hermes_config::{Key, shell_variables};
use hermes_conversation::SessionId;
use hermes_runtime::{Home, Launch, Opening, Program, ResolveError, Runtime, RuntimeError, Session};
use hermes_store::SessionDb;
use hermes_terminal::{print, resume, term};
use hermes_tools::AskUser;
use hermes_toolsets::ToolChoiceError;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

/// The argument that makes the program the supervisor of commands. Users do not type it.
pub(crate) const SUPERVISE: &str = "__supervise";

/// Opens the home directory that the environment names, with the settings of the flags.
pub(crate) fn open(common: &Common) -> Result<Runtime, Failure> {
    let home = home()?;
    // Listing sessions works in a deleted directory, too.
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let source = common.source.clone().unwrap_or_else(|| "cli".to_owned());
    let shell = shell_variables(environment::variables());
    let opened =
        Runtime::open(Launch { home, flags: flags(common), shell, cwd, source, supervisor: supervisor() });
    let runtime = opened.map_err(|error| blame_flags(error, common))?;
    if let Some(notice) = runtime.home_notice() {
        print::notice(notice);
    }
    runtime.start_logging(Box::new(not_logged))?;
    Ok(runtime)
}

/// This program, even if its file is replaced meanwhile.
fn supervisor() -> Option<Program> {
    let program = Program::this(vec![SUPERVISE.to_owned()]);
    let why = "commands run unsupervised";
    program.inspect_err(|error| print::notice(&format!("{error}; {why}"))).ok()
}

/// Prints a notice once.
fn not_logged(why: &str) {
    let why = term::printable(why);
    print::notice(&format!("cannot write logs/agent.log: {why}; continuing without a log"));
}

/// A failure, as a usage error if its cause is a flag of this command line rather than a setting.
pub(crate) fn blame_flags(error: impl Into<RuntimeError>, common: &Common) -> Failure {
    let error = error.into();
    match &error {
        RuntimeError::Toolsets(choice)
            if common.tools.toolsets.is_some() && matches!(**choice, ToolChoiceError::Toolset(_)) =>
        {
            as_usage(error)
        }
        RuntimeError::Resolve(ResolveError::UnknownProvider { .. }) if common.model.provider.is_some() => {
            as_usage(error)
        }
        _ => error.into(),
    }
}

/// A failure, as a usage error if its cause is the provider that was named on this command line.
pub(crate) fn blame_argument(error: impl Into<RuntimeError>) -> Failure {
    let error = error.into();
    match &error {
        RuntimeError::Resolve(ResolveError::UnknownProvider { .. }) => as_usage(error),
        _ => error.into(),
    }
}

fn as_usage(error: RuntimeError) -> Failure {
    Failure { exit: Exit::Usage, ..Failure::from(error) }
}

/// The home directory, which need not exist yet.
pub(crate) fn home() -> Result<Home, Failure> {
    // The path need not be UTF-8.
    if let Some(path) = std::env::var_os("HERMES_HOME").filter(|path| path.to_str().is_none()) {
        return Ok(Home::at(PathBuf::from(path)));
    }
    Home::locate(|name| std::env::var(name).ok()).map_err(|error| RuntimeError::from(error).into())
}

pub(crate) fn flags(common: &Common) -> Vec<(String, String)> {
    let mut flags = Vec::new();
    let mut set = |key: Key, value: String| flags.push((key.name.to_owned(), value));
    if let Some(model) = &common.model.name {
        set(ModelSettings::default, model.clone());
    }
    if let Some(provider) = &common.model.provider {
        set(ModelSettings::provider, provider.clone());
    }
    if let Some(toolsets) = &common.tools.toolsets {
        set(Settings::toolsets, serde_json::json!(toolsets).to_string());
    }
    if let Some(turns) = common.turns.max_turns {
        set(AgentSettings::max_turns, turns.to_string());
    }
    if common.turns.yolo {
        set(ApprovalSettings::mode, ApprovalMode::Off.as_str().to_owned());
    }
    if let Some(profile) = &common.turns.sandbox {
        set(SandboxSettings::profile, profile.clone());
    }
    if common.prompt.ignore_rules {
        set(AgentSettings::ignore_rules, "true".to_owned());
    }
    if common.prompt.pass_session_id {
        set(AgentSettings::pass_session_id, "true".to_owned());
    }
    if common.turns.accept_hooks {
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
    let conversation = &common.conversation;
    let restores_cwd = !conversation.no_restore_cwd;
    let which = match (&conversation.resume, &conversation.continue_) {
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
    Ok(resume(runtime, &which, &opening, ask, restores_cwd).await?)
}

/// The id of a stored session. Creates no database.
pub(crate) async fn stored(runtime: &Runtime, which: &str) -> Result<SessionId, Failure> {
    if !runtime.home().state_db().exists() {
        return Err(Failure::usage("there are no sessions yet; start one with `hermes`"));
    }
    let store = store(runtime)?;
    let named = store.resolve(which).await?;
    Ok(store.resolve_resume(&named).await?)
}

/// The store, for a command without a session; prints the notices of its opening.
pub(crate) fn store(runtime: &Runtime) -> Result<&SessionDb, Failure> {
    let store = runtime.store()?;
    if let Some(notice) = runtime.store_notice() {
        print::notice(&notice);
    }
    Ok(store)
}

async fn newest(runtime: &Runtime, common: &Common) -> Result<String, Failure> {
    let source = common.source.as_deref().unwrap_or("cli");
    let latest = runtime.store()?.latest(Some(source)).await.map_err(RuntimeError::from)?;
    latest
        .map(|id| id.to_string())
        .ok_or_else(|| Failure::usage("no session to resume yet; start one with `hermes`"))
}

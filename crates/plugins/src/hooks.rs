//! Shell hooks: scripts of the user that run on turn events.
//!
//! A failing hook never fails a turn: the failure is logged, shown to the user once, and the turn continues. A
//! hook runs only after an approval; see [`allowlist`].

mod allowlist;
mod approval;
mod listing;
mod protocol;

pub use listing::{HookList, ListedHook, hooks, revoke_hook};

use approval::CachedDecision;
use hermes_config::home::{Home, HomeError};
use hermes_config::settings::SandboxProfile;
use hermes_config::{Config, ConfigError, HookEntries, HookEntry};
use hermes_conversation::{
    BoxFuture, EventRelay, HookCall, HookEvent, HookPoint, HookVerdict, Hooks, TurnEvent,
};
use hermes_exec::{Direct, DirectOutput, Ended, child_env, run_direct};
use hermes_sandbox::{Policy, Profile};
use hermes_tools::{AskUser, ToolContext};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// A failure to read or change the approvals of hooks.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The list of approved hooks cannot be used.
    #[error("{0}")]
    Approvals(String),
}

/// Bytes read of a hook's output.
const MOST_OUTPUT: usize = 256 * 1024;

/// The hooks of a home directory, for all sessions of this process.
pub struct ShellHooks {
    entries: Vec<HookEntry>,
    home: Home,
    clock: fn() -> Timestamp,
    env: Vec<(String, String)>,
    /// The user approved all hooks, for this run or in the settings.
    accepts_all: bool,
    state: Mutex<State>,
    /// Held during an approval request, so that the user is asked once.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    /// By event and command.
    decided: BTreeMap<(HookEvent, String), CachedDecision>,
    /// Keys of the entries whose failure has been shown.
    reported: BTreeSet<String>,
}

impl ShellHooks {
    /// The hooks in the settings and warnings about invalid ones. `None` if there are no hooks.
    pub fn read(
        config: &Config,
        home: &Home,
        shell: &BTreeMap<String, String>,
        clock: fn() -> Timestamp,
    ) -> (Option<Arc<Self>>, Vec<String>) {
        let HookEntries { entries, warnings } = with_paths(config.settings.hooks.clone(), shell);
        if entries.is_empty() {
            return (None, warnings);
        }
        let passthrough = config.settings.terminal.env_passthrough.or_default();
        let shell = shell.iter().map(|(name, value)| (name.clone(), value.clone()));
        let hooks = Self {
            entries,
            home: home.clone(),
            clock,
            env: child_env(shell, passthrough),
            accepts_all: *config.settings.hooks_auto_accept.or_default(),
            state: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        };
        (Some(Arc::new(hooks)), warnings)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The hooks as one turn of one session sees them.
pub struct SessionHooks {
    pub hooks: Arc<ShellHooks>,
    /// The front end of the session, for example `cli`.
    pub platform: String,
    pub ask: Arc<dyn AskUser>,
    pub events: EventRelay,
    pub cancel: CancellationToken,
    /// Decides about programs, and confines them.
    pub tools: Arc<ToolContext>,
}

impl Hooks for SessionHooks {
    fn wants(&self, event: HookEvent) -> bool {
        self.hooks.entries.iter().any(|entry| entry.event == event)
    }

    fn fire(&self, call: HookCall) -> BoxFuture<'_, HookVerdict> {
        Box::pin(self.run_all(call))
    }
}

impl SessionHooks {
    /// Runs the hooks of an event in order, up to the first that blocks.
    async fn run_all(&self, call: HookCall) -> HookVerdict {
        self.request_approvals().await;
        let mut contexts = Vec::new();
        for entry in self.hooks.entries.iter().filter(|entry| is_for(entry, &call.point)) {
            if !self.may_run(entry).await {
                continue;
            }
            match self.run(entry, &call).await {
                HookVerdict::Continue => {}
                HookVerdict::Context { text } => contexts.push(text),
                block @ HookVerdict::Block { .. } => return block,
            }
        }
        match contexts.is_empty() {
            true => HookVerdict::Continue,
            false => HookVerdict::Context { text: contexts.join("\n\n") },
        }
    }

    async fn run(&self, entry: &HookEntry, call: &HookCall) -> HookVerdict {
        let cwd = if call.cwd.is_dir() { call.cwd.clone() } else { self.hooks.home.path().to_owned() };
        let input = protocol::input(call, &self.platform).to_string().into_bytes();
        if let Some(why) = self.tools.refused_program(&entry.command, &cwd) {
            self.report_failure(entry, &format!("is not run: {why}")).await;
            return HookVerdict::Continue;
        }
        let sandbox = self.confinement(entry);
        let is_confined = sandbox.is_some();
        let program = Direct {
            argv: entry.argv.clone(),
            cwd,
            env: self.hooks.env.clone(),
            input,
            timeout: entry.timeout,
            most_output: MOST_OUTPUT,
            sandbox,
        };
        let output = match run_direct(program).await {
            Ok(output) => output,
            Err(error) => {
                let cause =
                    std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
                self.report_failure(entry, &format!("did not run: {error}{cause}")).await;
                return HookVerdict::Continue;
            }
        };
        tracing::debug!(hook = entry.key, exit = output.exit_code, "hook ran");
        let verdict = match output.ended {
            Ended::Exited => protocol::verdict(entry.event, &output.stdout),
            Ended::TimedOut | Ended::Cancelled => Some(HookVerdict::Continue),
        };
        if let Some(mut what) = failure(entry, &output, verdict.is_some()) {
            if is_confined && output.ended == Ended::Exited {
                what.push_str(
                    ". It runs in the sandbox of commands; `sandbox: full` in its entry runs it outside",
                );
            }
            self.report_failure(entry, &what).await;
        }
        verdict.unwrap_or(HookVerdict::Continue)
    }

    /// The sandbox of a hook: that of commands, in which it can also read its own script.
    fn confinement(&self, entry: &HookEntry) -> Option<Policy> {
        let profile = entry.sandbox.map(|profile| match profile {
            SandboxProfile::Workspace => Profile::Workspace,
            SandboxProfile::ReadOnly => Profile::ReadOnly,
            SandboxProfile::Full => Profile::Full,
        });
        let mut policy = self.tools.program_policy(profile)?;
        if let Err(error) = self.tools.created_temporary() {
            tracing::warn!(%error, "the temporary directory of the session");
        }
        if let Some(script) = allowlist::script(&entry.argv) {
            // Scripts load the files beside them, but not all of a home directory.
            let folder = script.parent().filter(|folder| {
                let is_home = policy.places.user_home.as_deref() == Some(folder);
                !is_home && !policy.places.hermes_home.starts_with(folder)
            });
            policy.shared.push(folder.unwrap_or(&script).to_owned());
        }
        Some(policy)
    }

    /// Logs a failure, and shows the first one of each hook to the user.
    async fn report_failure(&self, entry: &HookEntry, what: &str) {
        tracing::warn!(hook = entry.key, what, "hook");
        let is_new = self.hooks.state().reported.insert(entry.key.clone());
        if is_new {
            self.events.send(TurnEvent::Status(about(entry, what))).await;
        }
    }
}

fn about(entry: &HookEntry, what: &str) -> String {
    format!("hook `{}` ({}) {what}", entry.command, entry.key)
}

/// The modification time of a hook's script.
fn changed(entry: &HookEntry) -> Option<Timestamp> {
    allowlist::script(&entry.argv).as_deref().and_then(allowlist::changed)
}

fn is_for(entry: &HookEntry, point: &HookPoint) -> bool {
    let tool = match point {
        HookPoint::BeforeTool { name, .. } | HookPoint::AfterTool { name, .. } => Some(name),
        _ => None,
    };
    entry.event == point.event() && tool.is_none_or(|tool| entry.matcher.fits(tool))
}

/// A description of the failure of a hook, if it failed.
fn failure(entry: &HookEntry, output: &DirectOutput, is_readable: bool) -> Option<String> {
    let stderr = output.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let stderr: String = stderr.chars().take(200).collect();
    let stderr = if stderr.is_empty() { stderr } else { format!(": {stderr}") };
    match output.ended {
        Ended::TimedOut | Ended::Cancelled => {
            Some(format!("timed out after {} s{stderr}", entry.timeout.as_secs()))
        }
        Ended::Exited if output.exit_code != 0 => {
            Some(format!("ended with exit code {}{stderr}", output.exit_code))
        }
        Ended::Exited if !is_readable => Some("wrote output that is not a JSON object".to_owned()),
        Ended::Exited => None,
    }
}

fn allowlist_file(home: &Home) -> PathBuf {
    home.path().join("shell-hooks-allowlist.json")
}

/// The entries with `~` expanded to the user's home.
fn with_paths(mut all: HookEntries, shell: &BTreeMap<String, String>) -> HookEntries {
    let home = shell.get("HOME").map(Path::new);
    for word in all.entries.iter_mut().flat_map(|entry| &mut entry.argv) {
        expand_home(word, home);
    }
    all
}

fn expand_home(word: &mut String, user_home: Option<&Path>) {
    let Some(home) = user_home else { return };
    if word == "~" {
        *word = home.display().to_string();
    } else if let Some(rest) = word.strip_prefix("~/") {
        *word = home.join(rest).display().to_string();
    }
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;

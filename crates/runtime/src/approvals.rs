//! Approvals and the sandbox of a session, from the settings.

use crate::places::ConfiguredPlace;
use crate::{Runtime, RuntimeError};
use hermes_agent::auxiliary::ask_in_order;
use hermes_config::home::Home;
use hermes_config::settings::{ApprovalMode as Mode, SandboxProfile, Settings, Unattended as Unasked};
use hermes_config::{Config, change_list};
use hermes_conversation::{AuxRequest, AuxTask, BoxFuture, Message, SessionId};
use hermes_gate::Scene;
use hermes_providers::Endpoint;
use hermes_sandbox::{Network, Places as SandboxPlaces, Policy, Prepared, Profile, enforced, support};
use hermes_tools::{
    Action, ActionKind, AllowList, Approval, ApprovalMode, ApprovalPolicy, ApprovalRequest, AskUser,
    BatchApproval, Clarified, DecidedBy, Decision, Places, Question, Review, Safety, SandboxSettings,
    SessionApprovals, SmartAnswer, ToolContext, Unattended, decide, smart_prompt,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Tokens of the reply of a model that reviews a command.
const VERDICT_TOKENS: u64 = 16;

/// The settings of approvals.
pub(crate) fn policy(settings: &Settings) -> Result<ApprovalPolicy, RuntimeError> {
    let set = &settings.approvals;
    Ok(ApprovalPolicy {
        mode: match set.mode.value()? {
            Mode::Manual => ApprovalMode::Manual,
            Mode::Smart => ApprovalMode::Smart,
            Mode::Off => ApprovalMode::Off,
        },
        timeout: set.timeout.value()?,
        deny: AllowList(set.deny.get()?.clone()),
        allow: AllowList(settings.command_allowlist.get()?.clone()),
        unattended: match set.unattended.value()? {
            Unasked::Deny => Unattended::Deny,
            Unasked::Sandboxed => Unattended::Sandboxed,
        },
    })
}

/// The settings of the sandbox.
pub(crate) fn sandbox(settings: &Settings) -> Result<SandboxSettings, RuntimeError> {
    let set = &settings.sandbox;
    Ok(SandboxSettings {
        profile: match set.profile.value()? {
            SandboxProfile::Workspace => Profile::Workspace,
            SandboxProfile::ReadOnly => Profile::ReadOnly,
            SandboxProfile::Full => Profile::Full,
        },
        network: network(set.network.get()?),
        require: set.require.value()?,
        max_processes: set.max_processes.value()?,
    })
}

/// Reads `sandbox.network`. YAML reads a bare `on` or `off` as a boolean.
pub(crate) fn network(words: &[String]) -> Network {
    match words {
        [word] if matches!(word.as_str(), "on" | "true") => Network::On,
        [] => Network::Off,
        [word] if matches!(word.as_str(), "off" | "false") => Network::Off,
        hosts => Network::Allow(hosts.to_vec()),
    }
}

/// The verdict on a command by the gate and the lists of the settings.
pub struct CommandCheck {
    /// `allow`, `ask` or `deny`.
    pub verdict: &'static str,
    /// Each effect with its target, for instance `write /etc/hosts`.
    pub effects: Vec<String>,
    /// The approval key of the worst finding, or the setting that decided.
    pub rule: String,
    pub reason: String,
}

/// Judges a command as a chat would, whatever the mode of approvals is.
pub fn command_check(command: &str, scene: &Scene, config: &Config) -> Result<CommandCheck, RuntimeError> {
    let policy = ApprovalPolicy { mode: ApprovalMode::Manual, ..policy(&config.settings)? };
    let assessment = hermes_gate::assess(command, scene);
    let effects = assessment.findings.iter().map(|finding| finding.effect.to_string()).collect();
    let worst = assessment.worst().cloned();
    let (kind, text, cwd) = (ActionKind::Command, command.to_owned(), scene.cwd.clone());
    let action = Action { kind, text, cwd, environment: Arc::default(), assessment };
    let decision = decide(&action, &policy, &SessionApprovals::default());
    let (verdict, by) = match decision {
        Decision::Run { by, .. } => ("allow", by),
        Decision::Ask => ("ask", DecidedBy::User),
        Decision::Refuse { by, .. } => ("deny", by),
    };
    let of_rule = worst.map(|finding| (finding.rule.into_owned(), finding.reason)).unwrap_or_default();
    let (rule, reason) = match by {
        DecidedBy::DenyList => (by.as_str().to_owned(), "the settings forbid this command".to_owned()),
        _ => of_rule,
    };
    Ok(CommandCheck { verdict, effects, rule, reason })
}

/// The facts by which a command in `cwd` is judged, without a session.
pub fn approval_scene(
    config: &Config,
    home: &Home,
    shell: &BTreeMap<String, String>,
    cwd: PathBuf,
) -> Result<Scene, RuntimeError> {
    let places = Places::new(home.path(), shell.get("HOME").map(Path::new));
    let safety = Safety {
        sandbox: Some(sandbox(&config.settings)?),
        path_dirs: path_dirs(shell),
        ..Safety::default()
    };
    let cwd = cwd.canonicalize().unwrap_or(cwd);
    Ok(hermes_tools::scene(&cwd, &hermes_tools::project_of(&cwd, &places), &places, &safety))
}

/// The confinement of commands on this machine.
pub struct SandboxStatus {
    /// One line with all layers.
    pub summary: String,
    /// Every layer of the profile is enforced.
    pub is_whole: bool,
    /// The reason why commands are refused.
    pub problem: Option<String>,
}

/// The confinement of commands in `cwd`, without a session.
pub fn sandbox_status(
    config: &Config,
    home: &Home,
    shell: &BTreeMap<String, String>,
    cwd: PathBuf,
) -> Result<SandboxStatus, RuntimeError> {
    let policy = sandbox_policy(config, home, shell, cwd)?;
    let report = enforced(&policy, support());
    let problem = Prepared::new(&policy, support()).err().map(|error| crate::with_causes(&error));
    Ok(SandboxStatus { summary: report.summary(), is_whole: report.is_whole(), problem })
}

/// The policy of a command in `cwd`, without a session. Its temporary directory is that of the system.
pub fn sandbox_policy(
    config: &Config,
    home: &Home,
    shell: &BTreeMap<String, String>,
    cwd: PathBuf,
) -> Result<Policy, RuntimeError> {
    let settings = sandbox(&config.settings)?;
    let places = Places::new(home.path(), shell.get("HOME").map(Path::new));
    let cwd = cwd.canonicalize().unwrap_or(cwd);
    Ok(Policy {
        profile: settings.profile,
        network: settings.network,
        places: SandboxPlaces {
            project: hermes_tools::project_of(&cwd, &places),
            temporary: shell.get("TMPDIR").map_or(PathBuf::from("/tmp"), PathBuf::from),
            user_home: places.user_home().map(Path::to_owned),
            hermes_home: home.path().canonicalize().unwrap_or_else(|_| home.path().to_owned()),
        },
        require: settings.require,
        max_processes: settings.max_processes,
        ..Policy::default()
    })
}

/// The absolute directories in `PATH`.
fn path_dirs(shell: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let path = shell.get("PATH").map(String::as_str).unwrap_or_default();
    std::env::split_paths(path).filter(|dir| dir.is_absolute()).collect()
}

impl Runtime {
    /// The confinement of commands and the facts for approvals of a session.
    pub(crate) fn safety(&self, session: &SessionId) -> Result<Safety, RuntimeError> {
        let shell = &self.launch.shell;
        let base = shell.get("TMPDIR").map_or(PathBuf::from("/tmp"), PathBuf::from);
        let home = self.launch.home.clone();
        Ok(Safety {
            sandbox: Some(sandbox(&self.config.settings)?),
            remember: Some(Arc::new(move |entries| add_to_allow_list(&home, entries))),
            path_dirs: path_dirs(shell),
            temporary: Some(temporary_dir(&base, session)),
            far: self.place()?.map(ConfiguredPlace::facts),
            project: None,
        })
    }
}

/// The temporary directory of a session. The name has the user, so that another user cannot take it.
fn temporary_dir(base: &Path, session: &SessionId) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    base.join(format!("hermes-{user}")).join(session.as_str())
}

/// Adds entries to `command_allowlist` in `config.yaml`.
fn add_to_allow_list(home: &Home, entries: &[String]) -> Result<(), String> {
    let add = |mut list: Vec<String>| {
        for entry in entries {
            if !list.contains(entry) {
                list.push(entry.clone());
            }
        }
        list
    };
    let changed = change_list(home, Settings::command_allowlist.name, add);
    changed.map(|_| ()).map_err(|error| error.to_string())
}

/// Reviews requests before the user is asked: with a model in the mode `smart`, by the sandbox in runs without a user.
pub(crate) struct ReviewedAsk {
    pub(crate) inner: Arc<dyn AskUser>,
    pub(crate) runtime: Runtime,
    pub(crate) session: SessionId,
    pub(crate) endpoint: Arc<Mutex<Endpoint>>,
    pub(crate) tool_context: Arc<ToolContext>,
}

impl ReviewedAsk {
    async fn smart(&self, request: &ApprovalRequest) -> Option<Review> {
        let own = self.endpoint.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (stops, limits) = self.runtime.models().auxiliary(&own).prepare(AuxTask::Approval).ok()?;
        // Unguessable, so that the command cannot contain it.
        let fence = format!("#{:016x}#", rand::random::<u64>());
        let (system, message) = smart_prompt(request, &fence);
        let question = AuxRequest {
            task: AuxTask::Approval,
            session: Some(self.session.clone()),
            system,
            messages: vec![Message::user(message)],
            max_output_tokens: VERDICT_TOKENS,
        };
        let answer = ask_in_order(&stops, &self.runtime.cooldowns, &limits, &question).await.ok()?;
        match SmartAnswer::read(&answer) {
            SmartAnswer::Approve => Some(Review::Allow(DecidedBy::Model)),
            SmartAnswer::Deny => Some(Review::Advise("the reviewing model advises against it".to_owned())),
            SmartAnswer::Escalate => None,
        }
    }
}

impl AskUser for ReviewedAsk {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        self.inner.approve(request)
    }

    fn approve_batch<'a>(&'a self, requests: &'a [ApprovalRequest]) -> BoxFuture<'a, BatchApproval> {
        self.inner.approve_batch(requests)
    }

    fn review<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Option<Review>> {
        Box::pin(async move {
            if let Some(review) = self.inner.review(request).await {
                return Some(review);
            }
            let policy = &self.tool_context.settings().approvals;
            if self.is_present() {
                let is_smart = policy.mode == ApprovalMode::Smart && request.is_reviewable;
                return if is_smart { self.smart(request).await } else { None };
            }
            let is_sandboxed = policy.unattended == Unattended::Sandboxed && self.tool_context.is_confined();
            is_sandboxed.then_some(Review::Allow(DecidedBy::Sandbox))
        })
    }

    fn clarify<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Clarified> {
        self.inner.clarify(question)
    }

    fn is_present(&self) -> bool {
        self.inner.is_present()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_is_a_word_or_a_list_of_hosts() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (given, want) in [
            (words(&["on"]), Network::On),
            (words(&["true"]), Network::On),
            (words(&["off"]), Network::Off),
            (words(&[]), Network::Off),
            (words(&["a.org", "b.org"]), Network::Allow(words(&["a.org", "b.org"]))),
        ] {
            assert_eq!(network(&given), want, "{given:?}");
        }
    }
}

//! Approvals and confinement of one session's calls.

use crate::approval::asked_rules;
use crate::protect::Places;
use crate::{
    Action, ActionKind, DecidedBy, Decision, Scope, SessionApprovals, ToolContext, decide, project_root,
};
use hermes_gate::{Grant, Scene};
use hermes_sandbox::{Network, Places as SandboxPlaces, Policy, Profile, enforced, support};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

/// Adds entries to `command_allowlist`. The error is a message for the user.
pub type RememberRules = Arc<dyn Fn(&[String]) -> Result<(), String> + Send + Sync>;

/// The confinement of commands, and the facts that approvals are decided by.
#[derive(Clone, Default)]
pub struct Safety {
    /// The sandbox of commands; `None` runs them without one.
    pub sandbox: Option<SandboxSettings>,
    /// Saves approvals for all sessions; without it they cover this session.
    pub remember: Option<RememberRules>,
    /// The directories in `PATH`.
    pub path_dirs: Vec<PathBuf>,
    /// The temporary directory of the session, `TMPDIR` of its commands.
    pub temporary: Option<PathBuf>,
    /// The place of commands that do not run on this machine.
    pub far: Option<FarPlace>,
    /// The project, where it is not that of the working directory.
    pub project: Option<PathBuf>,
}

/// The state that a session takes over from another one: a sub-agent from the session that it works for, and a session that is
/// split from itself. The working directory may have left the project, and must not become one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inherited {
    pub project: Option<PathBuf>,
    pub temporary: Option<PathBuf>,
}

impl Safety {
    /// The same with what is taken over.
    pub fn inheriting(self, inherited: Inherited) -> Self {
        let Inherited { project, temporary } = inherited;
        Self { project: project.or(self.project), temporary: temporary.or(self.temporary), ..self }
    }
}

/// A place of commands that is not this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarPlace {
    /// Its name for messages.
    pub label: String,
    /// The directory of the first command; `~` is that of the user there.
    pub directory: PathBuf,
    /// The reach of commands beyond the place; `None` if there is none.
    pub reaches: Option<String>,
}

/// The settings of the sandbox, `sandbox.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    pub profile: Profile,
    pub network: Network,
    pub require: bool,
    pub max_processes: u64,
}

impl Safety {
    fn is_confined(&self) -> bool {
        if self.far.is_some() {
            return false;
        }
        let is_wanted = self.sandbox.as_ref().is_some_and(|sandbox| sandbox.profile != Profile::Full);
        is_wanted && hermes_sandbox::confines_files()
    }
}

/// The project of a session that starts in `cwd`: its git root, or `cwd` itself. A directory that holds the system or
/// all users is not a project: nothing is inside of it.
pub fn project_of(cwd: &Path, places: &Places) -> PathBuf {
    let root = project_root(cwd, places.user_home());
    let is_too_wide = |dir: &Path| {
        let is_above = |path: &Path| path != dir && path.starts_with(dir);
        dir.parent().is_none()
            || places.user_home().is_some_and(is_above)
            || SYSTEM.iter().any(|system| dir == Path::new(system))
    };
    if is_too_wide(&root) { PathBuf::from(NO_PROJECT) } else { root }
}

/// Directories that a session may have for itself.
const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// A path that nothing is inside of.
pub(crate) const NO_PROJECT: &str = "/nonexistent/no-project";
/// The home directory of the user elsewhere, whose real path is not known.
pub(crate) const FAR_HOME: &str = "/nonexistent/far-home";
/// Directories of the system that a session may start in, but that are not its project.
const SYSTEM: [&str; 17] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/mnt",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/local",
    "/var",
];

/// The facts by which the gate judges a command in `cwd` of a session with this project.
pub fn scene(cwd: &Path, project: &Path, places: &Places, safety: &Safety) -> Scene {
    Scene {
        cwd: cwd.to_owned(),
        project: project.to_owned(),
        temporary: safety.temporary.iter().cloned().collect(),
        user_home: places.user_home().map(Path::to_owned),
        hermes_home: places.home.clone(),
        path_dirs: safety.path_dirs.clone(),
        is_sandboxed: safety.is_confined(),
        ..Scene::default()
    }
}

impl ToolContext {
    /// The approvals of the session so far.
    pub fn approvals(&self) -> MutexGuard<'_, SessionApprovals> {
        self.lock_approvals()
    }

    /// Keeps an approval for later calls. Returns the entries for `command_allowlist`, which the caller saves with
    /// [`save_rules`](Self::save_rules).
    pub(crate) fn note_approval(&self, action: &Action, scope: Scope) -> Vec<String> {
        if scope == Scope::Once {
            return Vec::new();
        }
        self.approvals().add(action);
        match scope {
            Scope::Always => match asked_rules(&action.assessment) {
                rules if rules.is_empty() => vec![action.text.trim().to_owned()],
                rules => rules,
            },
            Scope::Once | Scope::Session => Vec::new(),
        }
    }

    /// Adds entries to `command_allowlist`. The error is a message for the user.
    pub fn save_rules(&self, entries: &[String]) -> Result<(), String> {
        match &self.safety().remember {
            Some(remember) if !entries.is_empty() => remember(entries),
            _ => Ok(()),
        }
    }

    /// The settings of the sandbox; `None` if commands run without one.
    pub fn sandbox(&self) -> Option<&SandboxSettings> {
        self.safety().sandbox.as_ref()
    }

    /// Returns true if the kernel confines the files of commands.
    pub fn is_confined(&self) -> bool {
        self.safety().is_confined()
    }

    /// One line about the confinement of commands.
    pub fn sandbox_summary(&self) -> String {
        if let Some(far) = self.far() {
            return match &far.reaches {
                None => format!("sandbox: commands run in {}, which reaches nothing of yours", far.label),
                Some(reaches) => format!("sandbox: off; commands run in {} and reach {reaches}", far.label),
            };
        }
        match self.policy(&[]) {
            Some(policy) => enforced(&policy, support()).summary(),
            None => "sandbox: off; commands can do all that you can".to_owned(),
        }
    }

    /// The state that a context which replaces this one takes over.
    pub fn for_successor(&self) -> Inherited {
        Inherited { project: Some(self.project()), temporary: self.temporary().map(Path::to_owned) }
    }

    /// The state that a session which works for this one takes over.
    pub(crate) fn for_subagent(&self) -> Inherited {
        Inherited { project: Some(self.project()), temporary: None }
    }

    /// The temporary directory of the session; it is created by the first command.
    pub(crate) fn temporary(&self) -> Option<&Path> {
        self.safety().temporary.as_deref()
    }

    /// The place of commands, if it is not this machine.
    pub fn far(&self) -> Option<&FarPlace> {
        self.safety().far.as_ref()
    }

    /// The kind of a command for approvals.
    pub(crate) fn command_kind(&self) -> ActionKind {
        match self.far() {
            Some(FarPlace { reaches: None, .. }) => ActionKind::IsolatedCommand,
            _ => ActionKind::Command,
        }
    }

    /// The facts by which the gate judges a command in `cwd`.
    pub fn scene(&self, cwd: &Path) -> Scene {
        if let Some(far) = self.far() {
            return self.far_scene(cwd, far, Path::new(FAR_HOME));
        }
        Scene {
            variables: self.environment().variables(),
            ..scene(cwd, &self.project(), self.places(), self.safety())
        }
    }

    /// The facts by which the gate judges a command elsewhere. The directory of the first command counts as the project;
    /// paths of this machine mean nothing there.
    pub(crate) fn far_scene(&self, cwd: &Path, far: &FarPlace, own_home: &Path) -> Scene {
        let expand = |path: &Path| match path.strip_prefix("~") {
            Ok(rest) => own_home.join(rest),
            Err(_) => path.to_owned(),
        };
        let directory = expand(&far.directory);
        let places = Places { home: PathBuf::from(NO_PROJECT), user_home: Some(own_home.to_owned()) };
        let is_wide = directory == own_home || SYSTEM.iter().any(|system| directory == Path::new(system));
        let project =
            if is_wide || directory.parent().is_none() { PathBuf::from(NO_PROJECT) } else { directory };
        let variables = self.environment().variables();
        Scene {
            variables,
            ..scene(&expand(cwd), &project, &places, &Safety { far: Some(far.clone()), ..Safety::default() })
        }
    }

    /// The file that a command would find at `path`: commands have temporary directories of their own. A file that only
    /// the user has there is the user's.
    pub(crate) fn shared_with_commands(&self, path: PathBuf) -> PathBuf {
        if !PRIVATE.iter().any(|dir| path.starts_with(dir)) {
            return path;
        }
        let Some(policy) = self.policy(&[]) else { return path };
        let shared = policy.host_path(&path, support());
        if !shared.exists() && path.exists() { path } else { shared }
    }

    /// The reason why a program of the user's settings must not run: it is never run, or the settings forbid it.
    pub fn refused_program(&self, command: &str, cwd: &Path) -> Option<String> {
        let action = Action {
            kind: ActionKind::Command,
            text: command.to_owned(),
            cwd: cwd.to_owned(),
            environment: Arc::default(),
            assessment: hermes_gate::assess(command, &self.scene(cwd)),
        };
        match decide(&action, &self.settings().approvals, &SessionApprovals::default()) {
            Decision::Refuse { by: DecidedBy::DenyList, .. } => Some("approvals.deny forbids it".to_owned()),
            Decision::Refuse { .. } => action.assessment.worst().map(|finding| finding.reason.clone()),
            Decision::Run { .. } | Decision::Ask => None,
        }
    }

    /// The sandbox of a program of the user's settings; `None` runs it without one. It has no access that an approval
    /// of a command gave.
    pub fn program_policy(&self, profile: Option<Profile>) -> Option<Policy> {
        let settings = self.sandbox()?;
        let profile = profile.unwrap_or(settings.profile);
        let policy = self.base_policy(&SandboxSettings { profile, ..settings.clone() });
        (profile != Profile::Full).then_some(policy)
    }

    /// The sandbox of a command with these accesses beyond it; `None` runs it without one.
    pub(crate) fn policy(&self, grants: &[Grant]) -> Option<Policy> {
        if self.far().is_some() {
            return None;
        }
        let settings = self.sandbox().filter(|sandbox| sandbox.profile != Profile::Full)?;
        let approvals = self.approvals();
        let mut policy = self.base_policy(settings);
        for grant in grants.iter().chain(approvals.grants()) {
            match grant {
                Grant::Unconfined => return None,
                Grant::Write(path) => policy.extra_write.push(path.clone()),
                Grant::Read(path) => policy.extra_read.push(path.clone()),
                Grant::GitSettings => policy.git_settings = true,
            }
        }
        Some(policy)
    }

    /// The sandbox of the settings in this session.
    fn base_policy(&self, settings: &SandboxSettings) -> Policy {
        Policy {
            profile: settings.profile,
            network: settings.network.clone(),
            places: SandboxPlaces {
                project: self.project(),
                temporary: self.temporary().map(Path::to_owned).unwrap_or_default(),
                user_home: self.places().user_home().map(Path::to_owned),
                hermes_home: self.places().home.clone(),
            },
            // Long results and the files of skills are read by commands, too.
            shared: [self.results_dir(), self.places().home.join("skills")]
                .into_iter()
                .filter(|dir| dir.is_dir())
                .collect(),
            require: settings.require,
            max_processes: settings.max_processes,
            ..Policy::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_the_system_are_not_a_project() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let places = Places { home: root.join("me/.hermes"), user_home: Some(root.join("me")) };
        std::fs::create_dir_all(root.join("me/code/.git")).unwrap();
        std::fs::create_dir_all(root.join("me/code/sub")).unwrap();
        for (cwd, want) in [
            (root.join("me/code/sub"), root.join("me/code")),
            (root.join("me"), root.join("me")),
            (root.clone(), NO_PROJECT.into()),
            ("/".into(), NO_PROJECT.into()),
            ("/etc".into(), NO_PROJECT.into()),
            ("/home".into(), NO_PROJECT.into()),
        ] {
            assert_eq!(project_of(&cwd, &places), want, "{}", cwd.display());
        }
    }
}

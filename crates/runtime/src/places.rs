//! The place where commands run, from the settings.

use crate::{Runtime, RuntimeError, with_causes};
use hermes_clouds::Service;
use hermes_config::Config;
use hermes_config::home::Home;
use hermes_config::settings::TerminalSettings;
use hermes_exec::{Backend, Local, child_env};
use hermes_places::{
    Check, Checked, CloudSettings, ContainerSettings, Engine, FarBackend, Isolation, Place, PlaceSettings,
    SingularitySettings, SshSettings, run_checks,
};
use hermes_tools::FarPlace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Variables that client programs get besides the basic ones. They never reach a command elsewhere.
const CLIENT_VARIABLES: [&str; 14] = [
    "SSH_AUTH_SOCK",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    "CONTAINER_HOST",
    "CONTAINER_SSHKEY",
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "CONTAINERS_REGISTRIES_CONF",
    "APPTAINER_CACHEDIR",
    "SINGULARITY_CACHEDIR",
    "APPTAINER_TMPDIR",
];
/// The name of the task; all sessions of a home directory share it.
const TASK: &str = "default";

/// The place of commands that is not this machine, with the environment of its commands.
pub(crate) struct ConfiguredPlace {
    pub(crate) place: Arc<Place>,
    pub(crate) env: Vec<(String, String)>,
}

impl ConfiguredPlace {
    /// The facts about the place that tools need.
    pub(crate) fn facts(&self) -> FarPlace {
        let reaches = match self.place.isolation() {
            Isolation::Isolated => None,
            Isolation::Reaches(what) => Some(what),
        };
        FarPlace { label: self.place.label(), directory: self.place.directory(), reaches }
    }
}

/// The inputs for a place.
struct Sources<'a> {
    config: &'a Config,
    home: &'a Home,
    shell: &'a BTreeMap<String, String>,
    cwd: &'a Path,
}

/// The place that the settings name; `None` is this machine. A place that this version does not have is none either:
/// its tools are withheld.
pub(crate) fn configured(
    config: &Config,
    home: &Home,
    shell: &BTreeMap<String, String>,
    cwd: &Path,
) -> Result<Option<ConfiguredPlace>, RuntimeError> {
    let sources = Sources { config, home, shell, cwd };
    let backend = config.terminal_backend();
    let settings = match backend.as_str() {
        "ssh" => PlaceSettings::Ssh(sources.ssh()?),
        "docker" | "podman" => PlaceSettings::Container(sources.container(&backend)?),
        "singularity" | "apptainer" => PlaceSettings::Singularity(sources.singularity(&backend)?),
        other => match Service::find(other) {
            Some(service) => PlaceSettings::Cloud(sources.cloud(service)?),
            None => return Ok(None),
        },
    };
    let env = match &settings {
        PlaceSettings::Container(_) => sources.container_env()?,
        PlaceSettings::Ssh(_) | PlaceSettings::Singularity(_) | PlaceSettings::Cloud(_) => Vec::new(),
    };
    let variables = shell.iter().map(|(name, value)| (name.clone(), value.clone()));
    let mut client_env = child_env(variables, &CLIENT_VARIABLES.map(str::to_owned));
    if matches!(settings, PlaceSettings::Cloud(_)) {
        // The client program reads the key there.
        client_env.push(("HERMES_HOME".to_owned(), home.path().display().to_string()));
    }
    let place = Place::new(settings, client_env)
        .map_err(|error| RuntimeError::Backend { text: format!("terminal.backend: {error}") })?;
    Ok(Some(ConfiguredPlace { place: Arc::new(place), env }))
}

impl Sources<'_> {
    fn settings(&self) -> &TerminalSettings {
        &self.config.settings.terminal
    }

    fn ssh(&self) -> Result<SshSettings, RuntimeError> {
        let set = self.settings();
        let key = set.ssh_key.get()?.trim().to_owned();
        let user_home = self.shell.get("HOME").cloned().unwrap_or_default();
        Ok(SshSettings {
            host: set.ssh_host.get()?.trim().to_owned(),
            user: set.ssh_user.get()?.trim().to_owned(),
            port: set.ssh_port.value()?,
            key: key.strip_prefix("~/").map_or(key.clone(), |rest| format!("{user_home}/{rest}")),
            options: set.ssh_options.get()?.clone(),
            directory: self.directory()?,
            temporary: PathBuf::from(self.shell.get("TMPDIR").map_or("/tmp", String::as_str)),
        })
    }

    fn container(&self, backend: &str) -> Result<ContainerSettings, RuntimeError> {
        let set = self.settings();
        let program = match (backend, self.shell.get("HERMES_DOCKER_BINARY")) {
            ("docker", Some(program)) if !program.is_empty() => program.clone(),
            ("docker", _) => self.first_program(&["docker", "podman"]),
            _ => backend.to_owned(),
        };
        let keeps = set.container_persistent.value()?;
        let mounts = set.docker_mount_cwd_to_workspace.value()?;
        Ok(ContainerSettings {
            engine: Engine { program },
            image: set.docker_image.get()?.to_string(),
            volumes: set.docker_volumes.get()?.clone(),
            workspace: mounts.then(|| self.cwd.to_owned()),
            has_network: set.docker_network.value()?,
            runs_as_host_user: set.docker_run_as_host_user.value()?,
            extra_args: set.docker_extra_args.get()?.clone(),
            cpu: set.container_cpu.value()?,
            memory: set.container_memory.value()?,
            disk: set.container_disk.value()?,
            persistent: keeps.then(|| self.home.path().join("sandboxes/docker").join(TASK)),
            lifetime: set.lifetime_seconds.value()?,
            profile: self.profile(),
            task: TASK.to_owned(),
            directory: self.directory()?,
        })
    }

    fn singularity(&self, backend: &str) -> Result<SingularitySettings, RuntimeError> {
        let set = self.settings();
        let names =
            if backend == "apptainer" { ["apptainer", "singularity"] } else { ["singularity", "apptainer"] };
        let scratch = self.shell.get("TERMINAL_SCRATCH_DIR").filter(|dir| !dir.is_empty());
        let overlays = scratch.map_or_else(|| self.home.path().join("sandboxes/singularity"), PathBuf::from);
        Ok(SingularitySettings {
            program: self.first_program(&names),
            image: set.singularity_image.get()?.to_string(),
            cpu: set.container_cpu.value()?,
            memory: set.container_memory.value()?,
            overlays: set.container_persistent.value()?.then_some(overlays),
            task: TASK.to_owned(),
            profile: self.profile(),
            directory: self.directory()?,
        })
    }

    fn cloud(&self, service: Service) -> Result<CloudSettings, RuntimeError> {
        let failed = |text: String| RuntimeError::Backend { text: format!("terminal.backend: {text}") };
        let settings = hermes_clouds::CloudSettings::of(self.config, service, TASK)
            .map_err(|error| failed(error.to_string()))?;
        let this = std::env::current_exe()
            .map_err(|error| failed(format!("the program of this process is not known: {error}")))?;
        Ok(CloudSettings {
            program: vec![this.display().to_string(), hermes_clouds::CLIENT.to_owned()],
            settings: settings.argument(),
            label: settings.label(),
            advice: settings.advice(),
            directory: self.directory()?,
        })
    }

    /// The variables of commands in a container: `docker_env`, and those of this process that are named.
    fn container_env(&self) -> Result<Vec<(String, String)>, RuntimeError> {
        let mut env = self.config.settings.docker_env.0.clone();
        for name in self.settings().docker_forward_env.get()? {
            if let Some(value) = self.shell.get(name) {
                env.retain(|(other, _)| other != name);
                env.push((name.clone(), value.clone()));
            }
        }
        Ok(env)
    }

    /// The directory of the first command; empty for that of the place. A directory of this machine is none there.
    fn directory(&self) -> Result<String, RuntimeError> {
        let cwd = self.settings().cwd.get()?.trim().to_owned();
        let is_here = matches!(cwd.as_str(), "" | "." | "auto" | "cwd");
        let is_far = cwd.starts_with('/') || cwd == "~" || cwd.starts_with("~/");
        let is_own =
            self.shell.get("HOME").is_some_and(|home| !home.is_empty() && Path::new(&cwd).starts_with(home));
        let is_root = cwd == "/root" || cwd.starts_with("/root/");
        Ok(if is_here || !is_far || (is_own && !is_root) { String::new() } else { cwd })
    }

    /// The name of the home directory, with a checksum of its path: two of the same name share no container.
    fn profile(&self) -> String {
        let path = self.home.path();
        let name =
            path.file_name().map_or_else(|| "hermes".to_owned(), |name| name.to_string_lossy().into_owned());
        let number =
            path.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
            });
        format!("{name}-{number:016x}")
    }

    /// The first program that is installed; the first name if none is, for the message.
    fn first_program(&self, names: &[&str]) -> String {
        let path = self.shell.get("PATH").map(String::as_str).unwrap_or_default();
        let is_installed = |name: &&&str| std::env::split_paths(path).any(|dir| dir.join(name).is_file());
        names.iter().find(is_installed).or(names.first()).map_or_else(String::new, |name| (*name).to_owned())
    }
}

/// The result of the checks of a backend.
pub struct BackendReport {
    /// The name in the settings.
    pub backend: String,
    /// The place, for messages.
    pub label: String,
    pub checks: Vec<Checked>,
}

/// Runs real commands at the place that the settings name.
pub async fn test_backend(
    config: &Config,
    home: &Home,
    shell: &BTreeMap<String, String>,
    cwd: &Path,
) -> Result<BackendReport, RuntimeError> {
    let backend = config.terminal_backend();
    if let Some(refused) = config.unsupported_safety().into_iter().next() {
        return Err(RuntimeError::UnsupportedSafety { text: refused.text });
    }
    let scratch = home.scratch_dir();
    std::fs::create_dir_all(&scratch).map_err(|error| RuntimeError::Backend {
        text: format!("cannot create {}: {error}", scratch.display()),
    })?;
    let (label, directory, env, runs): (_, _, _, Arc<dyn Backend>) =
        match configured(config, home, shell, cwd)? {
            Some(ConfiguredPlace { place, env }) => {
                let (label, directory) = (place.label(), place.directory());
                (label, directory, env, Arc::new(FarBackend::new(place, Arc::new(Local)).without_retries()))
            }
            None => {
                let variables = shell.iter().map(|(name, value)| (name.clone(), value.clone()));
                ("this machine".to_owned(), cwd.to_owned(), child_env(variables, &[]), Arc::new(Local))
            }
        };
    let checks = run_checks(runs.as_ref(), &Check { directory, env, scratch }).await;
    Ok(BackendReport { backend, label, checks })
}

/// Stops the cloud sandbox that the settings name. `None` for other places.
pub async fn stop_backend(
    config: &Config,
    home: &Home,
    shell: &BTreeMap<String, String>,
    cwd: &Path,
) -> Result<Option<String>, RuntimeError> {
    let Some(ConfiguredPlace { place, .. }) = configured(config, home, shell, cwd)? else { return Ok(None) };
    let label = place.label();
    match place.stop().await {
        Some(Ok(what)) => Ok(Some(format!("{label}: {what}"))),
        Some(Err(error)) => Err(RuntimeError::Backend { text: error.to_string() }),
        None => Ok(None),
    }
}

impl Runtime {
    /// One line about the place where commands run.
    pub(crate) fn backend_summary(&self) -> String {
        let backend = self.config().terminal_backend();
        match self.place() {
            Ok(Some(far)) => {
                let reach = far
                    .facts()
                    .reaches
                    .map_or("reaches nothing of yours".to_owned(), |what| format!("reaches {what}"));
                format!(
                    "commands and file tools work in {} (backend {backend}), which {reach}",
                    far.place.label()
                )
            }
            Ok(None) if backend == "local" => "commands run on this machine (backend local)".to_owned(),
            Ok(None) => {
                format!("backend {backend}: this version does not have it; commands and files are refused")
            }
            Err(error) => format!("backend {backend}: {}", with_causes(&error)),
        }
    }
}

//! A container, over the docker or podman program.
//!
//! The container is named after its settings, so two sessions with the same settings share it and two processes cannot
//! make two of it. Its first program ends it when no command ran for the lifetime; an ended one is started again, or
//! removed after twice that time.

use crate::error::PlaceError;
use crate::far_script::USED;
use crate::isolation::{Isolation, opening_option};
use crate::place::{Place, digest, words};
use crate::private;
use hermes_exec::{DirectOutput, Input};
use std::path::PathBuf;

/// The program that runs containers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Its name or path.
    pub program: String,
}

/// The settings of a container, named after those in `terminal.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerSettings {
    pub engine: Engine,
    pub image: String,
    pub volumes: Vec<String>,
    /// A directory of this machine that is `/workspace`.
    pub workspace: Option<PathBuf>,
    pub has_network: bool,
    pub runs_as_host_user: bool,
    pub extra_args: Vec<String>,
    pub cpu: u64,
    /// MiB.
    pub memory: u64,
    /// MiB.
    pub disk: u64,
    /// The directory whose `home` and `workspace` are kept; `None` keeps nothing.
    pub persistent: Option<PathBuf>,
    /// Seconds without a command after which the container ends; 0 means never.
    pub lifetime: u64,
    /// The name of the home directory of Hermes.
    pub profile: String,
    /// The name of the task.
    pub task: String,
    /// The directory of the first command; empty for `/workspace`.
    pub directory: String,
}

#[derive(Debug)]
pub(crate) struct Container {
    settings: ContainerSettings,
    name: String,
    /// Held while the container is looked at and made.
    making: tokio::sync::Mutex<()>,
}

/// Attempts to use a container that another process makes or ends just then.
const ATTEMPTS: usize = 3;

impl Container {
    pub(crate) fn new(settings: ContainerSettings) -> Self {
        let run = run_arguments(&settings, "", Quota::Set);
        let name = format!("hermes-{}", digest(run.iter().map(String::as_str), 8));
        Self { settings, name, making: tokio::sync::Mutex::default() }
    }

    pub(crate) fn directory(&self) -> PathBuf {
        match self.settings.directory.as_str() {
            "" => PathBuf::from("/workspace"),
            directory => PathBuf::from(directory),
        }
    }

    pub(crate) fn label(&self) -> String {
        format!("the container {} ({})", self.name, self.settings.image)
    }

    pub(crate) fn isolation(&self) -> Isolation {
        let settings = &self.settings;
        let mounted = settings.volumes.first().map(|volume| format!("the mounted {volume}"));
        let workspace = settings.workspace.as_ref().map(|dir| format!("the mounted {}", dir.display()));
        let opening = opening_option(&settings.extra_args)
            .map(|option| format!("what docker_extra_args gives with {option}"));
        mounted.or(workspace).or(opening).map_or(Isolation::Isolated, Isolation::Reaches)
    }

    pub(crate) fn client(&self, input: Input, program: &[String], names: &[&str]) -> Vec<String> {
        let mut argv = vec![self.settings.engine.program.clone()];
        argv.extend(words(match input {
            Input::Terminal(_) => &["exec", "-it"],
            Input::Closed | Input::Pipe => &["exec", "-i"],
        }));
        for name in names {
            argv.extend(words(&["-e", name]));
        }
        argv.push(self.name.clone());
        argv.extend_from_slice(program);
        argv
    }

    /// The next step after a failure with this message.
    pub(crate) fn advice(&self, said: &str) -> String {
        let program = &self.settings.engine.program;
        let said = said.to_ascii_lowercase();
        if ["rlimit", "ulimit"].iter().any(|word| said.contains(word)) {
            return "this machine cannot raise limits; set terminal.docker_extra_args to \
                    [--ulimit, 'nofile=20000:20000', --ulimit, 'nproc=4096:4096']"
                .to_owned();
        }
        if said.contains("bash") && (said.contains("not found") || said.contains("no such file")) {
            return format!("choose a terminal.docker_image with bash in it, not {}", self.settings.image);
        }
        format!("check that `{program} ps` works and that terminal.docker_image can be pulled")
    }

    pub(crate) async fn make_ready(&self, place: &Place) -> Result<(), PlaceError> {
        let _making = self.making.lock().await;
        let touch = self.client(Input::Closed, &words(&["bash", "-c", &touch()]), &[]);
        if place.run(&touch).await?.exit_code == 0 {
            return Ok(());
        }
        // Two processes that make it at the same time would remove it from under each other.
        let _alone = private::lock(temporary(place), self.name.clone()).await;
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let touched = place.run(&touch).await?;
            if touched.exit_code == 0 {
                return Ok(());
            }
            match self.state(place).await?.as_deref() {
                Some("running") => return Err(self.failed(place, &touch, &touched)),
                Some("paused") => {
                    self.engine(place, &["unpause", &self.name]).await?;
                }
                Some(_) => {
                    if self.engine(place, &["start", &self.name]).await?.exit_code != 0 {
                        self.engine(place, &["rm", "-f", &self.name]).await?;
                    }
                }
                None => last = self.make(place).await?,
            }
        }
        Err(last.unwrap_or_else(|| PlaceError::Failed {
            program: self.settings.engine.program.clone(),
            place: place.label(),
            said: "it ends at once".to_owned(),
            advice: self.advice(""),
        }))
    }

    /// Makes the container. Returns an error that may pass, for instance because another process has just made it.
    async fn make(&self, place: &Place) -> Result<Option<PlaceError>, PlaceError> {
        self.remove_ended(place).await?;
        if let Some(directory) = &self.settings.persistent {
            for dir in [directory.join("home"), directory.join("workspace")] {
                // A failure is reported by the engine, which names the directory.
                let _ = std::fs::create_dir_all(dir);
            }
        }
        let mut failure = None;
        for quota in [Quota::Set, Quota::Unset] {
            let mut argv = vec![self.settings.engine.program.clone()];
            argv.extend(run_arguments(&self.settings, &self.name, quota));
            let output = place.run(&argv).await?;
            let said = output.stderr.to_ascii_lowercase();
            if output.exit_code == 0 || said.contains("already in use") {
                return Ok(None);
            }
            failure = Some(self.failed(place, &argv, &output));
            // A container that was created and could not be started would hold the name.
            self.engine(place, &["rm", "-f", &self.name]).await?;
            let is_quota =
                ["storage-opt", "storage opt", "size option", "quota"].iter().any(|word| said.contains(word));
            if !is_quota {
                break;
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// Removes ended containers of this profile that no command has used for long.
    async fn remove_ended(&self, place: &Place) -> Result<(), PlaceError> {
        let profile = format!("label=hermes-profile={}", label_value(&self.settings.profile));
        let until = format!("until={}s", self.settings.lifetime.saturating_mul(2).max(1));
        let filters = ["--filter", "label=hermes-agent=1", "--filter", &profile, "--filter", &until];
        let prune: Vec<&str> = ["container", "prune", "--force"].into_iter().chain(filters).collect();
        self.engine(place, &prune).await.map(drop)
    }

    /// The state of the container; `None` if there is none.
    async fn state(&self, place: &Place) -> Result<Option<String>, PlaceError> {
        let arguments = ["container", "inspect", "--format", "{{.State.Status}}", &self.name];
        let output = self.engine(place, &arguments).await?;
        Ok((output.exit_code == 0).then(|| output.stdout.trim().to_owned()))
    }

    async fn engine(&self, place: &Place, arguments: &[&str]) -> Result<DirectOutput, PlaceError> {
        let mut argv = vec![self.settings.engine.program.clone()];
        argv.extend(words(arguments));
        place.run(&argv).await
    }

    fn failed(&self, place: &Place, argv: &[String], output: &DirectOutput) -> PlaceError {
        place.failed(argv, output, self.advice(&format!("{}{}", output.stderr, output.stdout)))
    }
}

/// The limit of the disk, which not all storage drivers know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quota {
    Set,
    Unset,
}

/// The arguments that make the container.
fn run_arguments(settings: &ContainerSettings, name: &str, quota: Quota) -> Vec<String> {
    let mut argv = words(&["run", "-d", "--init", "--name", name]);
    argv.extend(words(&["--label", "hermes-agent=1", "--label"]));
    argv.push(format!("hermes-task-id={}", label_value(&settings.task)));
    argv.extend(["--label".to_owned(), format!("hermes-profile={}", label_value(&settings.profile))]);
    argv.extend(words(&["--cap-drop", "ALL"]));
    let more: &[&str] = if settings.runs_as_host_user { &[] } else { &["SETUID", "SETGID"] };
    for capability in ["DAC_OVERRIDE", "CHOWN", "FOWNER"].iter().chain(more) {
        argv.extend(words(&["--cap-add", capability]));
    }
    argv.extend(words(&["--security-opt", "no-new-privileges", "--pids-limit", "256"]));
    argv.extend(words(&[
        "--tmpfs",
        "/tmp:rw,nosuid,size=512m",
        "--tmpfs",
        "/var/tmp:rw,noexec,nosuid,size=256m",
    ]));
    argv.extend(words(&["--tmpfs", "/run:rw,noexec,nosuid,size=64m"]));
    let limits = [("--cpus", settings.cpu, ""), ("--memory", settings.memory, "m")];
    for (option, number, unit) in limits.into_iter().filter(|(_, number, _)| *number > 0) {
        argv.extend([option.to_owned(), format!("{number}{unit}")]);
    }
    if settings.disk > 0 && quota == Quota::Set {
        argv.extend(["--storage-opt".to_owned(), format!("size={}m", settings.disk)]);
    }
    if !settings.has_network {
        argv.extend(words(&["--network", "none"]));
    }
    if settings.runs_as_host_user {
        let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        argv.extend([
            "--user".to_owned(),
            format!("{user}:{group}"),
            "--env".to_owned(),
            "HOME=/root".to_owned(),
        ]);
    }
    argv.extend(directories(settings));
    argv.extend(settings.extra_args.iter().cloned());
    argv.extend(words(&["--workdir", "/workspace", "--entrypoint", "bash"]));
    argv.extend([settings.image.clone(), "-c".to_owned(), waiting(settings.lifetime)]);
    argv
}

/// The options for the directories of the container.
fn directories(settings: &ContainerSettings) -> Vec<String> {
    let mut argv = Vec::new();
    for (name, target) in [("home", "/root"), ("workspace", "/workspace")] {
        let kept = settings.persistent.as_ref().map(|dir| dir.join(name));
        let source = settings.workspace.clone().filter(|_| name == "workspace").or(kept);
        argv.extend(match source {
            Some(source) => ["--volume".to_owned(), format!("{}:{target}", source.display())],
            None => ["--tmpfs".to_owned(), format!("{target}:rw,exec,mode=1777")],
        });
    }
    for volume in &settings.volumes {
        argv.extend(["--volume".to_owned(), volume.clone()]);
    }
    argv
}

/// The temporary directory of client programs.
fn temporary(place: &Place) -> PathBuf {
    let set = place.env().iter().find(|(name, value)| name == "TMPDIR" && !value.is_empty());
    set.map_or("/tmp".into(), |(_, path)| path.into())
}

/// Records that the container is used.
fn touch() -> String {
    format!("printf '%(%s)T' -1 >{USED}")
}

/// The first program of the container: it ends when no command runs and none ran for the lifetime.
fn waiting(lifetime: u64) -> String {
    if lifetime == 0 {
        return "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done".to_owned();
    }
    let pause = (lifetime / 4).clamp(1, 60);
    format!(
        "trap 'exit 0' TERM INT; {touch}\n\
         while :; do sleep {pause} & wait $!\n\
         u=; for d in /proc/[0-9]*; do v=(); mapfile -d '' -t v <$d/environ || continue\n\
         case \" ${{v[*]}} \" in *\" HERMES_COMMAND=\"*) u=1;; esac; done 2>/dev/null\n\
         t=; IFS= read -r t <{USED}; printf -v n '%(%s)T' -1\n\
         [ -n \"$u\" ] && {{ {touch}; continue; }}\n\
         [ $((n - ${{t:-0}})) -lt {lifetime} ] || exit 0; done",
        touch = touch(),
    )
}

/// A text as the value of a label.
fn label_value(text: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() || "_.-".contains(char) { char } else { '_' };
    text.chars().map(plain).take(63).collect()
}

#[cfg(test)]
#[path = "container_tests.rs"]
mod tests;

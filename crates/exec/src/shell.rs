//! Builds the shell process of a command.

use crate::backend::{Command, Input};
use crate::confine::{self, Confined};
use crate::shell_wrapper;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit, setsid, umask};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::OnceLock;

/// The relation of a shell to the process that spawns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpawnOptions {
    /// The shell is killed when the spawning thread ends. Only for a thread that lives as long as its process.
    pub(crate) dies_with_parent: bool,
    /// The umask; `None` is that of this process.
    pub(crate) umask: Option<u32>,
}

impl SpawnOptions {
    /// A shell with the umask of this process that survives its end.
    pub(crate) const DETACHED: Self = Self { dies_with_parent: false, umask: None };
}

/// A shell that waits for a line on its standard input and then runs `command`. The caller connects the three
/// streams.
pub(crate) fn waiting(
    command: &Command,
    ties: SpawnOptions,
    confined: Option<Confined>,
) -> std::process::Command {
    // The input of a client program is its link.
    let input = if command.client.is_some() { Input::Pipe } else { Input::Closed };
    let mut shell = unprepared(command, input);
    lead_session(&mut shell, ties, confined);
    shell
}

/// As [`waiting`], without the preparations of [`prepare`].
pub(crate) fn unprepared(command: &Command, input: Input) -> std::process::Command {
    let mut shell = std::process::Command::new(shell());
    shell
        .arg("-c")
        .arg(shell_wrapper::wrapper(command.report.as_ref().filter(|_| command.client.is_none()), input))
        .arg("bash")
        .arg(&command.script)
        .current_dir(confine::start_directory(command.sandbox.as_ref(), &command.cwd))
        .env_clear()
        .envs(command.env.iter().map(|(name, value)| (name, value)));
    shell
}

/// The shell to use, searched for once.
fn shell() -> &'static str {
    static SHELL: OnceLock<&'static str> = OnceLock::new();
    SHELL.get_or_init(|| {
        ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]
            .into_iter()
            .find(|path| Path::new(path).is_file())
            .unwrap_or("/bin/sh")
    })
}

/// Makes this process lead a new session and process group, without core dumps. Makes at most four system calls and
/// nothing else, so that a child can call it between fork and exec.
pub(crate) fn prepare(ties: SpawnOptions) -> std::io::Result<()> {
    setsid()?;
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none)?;
    if let Some(mask) = ties.umask {
        umask(Mode::from_raw_mode(mask));
    }
    if ties.dies_with_parent {
        set_parent_process_death_signal(Some(Signal::KILL))?;
    }
    Ok(())
}

/// Prepares the child of `command` as [`prepare`] says, then confines it.
pub(crate) fn lead_session(
    command: &mut std::process::Command,
    ties: SpawnOptions,
    confined: Option<Confined>,
) {
    // SAFETY: both allocate nothing, take no lock and touch no memory of the parent.
    #[expect(unsafe_code, reason = "std offers no safe way to start a session in a child")]
    unsafe {
        command.pre_exec(move || prepare(ties).and_then(|()| enter(confined.as_ref())));
    }
}

/// Confines this process, if it is to be.
pub(crate) fn enter(confined: Option<&Confined>) -> std::io::Result<()> {
    confined.map_or(Ok(()), Confined::enter)
}

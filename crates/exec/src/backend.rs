//! The interface of a backend: commands, output, errors.

use crate::exports::{EnvChanges, Exports};
use crate::supervisor::Key;
use crate::{Group, SpillLimits};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A boxed future that may be sent between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A place where commands run.
///
/// Implementations run one command to its end and leave no process of it: when `run` returns, or its future is
/// dropped, every process of the command is gone. They must report the process group to `watch` before the
/// first instruction of the command.
pub trait Backend: Send + Sync {
    /// Runs `command`. A command that fails, times out or is cancelled is an [`Output`]; an error means that it
    /// did not run.
    fn run<'a>(&'a self, command: Command, watch: Watch<'a>) -> BoxFuture<'a, Result<Output, ExecError>>;

    /// Completes a command before it is run in the background, where another program runs it.
    fn prepare(&self, command: Command, _input: Input) -> BoxFuture<'_, Result<Command, ExecError>> {
        Box::pin(async move { Ok(command) })
    }

    /// Runs a script on the files of a place that is not this machine. It is not a command of the session: no supervisor
    /// keeps it, no profile is read, and it leaves no state. A script that is cancelled or late is ended there.
    fn exchange<'a>(
        &'a self,
        _exchange: Exchange,
        _cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Exchanged, ExecError>> {
        Box::pin(async { Err(ExecError::Unreachable("commands run on this machine".to_owned())) })
    }

    /// Drops the records of these commands, because their results are stored elsewhere. Does not wait; a
    /// backend without records does nothing.
    fn forget(&self, _keys: Vec<Key>) {}

    /// Completes pending `forget` calls before the session ends.
    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// A shell script with its environment and limits.
#[derive(Debug, Clone)]
pub struct Command {
    /// The key under which a backend can find the command again.
    pub key: Option<Key>,
    pub script: String,
    pub cwd: PathBuf,
    /// The whole environment before `changes`; nothing is inherited. A sandbox protects the directories of its `PATH`.
    pub env: Vec<(String, String)>,
    /// Changes of `env` by earlier commands.
    pub changes: EnvChanges,
    pub timeout: Duration,
    /// The state that the shell reports at its exit, if any.
    pub report: Option<ShellReport>,
    pub output: OutputLimits,
    /// The sandbox; without it, the command is not confined.
    pub sandbox: Option<hermes_sandbox::Policy>,
    /// The program that runs the command elsewhere; [`Backend::prepare`] sets it.
    pub client: Option<Client>,
}

impl Command {
    /// The command of this machine: that of the client, if there is one.
    pub(crate) fn on_this_machine(self) -> Self {
        let Some(client) = &self.client else { return self };
        Self {
            script: client.script.clone(),
            cwd: PathBuf::from("/"),
            env: client.env.clone(),
            changes: EnvChanges::default(),
            sandbox: None,
            ..self
        }
    }
}

/// A program on this machine through which a command runs elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// A shell script that runs instead of the script of the command. On TERM, it ends the far end, too.
    pub script: String,
    pub env: Vec<(String, String)>,
    pub link: Link,
}

/// The connection of a client program to the far end of its command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The bytes that its standard input begins with. The input stays open until the command has ended, so that the far
    /// end notices the loss of the client.
    pub payload: String,
    /// The first word of the lines between the parts of a report.
    pub mark: String,
}

/// A script for [`Backend::exchange`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// A bash script; it must not need a login shell.
    pub script: String,
    /// Its positional parameters, quoted for bash.
    pub arguments: String,
    /// Its standard input, which stays open as long as the connection; empty for none.
    pub input: String,
    pub timeout: Duration,
    /// Bytes of output that are kept.
    pub most_output: usize,
}

/// The end of an [`Exchange`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exchanged {
    /// The script has ended; this is its standard output.
    Done(String),
    /// The script was not started; the text says why.
    NotStarted(String),
    /// The end of the script is not known: the connection was lost, or it was ended early.
    Lost(Ended),
}

/// The standard input of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Nothing can be read.
    #[default]
    Closed,
    /// A pipe that can be written to while the command runs.
    Pipe,
    /// A pseudo-terminal of this size, which is also its output.
    Terminal(TerminalSize),
}

impl Input {
    pub(crate) fn is_closed(&self) -> bool {
        *self == Self::Closed
    }
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    pub rows: u16,
    pub columns: u16,
}

/// A request for the state of a shell at its exit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellReport {
    /// A private file to which the shell writes. Created and removed by the run.
    pub file: PathBuf,
    /// Report the last working directory.
    pub cwd: bool,
    /// Report changes of exported variables, except for these. The shell does not write their values to the file.
    pub exports: Option<Vec<String>>,
}

/// The limits of a command's output.
#[derive(Debug, Clone)]
pub struct OutputLimits {
    /// Characters kept in memory: the first 40 % and the last 60 %.
    pub chars: usize,
    /// The directory for a spill file, which is created only if `chars` is exceeded.
    pub spill: Option<PathBuf>,
    pub spill_limits: SpillLimits,
}

impl Default for OutputLimits {
    fn default() -> Self {
        Self { chars: 50_000, spill: None, spill_limits: SpillLimits::default() }
    }
}

/// The observer of a run.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    pub started: &'a dyn Started,
    /// Ends the command early, with exit code 130.
    pub cancel: &'a CancellationToken,
}

/// Receives the process group of a command before the command starts.
pub trait Started: Send + Sync {
    /// An error aborts the run: the command is never started.
    fn started<'a>(&'a self, group: &'a Group) -> BoxFuture<'a, Result<(), String>>;
}

/// For commands that need not be found again.
#[derive(Debug, Default, Clone, Copy)]
pub struct Unwatched;

impl Started for Unwatched {
    fn started<'a>(&'a self, _: &'a Group) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Standard output and standard error in the order of writing, with a notice in the middle if characters
    /// are omitted.
    pub text: String,
    /// 124 after a timeout, 130 after a cancellation, 128 + signal after a signal.
    pub exit_code: i32,
    pub ended: Ended,
    /// The last working directory of the shell, if known.
    pub cwd: Option<PathBuf>,
    /// The changes of exported variables, if known. Never stored on disk.
    pub exports: Option<Exports>,
    /// Characters missing in the middle of `text`.
    pub omitted: u64,
    pub spill: Option<Spill>,
}

/// The reason for which a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Exited,
    TimedOut,
    Cancelled,
}

/// The file with the whole output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spill {
    pub path: PathBuf,
    pub bytes: u64,
    /// The file reached its limit, too.
    pub cut: bool,
}

/// The reason for which a command was not run.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    #[error("{} is not a directory", .path.display())]
    NoDirectory { path: PathBuf },
    #[error("the command is {bytes} bytes long; at most {most} can be run")]
    TooLong { bytes: usize, most: usize },
    #[error("the command contains a NUL character")]
    Nul,
    #[error("{0}")]
    Unreachable(String),
    #[error("could not {doing}")]
    Io {
        doing: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error("the start of the command could not be recorded: {cause}")]
    NotRecorded { cause: String },
    #[error(transparent)]
    Sandbox(#[from] hermes_sandbox::SandboxError),
    #[error(transparent)]
    Supervisor(#[from] crate::supervisor::SuperviseError),
}

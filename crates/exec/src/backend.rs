//! What a backend is asked and what it answers.

use crate::supervisor::Key;
use crate::{Group, SpillLimits};
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A boxed future that may be sent between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A place where commands run.
///
/// Implementations run one command to its end and leave nothing of it behind: when `run`
/// returns, or its future is dropped, every process of the command is gone. They must tell
/// `watch` about the process group before the command's first instruction.
pub trait Backend: Send + Sync {
    /// Runs `command`. A command that fails, times out or is cancelled is an [`Output`]; an
    /// error means that it did not run.
    fn run<'a>(&'a self, command: Command, watch: Watch<'a>) -> BoxFuture<'a, Result<Output, ExecError>>;

    /// The results of these commands are kept elsewhere; nothing needs to be remembered of them. It
    /// is not waited for, and a backend that remembers nothing does nothing.
    fn forget(&self, _keys: Vec<Key>) {}

    /// Finishes what `forget` left for later, before the session is left.
    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// A shell script and the circumstances in which it runs.
#[derive(Debug, Clone)]
pub struct Command {
    /// By which it can be found again, where a backend can do that.
    pub key: Option<Key>,
    pub script: String,
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    pub timeout: Duration,
    /// A private file into which the shell writes its last working directory. Created and
    /// removed by the run; without it, [`Output::cwd`] stays empty.
    pub cwd_file: Option<PathBuf>,
    pub output: OutputLimits,
}

/// How much of a command's output is kept, and where the rest goes.
#[derive(Debug, Clone)]
pub struct OutputLimits {
    /// Characters kept in memory: the first 40 % and the last 60 %.
    pub chars: usize,
    /// The directory for a file that gets everything once `chars` is exceeded; not made before.
    pub spill: Option<PathBuf>,
    pub spill_limits: SpillLimits,
}

impl Default for OutputLimits {
    fn default() -> Self {
        Self { chars: 50_000, spill: None, spill_limits: SpillLimits::default() }
    }
}

/// Who follows a run.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    pub started: &'a dyn Started,
    /// Ends the command early, with exit code 130.
    pub cancel: &'a CancellationToken,
}

/// Told which process group carries out a command, before the command does anything.
pub trait Started: Send + Sync {
    /// An error stops the run: the command is never started.
    fn started<'a>(&'a self, group: &'a Group) -> BoxFuture<'a, Result<(), String>>;
}

/// For commands nobody needs to find again.
#[derive(Debug, Default, Clone, Copy)]
pub struct Unwatched;

impl Started for Unwatched {
    fn started<'a>(&'a self, _: &'a Group) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

/// What a command left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Standard output and standard error in the order they were written, with a notice in the
    /// middle when something was left out.
    pub text: String,
    /// 124 after a timeout, 130 after a cancellation, 128 + signal after a signal.
    pub exit_code: i32,
    pub ended: Ended,
    /// Where the shell was when it ended, if it said so.
    pub cwd: Option<PathBuf>,
    /// Characters missing in the middle of `text`.
    pub omitted: u64,
    pub spill: Option<Spill>,
}

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Exited,
    TimedOut,
    Cancelled,
}

/// The file that has the output in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spill {
    pub path: PathBuf,
    pub bytes: u64,
    /// The file reached its limit too.
    pub cut: bool,
}

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    #[error("{} is not a directory", .path.display())]
    NoDirectory { path: PathBuf },
    #[error("the command is {bytes} bytes long; at most {most} can be run")]
    TooLong { bytes: usize, most: usize },
    #[error("the command contains a NUL character")]
    Nul,
    #[error("could not {doing}")]
    Io {
        doing: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error("the start of the command could not be recorded: {cause}")]
    NotRecorded { cause: String },
    #[error(transparent)]
    Supervisor(#[from] crate::supervisor::SuperviseError),
}

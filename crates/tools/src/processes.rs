//! Access to the background processes of a session.
//!
//! Processes outlive a session and Hermes itself; the code that assembles a session passes in where they are kept.

use hermes_conversation::BoxFuture;
use hermes_exec::supervisor::Key;
use hermes_exec::{Command, Input};

/// A command that is to run in the background.
pub struct ProcessStart {
    /// By which the supervisor finds it, and from which its id is derived.
    pub key: Key,
    pub command: Command,
    pub input: Input,
    /// A message tells the session of its end.
    pub notifies: bool,
    /// A message tells the session of output with one of these texts.
    pub patterns: Vec<String>,
}

/// A background process and its output so far.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessState {
    /// Counts all processes of the home.
    pub number: i64,
    pub id: String,
    pub command: String,
    pub cwd: String,
    pub pid: u32,
    /// Seconds since 1970.
    pub started_at: f64,
    /// Seconds that it ran, or has run until now.
    pub uptime: f64,
    pub has_terminal: bool,
    pub notifies: bool,
    pub patterns: Vec<String>,
    /// `None` while it runs.
    pub exit: Option<ProcessExit>,
    /// The end of its output as text; of a terminal, what it shows, after what has left its screen.
    pub output: String,
    /// Bytes of the whole output.
    pub written: u64,
}

/// The end of a background process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessExit {
    pub code: i32,
    /// `exited`, `killed`, `timed_out`, `failed_start` or `lost`.
    pub reason: String,
}

/// State of a process, known without waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownProcess {
    pub command: String,
    pub has_terminal: bool,
}

/// The background processes of a session. Errors are sentences for the model.
pub trait Processes: Send + Sync {
    /// Starts a process. Its record is durable before its first instruction.
    fn start<'a>(&'a self, start: ProcessStart) -> BoxFuture<'a, Result<ProcessState, String>>;

    /// The processes of the session, oldest first.
    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ProcessState>, String>>;

    /// A process of the session; `None` if it has none with this id.
    fn look<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<ProcessState>, String>>;

    /// Waits for the end of a process. A dropped future changes nothing.
    fn ended<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// The model has learned of the end of a process: no message will tell it again.
    fn learned<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// Ends a process and everything it started.
    fn kill<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// Writes to the input of a process, and closes it after that if `closes`.
    fn write<'a>(&'a self, id: &'a str, text: &'a str, closes: bool) -> BoxFuture<'a, Result<(), String>>;

    fn known(&self, id: &str) -> Option<KnownProcess>;

    /// Messages about processes reach the model: the session goes on after a turn.
    fn delivers_notices(&self) -> bool;
}

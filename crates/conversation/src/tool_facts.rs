//! Facts about a tool, as values.
//!
//! A tool states them once, where it is defined. Compaction, the system prompt, the turn and the front ends read
//! them through a [`ToolTable`] and never compare a tool's name.

use serde_json::{Map, Value};
use std::fmt;

/// Looks up the facts of a tool by its name.
///
/// Every name has facts: a tool that is not known, for instance of an older session, has [`ToolFacts::DEFAULT`].
pub trait ToolTable: Send + Sync {
    fn facts(&self, tool: &str) -> ToolFacts;
}

impl fmt::Debug for dyn ToolTable + '_ {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ToolTable")
    }
}

/// The facts about a tool that decisions outside of it depend on.
#[derive(Debug, Clone, Copy)]
pub struct ToolFacts {
    pub kind: ToolKind,
    /// No call changes anything outside of the session.
    pub reads_only: bool,
    /// The same call may give another result although nothing else happened.
    pub result_varies: bool,
    /// Changes only what the model knows or plans, not what its answer is about.
    pub is_housekeeping: bool,
    pub for_subagents: ForSubagents,
    pub runs_in: RunsIn,
    /// The argument that names the file which a call changes.
    pub edited_path: Option<&'static str>,
    /// The title of a call; `None` for the name of the tool.
    pub title: Option<fn(&Value) -> CallTitle>,
    /// The field of a result that holds the user's answer; `None` for a tool that asks nothing.
    pub user_answer: Option<&'static str>,
    pub digest: CallDigest,
    /// A sentence of the system prompt of sessions that have the tool.
    pub guidance: Option<Guidance>,
    /// Place in the order in which tools are kept where the context window is too small for all, lowest first.
    pub rank: u8,
}

impl ToolFacts {
    /// The facts of a tool about which nothing is known.
    pub const DEFAULT: Self = Self {
        kind: ToolKind::Other,
        reads_only: false,
        result_varies: false,
        is_housekeeping: false,
        for_subagents: ForSubagents::Yes,
        runs_in: RunsIn::Process,
        edited_path: None,
        title: None,
        user_answer: None,
        digest: CallDigest::DEFAULT,
        guidance: None,
        rank: 100,
    };

    /// The title of a call of `tool`.
    pub fn title_of(&self, tool: &str, arguments: &Value) -> CallTitle {
        match self.title {
            Some(title) => title(arguments),
            None => CallTitle { icon: "⚡", verb: tool.to_owned(), detail: String::new() },
        }
    }
}

impl Default for ToolFacts {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The kind of work that a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Search,
    Execute,
    Fetch,
    Think,
    #[default]
    Other,
}

impl ToolKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Fetch => "fetch",
            Self::Think => "think",
            Self::Other => "other",
        }
    }
}

/// The sub-agents that may have a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForSubagents {
    #[default]
    Yes,
    /// Those that may start sub-agents themselves.
    Orchestrators,
    /// None: the tool is for the user, or for what outlives the task.
    No,
}

/// The place where the work of a call happens. A crash of Hermes ends what runs in its own process only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunsIn {
    #[default]
    Process,
    /// A command under the supervisor.
    Command,
    /// Sessions of sub-agents.
    Subagents,
    /// A script that makes calls of its own. It ends with Hermes.
    Script,
}

/// A call as a front end shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTitle {
    pub icon: &'static str,
    pub verb: String,
    pub detail: String,
}

impl CallTitle {
    pub fn new(icon: &'static str, verb: &str, detail: impl Into<String>) -> Self {
        Self { icon, verb: verb.to_owned(), detail: detail.into() }
    }
}

/// The parts of a call and its result that compaction writes on one line.
#[derive(Debug, Clone, Copy)]
pub struct CallDigest {
    pub subject: Subject,
    pub outcome: Outcome,
}

impl CallDigest {
    pub const DEFAULT: Self = Self { subject: Subject::FirstTwo, outcome: Outcome::Size };

    /// The values of these arguments, and the size of the result.
    pub const fn of(arguments: &'static [&'static str]) -> Self {
        Self { subject: Subject::Values(arguments), outcome: Outcome::Size }
    }
}

/// The subject of a call, taken from its arguments.
#[derive(Debug, Clone, Copy)]
pub enum Subject {
    /// The first two arguments with their names.
    FirstTwo,
    /// The values of these arguments.
    Values(&'static [&'static str]),
    Text(fn(&Map<String, Value>) -> String),
}

/// The outcome of a call, taken from its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The size of the result, or its beginning where it is an error.
    Size,
    /// The field `exit_code`, and the size.
    ExitCode,
    /// A number of matches, in the first of these fields that is there, and the size.
    Matches(&'static [&'static str]),
}

/// A sentence that tells the model how to use a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guidance {
    pub text: &'static str,
    /// Other tools that the sentence is about. It is left out where one of them is missing.
    pub beside: &'static [&'static str],
}

impl Guidance {
    pub const fn new(text: &'static str) -> Self {
        Self { text, beside: &[] }
    }
}

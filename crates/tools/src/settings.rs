//! Settings of tools.

use crate::{ApprovalMode, ApprovalPolicy, Toolset};
use hermes_exec::SpillLimits;
use serde::Deserialize;

/// Limits and habits of the tools of one session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ToolSettings {
    /// Seconds a command may run when the model does not say.
    pub timeout: u64,
    /// The most seconds the model may ask for.
    pub max_foreground: u64,
    /// Characters of a command's output that reach the model.
    pub output: usize,
    /// Lines one `read_file` returns at most.
    pub max_lines: usize,
    /// Characters after which a line is cut when it is read.
    pub max_line_length: usize,
    /// Characters one `read_file` returns at most.
    pub file_read_max_chars: usize,
    /// Bytes that long results, kept in files, may have together.
    pub files_total: u64,
    pub approvals: ApprovalPolicy,
    /// Seconds that the user has to answer a question; 0 means no limit.
    pub clarify_timeout: u64,
    /// Characters of a web page that reach the model.
    pub extract_char_limit: usize,
    pub scripts: ScriptSettings,
    /// Results tell of instructions in the folders they are from.
    pub folder_hints: bool,
    /// Tools that a setting keeps from running, whatever the approvals are.
    #[serde(skip)]
    pub withheld: Vec<Withheld>,
}

/// Limits of scripts that the model runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ScriptSettings {
    /// Seconds that a script may run.
    pub timeout: u64,
    /// Calls that a script may make.
    pub max_calls: u64,
    /// Scripts run in a directory of their own, with the interpreter of the system.
    pub strict: bool,
}

impl Default for ScriptSettings {
    fn default() -> Self {
        Self { timeout: 300, max_calls: 50, strict: false }
    }
}

/// Toolsets that do not run, and the reason for the model and the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    pub toolsets: &'static [Toolset],
    pub why: String,
}

/// The toolsets that run commands.
pub const COMMAND_TOOLSETS: &[Toolset] = &[Toolset::Terminal, Toolset::CodeExecution];
/// The toolset that runs scripts, which call tools through a socket of this machine.
pub const SCRIPT_TOOLSETS: &[Toolset] = &[Toolset::CodeExecution];
/// The toolsets that run commands or touch files.
pub const MACHINE_TOOLSETS: &[Toolset] = &[Toolset::Terminal, Toolset::File, Toolset::CodeExecution];

impl ToolSettings {
    /// The default settings with this mode of approvals.
    pub fn with_approvals(mode: ApprovalMode) -> Self {
        Self { approvals: ApprovalPolicy { mode, ..ApprovalPolicy::default() }, ..Self::default() }
    }

    /// The reason why the tools of a toolset do not run, if there is one.
    pub(crate) fn withheld(&self, toolset: &str) -> Option<&str> {
        let is_named = |one: &&Withheld| one.toolsets.iter().any(|name| name.as_str() == toolset);
        self.withheld.iter().find(is_named).map(|one| one.why.as_str())
    }
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            timeout: 180,
            max_foreground: 600,
            output: 50_000,
            max_lines: 2000,
            max_line_length: 2000,
            file_read_max_chars: 100_000,
            files_total: SpillLimits::default().total,
            approvals: ApprovalPolicy::default(),
            clarify_timeout: 3600,
            extract_char_limit: 15_000,
            scripts: ScriptSettings::default(),
            folder_hints: false,
            withheld: Vec::new(),
        }
    }
}

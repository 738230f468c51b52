//! Tools of the model: tool trait, registry, toolsets, approvals, built-in tools.
//!
//! A call is handled in two steps. [`Registry::prepare`] decides, without side effects: which tool is
//! meant, whether the arguments are valid, which effects the call can have, whether it needs approval.
//! [`Prepared::run`] acts, and can only be called with a permit from the record. Requesting approval and
//! recording are the agent's work.

mod approval;
mod arguments;
mod batch;
mod builtin;
mod catalogue;
mod checkpoints;
mod clarify;
mod coerce;
mod context;
mod delegate;
mod environment;
mod facts;
mod far;
mod hints;
mod inner_calls;
mod limits;
mod memory;
mod names;
mod opened;
mod paths;
mod prepared;
mod presence;
mod processes;
mod protect;
mod reads;
mod record_reader;
mod registry;
mod safety;
mod schema;
mod segments;
mod session_library;
mod settings;
mod skill_scripts;
mod skills;
mod temporary_dir;
mod text;
mod tool;
mod toolset;
mod untrusted;
mod user_home;
mod validate;
mod vision;
mod web;

#[cfg(test)]
mod testing;

pub use approval::{
    Action, ActionKind, AllowList, Approval, ApprovalMode, ApprovalPolicy, ApprovalRequest, AskUser,
    BatchApproval, Coverage, DecidedBy, Decision, NoUser, Review, Scope, SessionApprovals, SmartAnswer,
    Unattended, decide, denied_text, smart_prompt,
};
pub use batch::{batch_limit, fit_batch};
pub use builtin::background::PROCESS_TERMINAL;
pub use builtin::delegate_task::recollected;
pub use builtin::execute_code::{CutOffCall, has_python, interrupted as interrupted_script, kept_result};
pub use builtin::terminal::{collected, collected_start, kept_output};
pub use builtin::todo::{Todo, TodoStatus, list_in as todo_list_in};
pub use builtin::{PLAN_TOOL, VISION_ANALYZE, WEB_SEARCH};
pub use catalogue::Deferral;
pub use checkpoints::{BeforeChange, Checkpoints, PlannedChange, Touches};
pub use clarify::{Clarified, Question};
pub use context::{FenceKeys, ToolContext, ToolSetup, command_key};
pub use delegate::{BegunTask, Delegate, HelperReport, HelperTask, Role};
pub use environment::Environment;
pub use facts::{KnownTools, facts_of};
pub use hermes_guard::FenceKey;
pub use inner_calls::{Caller, InnerCalls, InnerReply};
pub use limits::{MOST as LONGEST_RESULT, result_limit};
pub use memory::{Memory, MemoryChange, MemoryTarget, Remembered};
pub use opened::{OpenError, Opened, open_inside, open_readable, open_regular, project_root};
pub use paths::PathLocks;
pub use prepared::{Finished, Prepared, RunScope, Verdict};
pub use processes::{KnownProcess, ProcessExit, ProcessStart, ProcessState, Processes};
pub use protect::Places;
pub use record_reader::{RecordHit, RecordMessage, RecordReader};
pub use registry::{Registry, Toolbox};
pub use safety::{FarPlace, Inherited, RememberRules, Safety, SandboxSettings, project_of, scene};
pub use segments::segments;
pub use session_library::{PastHit, PastMessage, PastOrder, PastSession, SessionLibrary};
pub use settings::{
    COMMAND_TOOLSETS, MACHINE_TOOLSETS, SCRIPT_TOOLSETS, ScriptSettings, ToolSettings, Withheld,
};
pub use skills::{ChangedSkill, ListedSkill, SkillChange, Skills, ViewedSkill};
pub use text::strip_ansi;
pub use tool::{AnyTool, Body, Bound, CallScope, Concurrency, Origin, Refusal, Tool, ToolError, ToolOutput};
pub use toolset::{Toolset, ToolsetError, is_toolset, tools_of, toolset_has};
pub use validate::fits_schema;
pub use vision::{Analysis, Vision};
pub use web::{Web, WebHit, WebPage};

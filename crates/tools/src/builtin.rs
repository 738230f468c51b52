//! The tools that come with Hermes. A new one is a file below and a line here.

mod atomic;
pub(crate) mod background;
mod blocking;
mod checkers;
mod clarify;
mod context_tools;
pub(crate) mod delegate_task;
mod document;
pub(crate) mod execute_code;
mod exit_meaning;
mod files;
mod foreground;
pub(crate) mod found;
mod lasting;
mod memory;
pub(crate) mod page;
mod patch;
mod process;
mod read_file;
mod regular;
mod search_files;
mod session_search;
mod skill_manage;
mod skills;
mod syntax;
pub(crate) mod terminal;
pub(crate) mod todo;
mod vision_analyze;
mod web_extract;
mod web_search;
mod whole_file;
mod write_file;

use crate::tool::Typed;
use crate::{AnyTool, Tool};
use hermes_conversation::ToolFacts;
use std::sync::Arc;

/// The tools whose repeated calls are counted.
pub(crate) const COUNTED: [&str; 2] = [read_file::ReadFile::NAME, search_files::SearchFiles::NAME];

/// The tool whose newest result holds the plan of a session; see [`todo::list_in`].
pub const PLAN_TOOL: &str = todo::TodoTool::NAME;

/// The tool for looking at images; a session without a model that sees images does not have it.
pub const VISION_ANALYZE: &str = vision_analyze::VisionAnalyze::NAME;

/// The tool for searching the web; a session without a search backend does not have it.
pub const WEB_SEARCH: &str = web_search::WebSearch::NAME;

/// Lists tools once, to make them and to look up their facts.
macro_rules! tools {
    ($made:ident, $facts:ident, $($module:ident::$tool:ident,)*) => {
        pub(crate) fn $made() -> Vec<Arc<dyn AnyTool>> {
            vec![$(Arc::new(Typed::new($module::$tool)),)*]
        }

        fn $facts(name: &str) -> Option<ToolFacts> {
            $(if name == <$module::$tool as Tool>::NAME {
                return Some(<$module::$tool as Tool>::FACTS);
            })*
            None
        }
    };
}

/// The facts of a built-in tool.
pub(crate) fn facts(name: &str) -> Option<ToolFacts> {
    tool_facts(name).or_else(|| context_tool_facts(name))
}

tools! {
    tools, tool_facts,
    clarify::Clarify,
    delegate_task::DelegateTask,
    execute_code::ExecuteCode,
    memory::MemoryTool,
    patch::Patch,
    process::Process,
    read_file::ReadFile,
    search_files::SearchFiles,
    session_search::SessionSearch,
    skill_manage::SkillManage,
    skills::SkillView,
    skills::SkillsList,
    terminal::Terminal,
    todo::TodoTool,
    vision_analyze::VisionAnalyze,
    web_extract::WebExtract,
    web_search::WebSearch,
    write_file::WriteFile,
}

// The tools of an engine that keeps everything.
tools! {
    context_tools, context_tool_facts,
    context_tools::ContextExpand,
    context_tools::ContextOutline,
    context_tools::ContextSearch,
}

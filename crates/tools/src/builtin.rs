//! The tools that come with Hermes. A new one is a file below and a line here.

mod atomic;
mod blocking;
mod clarify;
mod context_tools;
pub(crate) mod delegate_task;
mod exit_meaning;
mod foreground;
mod found;
mod memory;
mod page;
mod patch;
mod read_file;
mod regular;
mod search_files;
mod skill_manage;
mod skills;
pub(crate) mod terminal;
pub(crate) mod todo;
mod whole_file;
mod write_file;

use crate::tool::Typed;
use crate::{AnyTool, Tool};
use std::sync::Arc;

/// The tools whose repeated calls are counted.
pub(crate) const COUNTED: [&str; 2] = [read_file::ReadFile::NAME, search_files::SearchFiles::NAME];

/// The tools of an engine that keeps everything.
pub(crate) fn context_tools() -> [Arc<dyn AnyTool>; 3] {
    [
        Arc::new(Typed::new(context_tools::ContextExpand)),
        Arc::new(Typed::new(context_tools::ContextOutline)),
        Arc::new(Typed::new(context_tools::ContextSearch)),
    ]
}

pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![
        Arc::new(Typed::new(clarify::Clarify)),
        Arc::new(Typed::new(delegate_task::DelegateTask)),
        Arc::new(Typed::new(memory::MemoryTool)),
        Arc::new(Typed::new(patch::Patch)),
        Arc::new(Typed::new(read_file::ReadFile)),
        Arc::new(Typed::new(search_files::SearchFiles)),
        Arc::new(Typed::new(skill_manage::SkillManage)),
        Arc::new(Typed::new(skills::SkillView)),
        Arc::new(Typed::new(skills::SkillsList)),
        Arc::new(Typed::new(terminal::Terminal)),
        Arc::new(Typed::new(todo::TodoTool)),
        Arc::new(Typed::new(write_file::WriteFile)),
    ]
}

//! Texts for sub-agents.

use hermes_conversation::Content;
use hermes_tools::HelperTask;

const HELPER: &str = "You work on one task for another agent. It sees nothing of what you do and reads only your \
last message. Nobody can answer questions: decide yourself, and say what you decided. Work in the directory you \
were started in and look before you assume that something is there. When you are done, or cannot go on, end with a \
summary: what you did, what you found, which files you changed, and what remains or went wrong.";

/// The part of the system prompt for a sub-agent; `helpers` is the number of its own sub-agents at a time.
pub fn instructions(helpers: Option<usize>) -> String {
    match helpers {
        None => HELPER.to_owned(),
        Some(most) => format!(
            "{HELPER} You may give parts of the task to helpers of your own with `delegate_task`, up to {most} at a \
             time, where they can be described fully and done apart; what they report is for you to check and join."
        ),
    }
}

/// The first message of a sub-agent.
pub fn task(task: &HelperTask) -> Content {
    let goal = task.goal.trim();
    match task.context.as_deref().map(str::trim).filter(|context| !context.is_empty()) {
        Some(context) => Content::text(format!("Task: {goal}\n\nWhat you should know:\n{context}")),
        None => Content::text(format!("Task: {goal}")),
    }
}

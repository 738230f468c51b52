//! The model's notes for later sessions.

use super::lasting;
use crate::approval;
use crate::facts::text;
use crate::memory::{MemoryChange, MemoryTarget, Remembered};
use crate::{CallScope, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset};
use hermes_conversation::{CallDigest, CallTitle, ForSubagents, Guidance, ToolFacts};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const NOWHERE: &str = "Nothing can be remembered in this session.";

/// Keep facts that later sessions should know. Later sessions begin with them; this one does not see
/// the change. Save what stays true (preferences, conventions, lessons), not progress on a task.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct MemoryArgs {
    /// memory: your notes; user: who the user is.
    target: MemoryTarget,
    action: Option<Action>,
    /// The entry, for add and replace.
    content: Option<String>,
    /// For replace and remove: a part of the entry that no other entry has.
    old_text: Option<String>,
    /// Several changes at once, all or none, instead of action. Make room and add in one call.
    operations: Option<Vec<Operation>>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Add,
    Replace,
    Remove,
}

#[derive(Deserialize, JsonSchema)]
struct Operation {
    action: Action,
    content: Option<String>,
    old_text: Option<String>,
}

pub(crate) struct MemoryTool;

impl Tool for MemoryTool {
    const NAME: &'static str = "memory";
    const TOOLSET: Toolset = Toolset::Memory;
    const FACTS: ToolFacts = ToolFacts {
        is_housekeeping: true,
        for_subagents: ForSubagents::No,
        title: Some(|arguments| CallTitle::new("🧠", "remember", changes_shown(arguments))),
        digest: CallDigest::of(&["action", "target", "key"]),
        guidance: Some(Guidance::new(GUIDANCE)),
        rank: 6,
        ..ToolFacts::DEFAULT
    };
    type Args = MemoryArgs;

    fn refusal(&self, args: &MemoryArgs, _: &ToolContext) -> Option<Refusal> {
        let has_operations = args.operations.as_ref().is_some_and(|operations| !operations.is_empty());
        let says_nothing = args.action.is_none() && !has_operations;
        says_nothing
            .then(|| Refusal::Invalid("give `action` (add, replace or remove) or `operations`".to_owned()))
    }

    fn action(&self, args: &MemoryArgs, cx: &ToolContext) -> Option<approval::Action> {
        let text = format!("change the memory: {}", operations_shown(args).join("; "));
        let is_asked = cx.memory().is_some_and(|memory| memory.asks_first());
        lasting::change(text, &contents(args), is_asked.then_some("memory write"), cx)
    }

    async fn run(&self, args: MemoryArgs, cx: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        let Some(memory) = cx.memory() else { return Err(ToolError::failed(NOWHERE)) };
        let target = args.target;
        let changes = changes(args);
        let message = message(&changes);
        let done = memory.change(target, changes).await.map_err(|error| error.with("success", false))?;
        Ok(ToolOutput::json(answer(target, message, done)))
    }
}

const GUIDANCE: &str = "Keep lasting facts with `memory`: who the user is, what they prefer, how this machine and its \
projects are set up, as statements that will still hold in a month. Progress of the task at hand does not belong \
there, and how-to belongs in a skill.";

/// Each change of a call as the user is asked about it.
fn operations_shown(args: &MemoryArgs) -> Vec<String> {
    let operation = |action: &Action, content: &Option<String>, old: &Option<String>| {
        let action = match action {
            Action::Add => "add",
            Action::Replace => "replace",
            Action::Remove => "remove",
        };
        let old = old.as_ref().map(|old| format!(" {old:?}")).unwrap_or_default();
        let content = content.as_ref().map(|content| format!(" {content:?}")).unwrap_or_default();
        format!("{action}{old}{content}")
    };
    let given = args.operations.as_deref().unwrap_or_default();
    let mut all: Vec<String> =
        given.iter().map(|one| operation(&one.action, &one.content, &one.old_text)).collect();
    if let (true, Some(action)) = (all.is_empty(), &args.action) {
        all.push(operation(action, &args.content, &args.old_text));
    }
    all
}

/// The new texts of a call.
fn contents(args: &MemoryArgs) -> String {
    let given =
        args.operations.as_deref().unwrap_or_default().iter().filter_map(|one| one.content.as_deref());
    given.chain(args.content.as_deref()).collect::<Vec<_>>().join("\n")
}

/// The changes of a call. They are shown in full because they outlive the session.
fn changes_shown(arguments: &Value) -> String {
    let single = std::slice::from_ref(arguments);
    let operations = arguments["operations"].as_array().filter(|operations| !operations.is_empty());
    let shown = operations.map_or(single, Vec::as_slice).iter().map(|operation| {
        match operation["action"].as_str().unwrap_or_default() {
            "add" => format!("+ {}", text(operation, "content")),
            "remove" => format!("- {}", text(operation, "old_text")),
            _ => format!("{} → {}", text(operation, "old_text"), text(operation, "content")),
        }
    });
    format!("{}: {}", text(arguments, "target"), shown.collect::<Vec<_>>().join("; "))
}

/// Operations count where there are any. What is missing in one is for the memory to print_error about: it
/// knows what there is to choose from.
fn changes(args: MemoryArgs) -> Vec<MemoryChange> {
    let MemoryArgs { action, content, old_text, operations, .. } = args;
    let given = operations.unwrap_or_default();
    let operations = match (given.is_empty(), action) {
        (true, Some(action)) => vec![Operation { action, content, old_text }],
        _ => given,
    };
    let change = |Operation { action, content, old_text }| {
        let (content, old_text) = (content.unwrap_or_default(), old_text.unwrap_or_default());
        match action {
            Action::Add => MemoryChange::Add { content },
            Action::Replace => MemoryChange::Replace { old_text, content },
            Action::Remove => MemoryChange::Remove { old_text },
        }
    };
    operations.into_iter().map(change).collect()
}

fn message(changes: &[MemoryChange]) -> String {
    match changes {
        [MemoryChange::Add { .. }] => "Added.".to_owned(),
        [MemoryChange::Replace { .. }] => "Replaced.".to_owned(),
        [MemoryChange::Remove { .. }] => "Removed.".to_owned(),
        several => format!("{} changes made.", several.len()),
    }
}

/// Without the entries: a model that sees them goes on polishing them.
fn answer(target: MemoryTarget, message: String, done: Remembered) -> serde_json::Value {
    let message = match (&done.pending, done.is_changed) {
        (Some(id), _) => format!("Not made yet: the change waits for the user's approval as {id}."),
        (None, true) => message,
        (None, false) => "Nothing to do: it is so already.".to_owned(),
    };
    json!({
        "success": true,
        "target": target,
        "message": message,
        "usage": done.usage,
        "entry_count": done.entry_count,
    })
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;

//! The facts of tools by name, also of tools that are not offered in a session.
//!
//! A history may name tools that its session no longer has, and tools of other Hermes builds. Those are listed
//! here as far as something is known about them; every other name has the default facts.

use crate::{builtin, catalogue};
use hermes_conversation::{CallDigest, ForSubagents, ToolFacts, ToolKind, ToolTable};
use serde_json::{Map, Value};

/// Every tool that is known by its name, without a registry.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownTools;

impl ToolTable for KnownTools {
    fn facts(&self, tool: &str) -> ToolFacts {
        facts_of(tool)
    }
}

/// The facts of the tool of this name. Tools that a session has in addition are in its [`Registry`](crate::Registry).
pub fn facts_of(tool: &str) -> ToolFacts {
    builtin::facts(tool).or_else(|| catalogue::facts(tool)).unwrap_or_else(|| elsewhere(tool))
}

/// The facts of a tool that only other Hermes builds have.
fn elsewhere(tool: &str) -> ToolFacts {
    const DEFAULT: ToolFacts = ToolFacts::DEFAULT;
    match tool {
        "send_message" => ToolFacts { for_subagents: ForSubagents::No, ..DEFAULT },
        name if name.starts_with("browser") => ToolFacts {
            kind: ToolKind::Fetch,
            digest: CallDigest::of(&["url", "ref", "direction"]),
            ..DEFAULT
        },
        name if name.starts_with("skill") => {
            ToolFacts { digest: CallDigest::of(&["action", "name"]), ..DEFAULT }
        }
        name if name.starts_with("cron") => ToolFacts {
            for_subagents: if name == "cronjob" { ForSubagents::No } else { ForSubagents::Yes },
            digest: CallDigest::of(&["action", "name", "job_id", "schedule"]),
            ..DEFAULT
        },
        _ => DEFAULT,
    }
}

pub(crate) fn code_size(arguments: &Map<String, Value>) -> String {
    let lines = arguments.get("code").and_then(Value::as_str).map_or(0, |code| code.lines().count());
    format!("{lines} lines of code")
}

/// An argument that is a text; empty where it is missing.
pub(crate) fn text(arguments: &Value, name: &str) -> String {
    arguments[name].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;

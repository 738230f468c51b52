//! The table of built-in tools, from the facts on each tool.

use hermes_conversation::ForSubagents;
use hermes_tools::{Registry, Toolset, facts_of};

pub(super) fn table() -> String {
    let registry = Registry::builtin().with_context_tools();
    let head = "| tool | toolset | kind | only reads | sub-agents |\n|---|---|---|---|---|";
    let rows = Toolset::ALL.into_iter().flat_map(|toolset| {
        let others = registry.without_those(|tool| tool.toolset() == toolset.as_str());
        let names = registry.names().into_iter().filter(|name| !others.names().contains(name));
        names.map(|name| row(name, toolset.as_str())).collect::<Vec<_>>()
    });
    std::iter::once(head.to_owned()).chain(rows).collect::<Vec<_>>().join("\n")
}

fn row(tool: &str, toolset: &str) -> String {
    let facts = facts_of(tool);
    let reads = if facts.reads_only { "yes" } else { "" };
    let subagents = match facts.for_subagents {
        ForSubagents::Yes => "yes",
        ForSubagents::Orchestrators => "those that delegate",
        ForSubagents::No => "",
    };
    format!("| `{tool}` | {toolset} | {} | {reads} | {subagents} |", facts.kind.as_str())
}

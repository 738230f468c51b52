use super::*;
use crate::{CallScope, Registry, Tool, ToolContext, ToolError, ToolOutput, Toolset, tool::Typed};
use hermes_conversation::{CallTitle, Effect, RunsIn, Subject};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

fn every_tool() -> Registry {
    Registry::builtin().with_context_tools().deferring(&["skill_manage"])
}

#[test]
fn builtin_tools_have_title_and_kind() {
    let kinds: Vec<String> = every_tool()
        .names()
        .into_iter()
        .chain(["skill_manage"])
        .map(|name| {
            let facts = facts_of(name);
            let title = facts.title_of(name, &json!({}));
            format!("{name} {} {} {}", facts.kind.as_str(), title.icon, title.verb)
        })
        .collect();
    insta::assert_snapshot!(kinds.join("\n"), @"
    clarify other ❓ asked
    context_expand read 🗂 reread
    context_outline read 🗂 outline
    context_search search 🗂 recall
    delegate_task execute 🔀 delegate
    execute_code execute 🐍 exec
    memory other 🧠 remember
    patch edit 🔧 patch
    process execute ⚙️ proc
    read_file read 📖 read
    search_files search 🔎 grep
    session_search search 🔍 recall
    skill_view read 📚 skill
    skills_list read 📚 skills
    terminal execute 💻 $
    todo other 📋 plan
    tool_call other ⚡ tool_call
    tool_describe read 🔍 tool
    tool_search search 🔍 tools
    vision_analyze read 👁 look at
    web_extract fetch 📄 fetch
    web_search fetch 🌐 search
    write_file edit ✍️ write
    skill_manage edit 📝 skill
    ");
}

#[test]
fn titles_name_what_a_call_is_about() {
    for (tool, arguments, want) in [
        ("terminal", json!({"command": "echo hi"}), ("$", "echo hi")),
        ("read_file", json!({"path": "a.rs"}), ("read", "a.rs")),
        ("write_file", json!({"path": "a.rs"}), ("write", "a.rs")),
        ("patch", json!({"path": "a.rs"}), ("patch", "a.rs")),
        ("search_files", json!({"pattern": "x", "target": "files"}), ("find", "x")),
        ("search_files", json!({"pattern": "x"}), ("grep", "x")),
        ("delegate_task", json!({"goal": "g"}), ("delegate", "g")),
        ("delegate_task", json!({"tasks": [1]}), ("delegate", "1 task")),
        ("delegate_task", json!({"tasks": [1, 2]}), ("delegate", "2 tasks")),
        ("clarify", json!({"question": "Which?"}), ("asked", "Which?")),
        ("todo", json!({"todos": [{}]}), ("plan", "1 item")),
        ("todo", json!({}), ("plan", "list")),
        ("execute_code", json!({"code": "a\nb"}), ("exec", "2 lines of code")),
        ("memory", json!({"target": "user", "action": "add", "content": "x"}), ("remember", "user: + x")),
        (
            "memory",
            json!({"target": "memory", "operations": [{"action": "remove", "old_text": "a"},
                {"action": "replace", "old_text": "b", "content": "c"}]}),
            ("remember", "memory: - a; b → c"),
        ),
        ("skills_list", json!({"category": "git"}), ("skills", "git")),
        ("skill_view", json!({"name": "dance"}), ("skill", "dance")),
        ("skill_manage", json!({"action": "create", "name": "dance"}), ("skill", "create dance")),
        ("tool_search", json!({"query": "lamps"}), ("tools", "lamps")),
        ("tool_describe", json!({"name": "lamp"}), ("tool", "lamp")),
        ("context_search", json!({"query": "port"}), ("recall", "port")),
        ("context_expand", json!({"message": 7}), ("reread", "message 7")),
        ("context_expand", json!({"summary": 2}), ("reread", "summary 2")),
        ("context_outline", json!({}), ("outline", "")),
        ("mcp__x", json!({"path": "a"}), ("mcp__x", "")),
        ("terminal", json!("not an object"), ("$", "")),
    ] {
        let CallTitle { verb, detail, .. } = facts_of(tool).title_of(tool, &arguments);
        assert_eq!((verb.as_str(), detail.as_str()), want, "{tool} {arguments}");
    }
}

#[test]
fn facts_that_decide_are_as_listed() {
    let all = every_tool();
    let having = |is_so: fn(&ToolFacts) -> bool| {
        let mut names: Vec<&str> = all.all_names().into_iter().chain(["tool_call"]).collect();
        names.retain(|name| is_so(&all.facts(name)));
        names.sort_unstable();
        names.join(" ")
    };
    for (fact, found, want) in [
        ("varies", having(|facts| facts.result_varies), "clarify execute_code process terminal todo"),
        ("housekeeping", having(|facts| facts.is_housekeeping), "memory session_search skill_manage todo"),
        (
            "no sub-agent",
            having(|facts| facts.for_subagents == ForSubagents::No),
            "clarify execute_code memory",
        ),
        (
            "orchestrators",
            having(|facts| facts.for_subagents == ForSubagents::Orchestrators),
            "delegate_task",
        ),
        ("commands", having(|facts| facts.runs_in == RunsIn::Command), "terminal"),
        ("scripts", having(|facts| facts.runs_in == RunsIn::Script), "execute_code"),
        ("sub-agents", having(|facts| facts.runs_in == RunsIn::Subagents), "delegate_task"),
        ("edits", having(|facts| facts.edited_path == Some("path")), "patch write_file"),
        (
            "changes something",
            having(|facts| !facts.reads_only),
            "delegate_task execute_code memory patch process skill_manage terminal write_file",
        ),
    ] {
        assert_eq!(found, want, "{fact}");
    }
}

#[test]
fn tools_of_other_builds_have_facts() {
    for (tool, is_housekeeping, for_subagents) in [
        ("session_search", true, ForSubagents::Yes),
        ("execute_code", false, ForSubagents::No),
        ("send_message", false, ForSubagents::No),
        ("cronjob", false, ForSubagents::No),
        ("cron_list", false, ForSubagents::Yes),
        ("anything", false, ForSubagents::Yes),
    ] {
        let facts = Registry::builtin().facts(tool);
        assert_eq!((facts.is_housekeeping, facts.for_subagents), (is_housekeeping, for_subagents), "{tool}");
    }
}

/// Water the plants.
#[derive(Deserialize, JsonSchema)]
struct WaterArgs {
    plant: String,
}

/// A tool as it is added: one type, and a line where it is registered.
struct Water;

impl Tool for Water {
    const NAME: &'static str = "water";
    const TOOLSET: Toolset = Toolset::Clarify;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Execute,
        reads_only: true,
        is_housekeeping: true,
        for_subagents: ForSubagents::No,
        title: Some(|arguments| CallTitle::new("🌱", "water", text(arguments, "plant"))),
        digest: CallDigest::of(&["plant"]),
        ..ToolFacts::DEFAULT
    };
    type Args = WaterArgs;

    async fn run(&self, args: WaterArgs, _: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::json(args.plant))
    }
}

#[test]
fn new_tool_brings_its_facts_with_it() {
    let mut registry = Registry::builtin();
    registry.register(Arc::new(Typed::new(Water))).unwrap();
    let facts = registry.facts("water");
    let title = facts.title_of("water", &json!({"plant": "fern"}));
    assert_eq!(title, CallTitle::new("🌱", "water", "fern"));
    assert_eq!((facts.kind, facts.is_housekeeping), (ToolKind::Execute, true));
    assert!(matches!(facts.digest.subject, Subject::Values(["plant"])));
    let chosen = registry.select(Some(&["hermes-cli".to_owned()]), &[]).unwrap();
    assert!(chosen.names().contains(&"water"), "its toolset brings it into the bundles");
    assert!(!registry.for_subagent(true).names().contains(&"water"));
    let bench = crate::testing::Bench::new();
    let call = hermes_conversation::ToolCall::new(
        hermes_conversation::CallId::new("c"),
        "water",
        r#"{"plant":"fern"}"#,
    );
    assert_eq!(registry.prepare(&call, &bench.cx).effect, Effect::Read);
}

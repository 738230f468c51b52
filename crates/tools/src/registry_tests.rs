use super::*;
use crate::testing::Bench;
use crate::tool::Typed;
use crate::{
    ApprovalMode, CallScope, MACHINE_TOOLSETS, Tool, ToolError, ToolOutput, ToolSettings, Toolset, Verdict,
    Withheld,
};
use hermes_conversation::{CallId, Effect, RawJson};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

fn listed(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn definitions_are_stable_and_small() {
    let definitions = Registry::builtin().definitions();
    let shown: Vec<_> = definitions
        .iter()
        .map(
            |tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters}),
        )
        .collect();
    // Every request pays for them.
    let bytes = |value: &serde_json::Value| RawJson::of(value).unwrap().as_str().len();
    for tool in &shown {
        let most = if tool["name"] == "terminal" { 1_520 } else { 1_150 };
        assert!(bytes(tool) < most, "{} has {} bytes", tool["name"], bytes(tool));
    }
    let all: usize = shown.iter().map(bytes).sum();
    assert!(all < 12_800, "{all}");
    insta::assert_json_snapshot!(shown);
}

#[test]
fn toolsets_choose_tools() {
    let skills = ["skill_manage", "skill_view", "skills_list"];
    let all = [
        "clarify",
        "delegate_task",
        "execute_code",
        "memory",
        "patch",
        "process",
        "read_file",
        "search_files",
        "session_search",
        "skill_manage",
        "skill_view",
        "skills_list",
        "terminal",
        "todo",
        "vision_analyze",
        "web_extract",
        "web_search",
        "write_file",
    ];
    let file = ["patch", "read_file", "search_files", "write_file"];
    for (enabled, disabled, want) in [
        (None, &[][..], &all[..]),
        (Some(&["hermes-cli"][..]), &[], &all),
        (Some(&["all"]), &[], &all),
        (Some(&["file"]), &[], &file),
        (Some(&["file_tools"]), &[], &file),
        (Some(&["skills"]), &[], &skills),
        (Some(&["terminal", "todo"]), &[], &["process", "terminal", "todo"]),
        (Some(&["web", "safe"]), &[], &["vision_analyze", "web_extract", "web_search"]),
        (Some(&["search"]), &[], &["web_search"]),
        (Some(&["vision"]), &[], &["vision_analyze"]),
        (Some(&["image_gen"]), &[], &[]),
        (Some(&[]), &[], &[]),
        (
            None,
            &["file", "skills"],
            &[
                "clarify",
                "delegate_task",
                "execute_code",
                "memory",
                "process",
                "session_search",
                "terminal",
                "todo",
                "vision_analyze",
                "web_extract",
                "web_search",
            ],
        ),
        (None, &["coding"], &all),
        (Some(&["debugging"]), &["terminal", "web"], &file),
    ] {
        let enabled = enabled.map(listed);
        let chosen = Registry::builtin().select(enabled.as_deref(), &listed(disabled)).unwrap();
        assert_eq!(chosen.names(), want, "{enabled:?} without {disabled:?}");
        assert_eq!(chosen.definitions().len(), want.len());
    }
}

#[test]
fn an_unknown_toolset_is_an_error_that_lists_the_known_ones() {
    let registry = Registry::builtin();
    for error in
        [registry.select(Some(&listed(&["fil"])), &[]).err(), registry.select(None, &listed(&["fil"])).err()]
    {
        let text = error.unwrap().to_string();
        let want = "no toolset is called `fil`; known toolsets: browser, clarify, code_execution, coding, debugging, \
                    delegation, file, hermes-cli, memory, safe, search, session_search, skills, terminal, todo, \
                    vision, web, all";
        assert_eq!(text, want);
    }
}

/// Takes a name that may be taken.
#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

struct Impostor;

impl Tool for Impostor {
    const NAME: &'static str = "read_file";
    const TOOLSET: Toolset = Toolset::Todo;
    type Args = NoArgs;

    fn effect(&self, _: &NoArgs, _: &ToolContext) -> Effect {
        Effect::Any
    }

    async fn run(&self, _: NoArgs, _: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::json("mine"))
    }
}

#[test]
fn a_name_cannot_be_taken_by_another_toolset() {
    let mut registry = Registry::builtin();
    let error = registry.register(Arc::new(Typed::new(Impostor))).unwrap_err();
    assert_eq!(error.to_string(), "tool `read_file` of toolset `todo` is already provided by toolset `file`");
    let mut empty = Registry::default();
    assert_eq!(empty.register(Arc::new(Typed::new(Impostor))), Ok(()));
    assert_eq!(empty.register(Arc::new(Typed::new(Impostor))), Ok(()));
    assert_eq!(empty.names(), ["read_file"]);
}

struct Panicking;

impl Tool for Panicking {
    const NAME: &'static str = "panicking";
    const TOOLSET: Toolset = Toolset::Todo;
    type Args = NoArgs;

    fn refusal(&self, _: &NoArgs, _: &ToolContext) -> Option<Refusal> {
        panic!("no idea")
    }

    fn effect(&self, _: &NoArgs, _: &ToolContext) -> Effect {
        Effect::Any
    }

    async fn run(&self, _: NoArgs, _: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        unreachable!("it is never allowed")
    }
}

#[test]
fn a_panic_while_judging_refuses_the_call() {
    let mut bench = Bench::new();
    bench.registry.register(Arc::new(Typed::new(Panicking))).unwrap();
    let verdict = bench.prepare("panicking", "{}").verdict;
    let text = "panicking was not run: the call could not be judged.".to_owned();
    assert_eq!(verdict, Verdict::Refuse { text, decision: "invalid" });
}

#[test]
fn calls_are_judged() {
    let bench = Bench::new();
    for (name, arguments, decision, part) in [
        ("terminal", r#"{"command":"make"}"#, "allowed", ""),
        ("Terminal_Tool", r#"{"command":"make","timeout":"5"}"#, "allowed", ""),
        (
            "launch",
            "{}",
            "invalid",
            "There is no tool called `launch`. Available tools: clarify, delegate_task, execute_code, memory, patch",
        ),
        ("", "{}", "invalid", "no tool name"),
        ("terminal", "", "invalid", "`command` is required"),
        ("terminal", "[]", "invalid", "one JSON object"),
        ("terminal", r#"{"command":"a","command":"b"}"#, "invalid", "`command` is given twice"),
        ("terminal", r#"{"command":["a"]}"#, "invalid", "`command` must be of type string"),
        ("terminal", r#"{"command":"a","timeout":0}"#, "invalid", "`timeout` must be at least 1"),
        ("terminal", r#"{"command":"a","timeout":601}"#, "invalid", "at most 600"),
        (
            "terminal",
            r#"{"command":"a","background":true}"#,
            "invalid",
            "cannot run commands in the background",
        ),
        ("terminal", r#"{"command":"a","background":false}"#, "allowed", ""),
        ("terminal", r#"{"command":"sleep 9 &"}"#, "invalid", "ends with `&`"),
        ("patch", r#"{"mode":"patch","patch":"*** Begin Patch"}"#, "invalid", "*** End Patch"),
        ("read_file", r#"{"path":"x","offset":-1}"#, "invalid", "`offset` must be at least 1"),
        ("read_file", r#"{"path":".env"}"#, "denied", "credentials"),
        ("write_file", r#"{"path":"/etc/hosts","content":""}"#, "denied", "belongs to the system"),
        ("write_file", r#"{"path":"x","content":"1|a\n2|b"}"#, "invalid", "line numbers"),
    ] {
        let prepared = bench.prepare(name, arguments);
        assert_eq!(prepared.verdict.decision(), decision, "{name} {arguments}");
        if let Verdict::Refuse { text, .. } = &prepared.verdict {
            assert!(text.contains(part), "{name} {arguments}: {text}");
        }
    }
}

#[test]
fn effects_name_what_is_touched() {
    let bench = Bench::new();
    for (name, arguments, want) in [
        ("terminal", r#"{"command":"make"}"#, Effect::Any),
        ("terminal", r#"{"command":"git status"}"#, Effect::Read),
        ("read_file", r#"{"path":"a"}"#, Effect::Read),
        ("search_files", r#"{"pattern":"a"}"#, Effect::Read),
        ("todo", "{}", Effect::Read),
        ("write_file", r#"{"path":"d/../a","content":""}"#, Effect::Write(vec![bench.path("a")])),
        (
            "patch",
            r#"{"path":"~/a","old_string":"","new_string":""}"#,
            Effect::Write(vec![bench.root().join("user/a")]),
        ),
    ] {
        assert_eq!(bench.prepare(name, arguments).effect, want, "{name} {arguments}");
    }
}

#[test]
fn commands_that_delete_are_asked_about() {
    let bench = Bench::with(ToolSettings::default());
    assert_eq!(bench.cx.settings().approvals.mode, ApprovalMode::Manual);
    assert_eq!(bench.prepare("terminal", r#"{"command":"ls"}"#).verdict, Verdict::Run);
    let prepared = bench.prepare("terminal", r#"{"command":"rm -r x"}"#);
    let Verdict::Ask(request) = prepared.verdict else { panic!("no approval is requested") };
    assert_eq!(
        (request.what.as_str(), request.tool.as_str(), request.cwd),
        ("rm -r x", "terminal", bench.cx.cwd())
    );
    assert_eq!(request.rules, ["recursive delete"]);
    let prepared = bench.prepare("terminal", r#"{"command":"rm -rf /"}"#);
    assert!(matches!(prepared.verdict, Verdict::Refuse { decision: "denied", .. }));
    assert_eq!(bench.prepare("read_file", r#"{"path":"x"}"#).verdict, Verdict::Run);
}

/// Also with approvals off, and also through the catalogue or under a misspelt name.
#[tokio::test]
async fn withheld_tools_are_refused_with_the_reason() {
    let withheld =
        vec![Withheld { toolsets: MACHINE_TOOLSETS, why: "`terminal.backend: docker` is set".to_owned() }];
    let bench = Bench::with(ToolSettings { withheld, ..ToolSettings::with_approvals(ApprovalMode::Off) });
    for (tool, refused) in [("terminal", true), ("Terminal", true), ("write_file", true), ("todo", false)] {
        let call = ToolCall::new(CallId::new("c"), tool, r#"{"command":"ls","path":"a","content":"b"}"#);
        let prepared = Registry::builtin().prepare(&call, &bench.cx);
        let is_refused = matches!(&prepared.verdict, Verdict::Refuse { text, decision: "denied" }
            if text.contains("was not run: `terminal.backend: docker` is set."));
        assert_eq!(is_refused, refused, "{tool}");
    }
}

use crate::testing::Bench;
use crate::testing::asking_action;
use crate::tool::Typed;
use crate::{
    Action, ApprovalMode, CallScope, Concurrency, Deferral, Registry, Tool, ToolContext, ToolError,
    ToolOutput, ToolSettings, Toolset, Verdict,
};
use hermes_conversation::Effect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// Turns a lamp of the house on or off.
#[derive(Deserialize, JsonSchema)]
struct LampArgs {
    room: String,
    #[serde(default)]
    bright: bool,
}

struct Lamp;

impl Tool for Lamp {
    const NAME: &'static str = "house_lamp";
    const TOOLSET: Toolset = Toolset::Todo;
    const SELDOM: bool = true;
    type Args = LampArgs;

    fn effect(&self, _: &LampArgs, _: &ToolContext) -> Effect {
        Effect::Any
    }

    fn action(&self, args: &LampArgs, cx: &ToolContext) -> Option<Action> {
        (args.room == "cellar").then(|| asking_action("light in the cellar", cx))
    }

    fn concurrency(&self, _: &LampArgs, _: &ToolContext) -> Concurrency {
        Concurrency::Alone
    }

    async fn run(&self, args: LampArgs, _: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::json(json!({ "lit": args.room, "bright": args.bright })))
    }
}

fn bench(deferral: Deferral) -> Bench {
    let mut bench = Bench::with(ToolSettings::with_approvals(ApprovalMode::Manual));
    bench.registry.register(Arc::new(Typed::new(Lamp))).unwrap();
    bench.registry = bench.registry.with_catalogue(deferral);
    bench
}

#[test]
fn seldom_tools_wait_when_that_is_wanted_or_all_are_too_much() {
    let bridges = ["tool_call", "tool_describe", "tool_search"];
    for (deferral, waits) in [(Deferral::Off, false), (Deferral::Auto, false), (Deferral::On, true)] {
        let bench = bench(deferral);
        let names = bench.registry.names();
        assert_eq!(bench.registry.waiting().contains(&"house_lamp"), waits, "{deferral:?}");
        assert_eq!(names.contains(&"house_lamp"), !waits, "{deferral:?}");
        assert!(bridges.iter().all(|name| names.contains(name) == waits), "{deferral:?} {names:?}");
        // Nothing is lost.
        assert!(bench.registry.all_names().contains(&"house_lamp"));
        assert!(names.contains(&"read_file"), "core tools never wait");
        let told = bench.registry.definitions();
        let bytes: usize =
            told.iter().filter(|tool| bridges.contains(&tool.name.as_str())).map(super::size).sum();
        assert!(bytes < 800, "{bytes}");
    }
    // As many tools as a house full of servers lends.
    let told = |count: usize| {
        let mut registry = Registry::builtin();
        for n in 0..count {
            registry.register(Arc::new(Lent(format!("mcp__house__tool_{n}")))).unwrap();
        }
        let registry = registry.with_catalogue(Deferral::Auto);
        let bytes: usize = registry.definitions().iter().map(super::size).sum();
        (registry.waiting().len(), bytes)
    };
    assert_eq!(told(0).0, 0);
    let (waiting, bytes) = told(200);
    // What comes with Hermes and is seldom needed waits with them.
    assert_eq!(waiting, 203);
    assert!(bytes < 9_800, "{bytes}");
}

/// A tool that is not built in.
struct Lent(String);

impl crate::AnyTool for Lent {
    fn name(&self) -> &str {
        &self.0
    }

    fn toolset(&self) -> &str {
        "mcp-house"
    }

    fn definition(&self) -> hermes_conversation::ToolDefinition {
        hermes_conversation::ToolDefinition {
            name: self.0.clone(),
            description: "x".repeat(700),
            parameters: hermes_conversation::RawJson::parse(r#"{"type":"object"}"#).unwrap(),
        }
    }

    fn schema(&self) -> &serde_json::Value {
        &serde_json::Value::Null
    }

    fn bind(
        self: Arc<Self>,
        _: serde_json::Map<String, serde_json::Value>,
        _: &ToolContext,
    ) -> Result<crate::Bound, crate::Refusal> {
        Err(crate::Refusal::Denied("it is only looked at".to_owned()))
    }
}

#[test]
fn taking_tools_away_takes_them_out_of_the_catalogue_too() {
    let registry = bench(Deferral::On).registry;
    let less = registry.retained(|tool| tool.name() != "house_lamp");
    assert_eq!(less.waiting(), ["execute_code", "session_search", "skill_manage"]);
    let none = less.retained(|tool| !tool.is_seldom());
    assert!(none.waiting().is_empty() && !none.names().contains(&"tool_call"), "{:?}", none.names());
    assert!(!none.names().contains(&"house_lamp"));
    // A replay is told both lists.
    let again = Registry::builtin().only(&["read_file", "skill_manage"]).deferring(&["skill_manage"]);
    assert_eq!(again.names(), ["read_file", "tool_call", "tool_describe", "tool_search"]);
}

#[tokio::test]
async fn a_tool_is_found_described_and_called() {
    let bench = bench(Deferral::On);
    let found = bench.call("tool_search", json!({ "query": "lamps room" })).await;
    assert_eq!(found["tools"][0]["name"], "house_lamp", "{found}");
    assert_eq!(found["tools"].as_array().unwrap().len(), 1, "{found}");
    let nothing = bench.call("tool_search", json!({ "query": "xylophone" })).await;
    assert!(
        nothing["hint"].as_str().unwrap().contains("execute_code, house_lamp, session_search, skill_manage"),
        "{nothing}"
    );

    let shown = bench.call("tool_describe", json!({ "name": "house_lamp" })).await;
    assert_eq!(shown["parameters"]["properties"]["room"]["type"], "string", "{shown}");
    let unknown = bench.call("tool_describe", json!({ "name": "house_cat" })).await;
    assert!(unknown["error"].as_str().unwrap().contains("there are: execute_code, house_lamp"), "{unknown}");

    let call = json!({ "name": "house_lamp", "arguments": { "room": "hall", "bright": "true" } });
    let lit = bench.call("tool_call", call).await;
    assert_eq!(lit, json!({ "lit": "hall", "bright": true }));
    // By its own name it works too, and arguments may be text.
    assert_eq!(bench.call("house_lamp", json!({ "room": "hall" })).await["lit"], "hall");
    let text = json!({ "name": "house_lamp", "arguments": "{\"room\": \"attic\"}" });
    assert_eq!(bench.call("tool_call", text).await["lit"], "attic");
}

#[test]
fn a_call_through_the_catalogue_is_judged_as_the_tool_itself() {
    let bench = bench(Deferral::On);
    let call = |name: &str, arguments: serde_json::Value| {
        bench.prepare("tool_call", json!({ "name": name, "arguments": arguments }))
    };
    let hall = call("house_lamp", json!({ "room": "hall" }));
    assert_eq!(
        (hall.call.name.as_str(), &hall.effect, &hall.verdict),
        ("house_lamp", &Effect::Any, &Verdict::Run)
    );
    let Verdict::Ask(request) = call("house_lamp", json!({ "room": "cellar" })).verdict else {
        panic!("no approval was requested");
    };
    assert_eq!((request.tool.as_str(), request.what.as_str()), ("house_lamp", "light in the cellar"));
    // A tool that is on offer anyway is no way around the gate either.
    let direct = bench.prepare("terminal", json!({ "command": "rm -rf /" }));
    let around = call("terminal", json!({ "command": "rm -rf /" }));
    assert_eq!((around.call.name.as_str(), &around.verdict), ("terminal", &direct.verdict));
    assert_ne!(around.verdict, Verdict::Run);
}

#[test]
fn what_makes_no_sense_is_refused_with_the_next_step() {
    let bench = bench(Deferral::On);
    for (arguments, want) in [
        (json!({}), "`name` must say which tool to call"),
        (json!({ "name": " " }), "tool_search finds one"),
        (json!({ "name": "xylophone" }), "It has: execute_code, house_lamp, session_search, skill_manage."),
        (json!({ "name": "house_lamp", "arguments": [1] }), "`arguments` must be an object"),
        (json!({ "name": "house_lamp", "arguments": {} }), "room"),
        // Not through itself.
        (json!({ "name": "tool_call", "arguments": { "name": "house_lamp" } }), "There is no tool called"),
    ] {
        let prepared = bench.prepare("tool_call", &arguments);
        let Verdict::Refuse { text, decision } = &prepared.verdict else { panic!("{arguments}") };
        assert!(text.contains(want) && *decision == "invalid", "{arguments}: {text}");
    }
}

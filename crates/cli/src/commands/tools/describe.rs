//! `hermes tools describe`.

use super::{DescribeArgs, Setup, failure};
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_config::distance;
use hermes_conversation::{ForSubagents, ToolDefinition};
use hermes_terminal::{print, term};
use hermes_tools::{AnyTool, Registry};
use hermes_toolsets::{PlatformReport, ToolsetRow, report};
use serde_json::{Value, json};

pub(super) fn run(args: &DescribeArgs, setup: &Setup, common: &Common) -> Result<Exit, Failure> {
    let report = report(setup.machine(), &args.on.platform).map_err(failure)?;
    if let Some(row) = report.toolsets.iter().find(|row| row.name == args.name)
        && row.tools.iter().all(|tool| tool.name != args.name)
    {
        show_toolset(row, common.json);
        return Ok(Exit::Answered);
    }
    let registry = Registry::builtin().with_context_tools();
    let found = registry.definitions().iter().find(|tool| tool.name == args.name).cloned();
    match (found, registry.find(&args.name)) {
        (Some(definition), Some(tool)) => {
            show_tool(&definition, tool, is_offered(&report, &args.name), common.json);
            Ok(Exit::Answered)
        }
        _ => Err(unknown(&args.name, &report)),
    }
}

fn is_offered(report: &PlatformReport, name: &str) -> bool {
    report.toolsets.iter().flat_map(|row| &row.tools).any(|tool| tool.name == name && tool.is_offered)
}

fn unknown(name: &str, report: &PlatformReport) -> Failure {
    let tools = || report.toolsets.iter().flat_map(|row| &row.tools);
    if tools().any(|tool| tool.name == name) {
        return Failure::usage(format!("{name} is a tool of Hermes that this version does not have"));
    }
    let near = tools().map(|tool| (distance(name, &tool.name), &tool.name)).min();
    let advice = match near {
        Some((steps, near)) if steps <= 3 => format!("did you mean `{near}`?"),
        _ => "`hermes tools list --json` lists them".to_owned(),
    };
    Failure::usage(format!("no tool or toolset is called `{name}`; {advice}"))
}

fn show_toolset(row: &ToolsetRow, is_json: bool) {
    let names: Vec<&str> = row.tools.iter().map(|tool| tool.name.as_str()).collect();
    if is_json {
        print::json(&json!({ "name": row.name, "about": row.about, "state": row.state.as_str(),
            "missing": row.missing, "tools": names }));
        return;
    }
    print::fields([
        ("toolset", row.name.to_owned()),
        ("for", row.about.to_owned()),
        ("state", row.state.as_str().to_owned()),
        ("tools", if names.is_empty() { "none".to_owned() } else { names.join(", ") }),
    ]);
    print::fields(row.missing.iter().map(|text| ("missing", text.clone())));
}

fn show_tool(definition: &ToolDefinition, tool: &dyn AnyTool, is_offered: bool, is_json: bool) {
    let facts = tool.facts();
    if is_json {
        print::json(&json!({
            "name": definition.name,
            "toolset": tool.toolset(),
            "description": definition.description,
            "parameters": tool.schema(),
            "only_reads": facts.reads_only,
            "offered": is_offered,
        }));
        return;
    }
    print::fields([
        ("tool", definition.name.clone()),
        ("toolset", tool.toolset().to_owned()),
        ("changes", if facts.reads_only { "nothing" } else { "files, processes or the session" }.to_owned()),
        (
            "agents",
            match facts.for_subagents {
                ForSubagents::Yes => "sub-agents have it",
                ForSubagents::Orchestrators => "only sub-agents that delegate have it",
                ForSubagents::No => "sub-agents do not have it",
            }
            .to_owned(),
        ),
        ("offered", if is_offered { "yes" } else { "no; see `hermes tools list`" }.to_owned()),
    ]);
    term::print_line(&format!("\n{}\n\nParameters:", term::printable(&definition.description)));
    print::lines(parameters(tool.schema()));
}

/// A line for each parameter.
fn parameters(schema: &Value) -> Vec<String> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema["properties"].as_object().filter(|all| !all.is_empty()) else {
        return vec!["  none".to_owned()];
    };
    properties
        .iter()
        .map(|(name, property)| {
            let mark = if required.contains(&name.as_str()) { ", required" } else { "" };
            let default = match &property["default"] {
                Value::Null => String::new(),
                value => format!(", default {value}"),
            };
            let about = property["description"].as_str().unwrap_or_default().replace('`', "");
            let about = if about.is_empty() { about } else { format!(": {about}") };
            term::printable(&format!("  {name} ({}{mark}{default}){about}", kind(property))).into_owned()
        })
        .collect()
}

/// The type of a parameter as text.
fn kind(property: &Value) -> String {
    if let Some(values) = property["enum"].as_array() {
        return values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|");
    }
    match &property["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(&property["items"])),
        Value::String(name) => name.clone(),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| *name != "null")
            .collect::<Vec<_>>()
            .join("|"),
        _ => "value".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_types_defaults_and_marks() {
        let schema = json!({
            "properties": {
                "path": {"type": "string", "description": "The `path`."},
                "limit": {"type": ["integer", "null"], "default": 5},
                "mode": {"enum": ["a", "b"]},
                "urls": {"type": "array", "items": {"type": "string"}},
                "any": {},
            },
            "required": ["path"],
        });
        insta::assert_snapshot!(parameters(&schema).join("\n"), @r"
          path (string, required): The path.
          limit (integer, default 5)
          mode (a|b)
          urls (list of string)
          any (value)
        ");
        assert_eq!(parameters(&json!({})), ["  none"]);
    }
}

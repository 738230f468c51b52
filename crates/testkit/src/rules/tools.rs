//! Rules about the offered tools.

use super::{Rejection, Rule, check_name};
use serde_json::Value;
use std::collections::HashSet;

pub(super) fn check(body: &Value) -> Result<(), Rejection> {
    check_each(body, check_tool, |tool| tool["function"]["name"].as_str())
}

/// Rules for tools in every format; `name` returns the part that must be unique.
pub(super) fn check_each(
    body: &Value,
    check_tool: fn(&Value, &str) -> Result<(), Rejection>,
    name: fn(&Value) -> Option<&str>,
) -> Result<(), Rejection> {
    let Some(tools) = body.get("tools") else {
        return match body.get("tool_choice") {
            Some(_) => Err(Rejection::new(Rule::ToolChoiceWithoutTools, "tool_choice")),
            None => Ok(()),
        };
    };
    let tools = tools.as_array().filter(|tools| !tools.is_empty());
    let tools = tools.ok_or_else(|| Rejection::new(Rule::EmptyTools, "tools"))?;
    let mut names = HashSet::new();
    for (place, tool) in tools.iter().enumerate() {
        let at = format!("tools[{place}]");
        check_tool(tool, &at)?;
        if !names.insert(name(tool)) {
            return Err(Rejection::new(Rule::DuplicateTool, at));
        }
    }
    Ok(())
}

fn check_tool(tool: &Value, at: &str) -> Result<(), Rejection> {
    let function = &tool["function"];
    if tool["type"] != "function" || !function["name"].is_string() || !function["parameters"].is_object() {
        return Err(Rejection::new(Rule::InvalidTool, at));
    }
    check_name(&function["name"], &format!("{at}.function.name"))
}

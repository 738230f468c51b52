//! Rules about the fields of a Messages request and its tools.

use super::super::check_name;
use super::super::messages::only_keys;
use super::{Rejection, Rule, is_blank, kind, list};
use serde_json::{Map, Value};
use std::collections::HashSet;

const KEYS: &[&str] = &[
    "model",
    "max_tokens",
    "stream",
    "thinking",
    "output_config",
    "tools",
    "tool_choice",
    "system",
    "messages",
    "temperature",
    "stop_sequences",
    "metadata",
];
const TOOL_KEYS: &[&str] = &["name", "description", "input_schema", "cache_control"];
const EFFORTS: &[&str] = &["low", "medium", "high", "xhigh", "max"];

pub(super) fn check(body: &Value) -> Result<(), Rejection> {
    let broken = |rule, at: &str| Err(Rejection::new(rule, at));
    let Some(fields) = body.as_object() else { return broken(Rule::NotJson, "body") };
    only_keys(fields, KEYS, "body")?;
    if is_blank(&body["model"]) {
        return broken(Rule::MissingModel, "model");
    }
    if body["max_tokens"].as_u64().is_none_or(|cap| cap == 0) {
        return broken(Rule::MissingMaxTokens, "max_tokens");
    }
    match body["messages"].as_array() {
        None => return broken(Rule::MissingMessages, "messages"),
        Some(messages) if messages.is_empty() => return broken(Rule::EmptyMessages, "messages"),
        Some(_) => {}
    }
    check_system(fields)?;
    check_thinking(body)?;
    check_tools(fields)
}

fn check_system(fields: &Map<String, Value>) -> Result<(), Rejection> {
    let broken = |at: String| Err(Rejection::new(Rule::InvalidSystem, at));
    match fields.get("system") {
        None => Ok(()),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(()),
        Some(Value::Array(blocks)) if !blocks.is_empty() => {
            for (place, block) in blocks.iter().enumerate() {
                let at = format!("system[{place}]");
                let Some(fields) = block.as_object().filter(|_| kind(block) == "text") else {
                    return broken(at);
                };
                only_keys(fields, &["type", "text", "cache_control"], &at)?;
                if is_blank(&block["text"]) {
                    return Err(Rejection::new(Rule::EmptyText, format!("{at}.text")));
                }
            }
            Ok(())
        }
        Some(_) => broken("system".to_owned()),
    }
}

fn check_thinking(body: &Value) -> Result<(), Rejection> {
    let thinking = &body["thinking"];
    let budget = thinking["budget_tokens"].as_u64().unwrap_or(0);
    let is_good = match kind(thinking) {
        "adaptive" => matches!(thinking["display"].as_str(), None | Some("summarized" | "omitted")),
        "disabled" => true,
        "enabled" => budget >= 1_024 && body["max_tokens"].as_u64().is_some_and(|cap| budget < cap),
        _ => thinking.is_null(),
    };
    if !is_good {
        return Err(Rejection::new(Rule::InvalidThinking, "thinking"));
    }
    let effort = &body["output_config"]["effort"];
    match effort.is_null() || effort.as_str().is_some_and(|word| EFFORTS.contains(&word)) {
        true => Ok(()),
        false => Err(Rejection::new(Rule::InvalidEffort, "output_config.effort")),
    }
}

fn check_tools(fields: &Map<String, Value>) -> Result<(), Rejection> {
    let choice = fields.get("tool_choice");
    let Some(tools) = fields.get("tools") else {
        return match choice {
            Some(_) => Err(Rejection::new(Rule::ToolChoiceWithoutTools, "tool_choice")),
            None => Ok(()),
        };
    };
    if list(tools).is_empty() {
        return Err(Rejection::new(Rule::EmptyTools, "tools"));
    }
    let mut names = HashSet::new();
    for (place, tool) in list(tools).iter().enumerate() {
        let at = format!("tools[{place}]");
        check_tool(tool, &at)?;
        if !names.insert(tool["name"].as_str()) {
            return Err(Rejection::new(Rule::DuplicateTool, at));
        }
    }
    let is_good = choice.is_none_or(|choice| match kind(choice) {
        "auto" | "any" | "none" => true,
        "tool" => names.contains(&choice["name"].as_str()),
        _ => false,
    });
    match is_good {
        true => Ok(()),
        false => Err(Rejection::new(Rule::InvalidToolChoice, "tool_choice")),
    }
}

fn check_tool(tool: &Value, at: &str) -> Result<(), Rejection> {
    let fields = tool.as_object().ok_or_else(|| Rejection::new(Rule::InvalidTool, at))?;
    only_keys(fields, TOOL_KEYS, at)?;
    check_name(&tool["name"], &format!("{at}.name"))?;
    let schema = &tool["input_schema"];
    let combines = ["anyOf", "oneOf", "allOf"].iter().any(|keyword| !schema[keyword].is_null());
    match schema["type"] == "object" && !combines {
        true => Ok(()),
        false => Err(Rejection::new(Rule::InvalidSchema, format!("{at}.input_schema"))),
    }
}

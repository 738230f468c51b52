//! The rules by which a provider rejects requests of the Responses format.
//!
//! Only fields that Hermes uses are accepted, so that any other field in a request is detected here.

mod items;
mod sequence;

use super::messages::{no_internal_keys, only_keys};
use super::{Rejection, Rule, check_name};
use serde_json::Value;

/// The rules of this format only.
#[cfg(test)]
pub(super) const RULES: &[Rule] = &[
    Rule::MissingInput,
    Rule::StoredResponse,
    Rule::InvalidInclude,
    Rule::InvalidReasoning,
    Rule::SmallOutputCap,
    Rule::LongCacheKey,
    Rule::InvalidItem,
    Rule::WrongPart,
    Rule::LongCallId,
    Rule::UnencryptedReasoning,
    Rule::StaleItemId,
    Rule::LoneReasoning,
];

const KEYS: &[&str] = &[
    "model",
    "instructions",
    "input",
    "tools",
    "store",
    "reasoning",
    "include",
    "max_output_tokens",
    "temperature",
    "tool_choice",
    "parallel_tool_calls",
    "prompt_cache_key",
    "service_tier",
    "stream",
];
const TOOL_KEYS: &[&str] = &["type", "name", "description", "strict", "parameters"];
const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const SUMMARIES: &[&str] = &["auto", "concise", "detailed"];

/// Checks a request body against the rules of the Responses format and returns the first violation.
pub fn check_responses(body: &Value) -> Result<(), Rejection> {
    request(body)?;
    tools(body)?;
    let input = body["input"].as_array().filter(|input| !input.is_empty());
    let input = input.ok_or_else(|| Rejection::new(Rule::MissingInput, "input"))?;
    for (place, item) in input.iter().enumerate() {
        items::check(item, &format!("input[{place}]"))?;
    }
    sequence::check(input)
}

fn request(body: &Value) -> Result<(), Rejection> {
    let broken = |rule, at: &str| Err(Rejection::new(rule, at));
    let Some(members) = body.as_object() else { return broken(Rule::NotJson, "body") };
    no_internal_keys(&body["input"], "input")?;
    only_keys(members, KEYS, "body")?;
    if body["model"].as_str().is_none_or(str::is_empty) {
        return broken(Rule::MissingModel, "model");
    }
    if body["store"] != false {
        return broken(Rule::StoredResponse, "store");
    }
    if members.get("instructions").is_some_and(|text| text.as_str().is_none_or(str::is_empty)) {
        return broken(Rule::InvalidContent, "instructions");
    }
    let known = |name: &Value| name == "reasoning.encrypted_content";
    if members.get("include").is_some_and(|names| !names.as_array().is_some_and(|n| n.iter().all(known))) {
        return broken(Rule::InvalidInclude, "include");
    }
    if members.get("max_output_tokens").is_some_and(|cap| cap.as_u64().is_none_or(|cap| cap < 16)) {
        return broken(Rule::SmallOutputCap, "max_output_tokens");
    }
    let fits = |key: &str| (1..=64).contains(&key.chars().count());
    if members.get("prompt_cache_key").is_some_and(|key| !key.as_str().is_some_and(fits)) {
        return broken(Rule::LongCacheKey, "prompt_cache_key");
    }
    members.get("reasoning").map_or(Ok(()), reasoning)
}

fn reasoning(wish: &Value) -> Result<(), Rejection> {
    let valid = wish.as_object().is_some_and(|members| {
        members.iter().all(|(key, value)| {
            let value = value.as_str().unwrap_or_default();
            match key.as_str() {
                "effort" => EFFORTS.contains(&value),
                "summary" => SUMMARIES.contains(&value),
                _ => false,
            }
        })
    });
    if valid { Ok(()) } else { Err(Rejection::new(Rule::InvalidReasoning, "reasoning")) }
}

fn tools(body: &Value) -> Result<(), Rejection> {
    super::tools::check_each(body, check_tool, |tool| tool["name"].as_str().or(tool["type"].as_str()))
}

fn check_tool(tool: &Value, at: &str) -> Result<(), Rejection> {
    let invalid = || Rejection::new(Rule::InvalidTool, at);
    let members = tool.as_object().ok_or_else(invalid)?;
    match tool["type"].as_str() {
        Some("web_search") => only_keys(members, &["type"], at),
        Some("function") => {
            only_keys(members, TOOL_KEYS, at)?;
            if !tool["name"].is_string() || tool["strict"] != false || !tool["parameters"].is_object() {
                return Err(invalid());
            }
            check_name(&tool["name"], &format!("{at}.name"))
        }
        _ => Err(invalid()),
    }
}

#[cfg(test)]
#[path = "responses_tests.rs"]
mod tests;

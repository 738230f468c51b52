//! Rarely used tools are kept in a catalogue instead of being sent with every request.
//!
//! The model gets three small tools in their place: one finds a tool, one describes it, one calls it. Their
//! results are appended to the conversation, so the list of tools never changes within a session. A call
//! through the catalogue is judged, approved, recorded and shown as a call of the tool itself.

mod ranking;

use crate::facts::text;
use crate::tool::Typed;
use crate::{AnyTool, CallScope, Concurrency, Tool, ToolContext, ToolError, ToolOutput, Toolset};
use hermes_conversation::{CallTitle, RawJson, ToolDefinition, ToolFacts, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tools that wait, by name.
pub(crate) type Waiting = Arc<BTreeMap<String, Arc<dyn AnyTool>>>;

/// When tools are put into the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deferral {
    /// If the definitions of all tools together are too large for every request.
    #[default]
    Auto,
    On,
    Off,
}

impl Deferral {
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "auto" => Self::Auto,
            "on" => Self::On,
            "off" => Self::Off,
            _ => return None,
        })
    }
}

/// Bytes that the definitions of all tools may have together before the seldom ones wait. That is a tenth of
/// the smallest window that tools are used with.
const MOST: usize = 12 * 1024;

/// The tools that should wait, of those on offer: name, definition, whether it is seldom needed.
pub(crate) fn chosen<'a>(
    tools: impl Iterator<Item = (&'a str, &'a ToolDefinition, bool)> + Clone,
    deferral: Deferral,
) -> Vec<&'a str> {
    let all: usize = tools.clone().map(|(_, definition, _)| size(definition)).sum();
    let waits = match deferral {
        Deferral::Off => false,
        Deferral::On => true,
        Deferral::Auto => all > MOST,
    };
    tools.filter(|(_, _, is_seldom)| waits && *is_seldom).map(|(name, _, _)| name).collect()
}

fn size(definition: &ToolDefinition) -> usize {
    definition.name.len() + definition.description.len() + definition.parameters.as_str().len()
}

/// The name of the tool that calls others.
pub(crate) const CALL: &str = "tool_call";

/// The tools that stand in for those that wait.
pub(crate) fn bridges(waiting: &Waiting) -> [Arc<dyn AnyTool>; 3] {
    [
        Arc::new(Typed::new(ToolSearch(waiting.clone()))),
        Arc::new(Typed::new(ToolDescribe(waiting.clone()))),
        Arc::new(Typed::new(ToolCallTool)),
    ]
}

/// Returns true if the name is one of the catalogue's own tools.
pub(crate) fn is_bridge(name: &str) -> bool {
    [ToolSearch::NAME, ToolDescribe::NAME, ToolCallTool::NAME].contains(&name)
}

/// The facts of one of theirs.
pub(crate) fn facts(name: &str) -> Option<ToolFacts> {
    match name {
        ToolSearch::NAME => Some(ToolSearch::FACTS),
        ToolDescribe::NAME => Some(ToolDescribe::FACTS),
        ToolCallTool::NAME => Some(ToolCallTool::FACTS),
        _ => None,
    }
}

/// The target of a call through the catalogue: the tool's name and its arguments as JSON text.
pub(crate) fn meant(arguments: &serde_json::Map<String, Value>) -> Result<(String, String), String> {
    let name = arguments.get("name").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if name.is_empty() {
        return Err("`name` must say which tool to call; tool_search finds one".to_owned());
    }
    let inner = match arguments.get("arguments") {
        None | Some(Value::Null) => "{}".to_owned(),
        // Some models write the arguments as text.
        Some(Value::String(text)) => text.clone(),
        Some(object @ Value::Object(_)) => object.to_string(),
        Some(_) => return Err("`arguments` must be an object with the tool's own parameters".to_owned()),
    };
    Ok((name.to_owned(), inner))
}

/// Find further tools by words. They are called with tool_call.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SearchArgs {
    query: String,
    #[serde(default = "usual")]
    #[schemars(range(min = 1, max = 20))]
    limit: usize,
}

fn usual() -> usize {
    5
}

/// Show the parameters of a tool that tool_search found.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct DescribeArgs {
    name: String,
}

/// Call a tool that tool_search found.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CallArgs {
    #[expect(dead_code, reason = "read before the call is bound; here for the schema")]
    name: String,
    /// The tool's own parameters.
    #[expect(dead_code, reason = "read before the call is bound; here for the schema")]
    #[serde(default)]
    arguments: serde_json::Map<String, Value>,
}

struct ToolSearch(Waiting);
struct ToolDescribe(Waiting);
struct ToolCallTool;

impl Tool for ToolSearch {
    const NAME: &'static str = "tool_search";
    const TOOLSET: Toolset = Toolset::Catalogue;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Search,
        reads_only: true,
        title: Some(|arguments| CallTitle::new("🔍", "tools", text(arguments, "query"))),
        ..ToolFacts::DEFAULT
    };
    type Args = SearchArgs;

    fn concurrency(&self, _: &SearchArgs, _: &ToolContext) -> Concurrency {
        Concurrency::Free
    }

    async fn run(&self, args: SearchArgs, _: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        let definitions: Vec<ToolDefinition> = self.0.values().map(|tool| tool.definition()).collect();
        let found: Vec<Value> = ranking::ranked(&definitions, &args.query, args.limit.clamp(1, 20))
            .into_iter()
            .map(|definition| json!({ "name": definition.name, "description": definition.description }))
            .collect();
        let hint = match found.is_empty() {
            true => format!("nothing fits; there are: {}", names(&self.0)),
            false => "tool_describe shows the parameters, tool_call calls it".to_owned(),
        };
        Ok(ToolOutput::json(json!({ "tools": found, "all": self.0.len(), "hint": hint })))
    }
}

impl Tool for ToolDescribe {
    const NAME: &'static str = "tool_describe";
    const TOOLSET: Toolset = Toolset::Catalogue;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Read,
        reads_only: true,
        title: Some(|arguments| CallTitle::new("🔍", "tool", text(arguments, "name"))),
        ..ToolFacts::DEFAULT
    };
    type Args = DescribeArgs;

    fn concurrency(&self, _: &DescribeArgs, _: &ToolContext) -> Concurrency {
        Concurrency::Free
    }

    async fn run(&self, args: DescribeArgs, _: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        let Some(tool) = self.0.get(args.name.trim()) else {
            let all = names(&self.0);
            return Err(ToolError::failed(format!(
                "`{}` is not in the catalogue; there are: {all}",
                args.name
            )));
        };
        let ToolDefinition { name, description, parameters } = tool.definition();
        let parameters = parameters_of(&parameters);
        Ok(ToolOutput::json(json!({ "name": name, "description": description, "parameters": parameters })))
    }
}

impl Tool for ToolCallTool {
    const NAME: &'static str = CALL;
    const TOOLSET: Toolset = Toolset::Catalogue;
    const FACTS: ToolFacts = ToolFacts { reads_only: true, ..ToolFacts::DEFAULT };
    type Args = CallArgs;

    /// The registry judges such a call as one of the tool that is meant, so this is never run.
    async fn run(&self, _: CallArgs, _: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        Err(ToolError::failed("this call was not run; call the tool by its own name"))
    }
}

fn names(waiting: &Waiting) -> String {
    waiting.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn parameters_of(parameters: &RawJson) -> Value {
    serde_json::from_str(parameters.as_str()).unwrap_or(Value::Null)
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;

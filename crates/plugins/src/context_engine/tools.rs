//! The tools of an external engine.

use super::external::External;
use super::wire::ToolWire;
use hermes_conversation::{Effect, ToolDefinition};
use hermes_tools::{
    AnyTool, Bound, Concurrency, Origin, Refusal, Registry, ToolContext, ToolError, ToolOutput,
};
use serde_json::{Map, Value};
use std::sync::Arc;

const TOOLSET: &str = "context_engine";

/// Returns true if the settings offer the tools of engines to the model: if tools are not restricted, or the
/// toolset is named.
pub fn are_enabled(toolsets: &[String], disabled: &[String]) -> bool {
    let offers = |name: &String| matches!(name.as_str(), TOOLSET | "hermes-cli" | "all" | "*");
    let is_this = |name: &String| matches!(name.as_str(), TOOLSET | "all" | "*");
    toolsets.iter().any(offers) && !disabled.iter().any(is_this)
}

/// The tools of a session and of its engine, with warnings for the user about duplicate names.
pub fn with_tools(
    registry: &Registry,
    tools: Vec<ToolWire>,
    engine: Option<&Arc<External>>,
) -> (Registry, Vec<String>) {
    let tools = tools.into_iter().map(|tool| EngineTool::of(tool, engine.cloned()));
    let (registry, refused) = registry.joined_by(tools.collect());
    let warnings = refused.iter().map(|error| format!("{error}; the tool of the engine is ignored"));
    (registry, warnings.collect())
}

struct EngineTool {
    definition: ToolDefinition,
    schema: Value,
    /// `None` in a replay, which does not call it.
    engine: Option<Arc<External>>,
}

impl EngineTool {
    fn of(tool: ToolWire, engine: Option<Arc<External>>) -> Arc<dyn AnyTool> {
        let ToolWire { name, description, parameters } = tool;
        let schema = serde_json::from_str(parameters.as_str()).unwrap_or_default();
        Arc::new(Self { definition: ToolDefinition { name, description, parameters }, schema, engine })
    }
}

impl AnyTool for EngineTool {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn toolset(&self) -> &str {
        TOOLSET
    }

    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    /// The model needs these tools to find summarised messages.
    fn is_seldom(&self) -> bool {
        false
    }

    fn is_untrusted(&self) -> bool {
        true
    }

    fn bind(self: Arc<Self>, arguments: Map<String, Value>, _: &ToolContext) -> Result<Bound, Refusal> {
        Ok(Bound {
            // The effect is unknown, and the program runs with the user's rights anyway.
            effect: Effect::Any,
            action: None,
            concurrency: Concurrency::Alone,
            touches: None,
            body: Box::new(move |_, scope| {
                Box::pin(async move {
                    let engine = self
                        .engine
                        .as_ref()
                        .ok_or_else(|| ToolError::failed("the context engine is not running"))?;
                    let result = engine.call(self.name(), &arguments, &scope.events).await;
                    let result = result.map_err(ToolError::failed)?;
                    Ok(ToolOutput::json(result).with_origin(Origin::Outside))
                })
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::RawJson;

    #[test]
    fn tools_are_offered_where_tools_are_not_restricted() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (toolsets, disabled, want) in [
            (&["hermes-cli"][..], &[][..], true),
            (&["all"], &[], true),
            (&["file", "context_engine"], &[], true),
            (&["file"], &[], false),
            (&["hermes-cli"], &["context_engine"], false),
            (&["hermes-cli"], &["file"], true),
            (&[], &[], false),
        ] {
            assert_eq!(are_enabled(&list(toolsets), &list(disabled)), want, "{toolsets:?} {disabled:?}");
        }
    }

    #[test]
    fn duplicate_tool_name_is_ignored_with_a_warning() {
        let tool = |name: &str| ToolWire {
            name: name.into(),
            description: "d".into(),
            parameters: RawJson::parse(r#"{"type":"object","properties":{}}"#).unwrap(),
        };
        let ours = Registry::builtin();
        let ours = ours.deferring(&["skill_manage"]);
        let (all, warnings) =
            with_tools(&ours, vec![tool("read_file"), tool("recall_x"), tool("skill_manage")], None);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(
            warnings[0].contains("`read_file`") && warnings[1].contains("`skill_manage`"),
            "{warnings:?}"
        );
        assert!(all.names().contains(&"recall_x"));
        assert_eq!(all.waiting(), ["skill_manage"]);
        assert_eq!(all.names().len(), ours.names().len() + 1);
    }
}

//! The tools of an engine of somebody else, as the model has them.

use super::external::External;
use super::wire::ToolWire;
use hermes_conversation::{Effect, ToolDefinition};
use hermes_tools::{
    AnyTool, Bound, Concurrency, Origin, Refusal, Registry, ToolContext, ToolError, ToolOutput,
};
use serde_json::{Map, Value};
use std::sync::Arc;

const TOOLSET: &str = "context_engine";

/// Whether the settings offer the tools of engines to the model: when tools are not restricted, or they are
/// named.
pub fn are_wanted(toolsets: &[String], disabled: &[String]) -> bool {
    let offers = |name: &String| matches!(name.as_str(), TOOLSET | "hermes-cli" | "all" | "*");
    let is_this = |name: &String| matches!(name.as_str(), TOOLSET | "all" | "*");
    toolsets.iter().any(offers) && !disabled.iter().any(is_this)
}

/// The tools of a session and those of its engine, and what a person should know about it.
pub fn with_tools(
    registry: &Registry,
    tools: Vec<ToolWire>,
    engine: Option<&Arc<External>>,
) -> (Registry, Vec<String>) {
    let tools = tools.into_iter().map(|said| EngineTool::of(said, engine.cloned()));
    let (registry, refused) = registry.joined_by(tools.collect());
    let told = refused.iter().map(|error| format!("{error}; the engine's is left out"));
    (registry, told.collect())
}

struct EngineTool {
    definition: ToolDefinition,
    schema: Value,
    /// Nobody in a replay, which does not call it.
    engine: Option<Arc<External>>,
}

impl EngineTool {
    fn of(said: ToolWire, engine: Option<Arc<External>>) -> Arc<dyn AnyTool> {
        let ToolWire { name, description, parameters } = said;
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

    /// What was put away is asked for when the model notices that it is not there.
    fn is_seldom(&self) -> bool {
        false
    }

    fn is_untrusted(&self) -> bool {
        true
    }

    fn bind(self: Arc<Self>, arguments: Map<String, Value>, _: &ToolContext) -> Result<Bound, Refusal> {
        Ok(Bound {
            // Whatever the program does, it could do anyway; nobody knows what it is.
            effect: Effect::Any,
            approval: None,
            concurrency: Concurrency::Alone,
            body: Box::new(move |_, scope| {
                Box::pin(async move {
                    let engine = self.engine.as_ref().ok_or_else(|| ToolError::failed("nobody is there"))?;
                    let answer = engine.call(self.name(), &arguments, &scope.events).await;
                    let answer = answer.map_err(ToolError::failed)?;
                    Ok(ToolOutput::json(answer).with_origin(Origin::Outside))
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
            assert_eq!(are_wanted(&list(toolsets), &list(disabled)), want, "{toolsets:?} {disabled:?}");
        }
    }

    #[test]
    fn a_borrowed_name_is_left_out_with_a_word() {
        let tool = |name: &str| ToolWire {
            name: name.into(),
            description: "d".into(),
            parameters: RawJson::parse(r#"{"type":"object","properties":{}}"#).unwrap(),
        };
        let ours = Registry::builtin();
        let ours = ours.deferring(&["skill_manage"]);
        let (all, told) =
            with_tools(&ours, vec![tool("read_file"), tool("recall_x"), tool("skill_manage")], None);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("`read_file`") && told[1].contains("`skill_manage`"), "{told:?}");
        assert!(all.names().contains(&"recall_x"));
        assert_eq!(all.waiting(), ["skill_manage"]);
        assert_eq!(all.names().len(), ours.names().len() + 1);
    }
}

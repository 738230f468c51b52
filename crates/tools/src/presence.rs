//! Definitions that name only tools which the session has.
//!
//! A description marks the names of other tools with backquotes. A sentence with the name of an absent tool is left
//! out, and so is a parameter that is of no use without it.

use crate::AnyTool;
use hermes_conversation::{RawJson, ToolDefinition};
use serde_json::Value;
use std::collections::BTreeSet;

/// The definition of a tool in a session that has the tools `present`.
pub(crate) fn definition(tool: &dyn AnyTool, present: &BTreeSet<&str>) -> ToolDefinition {
    let mut definition = tool.definition();
    definition.description = sentences(&definition.description, present);
    if !tool.lists().is_empty() {
        let listed: Vec<&str> = tool.lists().iter().copied().filter(|name| present.contains(name)).collect();
        let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
        definition.description = definition.description.replace("{tools}", &listed);
    }
    let absent = |(_, needed): &&(&str, &str)| !present.contains(needed);
    let useless: Vec<&str> = tool.needs().iter().filter(absent).map(|(parameter, _)| *parameter).collect();
    if !useless.is_empty()
        && let Some(parameters) = RawJson::of(&without(tool.schema(), &useless))
    {
        definition.parameters = parameters;
    }
    definition
}

/// The sentences that name no absent tool, without the marks.
fn sentences(description: &str, present: &BTreeSet<&str>) -> String {
    if !description.contains('`') {
        return description.to_owned();
    }
    let mut rest = description;
    let mut kept = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(". ").map_or(rest.len(), |at| at + 1);
        let sentence = rest[..end].trim();
        // Between two marks is a name.
        if sentence.split('`').skip(1).step_by(2).all(|name| present.contains(name)) {
            kept.push(sentence.replace('`', ""));
        }
        rest = &rest[end..];
    }
    kept.join(" ")
}

fn without(schema: &Value, parameters: &[&str]) -> Value {
    let mut schema = schema.clone();
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|name, _| !parameters.contains(&name.as_str()));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;

    #[test]
    fn sentences_about_absent_tools_are_left_out() {
        let text = "Run it. Prefer `patch` over sed. Use `process` or `todo`. Done";
        for (present, want) in [
            (&["patch", "process", "todo"][..], "Run it. Prefer patch over sed. Use process or todo. Done"),
            (&["patch", "todo"], "Run it. Prefer patch over sed. Done"),
            (&[], "Run it. Done"),
        ] {
            assert_eq!(sentences(text, &present.iter().copied().collect()), want);
        }
        assert_eq!(sentences("As it is. ", &BTreeSet::new()), "As it is. ");
    }

    /// A name of a tool that is also a word is only looked for between marks, so that each one must be marked.
    #[test]
    fn no_definition_names_an_absent_tool() {
        let all = Registry::builtin();
        let names = all.all_names();
        for name in &names {
            let alone = all.only(&[name]);
            let told = &alone.definitions()[0];
            let schema: Value = serde_json::from_str(told.parameters.as_str()).unwrap();
            let properties = schema["properties"].as_object().into_iter().flatten();
            let about = properties.filter_map(|(_, property)| property["description"].as_str());
            let text = about.fold(told.description.clone(), |text, more| text + " " + more);
            assert!(!text.contains('`'), "{name}");
            for other in names.iter().filter(|other| other.contains('_') && other != &name) {
                assert!(!text.contains(*other), "{name} names {other}: {text}");
            }
        }
        let terminal = all.only(&["terminal"]).definitions()[0].clone();
        assert!(!terminal.parameters.as_str().contains("background"), "{:?}", terminal.parameters);
        let both = all.only(&["process", "terminal"]).definitions()[1].clone();
        assert!(both.parameters.as_str().contains("background"));
        assert!(both.description.contains("process tool") && !both.description.contains("patch"));
    }
}

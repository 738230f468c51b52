//! Compares the parameters of our tools with those of the Python release.

use crate::Registry;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Intended differences: tool and parameter (or `required`), and the reason.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("delegate_task", "role", "ours states its default"),
    ("delegate_task", "tasks.role", "ours states its default"),
    ("skill_manage", "replace_all", "ours states its default"),
    ("terminal", "write_access", "asks for a directory that the sandbox would keep from the command"),
    ("todo", "todos.content", "with merge, an entry may be changed by its id and one field"),
    ("todo", "todos.status", "with merge, an entry may be changed by its id and one field"),
];

/// The parameters of a schema by their paths: type, values, default, required.
fn shape(schema: &Value, path: &str, shapes: &mut BTreeMap<String, String>) {
    let required: BTreeSet<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let values: BTreeSet<String> =
            property["enum"].as_array().into_iter().flatten().map(Value::to_string).collect();
        let default = property.get("default").map(Value::to_string);
        let is_required = required.contains(name.as_str());
        let text = format!(
            "{} enum={values:?} default={default:?} required={is_required} items={}",
            property["type"], property["items"]["type"]
        );
        shapes.insert(path.clone(), text);
        shape(property, &path, shapes);
        shape(&property["items"], &path, shapes);
    }
}

#[test]
fn parameters_are_those_of_the_python_release() {
    let registry = Registry::builtin();
    let ours: BTreeMap<String, Value> = registry
        .definitions()
        .iter()
        .map(|tool| (tool.name.clone(), serde_json::from_str(tool.parameters.as_str()).unwrap()))
        .collect();
    let mut found = BTreeSet::new();
    let mut compared = BTreeSet::new();
    for line in include_str!("../tests/cases/tool_parameters.jsonl").lines() {
        let theirs: Value = serde_json::from_str(line).unwrap();
        let name = theirs["name"].as_str().unwrap();
        let (mut want, mut have) = (BTreeMap::new(), BTreeMap::new());
        shape(&theirs["parameters"], "", &mut want);
        shape(&ours[name], "", &mut have);
        let paths: BTreeSet<&String> = want.keys().chain(have.keys()).collect();
        for path in paths {
            if want.get(path) != have.get(path) {
                found.insert(format!("{name}.{path}: {:?} is {:?}", want.get(path), have.get(path)));
            }
        }
        compared.insert(name.to_owned());
    }
    let all: BTreeSet<String> = ours.keys().cloned().collect();
    assert_eq!(compared, all, "every tool is compared");
    let is_listed = |difference: &&String| {
        DIFFERENCES.iter().any(|(tool, path, _)| difference.starts_with(&format!("{tool}.{path}: ")))
    };
    let unlisted: Vec<&String> = found.iter().filter(|difference| !is_listed(difference)).collect();
    assert!(unlisted.is_empty(), "{unlisted:#?}");
    for (tool, path, why) in DIFFERENCES {
        let is_there = found.iter().any(|difference| difference.starts_with(&format!("{tool}.{path}: ")));
        assert!(is_there, "no longer a difference: {tool}.{path} ({why})");
    }
}

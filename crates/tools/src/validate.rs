//! Reports the invalid field, before a typed parser reports only that one is invalid.
//!
//! Checks the keywords that our own schemas use: types, required fields, enumerations, bounds.

use crate::arguments::{self, kind};
use crate::coerce::{self, allows};
use hermes_conversation::ToolDefinition;
use serde_json::{Map, Value};

/// Returns true if a tool takes these arguments: an object with all required fields and no unknown ones.
pub fn fits_schema(tool: &ToolDefinition, arguments: &str) -> bool {
    let Ok(schema) = serde_json::from_str::<Value>(tool.parameters.as_str()) else { return false };
    let Ok(map) = arguments::parse(arguments) else { return false };
    let known = schema.get("properties").and_then(Value::as_object);
    let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
    map.keys().all(is_known) && validate(&schema, &coerce::coerce_fields(&schema, map)).is_ok()
}

/// The first thing wrong with the arguments, as a sentence for the model.
pub(crate) fn validate(schema: &Value, map: &Map<String, Value>) -> Result<(), String> {
    check_fields(schema, map, "")
}

fn check_fields(schema: &Value, map: &Map<String, Value>, path: &str) -> Result<(), String> {
    let required: Vec<&str> = words(schema, "required").collect();
    for name in &required {
        // With a default it may be left out, whatever the list of required fields says.
        let has_default = schema["properties"][*name].get("default").is_some();
        if !map.contains_key(*name) && !has_default {
            return Err(format!("`{path}{name}` is required"));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        match map.get(name) {
            None => {}
            // An optional field may also be left out by saying null.
            Some(Value::Null) if !required.contains(&name.as_str()) => {}
            Some(value) => check(schema, value, &format!("{path}{name}"))?,
        }
    }
    Ok(())
}

fn check(schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    if schema.get("type").is_some() && !has_type(schema, value) {
        let wanted = schema["type"].to_string().replace('"', "");
        return Err(format!("`{path}` must be of type {wanted}, not {}", kind(value)));
    }
    let listed: Vec<&str> = words(schema, "enum").collect();
    if !listed.is_empty() && !value.as_str().is_some_and(|word| listed.contains(&word)) {
        return Err(format!("`{path}` must be one of {}, not {value}", listed.join(", ")));
    }
    check_bounds(schema, value, path)?;
    match value {
        Value::Object(map) => check_fields(schema, map, &format!("{path}.")),
        Value::Array(items) => {
            let Some(item) = schema.get("items") else {
                return Ok(());
            };
            items
                .iter()
                .enumerate()
                .try_for_each(|(index, value)| check(item, value, &format!("{path}[{index}]")))
        }
        _ => Ok(()),
    }
}

fn check_bounds(schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    let bound = |name| schema.get(name).and_then(Value::as_f64);
    let Some(number) = value.as_f64() else {
        return Ok(());
    };
    match (bound("minimum"), bound("maximum")) {
        (Some(least), _) if number < least => Err(format!("`{path}` must be at least {least}")),
        (_, Some(most)) if number > most => Err(format!("`{path}` must be at most {most}")),
        _ => Ok(()),
    }
}

/// Returns true if the value is of a type that the schema names.
pub(crate) fn has_type(schema: &Value, value: &Value) -> bool {
    match value {
        Value::Null => allows(schema, "null"),
        Value::Bool(_) => allows(schema, "boolean"),
        Value::Number(number) => allows(schema, "number") || (allows(schema, "integer") && !number.is_f64()),
        Value::String(_) => allows(schema, "string"),
        Value::Array(_) => allows(schema, "array"),
        Value::Object(_) => allows(schema, "object"),
    }
}

fn words<'a>(schema: &'a Value, list: &str) -> impl Iterator<Item = &'a str> {
    schema.get(list).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_wrong_field_is_named() {
        let schema = json!({
            "type": "object",
            "required": ["path", "n"],
            "properties": {
                "path": {"type": "string"},
                "n": {"type": "integer", "minimum": 1, "maximum": 9},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "list": {"type": "array", "items": {"type": "object", "required": ["id"],
                    "properties": {"id": {"type": "string"}}}},
            },
        });
        for (arguments, want) in [
            (json!({"path": "x", "n": 1}), None),
            (json!({"path": "x", "n": 1, "mode": null, "extra": 1}), None),
            (json!({"n": 1}), Some("`path` is required")),
            (json!({"path": null, "n": 1}), Some("`path` must be of type string, not null")),
            (json!({"path": "x", "n": "y"}), Some("`n` must be of type integer, not a string")),
            (json!({"path": "x", "n": 1.5}), Some("`n` must be of type integer, not a number")),
            (json!({"path": "x", "n": 0}), Some("`n` must be at least 1")),
            (json!({"path": "x", "n": 10}), Some("`n` must be at most 9")),
            (json!({"path": "x", "n": 1, "mode": "c"}), Some("`mode` must be one of a, b, not \"c\"")),
            (json!({"path": "x", "n": 1, "list": [{"id": "1"}, {}]}), Some("`list[1].id` is required")),
        ] {
            let Value::Object(map) = &arguments else { unreachable!() };
            assert_eq!(validate(&schema, map).err().as_deref(), want, "{arguments}");
        }
    }
}

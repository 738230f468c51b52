//! Removes from tool schemas what the Messages format rejects.

use hermes_conversation::RawJson;
use serde_json::{Map, Value};

/// Keywords whose value is one schema.
const ONE: &[&str] = &["items", "additionalProperties", "not", "contains", "propertyNames"];
/// Keywords whose value is a list of schemas.
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords whose value names schemas.
const MAPS: &[&str] = &["properties", "patternProperties", "$defs", "definitions"];

/// An object schema without nullable types and without combinations at the top level. Anything that is not a
/// schema becomes the schema of no arguments.
pub(super) fn cleaned(parameters: &RawJson) -> Value {
    let mut schema = match serde_json::from_str(parameters.as_str()) {
        Ok(Value::Object(schema)) => schema,
        Ok(_) | Err(_) => Map::new(),
    };
    for keyword in ["anyOf", "oneOf", "allOf"] {
        schema.shift_remove(keyword);
    }
    schema.insert("type".into(), "object".into());
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".into(), Value::Object(Map::new()));
    }
    clean(&mut schema);
    Value::Object(schema)
}

fn clean(schema: &mut Map<String, Value>) {
    drop_null_types(schema);
    drop_null_choices(schema);
    for (keyword, value) in schema.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Object(inner) if ONE.contains(&keyword) => clean(inner),
            Value::Object(named) if MAPS.contains(&keyword) => clean_all(named.values_mut()),
            Value::Array(list) if LISTS.contains(&keyword) => clean_all(list.iter_mut()),
            _ => {}
        }
    }
}

fn clean_all<'a>(schemas: impl Iterator<Item = &'a mut Value>) {
    schemas.filter_map(Value::as_object_mut).for_each(clean);
}

/// `type: [string, null]` becomes `type: string`.
fn drop_null_types(schema: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = schema.get_mut("type") else { return };
    let before = types.len();
    types.retain(|kind| kind != "null");
    let dropped = types.len() < before;
    match types.as_mut_slice() {
        [] => {
            schema.shift_remove("type");
        }
        [only] => {
            let only = only.take();
            schema.insert("type".into(), only);
        }
        _ => {}
    }
    if dropped {
        drop_null_default(schema);
    }
}

/// Replaces a choice between a schema and null by the schema.
fn drop_null_choices(schema: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(choices)) = schema.get_mut(keyword) else { continue };
        let before = choices.len();
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if choices.len() == before {
            continue;
        }
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            schema.shift_remove(keyword);
            for (key, value) in only {
                // Keywords beside the choice apply to this property.
                schema.entry(key).or_insert(value);
            }
        } else if choices.is_empty() {
            schema.shift_remove(keyword);
        }
        drop_null_default(schema);
        // The schema that was moved up may be a choice itself.
        drop_null_types(schema);
    }
}

fn drop_null_default(schema: &mut Map<String, Value>) {
    if schema.get("default").is_some_and(Value::is_null) {
        schema.shift_remove("default");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_cleaned() {
        for (given, want) in [
            (r#"{"type":"object","properties":{"a":{"type":"string"}}}"#, None),
            ("null", Some(r#"{"type":"object","properties":{}}"#)),
            (r#"{"title":"T"}"#, Some(r#"{"title":"T","type":"object","properties":{}}"#)),
            (
                r#"{"type":"object","properties":{"a":{"type":["string","null"],"default":null}},"required":["a"]}"#,
                Some(r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#),
            ),
            (
                r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"integer","description":"inner"},{"type":"null"}],"description":"outer"}}}"#,
                Some(r#"{"type":"object","properties":{"a":{"description":"outer","type":"integer"}}}"#),
            ),
            (
                r#"{"type":"object","properties":{"a":{"oneOf":[{"type":"integer"},{"type":"string"},{"type":"null"}]}}}"#,
                Some(
                    r#"{"type":"object","properties":{"a":{"oneOf":[{"type":"integer"},{"type":"string"}]}}}"#,
                ),
            ),
            (
                r#"{"type":"object","properties":{},"anyOf":[{"required":["a"]}],"allOf":[]}"#,
                Some(r#"{"type":"object","properties":{}}"#),
            ),
            // A property may have the name of a keyword.
            (r#"{"type":"object","properties":{"anyOf":{"type":"string"}}}"#, None),
            (
                r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":["integer","null"]}}}}"#,
                Some(r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}"#),
            ),
        ] {
            let got = cleaned(&RawJson::parse(given).unwrap()).to_string();
            assert_eq!(got, want.unwrap_or(given), "{given}");
        }
    }
}

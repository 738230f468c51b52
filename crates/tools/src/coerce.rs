//! Bending arguments into the shape the schema asks for.
//!
//! Models often send the right value in the wrong clothes: a number in quotes, a list as JSON
//! text, one item where a list is meant. Nothing is guessed beyond that; what does not fit
//! stays as it is for [`validate`](crate::validate) to print_error about.

use crate::arguments;
use crate::validate::has_type;
use serde_json::{Map, Value};

/// `value`, made to fit `schema` where that is possible without guessing.
pub(crate) fn coerce(schema: &Value, value: Value) -> Value {
    let value = fit(schema, value);
    match value {
        Value::Object(map) => Value::Object(coerce_fields(schema, map)),
        Value::Array(items) => match schema.get("items") {
            Some(item) => items.into_iter().map(|value| coerce(item, value)).collect(),
            None => Value::Array(items),
        },
        other => other,
    }
}

/// The same for the fields of an object.
pub(crate) fn coerce_fields(schema: &Value, map: Map<String, Value>) -> Map<String, Value> {
    let properties = schema.get("properties");
    map.into_iter()
        .map(|(key, value)| match properties.and_then(|known| known.get(&key)) {
            Some(schema) => (key, coerce(schema, value)),
            None => (key, value),
        })
        .collect()
}

/// Returns true if `schema` names `kind` as its type or as one of its types.
pub(crate) fn allows(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    }
}

fn fit(schema: &Value, value: Value) -> Value {
    if schema.get("type").is_none() || has_type(schema, &value) {
        return value;
    }
    match value {
        Value::String(text) => from_text(schema, text),
        Value::Number(number) if allows(schema, "integer") => whole(&number).unwrap_or(Value::Number(number)),
        Value::Number(_) | Value::Bool(_) if allows(schema, "string") => Value::String(value.to_string()),
        Value::Null => Value::Null,
        other if allows(schema, "array") => Value::Array(vec![other]),
        other => other,
    }
}

fn from_text(schema: &Value, text: String) -> Value {
    let trimmed = text.trim();
    if trimmed == "null" && allows(schema, "null") {
        return Value::Null;
    }
    if allows(schema, "boolean") {
        match trimmed.to_ascii_lowercase().as_str() {
            "true" => return Value::Bool(true),
            "false" => return Value::Bool(false),
            _ => {}
        }
    }
    match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::Number(number)) if allows(schema, "number") => return Value::Number(number),
        Ok(Value::Number(number)) if allows(schema, "integer") => {
            if let Some(number) = whole(&number) {
                return number;
            }
        }
        Ok(list @ Value::Array(_)) if allows(schema, "array") => return list,
        Ok(Value::Object(_)) if allows(schema, "object") => {
            // Text inside text is read as strictly as the arguments themselves.
            if let Ok(map) = arguments::parse(trimmed) {
                return Value::Object(map);
            }
        }
        _ => {}
    }
    if allows(schema, "array") {
        return Value::Array(vec![Value::String(text)]);
    }
    Value::String(text)
}

/// `42.0` as `42`.
fn whole(number: &serde_json::Number) -> Option<Value> {
    if !number.is_f64() {
        return Some(Value::Number(number.clone()));
    }
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() < 9e15).then(|| Value::from(float as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_bent_into_the_schema() {
        let list = json!({"type": "array", "items": {"type": "integer"}});
        for (schema, value, want) in [
            (json!({"type": "integer"}), json!("42"), json!(42)),
            (json!({"type": "integer"}), json!(" 42.0 "), json!(42)),
            (json!({"type": "integer"}), json!(3.0), json!(3)),
            (json!({"type": "integer"}), json!(3.5), json!(3.5)),
            (json!({"type": "integer"}), json!("many"), json!("many")),
            (json!({"type": "number"}), json!("1.5"), json!(1.5)),
            (json!({"type": "boolean"}), json!("True"), json!(true)),
            (json!({"type": "boolean"}), json!("yes"), json!("yes")),
            (json!({"type": "string"}), json!("42"), json!("42")),
            (json!({"type": "string"}), json!(42), json!("42")),
            (json!({"type": ["string", "null"]}), json!("null"), json!("null")),
            (json!({"type": ["integer", "null"]}), json!("null"), json!(null)),
            (list.clone(), json!("[1,\"2\"]"), json!([1, 2])),
            (list.clone(), json!(7), json!([7])),
            (list, json!("7"), json!([7])),
            (json!({"type": "array"}), json!({"a": 1}), json!([{"a": 1}])),
            (json!({"type": "object"}), json!("{\"a\":1}"), json!({"a": 1})),
            (json!({"type": "object"}), json!("{\"a\":1,\"a\":2}"), json!("{\"a\":1,\"a\":2}")),
            (
                json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
                json!({"n": "1", "other": "1"}),
                json!({"n": 1, "other": "1"}),
            ),
            (json!({}), json!("42"), json!("42")),
        ] {
            assert_eq!(coerce(&schema, value.clone()), want, "{value} for {schema}");
        }
    }
}

//! Reading the arguments of a call, strictly.
//!
//! Ambiguous text is refused: with a duplicate key, the call that the user approved and the one that a tool
//! reads may differ.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// The longest argument text that is read.
const LONGEST: usize = 8 * 1024 * 1024;

/// Parses `text` as one JSON object. Blank text means no arguments. Depth is limited by the
/// parser (128).
pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, String> {
    if text.len() > LONGEST {
        return Err(format!("the arguments are {} bytes long; at most {LONGEST} are accepted", text.len()));
    }
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str::<Strict>(text) {
        Ok(Strict(Value::Object(map))) => Ok(map),
        Ok(Strict(other)) => Err(format!("the arguments must be one JSON object, not {}", kind(&other))),
        Err(error) => Err(format!("the arguments are not valid JSON: {error}; use {{}} for no arguments")),
    }
}

/// The name of a value's type, as a sentence wants it.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A value in which no object names a key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key `{key}` is given twice")));
            }
            let Strict(value) = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_arguments_are_read() {
        for (text, want) in [
            ("", "{}"),
            (" \n", "{}"),
            (r#"{"a":1,"b":[true,null,"x",1.5,-2]}"#, r#"{"a":1,"b":[true,null,"x",1.5,-2]}"#),
            (r#" {"b":{"b":1},"a":{"b":2}} "#, r#"{"b":{"b":1},"a":{"b":2}}"#),
        ] {
            let map = parse(text).unwrap();
            assert_eq!(Value::Object(map).to_string(), want, "{text}");
        }
    }

    #[test]
    fn unsound_arguments_are_refused_with_the_reason() {
        let deep = format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200));
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(LONGEST));
        for (text, reason) in [
            ("[1]", "not a list"),
            ("\"x\"", "not a string"),
            ("null", "not null"),
            ("{\"a\":1", "not valid JSON"),
            ("{\"a\":1} {}", "trailing characters"),
            ("{\"a\":1,\"a\":2}", "`a` is given twice"),
            ("{\"o\":[{\"k\":1,\"\\u006b\":1}]}", "`k` is given twice"),
            (&deep, "recursion limit"),
            (&long, "at most"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}

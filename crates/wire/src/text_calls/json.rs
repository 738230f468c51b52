//! Calls written as JSON objects.

use super::{WrittenCall, tool_name};
use crate::arguments::{ArgumentsState, repair_arguments};
use hermes_conversation::RawJson;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Fields with the name of the tool.
pub(super) const NAMES: [&str; 6] = ["name", "tool", "tool_name", "function_name", "function", "action"];
/// Fields with the arguments.
pub(super) const ARGUMENTS: [&str; 7] =
    ["arguments", "parameters", "args", "params", "input", "tool_input", "action_input"];
/// Fields with one or more calls.
pub(super) const WRAPPERS: [&str; 5] = ["function", "function_call", "tool_call", "tool_calls", "call"];
/// Fields without meaning for the call.
pub(super) const LABELS: [&str; 5] = ["id", "type", "index", "tool_call_id", "call_id"];

/// The JSON object or list at the start of a text, and its length. The same damage is repaired as in arguments:
/// models write raw line breaks into strings.
pub(super) fn value_at(text: &str) -> Option<(Cow<'_, str>, usize)> {
    let length = extent(text)?;
    let written = &text[..length];
    match repair_arguments(written) {
        (ArgumentsState::Complete, _) => Some((Cow::Borrowed(written), length)),
        (ArgumentsState::Repaired, mended) => Some((Cow::Owned(mended), length)),
        (ArgumentsState::Truncated | ArgumentsState::Malformed, _) => None,
    }
}

/// The length of the bracketed text at the start, by counting brackets outside of strings.
fn extent(text: &str) -> Option<usize> {
    let (mut open, mut in_string, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => open += 1,
            b'}' | b']' => {
                open = open.checked_sub(1)?;
                if open == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The calls of a JSON object or list that holds nothing else.
pub(super) fn calls_in(json: &str) -> Option<Vec<WrittenCall>> {
    let json = json.trim();
    if json.starts_with('[') {
        let items: Vec<RawJson> = serde_json::from_str(json).ok()?;
        let calls: Option<Vec<_>> = items.iter().map(|item| calls_in_object(item.as_str())).collect();
        return calls
            .map(|calls| calls.into_iter().flatten().collect())
            .filter(|calls: &Vec<_>| !calls.is_empty());
    }
    calls_in_object(json)
}

fn calls_in_object(json: &str) -> Option<Vec<WrittenCall>> {
    let Fields(fields) = serde_json::from_str(json).ok()?;
    let (mut name, mut arguments, mut inner) = (None, None, None);
    for (key, value) in &fields {
        let (key, value) = (key.as_str(), value.as_str());
        let is_text = value.starts_with('"');
        match key {
            _ if WRAPPERS.contains(&key) && !is_text => take(&mut inner, value)?,
            _ if NAMES.contains(&key) => take(&mut name, value)?,
            _ if ARGUMENTS.contains(&key) => take(&mut arguments, value)?,
            "type" if !is_call_type(value) => return None,
            _ if LABELS.contains(&key) => {}
            _ => return None,
        }
    }
    match (name, arguments, inner) {
        (None, None, Some(inner)) => calls_in(inner),
        (Some(name), Some(arguments), None) => {
            let name: String = serde_json::from_str(name).ok()?;
            let name = tool_name(&name)?.to_owned();
            Some(vec![WrittenCall { name, arguments: object(arguments)? }])
        }
        _ => None,
    }
}

/// Sets a part that may occur once.
fn take<'a>(part: &mut Option<&'a str>, value: &'a str) -> Option<()> {
    part.replace(value).is_none().then_some(())
}

fn is_call_type(value: &str) -> bool {
    ["\"function\"", "\"function_call\"", "\"tool_call\"", "\"tool_use\""].contains(&value)
}

/// The text of an object, also if it is encoded a second time as a string.
pub(super) fn object(json: &str) -> Option<String> {
    let json = json.trim();
    if json.starts_with('{') {
        return RawJson::parse(json).map(|raw| raw.as_str().to_owned());
    }
    let inner: String = serde_json::from_str(json).ok()?;
    match inner.trim() {
        "" => Some("{}".to_owned()),
        inner if inner.starts_with('{') => RawJson::parse(inner).map(|raw| raw.as_str().to_owned()),
        _ => None,
    }
}

/// The fields of an object without duplicates. An object with duplicate fields is ambiguous.
struct Fields(Vec<(String, RawJson)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Fields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields: Vec<(String, RawJson)> = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, RawJson>()? {
                    // Calls have few fields; an object with more is data.
                    if fields.len() > 8 || fields.iter().any(|(known, _)| *known == key) {
                        return Err(A::Error::custom("not a call"));
                    }
                    fields.push((key, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

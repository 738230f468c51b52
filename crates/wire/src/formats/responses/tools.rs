//! Tools in the Responses format.

use super::ResponsesBackend;
use crate::formats::write_json;
use hermes_conversation::{RawJson, ToolDefinition};
use serde::Serialize;
use serde_json::{Map, Value};

/// The search tool that xAI runs on its server.
const WEB_SEARCH: &str = "web_search";

/// The list of tools; `None` if there are none.
pub(super) fn written(tools: &[ToolDefinition], backend: ResponsesBackend) -> Vec<u8> {
    if tools.is_empty() {
        return Vec::new();
    }
    let is_xai = backend == ResponsesBackend::Xai;
    let offered: Vec<_> = tools.iter().map(|tool| offer(tool, is_xai)).collect();
    let mut bytes = Vec::new();
    write_json(&mut bytes, &offered);
    bytes
}

fn offer(tool: &ToolDefinition, is_xai: bool) -> WireTool<'_> {
    if is_xai && tool.name == WEB_SEARCH {
        return WireTool::BuiltIn { kind: WEB_SEARCH };
    }
    let parameters = match is_xai {
        true => Parameters::Plain(plain_schema(&tool.parameters)),
        false => Parameters::AsIs(&tool.parameters),
    };
    let (name, description) = (&*tool.name, &*tool.description);
    WireTool::Function { kind: "function", name, description, strict: false, parameters }
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireTool<'a> {
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        name: &'a str,
        description: &'a str,
        strict: bool,
        parameters: Parameters<'a>,
    },
    BuiltIn {
        #[serde(rename = "type")]
        kind: &'static str,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Parameters<'a> {
    AsIs(&'a RawJson),
    Plain(Value),
}

/// Removes from a schema what xAI rejects: `pattern`, `format`, and enum values with a slash.
fn plain_schema(schema: &RawJson) -> Value {
    let mut schema = serde_json::from_str(schema.as_str()).unwrap_or_default();
    simplify(&mut schema);
    schema
}

fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(members) => simplify_members(members),
        Value::Array(schemas) => schemas.iter_mut().for_each(simplify),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn simplify_members(members: &mut Map<String, Value>) {
    for refused in ["pattern", "format"] {
        members.shift_remove(refused);
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.retain(|value| !value.as_str().is_some_and(|text| text.contains('/')));
        if values.is_empty() {
            members.shift_remove("enum");
        }
    }
    for (key, value) in members {
        match (key.as_str(), value) {
            // Here the keys are property names of the tool, which may include `pattern`.
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                named.values_mut().for_each(simplify);
            }
            // These hold data, not schemas.
            ("enum" | "const" | "default" | "examples" | "required", _) => {}
            (_, schema) => simplify(schema),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, parameters: Value) -> ToolDefinition {
        let parameters = RawJson::of(&parameters).unwrap();
        ToolDefinition { name: name.into(), description: "d".into(), parameters }
    }

    #[test]
    fn xai_gets_simple_schemas_and_its_own_search() {
        let schema = json!({"type": "object", "format": "x", "properties": {
            "pattern": {"type": "string", "pattern": "^a", "format": "uri", "enum": ["a/b", "c"]},
            "list": {"type": "array", "items": {"anyOf": [{"pattern": "x"}, {"type": "null"}]}},
            "all": {"enum": ["a/b"], "default": {"format": "kept"}},
        }, "required": ["pattern"]});
        let tools = [tool("find", schema), tool("web_search", json!({}))];
        let written: Value = serde_json::from_slice(&written(&tools, ResponsesBackend::Xai)).unwrap();
        assert_eq!(
            written,
            json!([
                {"type": "function", "name": "find", "description": "d", "strict": false, "parameters":
                    {"type": "object", "properties": {
                        "pattern": {"type": "string", "enum": ["c"]},
                        "list": {"type": "array", "items": {"anyOf": [{}, {"type": "null"}]}},
                        "all": {"default": {"format": "kept"}},
                    }, "required": ["pattern"]}},
                {"type": "web_search"},
            ])
        );
    }

    #[test]
    fn others_get_schemas_byte_for_byte() {
        let parameters = RawJson::parse(r#"{ "type":"object" ,"b":1, "a":2}"#).unwrap();
        let tools = [ToolDefinition { name: "web_search".into(), description: String::new(), parameters }];
        let written = String::from_utf8(written(&tools, ResponsesBackend::OpenAi)).unwrap();
        assert_eq!(
            written,
            r#"[{"type":"function","name":"web_search","description":"","strict":false,"parameters":{ "type":"object" ,"b":1, "a":2}}]"#
        );
    }
}

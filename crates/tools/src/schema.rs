//! Derives the JSON schema of a tool from its argument type.
//!
//! The type's doc comment is the description, its fields' comments describe the parameters. Everything a
//! model does not need is removed: every byte is sent with every request.

use hermes_conversation::{RawJson, ToolDefinition};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The parameters of a tool, as the model sees them and as calls are checked.
pub(crate) struct Schema {
    pub(crate) description: String,
    pub(crate) parameters: Value,
}

/// Reads the schema off an argument type.
pub(crate) fn schema_of<T: JsonSchema>() -> Schema {
    let settings =
        SchemaSettings::draft2020_12().for_deserialize().with(|settings| settings.inline_subschemas = true);
    let root = settings.into_generator().into_root_schema_for::<T>();
    let mut map = match root.to_value() {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let description = match map.shift_remove("description") {
        Some(Value::String(text)) => unwrapped(&text),
        _ => String::new(),
    };
    slim(&mut map);
    // Some providers insist on the field even for tools without parameters.
    map.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    Schema { description, parameters: Value::Object(map) }
}

impl Schema {
    pub(crate) fn definition(&self, name: &str) -> ToolDefinition {
        ToolDefinition {
            name: name.to_owned(),
            description: self.description.clone(),
            parameters: RawJson::of(&self.parameters)
                .unwrap_or_else(|| unreachable!("a JSON value always has a text")),
        }
    }
}

fn slim(map: &mut Map<String, Value>) {
    collapse_optional(map);
    for key in ["$schema", "title", "format"] {
        map.shift_remove(key);
    }
    if map.get("default") == Some(&Value::Null) {
        map.shift_remove("default");
    }
    if let Some(Value::String(text)) = map.get_mut("description") {
        *text = unwrapped(text);
    }
    for (key, value) in map.iter_mut() {
        match value {
            // Here the keys are names of fields, not words of the schema language.
            Value::Object(fields) if key == "properties" => {
                fields.values_mut().filter_map(Value::as_object_mut).for_each(slim);
            }
            Value::Object(inner) => slim(inner),
            Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).for_each(slim),
            _ => {}
        }
    }
}

/// `T or null` becomes `T`: leaving a field out says the same and every provider knows it.
fn collapse_optional(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(listed)) = map.get_mut("enum") {
        listed.retain(|word| !word.is_null());
    }
    let Some(Value::Array(choices)) = map.get("anyOf") else {
        return;
    };
    let others: Vec<_> =
        choices.iter().filter(|choice| choice.get("type") != Some(&Value::from("null"))).cloned().collect();
    if let [Value::Object(only)] = others.as_slice() {
        map.shift_remove("anyOf");
        for (key, value) in only {
            map.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// Doc comments are wrapped for the source file; paragraphs stay.
fn unwrapped(text: &str) -> String {
    text.split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// Does a thing,
    /// with care.
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Args {
        /// How many.
        count: u32,
        word: Option<Word>,
        note: Option<String>,
        #[schemars(range(min = 1))]
        #[serde(default = "one")]
        first: usize,
        /// A field that has the name of a schema word.
        title: Vec<Inner>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        OneThing,
        Another,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Inner {
        id: i64,
    }

    fn one() -> usize {
        1
    }

    #[test]
    fn a_schema_has_what_a_model_needs_and_no_more() {
        let schema = schema_of::<Args>();
        assert_eq!(schema.description, "Does a thing, with care.");
        insta::assert_snapshot!(schema.parameters, @r#"{"type":"object","properties":{"count":{"type":"integer","minimum":0,"description":"How many."},"word":{"type":"string","enum":["one_thing","another"]},"note":{"type":"string"},"first":{"type":"integer","minimum":1,"default":1},"title":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]},"description":"A field that has the name of a schema word."}},"required":["count","title"]}"#);
    }
}

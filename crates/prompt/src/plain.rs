//! Removes the parts of a request that an endpoint does not take.

use crate::small_images;
use hermes_conversation::{Content, Message, Quirks, RawJson, ToolDefinition, ToolMessage, UserMessage};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Keywords of JSON Schema that some grammars cannot express.
const UNSUPPORTED_KEYWORDS: [&str; 2] = ["pattern", "format"];
/// Stands where an image was.
const NO_IMAGE: &str = "[An image was here. This model did not take it, so it is not shown.]";

/// The tools with schemas that every endpoint can read.
pub(crate) fn tools(tools: &Arc<[ToolDefinition]>) -> Arc<[ToolDefinition]> {
    tools.iter().map(|tool| ToolDefinition { parameters: schema(&tool.parameters), ..tool.clone() }).collect()
}

fn schema(schema: &RawJson) -> RawJson {
    let Ok(Value::Object(mut map)) = serde_json::from_str(schema.as_str()) else {
        return schema.clone();
    };
    simplify(&mut map);
    RawJson::of(&map).unwrap_or_else(|| schema.clone())
}

fn simplify(map: &mut Map<String, Value>) {
    map.retain(|key, _| !UNSUPPORTED_KEYWORDS.contains(&key.as_str()));
    for (key, value) in map {
        match value {
            // Here the keys are names of fields, not words of the schema language.
            Value::Object(fields) if key == "properties" => {
                fields.values_mut().filter_map(Value::as_object_mut).for_each(simplify);
            }
            Value::Object(inner) => simplify(inner),
            Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).for_each(simplify),
            _ => {}
        }
    }
}

/// The messages without what `quirks` say is not taken.
pub(crate) fn messages(messages: Arc<Vec<Arc<Message>>>, quirks: Quirks) -> Arc<Vec<Arc<Message>>> {
    if !quirks.no_images && !quirks.text_results && !quirks.small_images {
        return messages;
    }
    let changed = messages.iter().map(|message| match quirks.small_images && !quirks.no_images {
        true => plainer(&small_images::shrunk(message), quirks),
        false => plainer(message, quirks),
    });
    Arc::new(changed.collect())
}

fn plainer(message: &Arc<Message>, quirks: Quirks) -> Arc<Message> {
    let changed = match message.as_ref() {
        Message::User(said) if quirks.no_images => without_images(&said.content, NO_IMAGE)
            .map(|content| Message::User(UserMessage { content, ..said.clone() })),
        Message::Tool(result) => {
            let note = not_shown(&result.tool_name);
            let content = match (quirks.text_results, quirks.no_images) {
                (true, _) => as_text(&result.content, &note),
                (false, true) => without_images(&result.content, &note),
                (false, false) => None,
            };
            content.map(|content| Message::Tool(ToolMessage { content, ..result.clone() }))
        }
        Message::User(_) | Message::Assistant(_) => None,
    };
    changed.map_or_else(|| message.clone(), Arc::new)
}

fn parts(content: &Content) -> Option<Vec<Value>> {
    match content {
        Content::Text(_) => None,
        Content::Parts(parts) => serde_json::from_str(parts.as_str()).ok(),
    }
}

fn is_image(part: &Value) -> bool {
    part["type"].as_str().is_some_and(|kind| kind.contains("image"))
}

/// Stands where an image of a result was. Its tool knows that the model takes no images, and describes it.
fn not_shown(tool: &str) -> String {
    format!("[An image was here. This model did not take it; call {tool} again for a description.]")
}

/// The same parts with `note` in the place of every image; `None` if there is none.
fn without_images(content: &Content, note: &str) -> Option<Content> {
    let mut parts = parts(content)?;
    let mut changed = false;
    for part in parts.iter_mut().filter(|part| is_image(part)) {
        *part = json!({ "type": "text", "text": note });
        changed = true;
    }
    changed.then(|| RawJson::of(&parts).map(Content::Parts)).flatten()
}

/// The text of the parts; `None` if the content is text already.
fn as_text(content: &Content, note: &str) -> Option<Content> {
    let words = parts(content)?.into_iter().filter_map(|part| match is_image(&part) {
        true => Some(note.to_owned()),
        false => part["text"].as_str().map(str::to_owned),
    });
    Some(Content::Text(words.collect::<Vec<_>>().join("\n")))
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;

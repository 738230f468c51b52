//! Images in the results of tools.
//!
//! A result is text in this format. Its images follow in a message of the user after all results of the reply, at the
//! beginning of the user's next message if that is there already: two in a row are rejected.

use super::WireContent;
use hermes_conversation::{Content, Message, RawJson, ToolMessage};
use serde_json::{Value, json};
use std::slice::Iter;
use std::sync::Arc;

/// Before the images, in their message.
const HEADING: &str = "[Images of the tool results above]";
/// In the place of an image, in its result.
const BELOW: &str = "[The image is in the next message.]";

/// The number of messages that are encoded together: the results of a reply, and with images the message after them.
pub(super) fn unit(messages: &[Arc<Message>]) -> usize {
    let results = messages.iter().take_while(|message| matches!(***message, Message::Tool(_))).count();
    let has_images = messages[..results].iter().any(|message| has_images(message));
    let is_followed = matches!(messages.get(results).map(|next| &**next), Some(Message::User(_)));
    (results + usize::from(has_images && is_followed)).max(1)
}

fn has_images(message: &Message) -> bool {
    matches!(message, Message::Tool(tool) if tool.api_content.is_none() && tool.content.has_image())
}

/// The content of the message with the images of a unit, and the messages that are written on their own.
pub(super) fn split(unit: &[Arc<Message>]) -> (Option<RawJson>, Iter<'_, Arc<Message>>) {
    let mut shown: Vec<Value> = unit.iter().flat_map(|message| images(message)).collect();
    if shown.is_empty() {
        return (None, unit.iter());
    }
    shown.insert(0, json!({ "type": "text", "text": HEADING }));
    let mut alone = unit;
    if let Some((last, before)) = unit.split_last()
        && let Message::User(user) = &**last
    {
        shown.extend(parts(&user.content, user.api_content.as_deref()));
        alone = before;
    }
    (RawJson::of(&shown), alone.iter())
}

fn images(message: &Message) -> Vec<Value> {
    match message {
        Message::Tool(tool) if has_images(message) => list(tool).iter().filter_map(image).collect(),
        Message::Tool(_) | Message::User(_) | Message::Assistant(_) => Vec::new(),
    }
}

fn list(tool: &ToolMessage) -> Vec<Value> {
    parts(&tool.content, tool.api_content.as_deref())
}

/// The parts of a content; a text is one part.
fn parts(content: &Content, sent: Option<&str>) -> Vec<Value> {
    let text = |text: &str| vec![json!({ "type": "text", "text": text })];
    match (sent, content) {
        (Some(sent), _) => text(sent),
        (None, Content::Text(said)) => text(said),
        (None, Content::Parts(parts)) => {
            serde_json::from_str(parts.as_str()).unwrap_or_else(|_| text(parts.as_str()))
        }
    }
}

/// An image in the shape of this format.
fn image(part: &Value) -> Option<Value> {
    let source = &part["source"];
    let url = part["image_url"]["url"].as_str().or(part["image_url"].as_str()).or(source["url"].as_str());
    let url = match (url, source["media_type"].as_str(), source["data"].as_str()) {
        (Some(url), ..) => url.to_owned(),
        (None, Some(media_type), Some(data)) => format!("data:{media_type};base64,{data}"),
        (None, ..) => return None,
    };
    Some(json!({ "type": "image_url", "image_url": { "url": url } }))
}

/// The parts of a result as text. A part that cannot be sent is named, so that the model knows about it.
pub(super) fn as_text(content: WireContent<'_>) -> Option<String> {
    let WireContent::Parts(parts) = content else { return None };
    let parts: Vec<Value> = serde_json::from_str(parts.as_str()).unwrap_or_default();
    let texts = parts.iter().map(|part| match part["text"].as_str() {
        Some(text) => text.to_owned(),
        None if image(part).is_some() => BELOW.to_owned(),
        None => {
            let kind = part["type"].as_str().unwrap_or("unknown");
            format!("[A part of type `{kind}` cannot be sent to this model in a result.]")
        }
    });
    Some(texts.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
#[path = "result_images_tests.rs"]
mod tests;

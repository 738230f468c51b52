//! Smaller copies of the images of a conversation, for an endpoint that refused them as too large.
//!
//! The history keeps the images as they are. The same image always gives the same copy, so requests stay equal; the
//! copies are kept only because making them takes time.

use hermes_conversation::{Content, Message, RawJson, ToolMessage, UserMessage};
use hermes_images::{Limits, bytes_of, fit};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Stands where an image was that has no smaller copy.
const TOO_LARGE: &str = "[An image was here. It is too large for this model, so it is not shown.]";

/// Messages whose images were shrunk, by the address of the message.
static COPIES: Mutex<Option<HashMap<usize, Copied>>> = Mutex::new(None);

struct Copied {
    of: Weak<Message>,
    copy: Arc<Message>,
}

/// Returns the message with small images.
pub(crate) fn shrunk(message: &Arc<Message>) -> Arc<Message> {
    let content = match &**message {
        Message::User(user) if user.api_content.is_none() => &user.content,
        Message::Tool(tool) if tool.api_content.is_none() => &tool.content,
        Message::User(_) | Message::Tool(_) | Message::Assistant(_) => return message.clone(),
    };
    if !content.has_image() {
        return message.clone();
    }
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    let copies = copies.get_or_insert_default();
    let address = Arc::as_ptr(message) as usize;
    let known = copies.get(&address).filter(|copied| copied.of.ptr_eq(&Arc::downgrade(message)));
    if let Some(known) = known {
        return known.copy.clone();
    }
    copies.retain(|_, copied| copied.of.strong_count() > 0);
    let copy = with_content(message, small(content));
    copies.insert(address, Copied { of: Arc::downgrade(message), copy: copy.clone() });
    copy
}

/// Returns true if some message has an image that would be sent smaller.
pub fn has_large_images(messages: &[Arc<Message>]) -> bool {
    messages.iter().any(|message| !Arc::ptr_eq(message, &shrunk(message)))
}

fn with_content(message: &Arc<Message>, content: Option<Content>) -> Arc<Message> {
    let Some(content) = content else { return message.clone() };
    Arc::new(match &**message {
        Message::User(user) => Message::User(UserMessage { content, ..user.clone() }),
        Message::Tool(tool) => Message::Tool(ToolMessage { content, ..tool.clone() }),
        Message::Assistant(_) => return message.clone(),
    })
}

/// The content with small images; `None` if nothing changes.
fn small(content: &Content) -> Option<Content> {
    let Content::Parts(parts) = content else { return None };
    let mut parts: Vec<Value> = serde_json::from_str(parts.as_str()).ok()?;
    let mut changed = false;
    for part in &mut parts {
        if let Some(smaller) = image_of(part).and_then(|url| smaller(&url)) {
            *part = smaller;
            changed = true;
        }
    }
    changed.then(|| RawJson::of(&parts).map(Content::Parts)).flatten()
}

/// The data URL of an image in the shape of any format; an address elsewhere has no bytes to shrink.
fn image_of(part: &Value) -> Option<String> {
    let url = part["image_url"]["url"].as_str().or(part["image_url"].as_str());
    let source = &part["source"];
    match url {
        Some(url) => Some(url.to_owned()),
        None => Some(format!("data:{};base64,{}", source["media_type"].as_str()?, source["data"].as_str()?)),
    }
}

/// The part for an image that is too large; `None` if it is not.
fn smaller(url: &str) -> Option<Value> {
    let bytes = bytes_of(url)?;
    match fit(bytes, Limits::TIGHT) {
        Ok(fitted) if !fitted.is_copy => None,
        Ok(fitted) => Some(json!({ "type": "image_url", "image_url": { "url": fitted.data_url() } })),
        Err(_) => Some(json!({ "type": "text", "text": TOO_LARGE })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(part: Value) -> Arc<Message> {
        let parts = RawJson::of(&vec![json!({"type": "text", "text": "look"}), part]).unwrap();
        Arc::new(Message::User(UserMessage { content: Content::Parts(parts), api_content: None }))
    }

    fn image(width: u32) -> String {
        fit(hermes_testkit::png(width, 2), Limits { encoded: usize::MAX, side: u32::MAX }).unwrap().data_url()
    }

    #[test]
    fn images_are_shrunk_in_every_shape_and_the_same_each_time() {
        let large = image(4_000);
        let data = large.split_once(',').unwrap().1;
        for part in [
            json!({"type": "image_url", "image_url": {"url": large}}),
            json!({"type": "input_image", "image_url": large}),
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}),
        ] {
            let before = message(part);
            let after = shrunk(&before);
            let parts: Value = serde_json::from_str(match &*after {
                Message::User(user) => user.content.as_text(),
                other => panic!("{other:?}"),
            })
            .unwrap();
            let bytes = bytes_of(parts[1]["image_url"]["url"].as_str().unwrap()).unwrap();
            assert_eq!(fit(bytes, Limits::TIGHT).unwrap().was, (2_000, 1), "{before:?}");
            assert_eq!(parts[0]["text"], "look");
            assert!(Arc::ptr_eq(&after, &shrunk(&before)), "the copy is kept");
            let is_large = |message| has_large_images(std::slice::from_ref(message));
            assert!(is_large(&before) && !is_large(&after));
            let fresh = Arc::new((*before).clone());
            assert_eq!(shrunk(&fresh), after, "the copy is equal");
        }
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        let broken =
            message(json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}));
        assert!(shrunk(&broken).text().contains(TOO_LARGE));
        for same in [
            message(json!({"type": "image_url", "image_url": {"url": image(10)}})),
            message(json!({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}})),
            Arc::new(Message::user("data:image/png;base64,AA==")),
        ] {
            assert!(Arc::ptr_eq(&same, &shrunk(&same)), "{same:?}");
        }
    }
}

//! Images of summarised messages: those before the newest user message with an image.

use crate::parts::{has_image, without_images};
use hermes_conversation::{Message, ToolMessage, UserMessage};
use std::sync::Arc;

/// The newest user message with an image.
pub(crate) fn newest(history: &[Arc<Message>]) -> Option<usize> {
    let shows = |message: &Arc<Message>| match &**message {
        Message::User(user) => user.api_content.is_none() && has_image(&user.content),
        Message::Assistant(_) | Message::Tool(_) => false,
    };
    history.iter().rposition(shows)
}

/// The message, with notes in the place of its images if they are history.
pub(crate) fn historical(message: &Arc<Message>, place: usize, newest: Option<usize>) -> Arc<Message> {
    if newest.is_none_or(|newest| place >= newest) {
        return message.clone();
    }
    let stripped = match &**message {
        Message::User(user) if user.api_content.is_none() => without_images(&user.content)
            .map(|content| Message::User(UserMessage { content, api_content: None })),
        Message::Tool(tool) if tool.api_content.is_none() => without_images(&tool.content)
            .map(|content| Message::Tool(ToolMessage { content, ..tool.clone() })),
        Message::User(_) | Message::Assistant(_) | Message::Tool(_) => None,
    };
    stripped.map_or_else(|| message.clone(), Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::IMAGE_NOTE;
    use hermes_conversation::{CallId, Content, RawJson};

    fn image() -> Content {
        Content::Parts(RawJson::parse(r#"[{"type":"image_url","image_url":{"url":"data:x"}}]"#).unwrap())
    }

    #[test]
    fn only_images_before_the_newest_of_the_user_become_notes() {
        let person = || Arc::new(Message::User(UserMessage { content: image(), api_content: None }));
        let tool = || {
            let result = ToolMessage::new(CallId::new("1"), "t", "");
            Arc::new(Message::Tool(ToolMessage { content: image(), ..result }))
        };
        let history = [person(), tool(), person(), tool(), Arc::new(Message::user("and?"))];
        let newest = newest(&history);
        assert_eq!(newest, Some(2));
        for (place, message) in history.iter().enumerate() {
            let after = historical(message, place, newest);
            assert_eq!(after.text().contains(IMAGE_NOTE), place < 2, "{place}");
            assert_eq!(&after == message, place >= 2, "{place}");
        }
        assert_eq!(historical(&history[1], 1, None), history[1]);
    }
}

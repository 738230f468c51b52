//! Removes recalled memory that leaked into text.
//!
//! Recalled memory is sent between `<memory-context>` tags with the user's message. A model may repeat such a
//! block, and a user may paste one; neither is shown or stored. A tag without its counterpart is ordinary text.

use crate::{Content, RawJson, UserMessage};
use serde_json::Value;
use std::borrow::Cow;

const OPEN: &str = "<memory-context>";
const CLOSE: &str = "</memory-context>";
/// The text of a message that consisted of memory blocks only; providers reject empty messages.
const NOTHING_LEFT: &str = "(empty message)";

/// The text without memory blocks.
pub fn without_memory(text: &str) -> Cow<'_, str> {
    if find(text, OPEN).is_none() {
        return Cow::Borrowed(text);
    }
    let mut filter = MemoryFilter::default();
    let shown = filter.feed(text).into_owned();
    Cow::Owned(shown + &filter.finish())
}

/// Removes memory blocks from text that arrives in pieces. The pieces make no difference to the result.
#[derive(Debug, Default)]
pub struct MemoryFilter {
    /// Text that may begin a block, or is inside one.
    held: String,
    /// Bytes of `held` that do not begin the closing tag; 0 outside of a block.
    scanned: usize,
}

impl MemoryFilter {
    /// Takes the next piece and returns the text to show.
    pub fn feed<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if self.held.is_empty() && !text.contains('<') {
            return Cow::Borrowed(text);
        }
        self.held.push_str(text);
        let mut shown = String::new();
        loop {
            if self.scanned == 0 {
                let Some(begin) = find(&self.held, OPEN) else { break };
                shown.extend(self.held.drain(..begin));
                self.scanned = OPEN.len();
            }
            let Some(end) = find(&self.held[self.scanned..], CLOSE) else {
                self.scanned =
                    self.held.len() - partial_tag_length(&self.held, CLOSE).min(self.held.len() - OPEN.len());
                return Cow::Owned(shown);
            };
            self.held.drain(..self.scanned + end + CLOSE.len());
            self.scanned = 0;
        }
        let kept = self.held.len() - partial_tag_length(&self.held, OPEN);
        shown.extend(self.held.drain(..kept));
        Cow::Owned(shown)
    }

    /// Ends the text and returns what was held back: an unfinished block is ordinary text.
    pub fn finish(&mut self) -> String {
        self.scanned = 0;
        std::mem::take(&mut self.held)
    }
}

impl UserMessage {
    /// The message without memory blocks in its text.
    pub fn without_memory(mut self) -> Self {
        if find(self.content.as_text(), OPEN).is_none() {
            return self;
        }
        let left = |text: &str| match without_memory(text) {
            left if left.trim().is_empty() => NOTHING_LEFT.to_owned(),
            left => left.trim().to_owned(),
        };
        self.content = match self.content {
            Content::Text(text) => Content::Text(left(&text)),
            Content::Parts(raw) => {
                let mut parts: Vec<Value> = serde_json::from_str(raw.as_str()).unwrap_or_default();
                for part in &mut parts {
                    if let Some(Value::String(text)) = part.get_mut("text") {
                        *text = left(text);
                    }
                }
                Content::Parts(RawJson::of(&parts).filter(|_| !parts.is_empty()).unwrap_or(raw))
            }
        };
        self
    }
}

/// The offset of a tag, in upper or lower case.
fn find(text: &str, tag: &str) -> Option<usize> {
    let is_tag = |at: usize| {
        let found = text.as_bytes().get(at..at + tag.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(tag.as_bytes()))
    };
    text.match_indices('<').map(|(at, _)| at).find(|at| is_tag(*at))
}

/// The length of the longest suffix of the text that is a prefix of the tag.
fn partial_tag_length(text: &str, tag: &str) -> usize {
    let bytes = text.as_bytes();
    let longest = (tag.len() - 1).min(bytes.len());
    let is_beginning =
        |length: &usize| bytes[bytes.len() - length..].eq_ignore_ascii_case(&tag.as_bytes()[..*length]);
    (1..=longest).rev().find(is_beginning).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CASES: [(&str, &str); 9] = [
        ("plain", "plain"),
        ("a <memory-context>secret</memory-context> b", "a  b"),
        ("<Memory-Context>x\ny</MEMORY-CONTEXT>", ""),
        ("<memory-context>1</memory-context>a<memory-context>2</memory-context>", "a"),
        ("<memory-context>a<memory-context>b</memory-context>c", "c"),
        // Tags without their counterparts are text.
        ("use a <memory-context> tag", "use a <memory-context> tag"),
        ("close </memory-context> it", "close </memory-context> it"),
        ("<memory-contex", "<memory-contex"),
        ("a < b <<memory-context>x</memory-context>ü", "a < b <ü"),
    ];

    #[test]
    fn blocks_are_removed_from_whole_and_split_text() {
        for (text, want) in CASES {
            assert_eq!(without_memory(text), want, "{text}");
            for size in 1..=3 {
                let mut filter = MemoryFilter::default();
                let mut shown = String::new();
                let characters: Vec<char> = text.chars().collect();
                for piece in characters.chunks(size) {
                    shown += &filter.feed(&piece.iter().collect::<String>());
                }
                assert_eq!(shown + &filter.finish(), want, "{text} in pieces of {size}");
            }
        }
    }

    #[test]
    fn user_messages_lose_blocks_and_never_become_empty() {
        let block = "<memory-context>x</memory-context>";
        let said = |text: &str| UserMessage::text(text).without_memory().content.as_text().to_owned();
        assert_eq!(said(&format!("hi\n\n{block}")), "hi");
        assert_eq!(said(block), NOTHING_LEFT);
        assert_eq!(said(" as it is "), " as it is ");
        let parts =
            serde_json::json!([{"type":"text","text":format!("a{block}")},{"type":"image_url","n":1}]);
        let message =
            UserMessage { content: Content::Parts(RawJson::of(&parts).unwrap()), api_content: None };
        let want = r#"[{"type":"text","text":"a"},{"type":"image_url","n":1}]"#;
        assert_eq!(message.without_memory().content.as_text(), want);
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            parts in proptest::collection::vec(
                prop_oneof![Just("<memory-context>"), Just("</memory-context>"), Just("<mem"), Just("ä"), Just("<")], 0..12),
            size in 1usize..9,
        ) {
            let text = parts.concat();
            let mut filter = MemoryFilter::default();
            let characters: Vec<char> = text.chars().collect();
            let mut shown = String::new();
            for piece in characters.chunks(size) {
                shown += &filter.feed(&piece.iter().collect::<String>());
            }
            shown += &filter.finish();
            prop_assert_eq!(shown, without_memory(&text));
        }
    }
}

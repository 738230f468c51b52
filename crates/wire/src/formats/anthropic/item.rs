//! One item of the message list while it is written.

use super::write_json;
use serde::Serialize;

pub(super) struct Item<'a> {
    bytes: &'a mut Vec<u8>,
    is_empty: bool,
    ends_with_thinking: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking<'a> {
    Thinking {
        thinking: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<&'a str>,
    },
    RedactedThinking {
        data: &'a str,
    },
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

impl<'a> Item<'a> {
    pub(super) fn open(bytes: &'a mut Vec<u8>, role: &'static str) -> Self {
        bytes.extend_from_slice(format!("{{\"role\":\"{role}\",\"content\":[").as_bytes());
        Self { bytes, is_empty: true, ends_with_thinking: false }
    }

    pub(super) fn block(&mut self, block: &impl Serialize) {
        self.begin_block();
        write_json(self.bytes, block);
    }

    /// Text, unless it is blank, which the format rejects.
    pub(super) fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.block(&Text { kind: "text", text });
        }
    }

    pub(super) fn thinking(&mut self, thinking: &str, signature: Option<&str>) {
        self.block(&Thinking::Thinking { thinking, signature });
        self.ends_with_thinking = true;
    }

    pub(super) fn redacted(&mut self, data: &str) {
        self.block(&Thinking::RedactedThinking { data });
        self.ends_with_thinking = true;
    }

    /// A call; `input` is JSON text.
    pub(super) fn call(&mut self, id: &str, name: &str, input: &str) {
        self.begin_block();
        self.bytes.extend_from_slice(b"{\"type\":\"tool_use\",\"id\":");
        write_json(self.bytes, id);
        self.bytes.extend_from_slice(b",\"name\":");
        write_json(self.bytes, name);
        self.bytes.extend_from_slice(b",\"input\":");
        self.bytes.extend_from_slice(input.as_bytes());
        self.bytes.push(b'}');
    }

    /// Ends the item and returns the offset for a cache mark: inside the last block. An item never ends with
    /// thinking, which cannot carry a mark and must be followed by another block.
    pub(super) fn close(mut self, placeholder: &str) -> usize {
        if self.is_empty || self.ends_with_thinking {
            self.text(placeholder);
        }
        let mark = self.bytes.len() - 1;
        self.bytes.extend_from_slice(b"]}");
        mark
    }

    fn begin_block(&mut self) {
        if !self.is_empty {
            self.bytes.push(b',');
        }
        self.is_empty = false;
        self.ends_with_thinking = false;
    }
}

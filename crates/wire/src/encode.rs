//! Writes requests, and remembers what it has written.
//!
//! A request over a long history differs from the one before it by its newest messages, so
//! the encoder keeps the bytes of every message it has seen, in order, and writes only what is
//! new. What it remembers never changes the bytes: a fresh encoder gives the same ones.

use crate::formats::chat;
use crate::{ApiMode, EncodedRequest, ModelRequest, Segment, SegmentKind};
use bytes::Bytes;
use hermes_conversation::{Message, ToolDefinition};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Writes one request.
pub fn encode(mode: ApiMode, request: &ModelRequest) -> EncodedRequest {
    Encoder::new(mode).encode(request)
}

/// Writes the requests of one session.
#[derive(Debug)]
pub struct Encoder {
    mode: ApiMode,
    head: Option<Head>,
    /// The messages already written, and where each one's bytes end in `written`.
    messages: Vec<(Arc<Message>, usize)>,
    /// Their JSON, separated by commas.
    written: Vec<u8>,
    segments: Vec<Segment>,
}

/// Everything before the messages, and what it was made from.
#[derive(Debug)]
struct Head {
    made_from: (Arc<str>, Arc<str>, Arc<[ToolDefinition]>, crate::RequestSettings),
    bytes: Vec<u8>,
    segments: Vec<Segment>,
}

impl Encoder {
    pub fn new(mode: ApiMode) -> Self {
        Self { mode, head: None, messages: Vec::new(), written: Vec::new(), segments: Vec::new() }
    }

    pub fn encode(&mut self, request: &ModelRequest) -> EncodedRequest {
        match self.mode {
            ApiMode::ChatCompletions => self.write(request),
        }
    }

    fn write(&mut self, request: &ModelRequest) -> EncodedRequest {
        self.write_head(request);
        self.write_messages(request);
        let head = self.head.as_ref().map_or(&[][..], |head| &head.bytes);
        let head_segments = self.head.as_ref().map_or(&[][..], |head| &head.segments);
        let has_system = head_segments.iter().any(|segment| segment.kind == SegmentKind::System);
        let mut body = Vec::with_capacity(head.len() + self.written.len() + 3);
        body.extend_from_slice(head);
        if has_system && !self.written.is_empty() {
            body.push(b',');
        }
        body.extend_from_slice(&self.written);
        body.extend_from_slice(b"]}");
        EncodedRequest {
            mode: self.mode,
            body: Bytes::from(body),
            segments: [head_segments, &self.segments].concat(),
            stream: request.settings.stream,
        }
    }

    fn write_head(&mut self, request: &ModelRequest) {
        let unchanged = self.head.as_ref().is_some_and(|head| {
            let (model, system, tools, settings) = &head.made_from;
            model == &request.model
                && Arc::ptr_eq(system, &request.system)
                && Arc::ptr_eq(tools, &request.tools)
                && settings == &request.settings
        });
        if unchanged {
            return;
        }
        // What a message looks like depends on the settings too.
        if self.head.as_ref().is_some_and(|head| head.made_from.3 != request.settings) {
            self.forget_messages(0);
        }
        let parts = chat::head(request);
        let mut segments = Vec::new();
        if !request.tools.is_empty() {
            segments.push(segment(SegmentKind::Tools, &parts.bytes[parts.tools.clone()]));
        }
        if !request.system.is_empty() {
            segments.push(segment(SegmentKind::System, &parts.bytes[parts.system.clone()]));
        }
        let made_from =
            (request.model.clone(), request.system.clone(), request.tools.clone(), request.settings.clone());
        self.head = Some(Head { made_from, bytes: parts.bytes, segments });
    }

    fn write_messages(&mut self, request: &ModelRequest) {
        let known = self.messages.iter().zip(request.messages.iter());
        let shared = known.take_while(|((seen, _), message)| Arc::ptr_eq(seen, message)).count();
        self.forget_messages(shared);
        for message in &request.messages[shared..] {
            if !self.written.is_empty() {
                self.written.push(b',');
            }
            let start = self.written.len();
            chat::message(message, &request.settings, &mut self.written);
            self.segments.push(segment(SegmentKind::Message, &self.written[start..]));
            self.messages.push((message.clone(), self.written.len()));
        }
    }

    fn forget_messages(&mut self, keep: usize) {
        self.messages.truncate(keep);
        self.segments.truncate(keep);
        self.written.truncate(self.messages.last().map_or(0, |(_, end)| *end));
    }
}

fn segment(kind: SegmentKind, bytes: &[u8]) -> Segment {
    let digest = Sha256::digest(bytes);
    let mut hash = [0; 16];
    hash.copy_from_slice(&digest[..16]);
    Segment { kind, hash, len: bytes.len() }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;

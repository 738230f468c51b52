//! Encodes requests incrementally.
//!
//! A request over a long history differs from the one before it by its newest messages, so the encoder keeps
//! the bytes of every encoded message and encodes only new ones. The result never depends on that: a new
//! encoder gives the same bytes.
//!
//! Cache marks are not part of the kept bytes. They are inserted when the body is assembled, so moving one
//! changes nothing else.

use crate::formats::{Format, HeadParts, format};
use crate::{ApiMode, CacheTtl, EncodedRequest, ModelRequest, Segment, SegmentKind};
use bytes::Bytes;
use hermes_conversation::{Message, ToolDefinition};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Cache marks in addition to the one for the system prompt.
const MESSAGE_MARKS: usize = 3;

/// Encodes one request.
pub fn encode(mode: ApiMode, request: &ModelRequest) -> EncodedRequest {
    Encoder::new(mode).encode(request)
}

/// Encodes the requests of one session.
pub struct Encoder {
    mode: ApiMode,
    format: &'static dyn Format,
    head: Option<Head>,
    /// The messages encoded so far.
    messages: Vec<Arc<Message>>,
    units: Vec<Unit>,
    /// Their items, separated by commas.
    written: Vec<u8>,
}

/// Messages that are encoded together.
#[derive(Debug, Clone, Copy)]
struct Unit {
    /// The number of messages up to its end.
    messages: usize,
    /// The end of its bytes in `written`.
    end: usize,
    /// The offset in `written` at which a cache mark can be inserted.
    mark: Option<usize>,
    segment: Segment,
}

/// Everything before the messages, and its inputs.
struct Head {
    made_from: (Arc<str>, Arc<str>, Arc<[ToolDefinition]>, crate::RequestSettings),
    bytes: Vec<u8>,
    mark: Option<usize>,
    has_items: bool,
    output_cap: Option<u64>,
    segments: Vec<Segment>,
}

impl Encoder {
    pub fn new(mode: ApiMode) -> Self {
        Self {
            mode,
            format: format(mode),
            head: None,
            messages: Vec::new(),
            units: Vec::new(),
            written: Vec::new(),
        }
    }

    pub fn mode(&self) -> ApiMode {
        self.mode
    }

    pub fn encode(&mut self, request: &ModelRequest) -> EncodedRequest {
        self.write_head(request);
        self.write_messages(request);
        let head = self.head.as_ref();
        let mut segments = head.map_or_else(Vec::new, |head| head.segments.clone());
        segments.extend(self.units.iter().map(|unit| unit.segment));
        let (stream, session) = (request.settings.stream, request.settings.session.clone());
        let output_cap = head.and_then(|head| head.output_cap);
        let body = self.body(request.settings.cache);
        EncodedRequest { mode: self.mode, body, segments, stream, output_cap, session }
    }

    /// Assembles the body, with cache marks at their current places.
    fn body(&self, cache: Option<CacheTtl>) -> Bytes {
        let Some(head) = &self.head else { return Bytes::new() };
        let mark = cache.map_or(&b""[..], mark_text);
        let mut body = Vec::with_capacity(head.bytes.len() + self.written.len() + 4 * mark.len() + 3);
        write_marked(&mut body, &head.bytes, head.mark.as_slice(), mark);
        if head.has_items && !self.written.is_empty() {
            body.push(b',');
        }
        let mut marks: Vec<usize> =
            self.units.iter().rev().filter_map(|unit| unit.mark).take(MESSAGE_MARKS).collect();
        marks.reverse();
        write_marked(&mut body, &self.written, &marks, mark);
        body.extend_from_slice(self.format.tail());
        Bytes::from(body)
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
        // The encoding of a message depends on the settings, too.
        if self.head.as_ref().is_some_and(|head| head.made_from.3 != request.settings) {
            self.keep_units(0);
        }
        let parts = self.format.head(request);
        let mut segments = Vec::new();
        if !request.tools.is_empty() {
            segments.push(segment(SegmentKind::Tools, &parts.bytes[parts.tools.clone()]));
        }
        if !request.system.is_empty() {
            segments.push(segment(SegmentKind::System, &parts.bytes[parts.system.clone()]));
        }
        let made_from =
            (request.model.clone(), request.system.clone(), request.tools.clone(), request.settings.clone());
        let HeadParts { bytes, mark, has_items, output_cap, .. } = parts;
        self.head = Some(Head { made_from, bytes, mark, has_items, output_cap, segments });
    }

    fn write_messages(&mut self, request: &ModelRequest) {
        let messages = &request.messages[..];
        let known = self.messages.iter().zip(messages);
        let shared = known.take_while(|(seen, message)| Arc::ptr_eq(seen, message)).count();
        let mut kept = self.units.iter().take_while(|unit| unit.messages <= shared).count();
        // The last unit may be incomplete: a later message can belong to it.
        let start = |kept: usize| if kept == 0 { 0 } else { self.units[kept - 1].messages };
        if kept > 0 && self.format.unit(&messages[start(kept - 1)..]) != start(kept) - start(kept - 1) {
            kept -= 1;
        }
        self.keep_units(kept);
        let mut at = self.messages.len();
        while at < messages.len() {
            let count = self.format.unit(&messages[at..]).clamp(1, messages.len() - at);
            self.write_unit(&messages[at..at + count], request);
            at += count;
        }
    }

    fn write_unit(&mut self, unit: &[Arc<Message>], request: &ModelRequest) {
        let before = self.written.len();
        if before > 0 {
            self.written.push(b',');
        }
        let start = self.written.len();
        let mark = self.format.write(unit, &request.settings, &mut self.written);
        let segment = segment(SegmentKind::Message, &self.written[start..]);
        if self.written.len() == start {
            self.written.truncate(before);
        }
        self.messages.extend(unit.iter().cloned());
        self.units.push(Unit { messages: self.messages.len(), end: self.written.len(), mark, segment });
    }

    fn keep_units(&mut self, keep: usize) {
        self.units.truncate(keep);
        let last = self.units.last();
        self.messages.truncate(last.map_or(0, |unit| unit.messages));
        self.written.truncate(last.map_or(0, |unit| unit.end));
    }
}

fn mark_text(ttl: CacheTtl) -> &'static [u8] {
    match ttl {
        CacheTtl::FiveMinutes => br#","cache_control":{"type":"ephemeral"}"#,
        CacheTtl::OneHour => br#","cache_control":{"type":"ephemeral","ttl":"1h"}"#,
    }
}

/// Appends `bytes` with `mark` inserted at each of `places`, which ascend.
fn write_marked(body: &mut Vec<u8>, bytes: &[u8], places: &[usize], mark: &[u8]) {
    let mut from = 0;
    for &place in places {
        body.extend_from_slice(&bytes[from..place]);
        body.extend_from_slice(mark);
        from = place;
    }
    body.extend_from_slice(&bytes[from..]);
}

fn segment(kind: SegmentKind, bytes: &[u8]) -> Segment {
    let digest = Sha256::digest(bytes);
    let mut hash = [0; 16];
    hash.copy_from_slice(&digest[..16]);
    Segment { kind, hash, len: bytes.len() }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").field("mode", &self.mode).field("units", &self.units.len()).finish()
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;

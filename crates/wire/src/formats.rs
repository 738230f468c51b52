//! The formats in which models are asked and answer.

pub(crate) mod anthropic;
mod anthropic_decode;
pub(crate) mod chat;
mod chat_decode;
mod count;
mod list;
mod names;
mod responses;
mod responses_decode;

use crate::calls::MOST_CALLS;
use crate::{ApiMode, CallState, Failure, ModelEvent, ModelRequest, Reply, RequestSettings};
use anthropic_decode::AnthropicDecoder;
pub use chat::{ChatDialect, ExtraFields};
use chat_decode::ChatDecoder;
use hermes_conversation::Message;
pub use responses::{ReasoningDial, ResponsesBackend, ResponsesDialect};
use responses_decode::ResponsesDecoder;
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;

/// How requests are written in one format.
///
/// A body is a head, the items of the history separated by commas, and a tail. Settings belong
/// into the head and the history comes last, so that the bytes of one request begin the next.
pub(crate) trait Format: Sync {
    /// Everything before the first item of the history.
    fn head(&self, request: &ModelRequest) -> HeadParts;

    /// How many of the messages, which are never none, are written together. Formats in which
    /// several results share one message say so here.
    fn unit(&self, _messages: &[Arc<Message>]) -> usize {
        1
    }

    /// Appends the items of one unit, separated by commas; there may be none. Returns where in
    /// `bytes` a cache mark could be put, if it can carry one.
    fn write(&self, unit: &[Arc<Message>], settings: &RequestSettings, bytes: &mut Vec<u8>) -> Option<usize>;

    fn tail(&self) -> &'static [u8] {
        b"]}"
    }
}

/// The beginning of a request.
pub(crate) struct HeadParts {
    pub(crate) bytes: Vec<u8>,
    pub(crate) tools: Range<usize>,
    pub(crate) system: Range<usize>,
    /// Where a cache mark for the system prompt could be put.
    pub(crate) mark: Option<usize>,
    /// The list of items is not empty at the end of `bytes`.
    pub(crate) has_items: bool,
    /// The most tokens the reply may have, where the head says so.
    pub(crate) output_cap: Option<u64>,
}

pub(crate) fn format(mode: ApiMode) -> &'static dyn Format {
    match mode {
        ApiMode::ChatCompletions => &chat::Chat,
        ApiMode::AnthropicMessages => &anthropic::Anthropic,
        ApiMode::CodexResponses => &responses::Responses,
    }
}

fn write_json(bytes: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Writing these types into memory cannot fail: no map keys, no fallible writer.
    if let Err(error) = serde_json::to_writer(bytes, value) {
        unreachable!("writing JSON into memory failed: {error}");
    }
}

/// Why a piece of a reply could not be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DecodeError {
    #[error("{cause}: {excerpt}")]
    Json { cause: String, excerpt: String },
    /// The provider sent an error object in place of a reply.
    #[error("the provider reported an error")]
    Reported { body: String },
    #[error("the stream ended before the reply did")]
    Unfinished,
    #[error("the reply has too many tool calls ({} or more)", MOST_CALLS)]
    TooManyCalls,
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Reported { body } => Self::Reported { body },
            DecodeError::Unfinished => {
                Self::Cut { cause: "the stream ended before the reply did".to_owned() }
            }
            json => Self::Garbled { cause: json.to_string() },
        }
    }
}

/// Reads one reply. It is fed the data of each event and gives pieces; at the end, the whole.
///
/// One event that cannot be read, between events that can, is skipped: some proxies put lines of their own into
/// a stream. What was lost with it is not known, so no call of such a reply is run.
#[derive(Debug)]
pub struct Decoder {
    inner: Inner,
    has_read: bool,
    /// The newest event, where it could not be read.
    unreadable: Option<DecodeError>,
    skipped: u32,
}

#[derive(Debug)]
enum Inner {
    Chat(ChatDecoder),
    Anthropic(AnthropicDecoder),
    Responses(ResponsesDecoder),
}

impl Decoder {
    pub fn new(mode: ApiMode) -> Self {
        let inner = match mode {
            ApiMode::ChatCompletions => Inner::Chat(ChatDecoder::default()),
            ApiMode::AnthropicMessages => Inner::Anthropic(AnthropicDecoder::default()),
            ApiMode::CodexResponses => Inner::Responses(ResponsesDecoder::default()),
        };
        Self { inner, has_read: false, unreadable: None, skipped: 0 }
    }

    /// Takes the data of one event. `each` gets what there is to show. What comes after the last
    /// event is passed over: whether it is seen at all depends on how the bytes arrive.
    pub fn feed(&mut self, data: &str, each: impl FnMut(ModelEvent)) -> Result<(), DecodeError> {
        if self.is_done() || data.trim().is_empty() {
            return Ok(());
        }
        let read = match &mut self.inner {
            Inner::Chat(decoder) => decoder.feed(data, each),
            Inner::Anthropic(decoder) => decoder.feed(data, each),
            Inner::Responses(decoder) => decoder.feed(data, each),
        };
        match read {
            Ok(()) => {
                self.has_read = true;
                self.skipped += u32::from(self.unreadable.take().is_some());
                Ok(())
            }
            Err(error @ DecodeError::Json { .. }) if self.has_read && self.unreadable.is_none() => {
                self.unreadable = Some(error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the reply's last event has been seen.
    pub fn is_done(&self) -> bool {
        match &self.inner {
            Inner::Chat(decoder) => decoder.is_done(),
            Inner::Anthropic(decoder) => decoder.is_done(),
            Inner::Responses(decoder) => decoder.is_done(),
        }
    }

    /// The number of events that were skipped because they could not be read.
    pub fn skipped(&self) -> u32 {
        self.skipped + u32::from(self.unreadable.is_some())
    }

    /// The whole reply of a stream that has ended.
    pub fn finish(self) -> Result<Reply, DecodeError> {
        let skipped = self.skipped();
        let finished = match self.inner {
            Inner::Chat(decoder) => decoder.finish(),
            Inner::Anthropic(decoder) => decoder.finish(),
            Inner::Responses(decoder) => decoder.finish(),
        };
        let mut reply = finished.map_err(|error| self.unreadable.unwrap_or(error))?;
        if skipped > 0 {
            reply.calls.fill(CallState::Malformed);
        }
        within_limit(reply)
    }

    /// The reply of a request that was not streamed.
    pub fn plain(mode: ApiMode, body: &str) -> Result<Reply, DecodeError> {
        within_limit(match mode {
            ApiMode::ChatCompletions => chat_decode::plain(body),
            ApiMode::AnthropicMessages => anthropic_decode::plain(body),
            ApiMode::CodexResponses => responses_decode::plain(body),
        }?)
    }
}

/// A reply with more calls than are kept is refused as that, not taken for one that was cut.
fn within_limit(reply: Reply) -> Result<Reply, DecodeError> {
    match reply.message.calls.len() >= MOST_CALLS {
        true => Err(DecodeError::TooManyCalls),
        false => Ok(reply),
    }
}

#[cfg(test)]
#[path = "formats_tests.rs"]
mod tests;

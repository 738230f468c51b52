//! The formats of model APIs.

pub(crate) mod anthropic;
mod anthropic_decode;
mod bounded_list;
pub(crate) mod chat;
mod chat_decode;
mod responses;
mod responses_decode;
mod token_count;
mod tool_names;

use crate::call_assembly::MOST_CALLS;
use crate::{ApiMode, CallState, Failure, ModelEvent, ModelRequest, Reply, RequestSettings};
use anthropic_decode::AnthropicDecoder;
pub use chat::{ChatDialect, ExtraFields};
use chat_decode::ChatDecoder;
use hermes_conversation::Message;
pub use responses::{ReasoningControl, ResponsesBackend, ResponsesDialect};
use responses_decode::ResponsesDecoder;
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;

/// The encoder of one format.
///
/// A body is a head, the items of the history separated by commas, and a tail. Settings are part of the head and
/// the history comes last, so that each request begins with the bytes of the one before it.
pub(crate) trait Format: Sync {
    /// Everything before the first item of the history.
    fn head(&self, request: &ModelRequest) -> HeadParts;

    /// The number of leading messages that are encoded together; `messages` is never empty. For formats in which
    /// several results share one message.
    fn unit(&self, _messages: &[Arc<Message>]) -> usize {
        1
    }

    /// Appends the items of one unit, separated by commas; there may be none. Returns the offset in `bytes` at
    /// which a cache mark can be inserted, if any.
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
    /// The offset at which a cache mark for the system prompt can be inserted.
    pub(crate) mark: Option<usize>,
    /// The list of items is not empty at the end of `bytes`.
    pub(crate) has_items: bool,
    /// The output token limit, if the head contains one.
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

/// A failure to decode a reply.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DecodeError {
    #[error("{cause}: {excerpt}")]
    Json { cause: String, excerpt: String },
    /// The provider sent an error object instead of a reply.
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

/// Decodes one reply. It takes the data of each event and returns pieces; at the end, the whole reply.
///
/// One unreadable event between readable ones is skipped: some proxies insert their own lines into a stream. Its
/// content is unknown, so no call of such a reply is run.
#[derive(Debug)]
pub struct Decoder {
    inner: Inner,
    has_read: bool,
    /// The last event, if it was unreadable.
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

    /// Takes the data of one event. `each` receives the pieces to show. Data after the last event is ignored:
    /// its arrival depends on the chunks of the stream.
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

    /// Returns true after the last event of the reply.
    pub fn is_done(&self) -> bool {
        match &self.inner {
            Inner::Chat(decoder) => decoder.is_done(),
            Inner::Anthropic(decoder) => decoder.is_done(),
            Inner::Responses(decoder) => decoder.is_done(),
        }
    }

    /// The number of skipped events.
    pub fn skipped(&self) -> u32 {
        self.skipped + u32::from(self.unreadable.is_some())
    }

    /// Returns the whole reply of a stream that has ended.
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

    /// Decodes the reply of a request without streaming.
    pub fn plain(mode: ApiMode, body: &str) -> Result<Reply, DecodeError> {
        within_limit(match mode {
            ApiMode::ChatCompletions => chat_decode::plain(body),
            ApiMode::AnthropicMessages => anthropic_decode::plain(body),
            ApiMode::CodexResponses => responses_decode::plain(body),
        }?)
    }
}

/// Rejects a reply with too many calls, which would otherwise look truncated.
fn within_limit(reply: Reply) -> Result<Reply, DecodeError> {
    match reply.message.calls.len() >= MOST_CALLS {
        true => Err(DecodeError::TooManyCalls),
        false => Ok(reply),
    }
}

#[cfg(test)]
#[path = "formats_tests.rs"]
mod tests;

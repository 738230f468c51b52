//! The formats in which models are asked and answer.

pub(crate) mod chat;
mod chat_decode;

use crate::{ApiMode, Failure, ModelEvent, Reply};
pub(crate) use chat_decode::ChatDecoder;

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
#[derive(Debug)]
pub struct Decoder(ChatDecoder);

impl Decoder {
    pub fn new(mode: ApiMode) -> Self {
        match mode {
            ApiMode::ChatCompletions => Self(ChatDecoder::default()),
        }
    }

    /// Takes the data of one event. `each` gets what there is to show.
    pub fn feed(&mut self, data: &str, each: impl FnMut(ModelEvent)) -> Result<(), DecodeError> {
        self.0.feed(data, each)
    }

    /// Whether the reply's last event has been seen.
    pub fn is_done(&self) -> bool {
        self.0.is_done()
    }

    /// The whole reply of a stream that has ended.
    pub fn finish(self) -> Result<Reply, DecodeError> {
        self.0.finish()
    }

    /// The reply of a request that was not streamed.
    pub fn plain(mode: ApiMode, body: &str) -> Result<Reply, DecodeError> {
        match mode {
            ApiMode::ChatCompletions => chat_decode::plain(body),
        }
    }
}

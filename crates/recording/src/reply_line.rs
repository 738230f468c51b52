//! The recorded form of a reply: its bytes, or its decoded events if it contains a secret.
//!
//! A secret in a streamed reply is split. Placeholders in the bytes would then hide nothing, and the history
//! would have the secret where the recorded requests have a placeholder. The decoded text has it in one
//! piece.

use super::line::{Body, End, Outcome, Said};
use super::record_model::ReplyBytes;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use hermes_guard::Secrets;
use hermes_providers::{read_stream, read_whole};
use hermes_wire::{ApiMode, Failure, ModelEvent, ModelEvents, Reply};

/// The decoded events of a reply.
pub(crate) struct DecodedReply {
    pub(crate) mode: ApiMode,
    pieces: usize,
    /// Everything was read, so that every event of a stream is known to be JSON.
    pub(crate) is_finished: bool,
    /// The joined text, in which a split secret is found.
    text: String,
    reasoning: String,
    calls: String,
}

/// The end of a call.
pub(crate) enum CallEnd {
    /// Its last event or its failure was returned.
    Read,
    /// There were no events.
    Refused(Failure),
    /// The stream was dropped before its end.
    Dropped,
}

impl DecodedReply {
    pub(crate) fn new(mode: ApiMode) -> Self {
        Self {
            mode,
            pieces: 0,
            is_finished: false,
            text: String::new(),
            reasoning: String::new(),
            calls: String::new(),
        }
    }

    /// Adds an event. Returns true if it is the last.
    pub(crate) fn is_last(&mut self, event: &Result<ModelEvent, Failure>) -> bool {
        self.pieces += 1;
        match event {
            Ok(ModelEvent::Text(piece)) => self.text.push_str(piece),
            Ok(ModelEvent::Reasoning(piece)) => self.reasoning.push_str(piece),
            Ok(ModelEvent::ToolPreparing(_) | ModelEvent::Usage(_)) => {}
            Ok(ModelEvent::Finished(reply)) => {
                for call in &reply.message.calls {
                    self.calls.push_str(&call.arguments);
                    self.calls.push('\n');
                }
                self.is_finished = true;
                return true;
            }
            Err(_) => return true,
        }
        false
    }

    fn has_any(&self, secrets: &Secrets) -> bool {
        [&self.text, &self.reasoning, &self.calls].into_iter().any(|text| secrets.occur_in(text))
    }
}

/// The recorded form of a reply.
pub(crate) fn outcome(bytes: ReplyBytes, decoded: &DecodedReply, how: CallEnd, secrets: &Secrets) -> Outcome {
    let Some((status, streamed)) = bytes.head else {
        return match how {
            CallEnd::Refused(failure) => Outcome::Failed(failure),
            CallEnd::Read | CallEnd::Dropped => Outcome::Dropped,
        };
    };
    let dropped = matches!(how, CallEnd::Dropped);
    let end = match (dropped, bytes.failure) {
        (true, _) => End::Dropped { after: decoded.pieces },
        (false, Some(failure)) => End::Failed(failure),
        (false, None) => End::Complete,
    };
    let body = match String::from_utf8(bytes.chunks.concat()) {
        Ok(text) => Body::Text(text),
        Err(other) => Body::Base64(STANDARD.encode(other.as_bytes())),
    };
    let is_secret = match &body {
        Body::Text(text) => secrets.occur_in(text),
        Body::Lines(_) | Body::Base64(_) => {
            secrets.occur_in(&String::from_utf8_lossy(&bytes.chunks.concat()))
        }
    };
    if is_secret || decoded.has_any(secrets) {
        let said = said_in(&bytes.chunks, decoded.mode, streamed, &end, decoded.pieces);
        return Outcome::Decoded { said, end };
    }
    let chunks = if dropped { bytes.chunks.iter().map(Bytes::len).collect() } else { Vec::new() };
    Outcome::Body { status, streamed, body, end, chunks }
}

/// Decodes the bytes again, with consecutive text joined.
fn said_in(chunks: &[Bytes], mode: ApiMode, streamed: bool, end: &End, pieces: usize) -> Vec<Said> {
    let failure = match end {
        End::Failed(failure) => Some(failure.clone()),
        End::Complete | End::Dropped { .. } => None,
    };
    let limit = match end {
        End::Dropped { .. } => pieces,
        End::Complete | End::Failed(_) => usize::MAX,
    };
    let mut said: Vec<Said> = Vec::new();
    let events = match events_of(chunks.to_vec(), mode, streamed, failure) {
        Ok(events) => events,
        Err(failure) => return vec![Said::Failed(failure)],
    };
    let mut events = events.take(limit);
    // Nothing here waits: the bytes are all there.
    while let Some(Some(event)) = events.next().now_or_never() {
        match (said.last_mut(), event) {
            (Some(Said::Text(text)), Ok(ModelEvent::Text(more)))
            | (Some(Said::Reasoning(text)), Ok(ModelEvent::Reasoning(more))) => text.push_str(&more),
            (_, event) => said.extend(of_event(event)),
        }
    }
    said
}

/// The events in kept bytes.
pub(crate) fn events_of(
    chunks: Vec<Bytes>,
    mode: ApiMode,
    streamed: bool,
    failure: Option<Failure>,
) -> Result<ModelEvents, Failure> {
    match (streamed, failure) {
        (true, failure) => {
            let bytes = chunks.into_iter().map(Ok).chain(failure.map(Err));
            Ok(read_stream(mode, futures::stream::iter(bytes).boxed()))
        }
        (false, Some(failure)) => Err(failure),
        (false, None) => read_whole(mode, &chunks.concat()),
    }
}

fn of_event(event: Result<ModelEvent, Failure>) -> Option<Said> {
    Some(match event {
        Ok(ModelEvent::Text(text)) => Said::Text(text),
        Ok(ModelEvent::Reasoning(text)) => Said::Reasoning(text),
        Ok(ModelEvent::ToolPreparing(name)) => Said::ToolPreparing(name),
        Ok(ModelEvent::Usage(_)) => return None,
        Ok(ModelEvent::Finished(reply)) => {
            let Reply { message, calls, finish, usage, .. } = *reply;
            Said::Finished { message: Box::new(message), calls, finish, usage }
        }
        Err(failure) => Said::Failed(failure),
    })
}

/// The event that was written down.
pub(crate) fn to_event(said: Said) -> Result<ModelEvent, Failure> {
    Ok(match said {
        Said::Text(text) => ModelEvent::Text(text),
        Said::Reasoning(text) => ModelEvent::Reasoning(text),
        Said::ToolPreparing(name) => ModelEvent::ToolPreparing(name),
        Said::Finished { message, calls, finish, usage } => ModelEvent::Finished(Box::new(Reply {
            message: *message,
            calls,
            finish,
            usage,
            bill: Default::default(),
        })),
        Said::Failed(failure) => return Err(failure),
    })
}

#[cfg(test)]
#[path = "reply_line_tests.rs"]
mod tests;

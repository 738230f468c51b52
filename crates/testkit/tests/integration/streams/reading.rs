//! Reads a stream as `providers` does: chunk by chunk, until the reply is complete.

use hermes_wire::{ApiMode, CallState, DecodeError, Decoder, ModelEvent, Reply, SseError, SseParser};

/// The result of a stream.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The events, with neighbours of one kind joined.
    pub(crate) shown: Vec<ModelEvent>,
    pub(crate) end: Result<Reply, StreamError>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum StreamError {
    Sse(SseError),
    Decode(DecodeError),
}

/// Reads the chunks, then the end of the stream.
pub(crate) fn read<'a>(mode: ApiMode, chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut reader = Reader::new(mode);
    for chunk in chunks {
        if reader.is_over() {
            break;
        }
        reader.take(Some(chunk));
    }
    reader.finish()
}

/// A stream that is being read.
pub(crate) struct Reader {
    sse: SseParser,
    decoder: Decoder,
    shown: Vec<ModelEvent>,
    failed: Option<StreamError>,
}

impl Reader {
    pub(crate) fn new(mode: ApiMode) -> Self {
        Self { sse: SseParser::default(), decoder: Decoder::new(mode), shown: Vec::new(), failed: None }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.failed.is_some() || self.decoder.is_done()
    }

    pub(crate) fn take(&mut self, chunk: Option<&[u8]>) {
        let Self { sse, decoder, shown, .. } = self;
        let mut failed = None;
        let each = |data: &str| {
            if failed.is_none() {
                failed = decoder.feed(data, |event| join(shown, event)).err();
            }
        };
        let parsed = match chunk {
            Some(chunk) => sse.feed(chunk, each),
            None => sse.finish(each),
        };
        self.failed = failed.map(StreamError::Decode).or(parsed.err().map(StreamError::Sse));
    }

    pub(crate) fn finish(mut self) -> Outcome {
        if !self.is_over() {
            self.take(None);
        }
        let end = match self.failed {
            Some(error) => Err(error),
            None => self.decoder.finish().map_err(StreamError::Decode),
        };
        Outcome { shown: self.shown, end }
    }
}

fn join(shown: &mut Vec<ModelEvent>, event: ModelEvent) {
    match (shown.last_mut(), &event) {
        (Some(ModelEvent::Text(text)), ModelEvent::Text(more)) => text.push_str(more),
        (Some(ModelEvent::Reasoning(text)), ModelEvent::Reasoning(more)) => text.push_str(more),
        _ => shown.push(event),
    }
}

impl Outcome {
    /// The streamed text.
    pub(crate) fn shown_text(&self) -> String {
        let text = |event: &ModelEvent| match event {
            ModelEvent::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.shown.iter().filter_map(text).collect()
    }

    /// One line: the end, the text, the reasoning, the calls and the usage.
    pub(crate) fn in_short(&self) -> String {
        let reply = match &self.end {
            Ok(reply) => reply,
            Err(StreamError::Sse(error)) => return format!("sse error: {error}"),
            Err(StreamError::Decode(DecodeError::Reported { body })) => return format!("reported: {body}"),
            Err(StreamError::Decode(DecodeError::Unfinished)) => return "unfinished".to_owned(),
            Err(StreamError::Decode(DecodeError::TooManyCalls)) => return "too many calls".to_owned(),
            Err(StreamError::Decode(DecodeError::Json { .. })) => return "garbled".to_owned(),
        };
        let mut line = format!("{} {:?}", reply.finish.as_str(), reply.message.text);
        if let Some(thoughts) = &reply.message.reasoning.text {
            line += &format!(" thinking {thoughts:?}");
        }
        for (call, state) in reply.message.calls.iter().zip(&reply.calls) {
            let mark = match state {
                CallState::Complete => "",
                CallState::Repaired => " repaired",
                CallState::Truncated => " truncated",
                CallState::Malformed => " malformed",
            };
            line += &format!(" {}({}){mark}", call.name, call.arguments);
        }
        match reply.usage {
            Some(usage) => line + &format!(" {}+{}", usage.prompt(), usage.output),
            None => line,
        }
    }
}

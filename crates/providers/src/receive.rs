//! A reply on its way in: from bytes, limited in size and time, to model events.

use crate::Deadlines;
use crate::client::root_cause;
use crate::tap::CallTap;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use hermes_wire::{Decoder, Failure, ModelEvent, ModelEvents, SseParser, TimeoutPhase};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, Sleep};

/// The largest reply that is read.
const MAX_REPLY: usize = 64 * 1024 * 1024;
/// The bytes and the time for reading past the last event, so that the connection can be reused.
const DRAIN_BYTES: usize = 64 * 1024;
const DRAIN_TIME: Duration = Duration::from_millis(250);

/// The body of a response, with its limits.
pub(crate) struct ReplyBody {
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    deadlines: Deadlines,
    started: Instant,
    /// The time of the last bytes.
    heard: Instant,
    alarm: Pin<Box<Sleep>>,
    received: usize,
    draining: Arc<Mutex<()>>,
    tap: Option<Box<dyn CallTap>>,
}

impl ReplyBody {
    pub(crate) fn new(
        response: reqwest::Response,
        deadlines: Deadlines,
        started: Instant,
        draining: Arc<Mutex<()>>,
        tap: Option<Box<dyn CallTap>>,
    ) -> Self {
        let heard = Instant::now();
        let due = (heard + deadlines.gap).min(started + deadlines.total);
        let alarm = Box::pin(tokio::time::sleep_until(due));
        Self {
            body: response.bytes_stream().boxed(),
            deadlines,
            started,
            heard,
            alarm,
            received: 0,
            draining,
            tap,
        }
    }

    /// Returns the next bytes, or `None` at the end.
    async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        let chunk = self.read_chunk().await;
        if let Some(tap) = &self.tap {
            match &chunk {
                Ok(Some(chunk)) => tap.chunk(chunk),
                Ok(None) => tap.ended(None),
                Err(failure) => tap.ended(Some(failure)),
            }
        }
        chunk
    }

    async fn read_chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        let next = loop {
            tokio::select! {
                biased;
                next = self.body.next() => break next,
                () = &mut self.alarm => self.check_time()?,
            }
        };
        let Some(chunk) = next else { return Ok(None) };
        let chunk = chunk.map_err(|error| Failure::Cut { cause: root_cause(&error) })?;
        self.heard = Instant::now();
        self.received += chunk.len();
        if self.received > MAX_REPLY {
            return Err(Failure::TooLarge { limit: MAX_REPLY });
        }
        Ok(Some(chunk))
    }

    /// The timer has fired. It is not reset for every chunk, so it may be early.
    fn check_time(&mut self) -> Result<(), Failure> {
        let Deadlines { gap, total, .. } = self.deadlines;
        let now = Instant::now();
        if now >= self.started + total {
            return Err(Failure::TimedOut { phase: TimeoutPhase::Total, limit: total });
        }
        if now >= self.heard + gap {
            return Err(Failure::TimedOut { phase: TimeoutPhase::Gap, limit: gap });
        }
        self.alarm.as_mut().reset((self.heard + gap).min(self.started + total));
        Ok(())
    }

    /// Returns the whole body.
    pub(crate) async fn whole_body(mut self) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Reads the few bytes after the last event in the background. The next request waits for this, so that it can reuse
    /// the connection.
    fn drain(self) {
        let Ok(busy) = self.draining.clone().try_lock_owned() else {
            return;
        };
        tokio::spawn(read_rest(self.body, busy));
    }
}

async fn read_rest(mut body: BoxStream<'static, reqwest::Result<Bytes>>, busy: OwnedMutexGuard<()>) {
    let rest = async {
        let mut seen = 0;
        while let Some(Ok(chunk)) = body.next().await {
            seen += chunk.len();
            if seen > DRAIN_BYTES {
                return;
            }
        }
        // The pool takes a connection back shortly after its body has ended.
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    let _ = tokio::time::timeout(DRAIN_TIME, rest).await;
    drop(busy);
}

/// Turns a streamed body into model events.
pub(crate) fn events(receiving: impl Incoming, decoder: Decoder) -> ModelEvents {
    let reading = EventReader {
        incoming: receiving,
        decoder,
        sse: SseParser::default(),
        ready: VecDeque::new(),
        ended: false,
        failed: None,
    };
    // Boxed, because the state moves from event to event.
    futures::stream::unfold(Some(Box::new(reading)), |reading| async move {
        let mut reading = reading?;
        match reading.next().await {
            Ok(Some(event)) => Some((Ok(event), Some(reading))),
            Ok(None) => match reading.finish() {
                Ok(reply) => Some((Ok(reply), None)),
                Err(failure) => Some((Err(failure), None)),
            },
            Err(failure) => Some((Err(failure), None)),
        }
    })
    .boxed()
}

/// The source of a streamed reply's bytes.
pub(crate) trait Incoming: Send + 'static {
    /// The next bytes, or `None` at the end.
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Bytes>, Failure>> + Send;

    /// Called when the reply was complete before its bytes had ended.
    fn left_over(self);
}

impl Incoming for ReplyBody {
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Bytes>, Failure>> + Send {
        self.chunk()
    }

    fn left_over(self) {
        self.drain();
    }
}

struct EventReader<I> {
    incoming: I,
    decoder: Decoder,
    sse: SseParser,
    ready: VecDeque<ModelEvent>,
    ended: bool,
    /// A failure after the events that are ready. They are returned first: the output must not depend on how the bytes
    /// were split.
    failed: Option<Failure>,
}

impl<I: Incoming> EventReader<I> {
    /// Returns the next event, or `None` when the reply is complete.
    async fn next(&mut self) -> Result<Option<ModelEvent>, Failure> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if let Some(failure) = self.failed.take() {
                return Err(failure);
            }
            if self.ended || self.decoder.is_done() {
                return Ok(None);
            }
            let chunk = self.incoming.chunk().await?;
            self.ended = chunk.is_none();
            self.failed = self.take(chunk.as_deref()).err();
        }
    }

    /// Feeds a chunk, or the end of the stream. Events of one chunk are returned together.
    fn take(&mut self, chunk: Option<&[u8]>) -> Result<(), Failure> {
        let Self { decoder, sse, ready, .. } = self;
        let mut failed = None;
        let each = |data: &str| {
            if failed.is_none() {
                failed = decoder.feed(data, |event| join(ready, event)).err();
            }
        };
        let parsed = match chunk {
            Some(chunk) => sse.feed(chunk, each),
            None => sse.finish(each),
        };
        parsed.map_err(|error| Failure::Garbled { cause: error.to_string() })?;
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    fn finish(self) -> Result<ModelEvent, Failure> {
        let Self { incoming, decoder, ended, .. } = self;
        if !ended {
            incoming.left_over();
        }
        let skipped = decoder.skipped();
        let reply = decoder.finish()?;
        if skipped > 0 {
            tracing::warn!(skipped, "stream events that could not be read were skipped");
        }
        Ok(ModelEvent::Finished(Box::new(reply)))
    }
}

fn join(ready: &mut VecDeque<ModelEvent>, event: ModelEvent) {
    match (ready.back_mut(), &event) {
        (Some(ModelEvent::Text(text)), ModelEvent::Text(more)) => text.push_str(more),
        (Some(ModelEvent::Reasoning(text)), ModelEvent::Reasoning(more)) => text.push_str(more),
        _ => ready.push_back(event),
    }
}

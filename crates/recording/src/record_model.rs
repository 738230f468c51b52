//! Records a route and its models.

use super::line::What;
use super::outcome_sink::OutcomeSink;
use super::recorder::Recorder;
use super::reply_line::{CallEnd, DecodedReply, outcome};
use bytes::Bytes;
use futures::StreamExt;
use hermes_conversation::BoxFuture;
use hermes_wire::{EncodedRequest, Failure, Fault, FaultClass, Model, ModelEvents, ModelProfile, ModelRoute};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

/// The bytes of a reply as they come in.
#[derive(Debug, Default)]
pub(crate) struct ReplyBytes {
    /// Status, and whether it is a stream; nothing before the reply begins.
    pub(crate) head: Option<(u16, bool)>,
    pub(crate) chunks: Vec<Bytes>,
    pub(crate) failure: Option<Failure>,
}

impl ReplyBytes {
    pub(crate) fn begin(&mut self, status: u16, streamed: bool) {
        self.head = Some((status, streamed));
    }
}

/// A route whose models are recorded.
pub(crate) struct RecordedRoute {
    pub(crate) inner: Arc<dyn ModelRoute>,
    pub(crate) recorder: Arc<Recorder>,
}

impl RecordedRoute {
    fn recorded(&self, inner: Arc<dyn Model>) -> Arc<dyn Model> {
        Arc::new(RecordedModel { inner, recorder: self.recorder.clone() })
    }
}

impl ModelRoute for RecordedRoute {
    fn current(&self) -> Arc<dyn Model> {
        // A model call that is not begun because of a stop leaves no other trace.
        self.recorder.note_stop();
        self.recorded(self.inner.current())
    }

    fn restore(&self) -> bool {
        let first = self.inner.restore();
        let current = self.inner.current();
        let place = self.inner.stops().iter().position(|stop| Arc::ptr_eq(stop, &current));
        self.recorder.put(What::Restored { first, at: place.unwrap_or(0) });
        first
    }

    fn stops_left(&self) -> u32 {
        self.inner.stops_left()
    }

    fn advance(&self, because: FaultClass) -> Option<Arc<dyn Model>> {
        self.inner.advance(because).map(|model| self.recorded(model))
    }

    fn turn_failed(&self) {
        self.inner.turn_failed();
    }

    fn stops(&self) -> Vec<Arc<dyn Model>> {
        self.inner.stops()
    }
}

struct RecordedModel {
    inner: Arc<dyn Model>,
    recorder: Arc<Recorder>,
}

impl RecordedModel {
    async fn send(&self, request: EncodedRequest) -> Result<ModelEvents, Failure> {
        let (number, bytes) = self.recorder.request(&request.body, request.session.as_deref());
        let mut call = Call {
            recorder: self.recorder.clone(),
            number,
            bytes,
            decoded: DecodedReply::new(request.mode),
            is_written: false,
        };
        match self.inner.reply(request).await {
            Ok(events) => Ok(listened(events, call)),
            Err(failure) => {
                call.ended(CallEnd::Refused(failure.clone()));
                Err(failure)
            }
        }
    }
}

impl Model for RecordedModel {
    fn profile(&self) -> &ModelProfile {
        self.inner.profile()
    }

    fn reply(&self, request: EncodedRequest) -> BoxFuture<'_, Result<ModelEvents, Failure>> {
        Box::pin(self.send(request))
    }

    fn another_key<'a>(&'a self, fault: &'a Fault) -> BoxFuture<'a, bool> {
        let answer = OnEnd::new(self.recorder.clone(), What::Key { found: None });
        Box::pin(async move {
            let mut answer = answer;
            let found = self.inner.another_key(fault).await;
            answer.is(What::Key { found: Some(found) });
            found
        })
    }
}

/// Observes the events of a reply.
fn listened(mut events: ModelEvents, mut call: Call) -> ModelEvents {
    futures::stream::poll_fn(move |cx| {
        let next = events.poll_next_unpin(cx);
        if let Poll::Ready(Some(event)) = &next
            && call.decoded.is_last(event)
        {
            call.ended(CallEnd::Read);
        }
        next
    })
    .boxed()
}

/// A running call. Its end is recorded once.
struct Call {
    recorder: Arc<Recorder>,
    number: u64,
    bytes: Arc<Mutex<ReplyBytes>>,
    decoded: DecodedReply,
    is_written: bool,
}

impl Call {
    fn ended(&mut self, how: CallEnd) {
        if std::mem::replace(&mut self.is_written, true) {
            return;
        }
        let bytes = std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner));
        let read = self.decoded.is_finished.then_some(self.decoded.mode);
        self.recorder.reply(self.number, read, |secrets| outcome(bytes, &self.decoded, how, secrets));
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.ended(CallEnd::Dropped);
    }
}

/// Writes a line on drop: the answer, or that the wait was cancelled.
pub(crate) struct OnEnd {
    recorder: Arc<Recorder>,
    line: Option<What>,
}

impl OnEnd {
    /// Starts the wait; `dropped` is the line if it is cancelled.
    pub(crate) fn new(recorder: Arc<Recorder>, dropped: What) -> Self {
        Self { recorder, line: Some(dropped) }
    }

    pub(crate) fn is(&mut self, line: What) {
        self.line = Some(line);
    }
}

impl Drop for OnEnd {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            self.recorder.put(line);
        }
    }
}

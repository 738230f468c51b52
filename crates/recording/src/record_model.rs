//! A route and its models with a recorder before them.

use super::line::What;
use super::recorder::Recorder;
use super::reply_line::{Heard, HowItEnded, outcome};
use super::tape::Tape;
use bytes::Bytes;
use futures::StreamExt;
use hermes_conversation::BoxFuture;
use hermes_wire::{EncodedRequest, Failure, Fault, FaultClass, Model, ModelEvents, ModelProfile, ModelRoute};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

/// The bytes of a reply as they come in.
#[derive(Debug, Default)]
pub(crate) struct TapeBody {
    /// Status, and whether it is a stream; nothing before the reply begins.
    pub(crate) head: Option<(u16, bool)>,
    pub(crate) chunks: Vec<Bytes>,
    pub(crate) failure: Option<Failure>,
}

impl TapeBody {
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
        let (number, tape) = self.recorder.request(&request.body, request.session.as_deref());
        let mut call = Call {
            recorder: self.recorder.clone(),
            number,
            tape,
            heard: Heard::new(request.mode),
            is_written: false,
        };
        match self.inner.reply(request).await {
            Ok(events) => Ok(listened(events, call)),
            Err(failure) => {
                call.ended(HowItEnded::Refused(failure.clone()));
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

/// Looks at the events of a reply as they pass.
fn listened(mut events: ModelEvents, mut call: Call) -> ModelEvents {
    futures::stream::poll_fn(move |cx| {
        let next = events.poll_next_unpin(cx);
        if let Poll::Ready(Some(event)) = &next
            && call.heard.is_last(event)
        {
            call.ended(HowItEnded::Read);
        }
        next
    })
    .boxed()
}

/// A call under way. However it ends, it is written down once.
struct Call {
    recorder: Arc<Recorder>,
    number: u64,
    tape: Arc<Mutex<TapeBody>>,
    heard: Heard,
    is_written: bool,
}

impl Call {
    fn ended(&mut self, how: HowItEnded) {
        if std::mem::replace(&mut self.is_written, true) {
            return;
        }
        let tape = std::mem::take(&mut *self.tape.lock().unwrap_or_else(PoisonError::into_inner));
        let read = self.heard.is_finished.then_some(self.heard.mode);
        self.recorder.reply(self.number, read, |secrets| outcome(tape, &self.heard, how, secrets));
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.ended(HowItEnded::Dropped);
    }
}

/// Writes a line when something is over: the answer, or that nobody waited for one.
pub(crate) struct OnEnd {
    recorder: Arc<Recorder>,
    line: Option<What>,
}

impl OnEnd {
    /// From now on; `dropped` is the line if nobody waits for the end.
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

//! Models that answer from a recording.

use super::cursor::Cursor;
use super::line::{Body, End, Outcome, What};
use super::recorded_answer::RecordedAnswer;
use super::reply_line::{events_of, to_event};
use super::sse_lines;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::StreamExt;
use hermes_conversation::BoxFuture;
use hermes_wire::{
    ApiMode, EncodedRequest, Failure, Fault, FaultClass, Model, ModelEvent, ModelEvents, ModelProfile,
    ModelRoute,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The stops of a recorded session; after the fork, a live route.
pub(crate) struct ReplayedRoute {
    pub(crate) cursor: Arc<Cursor>,
    stops: Vec<Arc<dyn Model>>,
    at: AtomicUsize,
    live: Option<Arc<dyn ModelRoute>>,
}

impl ReplayedRoute {
    pub(crate) fn new(
        cursor: Arc<Cursor>,
        profiles: &[ModelProfile],
        live: Option<Arc<dyn ModelRoute>>,
    ) -> Self {
        let stop = |profile: &ModelProfile| -> Arc<dyn Model> {
            Arc::new(ReplayedModel { cursor: cursor.clone(), profile: profile.clone() })
        };
        Self { stops: profiles.iter().map(stop).collect(), cursor, at: AtomicUsize::new(0), live }
    }

    fn live(&self) -> Option<&Arc<dyn ModelRoute>> {
        self.live.as_ref().filter(|_| self.cursor.is_live())
    }
}

impl ModelRoute for ReplayedRoute {
    fn current(&self) -> Arc<dyn Model> {
        self.cursor.approach_request();
        if let Some(live) = self.live() {
            return live.current();
        }
        if self.cursor.peek(|what| *what == What::Stop) == Some(true) {
            self.cursor.take("a stop", |_| Some(()));
        }
        // There is at least one: a recording without any is refused before it is played.
        self.stops[self.at.load(Ordering::Relaxed).min(self.stops.len() - 1)].clone()
    }

    fn restore(&self) -> bool {
        let found = self.cursor.take("the first model of a turn", |what| match what {
            What::Restored { first, at } => Some((*first, *at)),
            _ => None,
        });
        let (first, at) = found.unwrap_or((true, 0));
        self.at.store(at.min(self.stops.len() - 1), Ordering::Relaxed);
        first
    }

    fn stops_left(&self) -> u32 {
        if let Some(live) = self.live() {
            return live.stops_left();
        }
        let left = self.stops.len() - 1 - self.at.load(Ordering::Relaxed);
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    fn advance(&self, because: FaultClass) -> Option<Arc<dyn Model>> {
        if let Some(live) = self.live() {
            return live.advance(because);
        }
        let next = self.at.load(Ordering::Relaxed) + 1;
        let model = self.stops.get(next)?.clone();
        self.at.store(next, Ordering::Relaxed);
        Some(model)
    }

    fn turn_failed(&self) {
        if let Some(live) = self.live() {
            live.turn_failed();
        }
    }

    fn stops(&self) -> Vec<Arc<dyn Model>> {
        self.stops.clone()
    }
}

struct ReplayedModel {
    cursor: Arc<Cursor>,
    profile: ModelProfile,
}

impl ReplayedModel {
    async fn answer(&self, request: EncodedRequest) -> Result<ModelEvents, Failure> {
        if !self.cursor.request(&request.body) {
            // The replay has ended, or the turn is stopped.
            return std::future::pending().await;
        }
        let line = ReplyTaken { cursor: self.cursor.clone() };
        let Some(outcome) = self.cursor.coming_reply() else {
            // The replay has ended, and the turn is stopped.
            return std::future::pending().await;
        };
        match events(outcome, request.mode) {
            Answer::Dropped => {
                self.cursor.stop_turn();
                std::future::pending().await
            }
            Answer::Failed(failure) => {
                drop(line);
                Err(failure)
            }
            Answer::Events { events, drops_after } => Ok(played(events, line, drops_after)),
        }
    }
}

impl Model for ReplayedModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn reply(&self, request: EncodedRequest) -> BoxFuture<'_, Result<ModelEvents, Failure>> {
        Box::pin(self.answer(request))
    }

    fn another_key<'a>(&'a self, _: &'a Fault) -> BoxFuture<'a, bool> {
        let pick = |what: &What| match what {
            What::Key { found } => Some(*found),
            _ => None,
        };
        Box::pin(
            RecordedAnswer::new(self.cursor.clone(), "whether there is another key", Box::new(pick)).answer(),
        )
    }
}

enum Answer {
    Events { events: ModelEvents, drops_after: Option<usize> },
    Failed(Failure),
    Dropped,
}

/// Reads a recorded reply as it was read off the line.
fn events(outcome: Outcome, mode: ApiMode) -> Answer {
    match outcome {
        Outcome::Failed(failure) => Answer::Failed(failure),
        Outcome::Dropped => Answer::Dropped,
        Outcome::Body { streamed, body, end, chunks, .. } => {
            let (failure, drops_after) = match end {
                End::Complete => (None, None),
                End::Failed(failure) => (Some(failure), None),
                End::Dropped { after } => (None, Some(after)),
            };
            if !streamed && drops_after.is_some() {
                return Answer::Dropped;
            }
            match events_of(cut(bytes(body), &chunks), mode, streamed, failure) {
                Ok(events) => Answer::Events { events, drops_after },
                Err(failure) => Answer::Failed(failure),
            }
        }
        Outcome::Decoded { said, end } => {
            let mut pieces: Vec<_> = said.into_iter().map(to_event).collect();
            let drops = matches!(end, End::Dropped { .. });
            if let ([Err(_)], false) = (pieces.as_slice(), drops)
                && let Some(Err(failure)) = pieces.pop()
            {
                return Answer::Failed(failure);
            }
            let drops_after = drops.then_some(pieces.len());
            Answer::Events { events: futures::stream::iter(pieces).boxed(), drops_after }
        }
    }
}

fn bytes(body: Body) -> Bytes {
    match body {
        Body::Text(text) => text.into(),
        Body::Lines(lines) => sse_lines::body(&lines).unwrap_or_default().into(),
        // What is not base64 was not written by us; the difference shows in what comes of it.
        Body::Base64(text) => STANDARD.decode(text).unwrap_or_default().into(),
    }
}

/// The pieces in which the bytes came; one, where that was not written down.
fn cut(mut bytes: Bytes, chunks: &[usize]) -> Vec<Bytes> {
    let mut pieces: Vec<Bytes> =
        chunks.iter().map(|length| bytes.split_to((*length).min(bytes.len()))).collect();
    if !bytes.is_empty() {
        pieces.push(bytes);
    }
    pieces
}

/// Returns the events; the line is taken before the last one, or when the stream is dropped.
fn played(events: ModelEvents, line: ReplyTaken, drops_after: Option<usize>) -> ModelEvents {
    let state = (events, Some(line), 0);
    futures::stream::unfold(state, move |(mut events, mut line, count)| async move {
        if drops_after == Some(count) {
            if let Some(line) = &line {
                line.cursor.stop_turn();
            }
            return std::future::pending().await;
        }
        let event = events.next().await?;
        if matches!(event, Ok(ModelEvent::Finished(_)) | Err(_)) {
            line = None;
        }
        Some((event, (events, line, count + 1)))
    })
    .boxed()
}

/// Takes the line of a reply when it is over, as it was written when it was over.
struct ReplyTaken {
    cursor: Arc<Cursor>,
}

impl Drop for ReplyTaken {
    fn drop(&mut self) {
        self.cursor.take("a reply", |what| matches!(what, What::Reply(_)).then_some(()));
    }
}

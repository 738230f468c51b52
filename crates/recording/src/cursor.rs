//! The position of a replay in its recording.
//!
//! Inputs are taken from the lines in order; outcomes are compared with them. The first difference ends
//! the replay: later calls of the driver have no effect.

use super::line::{EventLine, Line, Outcome, What, WhatOf};
use super::outcome_sink::OutcomeSink;
use super::pending_text::PendingText;
use super::reading::Recording;
use super::replay::Difference;
use super::request_line::body_after;
use hermes_conversation::{MessageId, Node, RecordError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

pub(crate) struct Cursor {
    lines: Arc<Recording>,
    /// Outcomes are compared, except in a fork, whose requests have another session id.
    compares: bool,
    /// The first request that goes to a live model.
    live_from: Option<u64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    at: usize,
    now: u64,
    text: PendingText,
    end: Option<Ended>,
    cancel: CancellationToken,
    requests: u64,
    body: Vec<u8>,
    is_live: bool,
}

/// The reason for the end of a replay.
#[derive(Debug, Clone)]
pub(crate) enum Ended {
    Differs(Difference),
    /// The recording ends where the run goes on.
    RanOut,
}

impl Cursor {
    pub(crate) fn new(lines: Arc<Recording>, compares: bool, live_from: Option<u64>) -> Self {
        let now = lines.lines.first().map_or(0, |line| line.at);
        let state = Mutex::new(State { now, ..State::default() });
        Self { lines, compares, live_from, state }
    }

    pub(crate) fn recording(&self) -> &Recording {
        &self.lines
    }

    /// The time of the line that was reached, in seconds since 1970.
    pub(crate) fn now(&self) -> f64 {
        self.state().now as f64 / 1000.0
    }

    pub(crate) fn begin_turn(&self, cancel: CancellationToken) {
        self.state().cancel = cancel;
    }

    /// The reason for the end of the replay, if it has ended.
    pub(crate) fn ended(&self) -> Option<Ended> {
        self.state().end.clone()
    }

    pub(crate) fn requests(&self) -> u64 {
        self.state().requests
    }

    /// The number of consumed lines.
    pub(crate) fn events(&self) -> usize {
        self.state().at
    }

    /// Returns true after the fork point, when a live model is called.
    pub(crate) fn is_live(&self) -> bool {
        self.state().is_live
    }

    /// Called before each model call: goes live at the fork point.
    pub(crate) fn approach_request(&self) {
        let mut state = self.state();
        let is_next = matches!(self.line(&state), Some(Line { what: What::Request(_), .. }));
        if is_next && self.live_from == Some(state.requests + 1) {
            state.is_live = true;
        }
    }

    /// Stops the turn, as the user did.
    pub(crate) fn stop_turn(&self) {
        self.state().cancel.cancel();
    }

    /// Looks at the next line, unless the replay has ended.
    pub(crate) fn peek<T>(&self, look: impl FnOnce(&What) -> T) -> Option<T> {
        let mut state = self.state();
        // Sent text may come first, or continue: then the next line is still part of it.
        let is_all_text =
            state.end.is_none() && self.line(&state).is_some_and(|line| state.text.is_all(&line.what));
        if is_all_text {
            self.flush(&mut state);
        }
        match state.end {
            Some(_) => None,
            None => self.line(&state).map(|line| look(&line.what)),
        }
    }

    /// The next reply. It is needed before the events that it causes, and is recorded after them.
    pub(crate) fn coming_reply(&self) -> Option<Outcome> {
        let mut state = self.state();
        if state.end.is_some() {
            return None;
        }
        let rest = self.lines.lines.get(state.at..).unwrap_or_default();
        match rest.iter().map(|line| &line.what).find(|what| !matches!(what, What::Event(_))) {
            Some(What::Reply(reply)) => Some(reply.outcome.clone()),
            Some(other) => {
                self.differ(&mut state, &shown(other), "a reply is asked for");
                None
            }
            // A process that was killed here had no complete reply.
            None => {
                self.run_out(&mut state);
                None
            }
        }
    }

    /// Takes the next line, which must be the one that `pick` wants.
    pub(crate) fn take<T>(&self, wanted: &str, pick: impl FnOnce(&What) -> Option<T>) -> Option<T> {
        let mut state = self.state();
        self.flush(&mut state);
        if state.end.is_some() {
            return None;
        }
        let Some(line) = self.line(&state) else {
            self.run_out(&mut state);
            return None;
        };
        match pick(&line.what) {
            Some(found) => {
                self.step(&mut state);
                Some(found)
            }
            None => {
                self.differ(&mut state, &shown(&line.what), &format!("{wanted} is asked for"));
                None
            }
        }
    }

    /// Compares a request; false if no reply follows, because it differs or because the user stopped the
    /// turn right before it was sent.
    pub(crate) fn request(&self, got: &[u8]) -> bool {
        let mut state = self.state();
        self.flush(&mut state);
        if state.end.is_some() {
            return false;
        }
        let line = match self.line(&state) {
            Some(Line { what: What::Request(line), .. }) => line,
            Some(Line { stopped: true, .. }) => {
                state.cancel.cancel();
                return false;
            }
            _ => {
                drop(state);
                self.take::<()>("a reply", |_| None);
                return false;
            }
        };
        let Some(want) = body_after(&state.body, line) else {
            self.differ(&mut state, "a request that goes on from the one before", "a shorter one");
            return false;
        };
        state.requests += 1;
        if self.compares && want != got {
            let (want, got) = (String::from_utf8_lossy(&want), String::from_utf8_lossy(got));
            self.differ(&mut state, &want, &got);
            return false;
        }
        state.body = want;
        self.step(&mut state);
        true
    }

    /// Notes a difference that was found elsewhere.
    pub(crate) fn differs(&self, expected: &str, got: &str) {
        let mut state = self.state();
        if state.end.is_none() {
            self.differ(&mut state, expected, got);
        }
    }

    fn line<'a>(&'a self, state: &State) -> Option<&'a Line> {
        self.lines.lines.get(state.at)
    }

    fn step(&self, state: &mut State) {
        let Some(line) = self.line(state) else { return };
        state.now = line.at;
        if line.stopped {
            state.cancel.cancel();
        }
        state.at += 1;
    }

    /// Compares the text that was sent before what comes now.
    fn flush(&self, state: &mut State) {
        if state.is_live {
            drop(state.text.take());
            return;
        }
        for text in state.text.take() {
            self.compare(state, &text);
        }
    }

    fn compare(&self, state: &mut State, got: &WhatOf<'_>) {
        if state.end.is_some() {
            return;
        }
        let Some(line) = self.line(state) else {
            self.run_out(state);
            return;
        };
        let is_same = match self.compares {
            true => line.what == *got,
            false => line.what.kind() == got.kind(),
        };
        match is_same {
            true => self.step(state),
            false => self.differ(state, &shown(&line.what), &shown(got)),
        }
    }

    fn run_out(&self, state: &mut State) {
        state.end = Some(Ended::RanOut);
        state.cancel.cancel();
    }

    fn differ(&self, state: &mut State, expected: &str, got: &str) {
        // The header is the first line.
        let difference = Difference::between(state.at + 1, state.at + 2, expected, got);
        state.end = Some(Ended::Differs(difference));
        state.cancel.cancel();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutcomeSink for Cursor {
    fn put(&self, what: WhatOf<'_>) {
        let mut state = self.state();
        if state.is_live {
            return;
        }
        self.flush(&mut state);
        self.compare(&mut state, &what);
    }

    fn text(&self, piece: &str, is_reasoning: bool) {
        self.state().text.add(piece, is_reasoning);
    }

    fn originals(&self, mut nodes: Vec<Node>) -> Vec<Node> {
        let mut state = self.state();
        if state.is_live || state.end.is_some() {
            return nodes;
        }
        let Some(Line { what: What::Originals(recorded), .. }) = self.line(&state) else { return nodes };
        // A fork is stored for good: there the messages have the numbers of its own store.
        if self.compares {
            for (node, (first, last)) in nodes.iter_mut().zip(recorded) {
                (node.first, node.last) = (MessageId(*first), MessageId(*last));
            }
        }
        self.step(&mut state);
        nodes
    }

    fn commit_fails(&self) -> Option<RecordError> {
        let mut state = self.state();
        if state.is_live {
            return None;
        }
        self.flush(&mut state);
        if state.end.is_some() {
            return Some(RecordError::Store { cause: "the replay has ended".to_owned() });
        }
        let error = match self.line(&state) {
            Some(Line { what: What::Commit(commit), .. }) => commit.error.clone(),
            _ => None,
        };
        if error.is_some() {
            self.step(&mut state);
        }
        error
    }
}

/// A line as text for a difference.
fn shown(what: &WhatOf<'_>) -> String {
    match what {
        WhatOf::Event(EventLine::Text(text)) => format!("text: {text}"),
        WhatOf::Event(EventLine::Reasoning(text)) => format!("reasoning: {text}"),
        other => serde_json::to_string(other).unwrap_or_else(|_| other.kind().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The user may stop a turn between the decision to call a model and the request.
    #[test]
    fn stop_right_before_a_request_does_not_differ() {
        for (stopped, ends) in [(true, false), (false, true)] {
            let lines = vec![Line { at: 1, stopped, what: What::Event(EventLine::Accepted) }];
            let recording = Arc::new(Recording { lines, is_torn: false });
            let cursor = Cursor::new(recording, true, None);
            let cancel = CancellationToken::new();
            cursor.begin_turn(cancel.clone());
            assert!(!cursor.request(b"{}"));
            assert_eq!((cursor.ended().is_some(), cancel.is_cancelled()), (ends, true));
        }
    }
}

//! The writing side: one file, one line after the other, each whole before the next begins.

use super::digest::{StateDigest, changed};
use super::error::RecordingError;
use super::line::{Body, CommitLine, End, Header, Line, Outcome, ReplyLine, VERSION, What, WhatOf};
use super::outcome_sink::{OutcomeSink, hex, hex_digits};
use super::pending_text::PendingText;
use super::record_model::ReplyBytes;
use super::request_line::LastRequest;
use super::sse_lines;
use bytes::Bytes;
use hermes_conversation::{Node, RecordError};
use hermes_guard::{Secrets, placeholders};
use hermes_providers::{CallTap, Tap};
use hermes_wire::ApiMode;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Writes a recording. A file that cannot be written any more ends the recording, not the run.
pub struct Recorder {
    path: PathBuf,
    now: fn() -> u64,
    state: Mutex<State>,
    digest: Arc<Mutex<StateDigest>>,
}

struct State {
    file: File,
    failed: Option<String>,
    secrets: Secrets,
    /// A secret came in. Before that, none can be in anything that comes of the inputs, and only those
    /// have to be searched.
    saw_secret: bool,
    text: PendingText,
    /// The buffer of the line that is being written.
    line: Vec<u8>,
    request: LastRequest,
    /// The replies that are coming in, by session, of which there are very few.
    incoming: Vec<(String, Arc<Mutex<ReplyBytes>>)>,
    /// Of the turn that runs.
    cancel: CancellationToken,
    /// The turn's stop has been noted.
    stop_noted: bool,
}

impl Recorder {
    /// Starts a recording in a new file that only the user may read.
    pub fn create(path: &Path, secrets: Secrets, now: fn() -> u64) -> Result<Self, RecordingError> {
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = opened.map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => RecordingError::Exists { path: path.to_owned() },
            _ => RecordingError::Create { path: path.to_owned(), source },
        })?;
        let mut state = State {
            file,
            failed: None,
            secrets,
            saw_secret: false,
            text: PendingText::default(),
            line: Vec::with_capacity(4096),
            request: LastRequest::default(),
            incoming: Vec::new(),
            cancel: CancellationToken::new(),
            stop_noted: false,
        };
        state.write(
            &Header { hermes_recording: VERSION, program: env!("CARGO_PKG_VERSION").to_owned() },
            Hides::Secrets,
        );
        match state.failed {
            None => Ok(Self { path: path.to_owned(), now, state: Mutex::new(state), digest: Arc::default() }),
            Some(why) => {
                Err(RecordingError::Create { path: path.to_owned(), source: std::io::Error::other(why) })
            }
        }
    }

    /// The reason for which the recording is incomplete, if it is.
    pub fn failure(&self) -> Option<String> {
        let why = self.state().failed.clone()?;
        Some(format!("the recording {} is incomplete: {why}", self.path.display()))
    }

    /// A turn begins that this token stops.
    pub(crate) fn begin_turn(&self, cancel: CancellationToken) {
        let mut state = self.state();
        (state.cancel, state.stop_noted) = (cancel, false);
    }

    pub(crate) fn digest(&self) -> Arc<Mutex<StateDigest>> {
        self.digest.clone()
    }

    /// Writes a line of its own if the turn was stopped and no line says so yet.
    pub fn note_stop(&self) {
        let mut state = self.state();
        if state.is_new_stop() {
            state.line(What::Stop, (self.now)(), Hides::Nothing);
        }
    }

    /// Records a request. Returns its number and the buffer for its reply.
    pub(crate) fn request(&self, body: &Bytes, session: Option<&str>) -> (u64, Arc<Mutex<ReplyBytes>>) {
        let mut state = self.state();
        let number = state.raw((self.now)(), "request", |state, line| {
            let State { request, secrets, saw_secret, .. } = state;
            request.next(body, saw_secret.then_some(&*secrets), line)
        });
        let received = Arc::new(Mutex::new(ReplyBytes::default()));
        let session = session.unwrap_or_default();
        match state.incoming.iter_mut().find(|(of, _)| of == session) {
            Some((_, last)) => *last = received.clone(),
            None => state.incoming.push((session.to_owned(), received.clone())),
        }
        (number, received)
    }

    /// Records a reply. `outcome` hides secrets itself. `read` is the format of a completely read reply.
    pub(crate) fn reply(
        &self,
        number: u64,
        read: Option<ApiMode>,
        outcome: impl FnOnce(&Secrets) -> Outcome,
    ) {
        let mut state = self.state();
        let outcome = outcome(&state.secrets);
        if let Outcome::Body { status, streamed: true, body: Body::Text(body), end: End::Complete, .. } =
            &outcome
            && let Some(lines) = read.and_then(|mode| sse_lines::items(body, mode))
        {
            return state.reply_lines(number, *status, &lines, (self.now)());
        }
        let hides = match outcome {
            // It would be another outcome if there were one.
            Outcome::Body { .. } => Hides::Nothing,
            Outcome::Decoded { .. } | Outcome::Failed(_) | Outcome::Dropped => Hides::Secrets,
        };
        state.line(What::Reply(ReplyLine { number, outcome }), (self.now)(), hides);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutcomeSink for Recorder {
    fn put(&self, what: WhatOf<'_>) {
        let mut state = self.state();
        let hides = match is_input(&what) || state.saw_secret {
            true => Hides::Secrets,
            false => Hides::Nothing,
        };
        state.line(what, (self.now)(), hides);
    }

    fn text(&self, piece: &str, is_reasoning: bool) {
        self.state().text.add(piece, is_reasoning);
    }

    fn originals(&self, nodes: Vec<Node>) -> Vec<Node> {
        if !nodes.is_empty() {
            self.put(What::Originals(nodes.iter().map(|node| (node.first.0, node.last.0)).collect()));
        }
        nodes
    }

    fn commit(&self, what: &'static str, sum: u64, error: Option<RecordError>) {
        if error.is_some() {
            return self.put(What::Commit(CommitLine { what: what.to_owned(), sum: hex(sum), error }));
        }
        // There are many of these; neither word needs escaping.
        self.state().raw((self.now)(), "commit", |_, line| {
            for part in [r#"{"what":""#, what, r#"","sum":""#] {
                line.extend_from_slice(part.as_bytes());
            }
            line.extend_from_slice(&hex_digits(sum));
            line.extend_from_slice(br#""}"#);
        });
    }

    fn hides(&self) -> bool {
        self.state().saw_secret
    }

    fn hidden(&self, text: &str) -> Option<String> {
        let state = self.state();
        state.saw_secret.then(|| changed(placeholders(&state.secrets, text))).flatten()
    }
}

impl Tap for Recorder {
    fn sending(&self, _session: Option<&str>, key: Option<&SecretString>) {
        // A key may be newer than what was known when the program began.
        let Some(key) = key else { return };
        let mut state = self.state();
        if !state.secrets.occur_in(key.expose_secret()) {
            state.secrets = state.secrets.with("key", key);
        }
    }

    fn begun(&self, session: Option<&str>, status: u16, streamed: bool) -> Box<dyn CallTap> {
        let session = session.unwrap_or_default();
        let incoming = &self.state().incoming;
        let found = incoming.iter().find(|(of, _)| of == session);
        let received = found.map(|(_, received)| received.clone()).unwrap_or_default();
        received.lock().unwrap_or_else(PoisonError::into_inner).begin(status, streamed);
        Box::new(ReplyTap(received))
    }
}

struct ReplyTap(Arc<Mutex<ReplyBytes>>);

impl CallTap for ReplyTap {
    fn chunk(&self, bytes: &Bytes) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).chunks.push(bytes.clone());
    }

    fn ended(&self, failure: Option<&hermes_wire::Failure>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).failure = failure.cloned();
    }
}

/// Returns true if a line holds an input of the turn.
fn is_input(what: &WhatOf<'_>) -> bool {
    match what {
        WhatOf::Session(_)
        | WhatOf::Turn { .. }
        | WhatOf::Mail(_)
        | WhatOf::Reply(_)
        | WhatOf::Judged(_)
        | WhatOf::Tool(_)
        | WhatOf::Fitted(_)
        | WhatOf::Summary { .. }
        | WhatOf::Engine { .. }
        | WhatOf::Hook { .. } => true,
        WhatOf::Restored { .. }
        | WhatOf::Request(_)
        | WhatOf::Jitter { .. }
        | WhatOf::Waited { .. }
        | WhatOf::Key { .. }
        | WhatOf::Approval { .. }
        | WhatOf::Review { .. }
        | WhatOf::BatchApproval { .. }
        | WhatOf::Stop
        | WhatOf::Commit(_)
        | WhatOf::Originals(_)
        | WhatOf::Event(_)
        | WhatOf::Ended(_) => false,
    }
}

/// The treatment of secrets in a line.
#[derive(Clone, Copy, PartialEq)]
enum Hides {
    Secrets,
    /// Secrets have been removed.
    Nothing,
}

impl State {
    fn is_new_stop(&self) -> bool {
        !self.stop_noted && self.cancel.is_cancelled()
    }

    /// Records a streamed reply whose lines are JSON.
    fn reply_lines(&mut self, number: u64, status: u16, lines: &str, at: u64) {
        self.raw(at, "reply", |_, line| {
            line.reserve(lines.len() + 256);
            put_number(line, "{\"number\":", number);
            put_number(line, ",\"outcome\":{\"body\":{\"status\":", u64::from(status));
            line.extend_from_slice(b",\"streamed\":true,\"body\":{\"lines\":[");
            line.extend_from_slice(lines.as_bytes());
            line.extend_from_slice(b"]},\"end\":\"complete\"}}}");
        });
    }

    /// Writes a line whose content `write` makes, as JSON and without secrets.
    fn raw<T>(&mut self, at: u64, kind: &str, write: impl FnOnce(&mut Self, &mut Vec<u8>) -> T) -> T {
        let stopped = if self.before_line(at) { ",\"stopped\":true" } else { "" };
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        put_number(&mut line, "{\"at\":", at);
        for part in [stopped, ",\"what\":{\"", kind, "\":"] {
            line.extend_from_slice(part.as_bytes());
        }
        let made = write(self, &mut line);
        line.extend_from_slice(b"}}\n");
        self.append(&line);
        self.reuse_buffer(line);
        made
    }

    /// Writes a line.
    fn line(&mut self, what: WhatOf<'_>, at: u64, hides: Hides) {
        let stopped = self.before_line(at);
        self.write(&Line { at, stopped, what }, hides);
    }

    /// Writes the pending text. Returns true if the stop of the turn is to be recorded now.
    fn before_line(&mut self, at: u64) -> bool {
        if !self.text.is_empty() {
            // The reply that it was read from comes later.
            for text in self.text.take() {
                self.write(&Line { at, stopped: false, what: text }, Hides::Secrets);
            }
        }
        let stopped = self.is_new_stop();
        self.stop_noted |= stopped;
        stopped
    }

    fn write(&mut self, line: &impl Serialize, hides: Hides) {
        let mut text = Text(std::mem::take(&mut self.line));
        text.0.clear();
        if let Err(error) = line.serialize(&mut serde_json::Serializer::new(&mut text)) {
            self.failed.get_or_insert(error.to_string());
            return;
        }
        let Text(mut bytes) = text;
        if hides == Hides::Secrets
            && let Ok(text) = std::str::from_utf8(&bytes)
            && let Cow::Owned(hidden) = placeholders(&self.secrets, text)
        {
            self.saw_secret = true;
            bytes = hidden.into_bytes();
        }
        bytes.push(b'\n');
        self.append(&bytes);
        self.reuse_buffer(bytes);
    }

    /// Keeps the buffer of a line for the next one, unless it is very large.
    fn reuse_buffer(&mut self, line: Vec<u8>) {
        const MOST: usize = 64 * 1024;
        if line.capacity() <= MOST {
            self.line = line;
        }
    }

    /// Adds a line to the file. One call per line, so that a file whose writer was killed ends with a
    /// whole one.
    fn append(&mut self, line: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write_all(line).err().map(|error| error.to_string());
        }
    }
}

/// Writes a number behind some text, much faster than formatting does.
pub(super) fn put_number(line: &mut Vec<u8>, before: &str, number: u64) {
    line.extend_from_slice(before.as_bytes());
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(line, &number);
}

/// A line that is being written. JSON comes in very small pieces, most of them single signs.
struct Text(Vec<u8>);

impl Write for Text {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline(always)]
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match bytes {
            [sign] => self.0.push(*sign),
            more => self.0.extend_from_slice(more),
        }
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

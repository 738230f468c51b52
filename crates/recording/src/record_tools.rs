//! Records tools: the verdict and the result of each call.

use super::line::{ConcurrencyLine, FittedLine, JudgedLine, ToolLine, VerdictLine, What, WhatOf};
use super::outcome_sink::OutcomeSink;
use super::recorder::Recorder;
use hermes_conversation::{
    BoxFuture, CallId, StartPermit, ToolCall, ToolDefinition, ToolFacts, ToolMessage, ToolTable,
};
use hermes_tools::{Concurrency, Finished, Prepared, RunScope, ToolContext, Toolbox, Verdict};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct RecordedTools {
    inner: Arc<dyn Toolbox>,
    recorder: Arc<Recorder>,
    repeats: Repeats,
}

/// The number of calls per id in a turn: servers repeat ids.
#[derive(Debug, Default)]
pub(crate) struct Repeats(Mutex<HashMap<CallId, usize>>);

impl Repeats {
    /// Counts a call. Returns the number of earlier calls with this id.
    pub(crate) fn next(&self, call: &CallId) -> usize {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = seen.entry(call.clone()).or_default();
        *count += 1;
        *count - 1
    }
}

impl RecordedTools {
    pub(crate) fn new(inner: Arc<dyn Toolbox>, recorder: Arc<Recorder>) -> Self {
        Self { inner, recorder, repeats: Repeats::default() }
    }
}

impl ToolTable for RecordedTools {
    fn facts(&self, tool: &str) -> ToolFacts {
        self.inner.facts(tool)
    }
}

impl Toolbox for RecordedTools {
    fn definitions(&self) -> Arc<[ToolDefinition]> {
        self.inner.definitions()
    }

    fn prepare(&self, call: &ToolCall, cx: &ToolContext) -> Prepared {
        let prepared = self.inner.prepare(call, cx);
        self.recorder.put(WhatOf::Judged(judged(call, &prepared)));
        prepared
    }

    fn run<'a>(
        &'a self,
        prepared: Prepared,
        permit: StartPermit,
        cx: &'a ToolContext,
        scope: RunScope,
    ) -> BoxFuture<'a, Finished> {
        let again = self.repeats.next(&prepared.call.id);
        Box::pin(async move {
            let before = cx.cwd();
            let finished = self.inner.run(prepared, permit, cx, scope).await;
            let message = &finished.message;
            let now = cx.cwd();
            self.recorder.put(WhatOf::Tool(ToolLine {
                call: Cow::Borrowed(&message.call_id),
                again,
                name: Cow::Borrowed(&message.tool_name),
                state: finished.state,
                failed: finished.failed,
                millis: finished.millis,
                content: Cow::Borrowed(&message.content),
                api_content: message.api_content.as_deref().map(Cow::Borrowed),
                disposition: message.disposition,
                cwd: (now != before).then_some(now),
            }));
            finished
        })
    }

    fn all_names(&self) -> Vec<String> {
        self.inner.all_names()
    }

    fn fit(&self, mut messages: Vec<&mut ToolMessage>, room: usize, cx: &ToolContext) -> usize {
        let before: Vec<_> = messages.iter().map(|message| locations(message)).collect();
        let length = self.inner.fit(messages.iter_mut().map(|message| &mut **message).collect(), room, cx);
        self.note_fitted(&before, &messages);
        length
    }
}

impl RecordedTools {
    /// Records the shortened results.
    fn note_fitted(&self, before: &[TextLocations], after: &[&mut ToolMessage]) {
        let changed =
            before.iter().zip(after).enumerate().filter(|(_, (before, after))| **before != locations(after));
        let lines: Vec<FittedLine> = changed
            .map(|(place, (_, after))| FittedLine {
                place,
                content: after.content.clone(),
                api_content: after.api_content.clone(),
            })
            .collect();
        if !lines.is_empty() {
            self.recorder.put(What::Fitted(lines));
        }
    }
}

/// Addresses and lengths of the texts of a result. They change when it is shortened.
type TextLocations = [(usize, usize); 2];

fn locations(message: &ToolMessage) -> TextLocations {
    let room = |text: &str| (text.as_ptr() as usize, text.len());
    [room(message.content.as_text()), message.api_content.as_deref().map_or((0, 0), room)]
}

fn judged<'a>(call: &'a ToolCall, prepared: &'a Prepared) -> JudgedLine<'a> {
    JudgedLine {
        call: Cow::Borrowed(&call.id),
        name: Cow::Borrowed(&prepared.call.name),
        effect: Cow::Borrowed(&prepared.effect),
        verdict: match &prepared.verdict {
            Verdict::Run => VerdictLine::Run,
            Verdict::Ask(request) => {
                VerdictLine::Ask { what: Cow::Borrowed(&request.what), cwd: Cow::Borrowed(&request.cwd) }
            }
            Verdict::Refuse { text, decision } => {
                VerdictLine::Refuse { text: Cow::Borrowed(text), decision: Cow::Borrowed(decision) }
            }
        },
        concurrency: match &prepared.concurrency {
            Concurrency::Free => ConcurrencyLine::Free,
            Concurrency::Reads(paths) => ConcurrencyLine::Reads(Cow::Borrowed(paths)),
            Concurrency::Writes(paths) => ConcurrencyLine::Writes(Cow::Borrowed(paths)),
            Concurrency::Kin => ConcurrencyLine::Kin,
            Concurrency::Alone => ConcurrencyLine::Alone,
        },
    }
}

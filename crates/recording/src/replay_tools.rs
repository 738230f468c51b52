//! Tools that are not run: their verdicts and results come from a recording.

use super::cursor::Cursor;
use super::line::{ConcurrencyLine, JudgedLine, ToolLine, VerdictLine, What};
use super::record_tools::Repeats;
use hermes_conversation::{
    BoxFuture, CallId, StartPermit, ToolCall, ToolDefinition, ToolFacts, ToolMessage, ToolTable,
};
use hermes_tools::{
    ApprovalRequest, Concurrency, Finished, Prepared, RunScope, ToolContext, Toolbox, Verdict,
};
use std::borrow::Cow;
use std::sync::Arc;

/// Maximum number of yields of a result to the results before it.
const MOST_YIELDS: usize = 10_000;

pub(crate) struct ReplayedTools {
    cursor: Arc<Cursor>,
    /// The real tools: their definitions, and after a fork their execution.
    real: Arc<dyn Toolbox>,
    repeats: Repeats,
}

impl ReplayedTools {
    pub(crate) fn new(cursor: Arc<Cursor>, real: Arc<dyn Toolbox>) -> Self {
        Self { cursor, real, repeats: Repeats::default() }
    }

    /// Waits until this result is the next one. Results of parallel calls are returned in the
    /// recorded order.
    async fn result(&self, call: &CallId, again: usize) -> Option<ToolLine<'static>> {
        let is_mine =
            |what: &What| matches!(what, What::Tool(line) if *line.call == *call && line.again == again);
        for _ in 0..MOST_YIELDS {
            match self.cursor.peek(is_mine) {
                Some(false) => tokio::task::yield_now().await,
                Some(true) | None => break,
            }
        }
        self.cursor.take("the result of a call", |what| match what {
            What::Tool(line) if is_mine(what) => Some(line.clone()),
            _ => None,
        })
    }
}

impl ToolTable for ReplayedTools {
    fn facts(&self, tool: &str) -> ToolFacts {
        self.real.facts(tool)
    }
}

impl Toolbox for ReplayedTools {
    fn definitions(&self) -> Arc<[ToolDefinition]> {
        self.real.definitions()
    }

    fn prepare(&self, call: &ToolCall, cx: &ToolContext) -> Prepared {
        if self.cursor.is_live() {
            return self.real.prepare(call, cx);
        }
        let judged = self.cursor.take("the verdict on a call", |what| match what {
            What::Judged(line) if *line.call == call.id => Some(line.clone()),
            _ => None,
        });
        match judged {
            Some(line) => prepared(call, line),
            None => refused(call.clone(), "The replay has ended."),
        }
    }

    fn run<'a>(
        &'a self,
        prepared: Prepared,
        permit: StartPermit,
        cx: &'a ToolContext,
        scope: RunScope,
    ) -> BoxFuture<'a, Finished> {
        if self.cursor.is_live() {
            return self.real.run(prepared, permit, cx, scope);
        }
        let again = self.repeats.next(&prepared.call.id);
        Box::pin(async move {
            let Some(line) = self.result(&prepared.call.id, again).await else {
                return refused(prepared.call, "The replay has ended.").into_refused();
            };
            if let Some(cwd) = line.cwd {
                cx.set_cwd(cwd);
            }
            let message = ToolMessage {
                call_id: line.call.into_owned(),
                tool_name: line.name.into_owned(),
                content: line.content.into_owned(),
                api_content: line.api_content.map(Cow::into_owned),
                disposition: line.disposition,
            };
            Finished { message, state: line.state, failed: line.failed, millis: line.millis, cost: None }
        })
    }

    fn all_names(&self) -> Vec<String> {
        self.real.all_names()
    }

    fn fit(&self, messages: Vec<&mut ToolMessage>, room: usize, cx: &ToolContext) -> usize {
        if self.cursor.is_live() {
            return self.real.fit(messages, room, cx);
        }
        let fitted = self.cursor.peek(|what| match what {
            What::Fitted(lines) => Some(lines.clone()),
            _ => None,
        });
        let Some(Some(lines)) = fitted else { return total_chars(&messages) };
        self.cursor.take("shorter results", |_| Some(()));
        let mut messages = messages;
        for line in lines {
            if let Some(message) = messages.get_mut(line.place) {
                message.content = line.content;
                message.api_content = line.api_content;
            }
        }
        total_chars(&messages)
    }
}

/// The total length of the results in characters.
fn total_chars(messages: &[&mut ToolMessage]) -> usize {
    messages.iter().map(|message| message.content.as_text().chars().count()).sum()
}

fn prepared(call: &ToolCall, line: JudgedLine<'_>) -> Prepared {
    let mut call = call.clone();
    call.name = line.name.into_owned();
    let verdict = match line.verdict {
        VerdictLine::Run => Verdict::Run,
        VerdictLine::Ask { what, cwd } => {
            Verdict::Ask(ApprovalRequest::once(call.id.clone(), &call.name, what, cwd.into_owned()))
        }
        VerdictLine::Refuse { text, decision } => {
            Verdict::Refuse { text: text.into_owned(), decision: known(&decision) }
        }
    };
    let concurrency = match line.concurrency {
        ConcurrencyLine::Free => Concurrency::Free,
        ConcurrencyLine::Reads(paths) => Concurrency::Reads(paths.into_owned()),
        ConcurrencyLine::Writes(paths) => Concurrency::Writes(paths.into_owned()),
        ConcurrencyLine::Kin => Concurrency::Kin,
        ConcurrencyLine::Alone => Concurrency::Alone,
    };
    Prepared::judged(call, line.effect.into_owned(), verdict, concurrency)
}

fn refused(call: ToolCall, text: &str) -> Prepared {
    let verdict = Verdict::Refuse { text: text.to_owned(), decision: "denied" };
    Prepared::judged(call, hermes_conversation::Effect::Read, verdict, Concurrency::Free)
}

/// The static name of a decision.
fn known(decision: &str) -> &'static str {
    match decision {
        "invalid" => "invalid",
        _ => "denied",
    }
}

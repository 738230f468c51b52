//! Calls that a model wrote as text: when they count as calls, and what is shown of them until then.

use hermes_conversation::{CallId, FinishReason, ToolCall, ToolDefinition};
use hermes_prompt::Offer;
use hermes_tools::fits_schema;
use hermes_wire::{CallState, ModelProfile, Reply, may_become_calls, written_calls};
use std::borrow::Cow;
use std::sync::Arc;

/// Holds a reply's text back while it may become a call, and takes the calls out of it at its end.
#[derive(Default)]
pub(crate) struct TextCalls {
    /// The tools that may be called; empty where calls in text are not taken.
    offered: Option<Arc<[ToolDefinition]>>,
    /// Messages before the reply. They keep the ids of equal calls in a session apart.
    messages: usize,
    held: String,
    /// The reply has turned out to be an answer.
    is_answer: bool,
    /// Calls were found in the text.
    pub(crate) are_taken: bool,
}

impl TextCalls {
    /// The rules for a reply of this model to a request with these tools.
    pub(crate) fn of(profile: &ModelProfile, offer: &Offer, messages: usize) -> Self {
        let offered = match offer {
            Offer::Tools(tools) if profile.text_tool_calls && !tools.is_empty() => Some(tools.clone()),
            _ => None,
        };
        Self { offered, messages, ..Self::default() }
    }

    /// Takes the next piece of text and returns what can be shown by now.
    pub(crate) fn pass<'a>(&mut self, piece: Cow<'a, str>) -> Option<Cow<'a, str>> {
        if self.offered.is_none() || self.is_answer {
            return Some(piece);
        }
        self.held.push_str(&piece);
        self.is_answer = !may_become_calls(&self.held);
        self.is_answer.then(|| std::mem::take(&mut self.held).into())
    }

    /// Takes the calls out of a whole reply, or returns what has not been shown of it.
    pub(crate) fn end(&mut self, reply: &mut Reply) -> Option<String> {
        self.are_taken = self.offered.as_deref().is_some_and(|offered| take(reply, offered, self.messages));
        let held = std::mem::take(&mut self.held);
        (!self.are_taken && !held.is_empty()).then_some(held)
    }
}

/// Turns a reply whose text is nothing but calls of offered tools into a reply with calls.
///
/// A reply that was cut, or that also calls tools in the usual way, stays as it is.
fn take(reply: &mut Reply, offered: &[ToolDefinition], messages: usize) -> bool {
    let is_whole = matches!(reply.finish, FinishReason::Stop | FinishReason::ToolCalls);
    if !is_whole || !reply.message.calls.is_empty() {
        return false;
    }
    let Some(calls) = calls_in(&reply.message.text, offered, messages) else { return false };
    reply.calls = vec![CallState::Complete; calls.len()];
    reply.finish = FinishReason::ToolCalls;
    reply.message.finish = Some(FinishReason::ToolCalls);
    reply.message.calls = calls;
    reply.message.text.clear();
    // The same text in the shape of the Responses format; the calls take its place.
    reply.message.reasoning.codex_messages = None;
    true
}

/// The calls of a text, if it holds nothing else, every tool is offered and all arguments fit.
fn calls_in(text: &str, offered: &[ToolDefinition], messages: usize) -> Option<Vec<ToolCall>> {
    let written = written_calls(text)?;
    let is_sound = written.iter().all(|call| {
        let tool = offered.iter().find(|tool| tool.name == call.name);
        tool.is_some_and(|tool| fits_schema(tool, &call.arguments))
    });
    let call = |(place, call): (usize, hermes_wire::WrittenCall)| {
        let id = CallId::derived(&call.name, &call.arguments, messages + place);
        ToolCall::new(id, call.name, call.arguments)
    };
    is_sound.then(|| written.into_iter().enumerate().map(call).collect())
}

#[cfg(test)]
#[path = "text_calls_tests.rs"]
mod tests;

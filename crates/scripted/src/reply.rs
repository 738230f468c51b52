//! The script of one reply.

use hermes_conversation::{FinishReason, Usage};
use serde_json::Value;
use std::time::Duration;

/// One reply, and its division into streamed pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyScript {
    /// The text, in its streamed pieces.
    pub text: Vec<String>,
    /// Reasoning, in pieces; streamed before the text.
    pub reasoning: Vec<String>,
    pub calls: Vec<CallScript>,
    /// The number of pieces of each call's arguments.
    pub argument_pieces: usize,
    /// `None` is the matching one: `tool_calls` with calls, `stop` without.
    pub finish: Option<FinishReason>,
    /// `None` if the provider reports no usage.
    pub usage: Option<Usage>,
    /// The delay between pieces.
    pub delay: Duration,
}

/// One tool call of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallScript {
    /// `None` is an id from the counter of the server.
    pub id: Option<String>,
    pub name: String,
    /// JSON text, or any other text for an invalid call.
    pub arguments: String,
}

impl Default for ReplyScript {
    fn default() -> Self {
        Self {
            text: Vec::new(),
            reasoning: Vec::new(),
            calls: Vec::new(),
            argument_pieces: 1,
            finish: None,
            usage: Some(Usage { input: 10, output: 5, ..Usage::default() }),
            delay: Duration::ZERO,
        }
    }
}

impl ReplyScript {
    /// A text reply in one piece.
    pub fn text(text: impl Into<String>) -> Self {
        Self::pieces([text])
    }

    /// A text reply in these pieces.
    pub fn pieces(pieces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { text: pieces.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// A call of one tool.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// Adds a call.
    pub fn and_call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.and_raw_call(CallScript { id: None, name: name.into(), arguments: arguments.to_string() })
    }

    /// Adds a call exactly as given, with its own id or with arguments that are not JSON.
    pub fn and_raw_call(mut self, call: CallScript) -> Self {
        self.calls.push(call);
        self
    }

    /// Adds text before the calls.
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = vec![text.into()];
        self
    }

    pub fn with_reasoning(mut self, text: impl Into<String>) -> Self {
        self.reasoning = vec![text.into()];
        self
    }

    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    pub fn without_usage(mut self) -> Self {
        self.usage = None;
        self
    }

    pub fn with_finish(mut self, finish: FinishReason) -> Self {
        self.finish = Some(finish);
        self
    }

    /// Splits text, reasoning and every call's arguments into this many pieces, if they have that many
    /// characters.
    pub fn streamed_in(mut self, pieces: usize) -> Self {
        self.text = cut(&self.text.concat(), pieces).map(str::to_owned).collect();
        self.reasoning = cut(&self.reasoning.concat(), pieces).map(str::to_owned).collect();
        self.argument_pieces = pieces;
        self
    }

    /// Sets the delay between pieces.
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The finish reason, explicit or derived.
    pub fn finish_reason(&self) -> FinishReason {
        match (self.finish, self.calls.is_empty()) {
            (Some(finish), _) => finish,
            (None, true) => FinishReason::Stop,
            (None, false) => FinishReason::ToolCalls,
        }
    }
}

impl CallScript {
    /// The id of this call as the `index`-th of reply `number`.
    pub fn id_or(&self, number: u64, index: usize) -> String {
        self.id.clone().unwrap_or_else(|| format!("call_{number}_{index}"))
    }
}

/// `text` in `pieces` parts of about the same number of characters, none of them empty.
pub(crate) fn cut(text: &str, pieces: usize) -> impl Iterator<Item = &str> {
    let size = text.chars().count().div_ceil(pieces.max(1)).max(1);
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_between_characters() {
        for (text, pieces, want) in [
            ("abcd", 2, vec!["ab", "cd"]),
            ("äöü", 2, vec!["äö", "ü"]),
            ("ab", 5, vec!["a", "b"]),
            ("ab", 0, vec!["ab"]),
            ("", 3, vec![]),
        ] {
            assert_eq!(cut(text, pieces).collect::<Vec<_>>(), want, "{text} in {pieces}");
        }
    }

    #[test]
    fn finish_reason_follows_from_calls() {
        let call = ReplyScript::call("terminal", serde_json::json!({}));
        assert_eq!(ReplyScript::text("x").finish_reason(), FinishReason::Stop);
        assert_eq!(call.finish_reason(), FinishReason::ToolCalls);
        assert_eq!(call.with_finish(FinishReason::Length).finish_reason(), FinishReason::Length);
    }
}

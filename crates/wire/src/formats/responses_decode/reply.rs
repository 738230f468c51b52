//! Builds a reply from the items of a response.

use crate::Reply;
use crate::call_assembly::Assembler;
use hermes_conversation::{AssistantMessage, Bill, FinishReason, RawJson, Reasoning, Usage};
use serde::Serialize;

/// The items of a response, in the order in which they began.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) pieces: Vec<Piece>,
    pub(super) calls: Assembler,
    pub(super) usage: Option<Usage>,
    pub(super) ending: Ending,
}

/// The end of a response, as the provider reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Completed,
    /// Out of output tokens, or for an unknown reason.
    Incomplete,
    Filtered,
}

/// A message or a piece of reasoning.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) index: Option<u64>,
    pub(super) id: String,
    pub(super) is_reasoning: bool,
    pub(super) phase: Option<String>,
    pub(super) text: String,
    pub(super) refusal: String,
    pub(super) is_done: bool,
    /// A message that the provider reported as incomplete.
    pub(super) is_cut: bool,
    pub(super) summary: Vec<String>,
    /// The index of the current part of the summary.
    pub(super) summary_index: Option<u64>,
    pub(super) encrypted: String,
}

impl Piece {
    /// Returns true for text to the user, as opposed to reasoning and commentary.
    pub(super) fn is_answer(&self) -> bool {
        !self.is_reasoning && !self.is_remark()
    }

    fn is_remark(&self) -> bool {
        matches!(self.phase.as_deref(), Some("commentary" | "analysis"))
    }
}

impl Gathered {
    pub(super) fn into_reply(self) -> Reply {
        let (calls, states) = self.calls.finish();
        let mut readable = ReadableText::of(&self.pieces);
        let leaked = calls.is_empty() && has_leaked_call(&readable.text);
        if leaked {
            readable.text.clear();
        }
        if readable.text.is_empty() && calls.is_empty() && !leaked {
            readable.text = salvaged(&readable.thoughts).unwrap_or_default();
        }
        let refused = readable.text.is_empty() && calls.is_empty() && !readable.refusal.is_empty();
        let finish = match self.ending {
            _ if !calls.is_empty() => FinishReason::ToolCalls,
            Ending::Filtered => FinishReason::ContentFilter,
            _ if refused => FinishReason::ContentFilter,
            Ending::Incomplete => FinishReason::Incomplete,
            Ending::Completed if leaked || readable.is_cut => FinishReason::Incomplete,
            // Reasoning and commentary only: the answer is still missing.
            Ending::Completed if readable.text.is_empty() && !readable.thoughts.is_empty() => {
                FinishReason::Incomplete
            }
            Ending::Completed => FinishReason::Stop,
        };
        let reasoning = Reasoning {
            text: (!readable.thoughts.is_empty()).then_some(readable.thoughts),
            codex_items: stored_reasoning(&self.pieces),
            codex_messages: if leaked { None } else { stored_messages(&self.pieces) },
            ..Reasoning::default()
        };
        let text = if refused { readable.refusal } else { readable.text };
        Reply {
            message: AssistantMessage { text, calls, reasoning, finish: Some(finish), issuer: None },
            calls: states,
            finish,
            usage: self.usage,
            bill: Bill::default(),
        }
    }
}

/// The readable parts of a response.
#[derive(Default)]
struct ReadableText {
    text: String,
    refusal: String,
    thoughts: String,
    is_cut: bool,
}

impl ReadableText {
    fn of(pieces: &[Piece]) -> Self {
        let mut readable = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for piece in pieces {
            if piece.is_answer() {
                append(&mut readable.text, "\n", &piece.text);
                append(&mut readable.refusal, "\n", &piece.refusal);
                readable.is_cut |= piece.is_cut;
            } else if !seen.contains(&piece.text.as_str()) {
                seen.push(&piece.text);
                append(&mut readable.thoughts, "\n\n", &piece.text);
            }
        }
        readable
    }
}

fn append(text: &mut String, between: &str, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str(between);
    }
    text.push_str(more);
}

/// Returns true if a model wrote a tool call into its text, in the notation of its training:
/// `to=functions.name`. Such text must not be shown or stored, or the model would repeat it.
fn has_leaked_call(text: &str) -> bool {
    text.match_indices("to=functions.").any(|(at, mark)| {
        let before = text[..at].chars().next_back();
        let after = text[at + mark.len()..].chars().next();
        before.is_none_or(|c| c.is_whitespace() || matches!(c, '>' | '|'))
            && after.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
    })
}

/// The answer of a model that wrote it into its reasoning, as Grok sometimes does.
fn salvaged(thoughts: &str) -> Option<String> {
    let (_, after) = thoughts.rsplit_once("<response>")?;
    let answer = after.split("</response>").next()?.trim();
    (!answer.is_empty()).then(|| answer.to_owned())
}

#[derive(Serialize)]
struct StoredReasoning<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    summary: Vec<StoredText<'a>>,
    encrypted_content: &'a str,
}

#[derive(Serialize)]
struct StoredMessage<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    status: &'static str,
    content: Vec<StoredText<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StoredText<'a> {
    SummaryText { text: &'a str },
    OutputText { text: &'a str },
    Refusal { refusal: &'a str },
}

/// The reasoning that can be sent back. The provider does not accept temporary items.
fn stored_reasoning(pieces: &[Piece]) -> Option<RawJson> {
    let lasting = |piece: &&Piece| !piece.encrypted.is_empty() && !piece.id.starts_with("rs_tmp_");
    let items: Vec<_> = pieces
        .iter()
        .filter(lasting)
        .map(|piece| StoredReasoning {
            kind: "reasoning",
            id: &piece.id,
            summary: piece.summary.iter().map(|text| StoredText::SummaryText { text }).collect(),
            encrypted_content: &piece.encrypted,
        })
        .collect();
    RawJson::of(&items).filter(|_| !items.is_empty())
}

fn stored_messages(pieces: &[Piece]) -> Option<RawJson> {
    let items: Vec<_> = pieces
        .iter()
        .filter(|piece| !piece.is_reasoning && (!piece.text.is_empty() || !piece.refusal.is_empty()))
        .map(|piece| StoredMessage {
            kind: "message",
            role: "assistant",
            status: if piece.is_cut || !piece.is_done { "incomplete" } else { "completed" },
            content: stored_content(piece),
            id: &piece.id,
            phase: piece.phase.as_deref(),
        })
        .collect();
    RawJson::of(&items).filter(|_| !items.is_empty())
}

fn stored_content(piece: &Piece) -> Vec<StoredText<'_>> {
    let text = (!piece.text.is_empty()).then_some(StoredText::OutputText { text: &piece.text });
    let refusal = (!piece.refusal.is_empty()).then_some(StoredText::Refusal { refusal: &piece.refusal });
    text.into_iter().chain(refusal).collect()
}

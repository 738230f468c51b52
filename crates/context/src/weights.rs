//! Token estimates of messages, computed once each.

use crate::digest;
use crate::parts::{Part, parts};
use hermes_conversation::{AssistantMessage, Content, Message, RawJson, ToolCall, estimate_tokens};
use std::ops::Range;
use std::sync::Arc;

/// The tokens of an image of any size.
pub const IMAGE_TOKENS: u64 = 1_600;
/// The tokens of a message besides its text: role, separators.
const MESSAGE_TOKENS: u64 = 4;
/// The tokens of a call besides its name and arguments: id, type, separators.
const CALL_TOKENS: u64 = 8;
/// Files are sent as base64, of which this many bytes make about one token once they are read.
const FILE_BYTES_PER_TOKEN: u64 = 20;

/// The token estimate of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Weight {
    /// Estimated, before any scale of the model.
    pub tokens: u32,
    /// Fingerprint of the message.
    pub digest: u64,
}

/// The weights of a history. They follow it as it grows, so that counting costs what is new.
#[derive(Debug, Clone, Default)]
pub struct Weights {
    /// `sums[n]` is what the first `n` messages weigh together.
    sums: Vec<u64>,
    /// `chain[n]` is the fingerprint of the first `n` messages.
    chain: Vec<u64>,
}

impl Weights {
    /// The weights of a history that is seen for the first time.
    pub fn of(history: &[Arc<Message>]) -> Self {
        let mut weights = Self::default();
        weights.follow(history);
        weights
    }

    /// Takes note of what was added. After a compaction the weights begin anew.
    pub fn follow(&mut self, history: &[Arc<Message>]) {
        if self.sums.is_empty() {
            self.sums.push(0);
            self.chain.push(digest::EMPTY);
        }
        self.sums.truncate(history.len() + 1);
        self.chain.truncate(history.len() + 1);
        for message in history.iter().skip(self.sums.len() - 1) {
            let weight = weigh(message);
            let before = self.sums.last().copied().unwrap_or_default();
            self.sums.push(before + u64::from(weight.tokens));
            let chain = self.chain.last().copied().unwrap_or(digest::EMPTY);
            self.chain.push(digest::follow(chain, weight.digest));
        }
    }

    /// The number of estimated messages.
    pub fn len(&self) -> usize {
        self.sums.len().saturating_sub(1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tokens of these messages together.
    pub fn tokens(&self, range: Range<usize>) -> u64 {
        let at = |place: usize| self.sums.get(place).or(self.sums.last()).copied().unwrap_or_default();
        at(range.end).saturating_sub(at(range.start))
    }

    /// The fingerprint of all of them, as [`crate::digest`] gives it.
    pub fn digest(&self) -> u64 {
        self.chain.last().copied().unwrap_or(digest::EMPTY)
    }
}

/// Estimates the tokens of a message.
pub fn weigh(message: &Message) -> Weight {
    let tokens = match message {
        Message::User(user) => content(&user.content, user.api_content.as_deref()),
        Message::Tool(tool) => content(&tool.content, tool.api_content.as_deref()) + CALL_TOKENS,
        Message::Assistant(assistant) => said(assistant),
    };
    Weight {
        tokens: u32::try_from(tokens + MESSAGE_TOKENS).unwrap_or(u32::MAX),
        digest: digest::of_message(message),
    }
}

/// Estimates the tokens of a text.
pub(crate) fn text_tokens(text: &str) -> u64 {
    estimate_tokens(text).value()
}

fn content(content: &Content, api_content: Option<&str>) -> u64 {
    match (api_content, content) {
        (Some(sent), _) => text_tokens(sent),
        (None, Content::Text(text)) => text_tokens(text),
        (None, Content::Parts(raw)) => parts(raw).iter().map(part).sum(),
    }
}

fn part(part: &Part) -> u64 {
    match part {
        Part::Text(text) => text_tokens(text) + MESSAGE_TOKENS,
        Part::Image => IMAGE_TOKENS,
        Part::Other { bytes, .. } => IMAGE_TOKENS.max(*bytes as u64 / FILE_BYTES_PER_TOKEN),
    }
}

/// A reply is sent in one format, so only the largest of its reasoning tracks counts, and of those that
/// repeat the text and the calls only the excess.
fn said(message: &AssistantMessage) -> u64 {
    let plain = text_tokens(&message.text) + message.calls.iter().map(call).sum::<u64>();
    let raw = |raw: &Option<RawJson>| raw.as_ref().map_or(0, |raw| text_tokens(raw.as_str()));
    let reasoning = &message.reasoning;
    let codex = raw(&reasoning.codex_items)
        + raw(&reasoning.codex_messages).saturating_sub(text_tokens(&message.text));
    let tracks = [
        reasoning.content.as_deref().map_or(0, text_tokens),
        raw(&reasoning.details),
        codex,
        raw(&reasoning.anthropic_blocks).saturating_sub(plain),
    ];
    plain + tracks.into_iter().max().unwrap_or_default()
}

fn call(call: &ToolCall) -> u64 {
    let extra = call.extra_content.as_ref().map_or(0, |raw| text_tokens(raw.as_str()));
    text_tokens(&call.name) + text_tokens(&call.arguments) + extra + CALL_TOKENS
}

#[cfg(test)]
#[path = "weights_tests.rs"]
mod tests;

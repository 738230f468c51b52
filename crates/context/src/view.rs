//! The view of a session that an engine gets.

use crate::Weights;
use hermes_conversation::{Message, Node, TokenCount, ToolTable, Trigger};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A session at the moment of a decision.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub history: &'a [Arc<Message>],
    pub weights: &'a Weights,
    /// The estimated tokens of every request besides the messages: system prompt, tools, additions.
    pub fixed: u64,
    /// The newest request whose size the provider reported.
    pub last: Option<Last>,
    /// Tokens that this model counts for every one that is estimated, as far as it is known.
    pub scale: f64,
    pub window: Window,
    pub trigger: Trigger,
    /// The focus of the summary, if the user named one.
    pub focus: Option<&'a str>,
    pub past: &'a Past,
    pub keep: &'a Keep,
    /// The summaries of this session, oldest first.
    pub nodes: &'a [Node],
    /// The facts of the tools that the history names.
    pub tools: &'a dyn ToolTable,
}

/// A request whose size is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Last {
    pub prompt_tokens: u64,
    /// The number of messages in it.
    pub messages: usize,
}

/// The limits of the context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    pub tokens: Option<u64>,
    /// The output limit of the model, which needs a part of the window too.
    pub output: Option<u64>,
    /// The window of the model that writes summaries; `None` where there is no such model.
    pub summariser: Option<u64>,
}

/// The history of compactions so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Past {
    /// In this session.
    pub count: u32,
    pub in_this_turn: u32,
    /// The newest ones, in a row, that did not bring the request below the threshold.
    pub ineffective: u32,
    /// The newest ones, in a row, that no model wrote a summary for.
    pub fallbacks: u32,
    /// The reason for a cooldown of automatic compaction, as a sentence.
    pub resting: Option<String>,
    /// Digest of the messages that the newest one left.
    pub digest: Option<u64>,
    /// Estimated tokens that people have said since the newest one; all of them if there was none.
    pub said_since: u64,
    /// Size of the request that the newest one left, in tokens.
    pub left: Option<u64>,
}

/// Texts that must be kept, whatever a summary says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keep {
    /// Items of the plan that are not done, one line each.
    pub todos: Vec<String>,
    /// Texts that the user pinned, verbatim.
    pub pins: Vec<String>,
    /// Notes of an external memory for the summary.
    pub memory: Option<String>,
}

/// The size of the next request with so many messages, all of them weighed. `fixed` and `scale` are as in a
/// [`View`].
pub fn request_size(
    last: Option<Last>,
    weights: &Weights,
    messages: usize,
    fixed: u64,
    scale: f64,
) -> TokenCount {
    let scaled = |estimate: u64| (estimate as f64 * scale).ceil() as u64;
    match last {
        Some(last) if last.messages <= messages => match weights.tokens(last.messages..messages) {
            0 => TokenCount::Measured(last.prompt_tokens),
            new => TokenCount::Estimated(last.prompt_tokens + scaled(new)),
        },
        _ => TokenCount::Estimated(scaled(fixed + weights.tokens(0..messages))),
    }
}

impl View<'_> {
    /// The size of the next request.
    pub fn tokens(&self) -> TokenCount {
        request_size(self.last, self.weights, self.history.len(), self.fixed, self.scale)
    }
}

//! The token counts of a session and the state of its compactions.

use crate::Session;
use hermes_context::{Calibration, Last, Past, SummaryFailureKind, Weights, request_size, weigh};
use hermes_conversation::{Message, Node, TokenCount, ToolDefinition, Usage, estimate_tokens};
use hermes_tools::Todo;
use hermes_wire::ModelProfile;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A request cannot be so many times smaller than it is estimated to be.
const IMPLAUSIBLE: u64 = 4;

/// The size of a session, and what compactions have come to in it.
#[derive(Debug, Default)]
pub struct ContextState {
    pub(crate) weights: Weights,
    /// The newest request whose size is known. A compaction makes it worthless.
    pub(crate) last: Option<Last>,
    pub(crate) scales: Calibration,
    pub past: Past,
    /// The summaries, oldest first, where the engine builds on them: see [`ContextState::remember`].
    pub nodes: Vec<Node>,
    /// The engine does not look at earlier summaries.
    pub forgets_nodes: bool,
    /// Texts that the user pinned, verbatim.
    pub pins: Vec<String>,
    /// The plan as it stood in the conversation, for when it no longer does.
    pub todos: Vec<Todo>,
    /// Context windows as stated by refusals, where smaller than expected, by model and address.
    told_windows: HashMap<(Arc<str>, String), ToldWindow>,
    /// The reason why a summary failed in this turn.
    pub failed: Option<(SummaryFailureKind, String)>,
    /// A summary was written in this turn, and none has failed since.
    pub is_made_good: bool,
    /// A history without a summary stays whole.
    pub keeps_whole: bool,
    fixed: Option<Fixed>,
    /// The last compaction has not been judged by a request yet.
    is_on_trial: bool,
    /// True if the user was notified in this turn that nothing can be done.
    pub(crate) is_notified: bool,
    /// A refusal for the length of a request was doubted and the request sent again, in this turn.
    pub(crate) has_doubted: bool,
}

/// A context window as stated by a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToldWindow {
    pub tokens: u64,
    /// True if it is the window of the model itself, not a temporary limit of the account.
    pub is_lasting: bool,
}

/// The tokens of a request besides its messages, and the system prompt and tools they were counted for.
#[derive(Debug)]
struct Fixed {
    system: Arc<str>,
    tools: Arc<[ToolDefinition]>,
    tokens: u64,
}

impl ContextState {
    /// A session is taken up with these messages. When they were said is not known, so all that people say in
    /// them counts: or else a session that is opened for each message would never be looked after.
    pub(crate) fn of(history: &[Arc<Message>]) -> Self {
        let said = history.iter().filter(|message| matches!(***message, Message::User(_)));
        let said_since = said.map(|message| u64::from(weigh(message).tokens)).sum();
        Self { past: Past { said_since, ..Past::default() }, ..Self::default() }
    }

    /// A turn begins.
    pub(crate) fn next_turn(&mut self, said: &Message) {
        self.past.in_this_turn = 0;
        self.past.said_since += u64::from(weigh(said).tokens);
        self.forget_attempts();
        (self.is_notified, self.has_doubted) = (false, false);
    }

    /// Clears the results of summary attempts, once they are recorded.
    pub fn forget_attempts(&mut self) {
        (self.failed, self.is_made_good) = (None, false);
    }

    /// The context window of a model as stated by a refusal.
    pub fn told_window(&self, model: &ModelProfile) -> Option<ToldWindow> {
        self.told_windows.get(&place(model)).copied()
    }

    /// The window of a model, as far as anybody knows it.
    pub fn window(&self, model: &ModelProfile) -> Option<u64> {
        match (self.told_window(model), model.context_length) {
            (Some(told), Some(known)) => Some(told.tokens.min(known)),
            (told, known) => told.map(|told| told.tokens).or(known),
        }
    }

    pub(crate) fn hear_window(&mut self, model: &ModelProfile, told: ToldWindow) {
        self.told_windows.insert(place(model), told);
    }

    /// The size of the next request with so many messages, all of them weighed.
    pub(crate) fn size(&self, messages: usize, fixed: u64, model: &str) -> TokenCount {
        request_size(self.last, &self.weights, messages, fixed, self.scales.scale(model))
    }

    pub(crate) fn is_on_trial(&self) -> bool {
        self.is_on_trial
    }

    /// A request was answered: what the provider counted is compared with what was estimated.
    pub(crate) fn measured(
        &mut self,
        model: &str,
        estimate: u64,
        messages: usize,
        usage: &Usage,
        threshold: Option<u64>,
    ) {
        let prompt_tokens = usage.prompt();
        // Some servers count only what they have not seen before, or nothing: that is no size.
        if prompt_tokens < estimate / IMPLAUSIBLE {
            self.last = None;
            return;
        }
        self.scales.observe(model, estimate, prompt_tokens);
        self.last = Some(Last { prompt_tokens, messages });
        if std::mem::take(&mut self.is_on_trial)
            && let Some(threshold) = threshold
        {
            self.past.ineffective = if prompt_tokens >= threshold { self.past.ineffective + 1 } else { 0 };
        }
    }

    /// Adds summaries. A node that a newer one covers keeps its text only on disk, so that memory use does
    /// not grow with the age of a session.
    pub fn remember(&mut self, nodes: Vec<Node>) {
        if self.forgets_nodes {
            return;
        }
        self.nodes.extend(nodes);
        let told: HashSet<u32> = self.nodes.iter().flat_map(|node| node.children.iter().copied()).collect();
        for node in self.nodes.iter_mut().filter(|node| told.contains(&node.number)) {
            node.text = String::new();
        }
    }

    /// Other messages have taken the place of the history.
    pub(crate) fn compacted(&mut self, digest: u64, left: u64, nodes: Vec<Node>) {
        self.weights = Weights::default();
        self.last = None;
        self.remember(nodes);
        self.past.count += 1;
        self.past.in_this_turn += 1;
        self.past.digest = Some(digest);
        self.past.left = Some(left);
        self.past.said_since = 0;
        self.is_on_trial = true;
    }
}

/// The size of a session in tokens, by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weighed {
    pub system: u64,
    pub tools: u64,
    pub messages: u64,
    pub message_count: usize,
    /// The next request as a whole; measured where the newest one was and nothing came after it.
    pub whole: TokenCount,
}

impl Weighed {
    /// The estimated size of a session before its first model call.
    pub fn estimated(system: &str, tools: &[ToolDefinition], history: &[Arc<Message>]) -> Self {
        let (system, tools) = (estimate_tokens(system).value(), tools.iter().map(tool).sum());
        let messages = history.iter().map(|message| u64::from(weigh(message).tokens)).sum();
        let whole = TokenCount::Estimated(system + tools + messages);
        Self { system, tools, messages, message_count: history.len(), whole }
    }
}

impl Session {
    /// The estimated tokens of a request besides its messages. Counted once per system prompt and tools.
    pub(crate) fn fixed_tokens(&mut self, tools: &Arc<[ToolDefinition]>) -> u64 {
        if let Some(known) = &self.context.fixed
            && Arc::ptr_eq(&known.system, self.spoken_system())
            && Arc::ptr_eq(&known.tools, tools)
        {
            return known.tokens;
        }
        let (system, tokens) = (self.spoken_system().clone(), fixed(self, tools));
        self.context.fixed = Some(Fixed { system, tools: tools.clone(), tokens });
        tokens
    }

    /// The size for a model with these tools.
    pub fn weighed(&self, tools: &[ToolDefinition], model: &str) -> Weighed {
        let mut weights = self.context.weights.clone();
        weights.follow(self.history.messages());
        let scale = self.context.scales.scale(model);
        let scaled = |estimate: u64| (estimate as f64 * scale).ceil() as u64;
        let fixed = fixed(self, tools);
        let whole = request_size(self.context.last, &weights, self.history.len(), fixed, scale);
        let told = tools.iter().map(tool).sum();
        Weighed {
            system: scaled(fixed.saturating_sub(told)),
            tools: scaled(told),
            messages: scaled(weights.tokens(0..self.history.len())),
            message_count: self.history.len(),
            whole,
        }
    }
}

fn place(model: &ModelProfile) -> (Arc<str>, String) {
    (model.model.clone(), model.base_url.clone())
}

fn tool(tool: &ToolDefinition) -> u64 {
    let text = |text: &str| estimate_tokens(text).value();
    text(&tool.name) + text(&tool.description) + text(tool.parameters.as_str())
}

/// The estimated tokens of a request besides its messages.
fn fixed(session: &Session, tools: &[ToolDefinition]) -> u64 {
    let text = |text: &str| estimate_tokens(text).value();
    let added = session.additions.system.as_deref().map_or(0, text);
    let prefill: u64 = session.additions.prefill.iter().map(|message| u64::from(weigh(message).tokens)).sum();
    text(session.spoken_system()) + added + prefill + tools.iter().map(tool).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::MessageId;

    #[test]
    fn covered_summaries_drop_their_text() {
        let node = |number, children: &[u32]| Node {
            number,
            level: u32::from(!children.is_empty()),
            children: children.to_vec(),
            first: MessageId(1),
            last: MessageId(2),
            messages: 2,
            text: format!("text of {number}"),
        };
        let mut state = ContextState::default();
        state.remember(vec![node(1, &[]), node(2, &[]), node(3, &[1, 2])]);
        state.remember(vec![node(4, &[])]);
        let words: Vec<&str> = state.nodes.iter().map(|node| node.text.as_str()).collect();
        assert_eq!(words, ["", "", "text of 3", "text of 4"]);
        let mut state = ContextState { forgets_nodes: true, ..ContextState::default() };
        state.remember(vec![node(1, &[])]);
        assert!(state.nodes.is_empty());
    }
}

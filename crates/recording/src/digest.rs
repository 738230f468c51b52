//! A digest of the stored data, to compare two runs without keeping both.
//!
//! Times and ids are left out: they are inputs. So are costs, which the meter adds and a replay has not.
//! Every commit has a checksum of 64 bits, which finds differences and is not cryptographic; the digest of
//! the state is the SHA-256 over these checksums.

use super::outcome_sink::OutcomeSink;
use hermes_conversation::{
    AssistantMessage, Closing, Compaction, Content, Effect, Intent, Message, RawJson, Settlement, SpentCall,
    ToolMessage, TurnEvent, Usage, UserMessage,
};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write;

/// The checksum of one commit.
pub(crate) struct Sum<'t> {
    state: u64,
    /// Replaces secrets by placeholders, if there may be any.
    hide: Option<&'t dyn OutcomeSink>,
}

impl<'t> Sum<'t> {
    /// A checksum of data for this sink.
    pub(crate) fn on(sink: &'t dyn OutcomeSink) -> Self {
        Self { state: 0x9e37_79b9_7f4a_7c15, hide: sink.hides().then_some(sink) }
    }

    pub(crate) fn value(&self) -> u64 {
        self.state
    }

    fn word(&mut self, word: u64) {
        let mixed = u128::from(self.state ^ word) * u128::from(0xd1b5_4a32_d192_ed03_u64);
        self.state = (mixed >> 64) as u64 ^ mixed as u64 ^ self.state.rotate_left(23) ^ word;
    }

    fn text(&mut self, text: &str) {
        let hidden = self.hide.and_then(|sink| sink.hidden(text));
        let text = hidden.as_deref().unwrap_or(text);
        self.word(text.len() as u64);
        let mut words = text.as_bytes().chunks_exact(8);
        for word in &mut words {
            self.word(u64::from_le_bytes(word.try_into().unwrap_or_default()));
        }
        let mut last = [0; 8];
        let rest = words.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }

    fn maybe(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.word(u64::MAX),
        }
    }

    fn content(&mut self, content: &Content) {
        self.word(u64::from(matches!(content, Content::Parts(_))));
        self.text(content.as_text());
    }

    fn user(&mut self, message: &UserMessage) {
        self.content(&message.content);
        self.maybe(message.api_content.as_deref());
    }

    fn assistant(&mut self, message: &AssistantMessage) {
        self.text(&message.text);
        for call in &message.calls {
            self.text(call.id.as_str());
            self.text(&call.name);
            self.text(&call.arguments);
            self.maybe(call.call_id.as_deref());
            self.maybe(call.response_item_id.as_deref());
            self.maybe(call.extra_content.as_ref().map(RawJson::as_str));
        }
        let thought = &message.reasoning;
        self.maybe(thought.text.as_deref());
        self.maybe(thought.content.as_deref());
        for raw in
            [&thought.details, &thought.codex_items, &thought.codex_messages, &thought.anthropic_blocks]
        {
            self.maybe(raw.as_ref().map(RawJson::as_str));
        }
        self.maybe(message.finish.map(|finish| finish.as_str()));
        if let Some(issuer) = &message.issuer {
            self.text(&issuer.provider);
            self.text(&issuer.model);
        }
    }

    fn tool(&mut self, message: &ToolMessage) {
        self.text(message.call_id.as_str());
        self.text(&message.tool_name);
        self.content(&message.content);
        self.maybe(message.api_content.as_deref());
        self.maybe(message.disposition.map(|disposition| disposition.as_str()));
    }

    fn spending(&mut self, spent: Option<&SpentCall>) {
        let Some(spent) = spent else { return self.word(0) };
        self.word(spent.calls);
        self.usage(&spent.usage);
        self.text(&spent.model);
    }

    fn usage(&mut self, usage: &Usage) {
        for number in [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning] {
            self.word(number);
        }
    }

    pub(crate) fn opened(mut self, message: &UserMessage) -> u64 {
        self.user(message);
        self.value()
    }

    pub(crate) fn annotated(mut self, sent: &str) -> u64 {
        self.text(sent);
        self.value()
    }

    pub(crate) fn compacted(mut self, compaction: &Compaction) -> u64 {
        for message in &compaction.messages {
            match message.as_ref() {
                Message::User(message) => self.user(message),
                Message::Assistant(message) => self.assistant(message),
                Message::Tool(message) => self.tool(message),
            }
        }
        self.word(compaction.tail as u64);
        for node in &compaction.nodes {
            self.text(&node.text);
            node.children.iter().for_each(|child| self.word(u64::from(*child)));
        }
        self.value()
    }

    pub(crate) fn planned(
        mut self,
        reply: &AssistantMessage,
        intents: &[Intent],
        spent: Option<&SpentCall>,
    ) -> u64 {
        self.assistant(reply);
        for intent in intents {
            self.text(intent.call_id.as_str());
            self.text(&intent.tool);
            self.text(&intent.arguments);
            self.text(intent.state.as_str());
            self.text(intent.decision);
            self.text(intent.effect.as_str());
            if let Effect::Write(paths) = &intent.effect {
                for path in paths {
                    self.text(&path.to_string_lossy());
                }
            }
        }
        self.spending(spent);
        self.value()
    }

    pub(crate) fn settled(mut self, settlement: &Settlement) -> u64 {
        for settled in &settlement.results {
            self.text(settled.state.as_str());
            self.tool(&settled.message);
        }
        // A replay does not judge calls, so it has only the answers to requests.
        for decided in settlement.decided.iter().filter(|decided| decided.was_asked) {
            self.text(decided.decision);
        }
        self.word(settlement.start.len() as u64);
        self.value()
    }

    pub(crate) fn extended(mut self, messages: &[Message], spent: Option<&SpentCall>) -> u64 {
        for message in messages {
            match message {
                Message::User(message) => self.user(message),
                Message::Assistant(message) => self.assistant(message),
                Message::Tool(message) => self.tool(message),
            }
        }
        self.spending(spent);
        self.value()
    }

    pub(crate) fn closed(mut self, closing: &Closing) -> u64 {
        if let Some(message) = &closing.message {
            self.assistant(message);
        }
        self.text(&closing.exit_reason);
        self.spending(closing.spent.as_ref());
        self.value()
    }
}

/// The checksum of an event that has no line of its own.
pub(crate) fn event_checksum(event: &TurnEvent, sink: &dyn OutcomeSink) -> Option<u64> {
    let mut sum = Sum::on(sink);
    match event {
        TurnEvent::ToolPreparing { name } => {
            sum.word(1);
            sum.text(name);
        }
        TurnEvent::ToolStarted { id, name, .. } => {
            sum.word(2);
            sum.text(id.as_str());
            sum.text(name);
        }
        TurnEvent::ToolFinished { id, name, failed, millis, .. } => {
            sum.word(3);
            sum.text(id.as_str());
            sum.text(name);
            sum.word(u64::from(*failed));
            sum.word(*millis);
        }
        TurnEvent::StepFinished { usage } => {
            sum.word(4);
            if let Some(usage) = usage {
                sum.usage(usage);
            }
        }
        _ => return None,
    }
    Some(sum.value())
}

/// The digest so far.
#[derive(Clone, Default)]
pub(crate) struct StateDigest {
    stored: Sha256,
    /// The checksum of the events since the last commit.
    events: u64,
}

impl StateDigest {
    /// Adds an event. Events of parallel calls may come in any order.
    pub(crate) fn add_event(&mut self, sum: u64) {
        self.events = self.events.wrapping_add(sum);
    }

    /// The checksum of a commit with that of the events before it.
    pub(crate) fn with_news(&mut self, sum: u64) -> u64 {
        sum ^ std::mem::take(&mut self.events).rotate_left(1)
    }

    /// Adds a commit that was made.
    pub(crate) fn add(&mut self, sum: u64) {
        self.stored.update(sum.to_le_bytes());
    }

    pub(crate) fn hex(&self) -> String {
        self.stored.clone().finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing into memory does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// The redacted text, if it had secrets.
pub(crate) fn changed(hidden: Cow<'_, str>) -> Option<String> {
    match hidden {
        Cow::Borrowed(_) => None,
        Cow::Owned(hidden) => Some(hidden),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::WhatOf;
    use hermes_conversation::{CallId, ToolCall};

    /// A sink that hides nothing, or one text.
    struct Hiding(Option<&'static str>);

    impl OutcomeSink for Hiding {
        fn originals(&self, nodes: Vec<hermes_conversation::Node>) -> Vec<hermes_conversation::Node> {
            nodes
        }

        fn put(&self, _: WhatOf<'_>) {}

        fn text(&self, _: &str, _: bool) {}

        fn hides(&self) -> bool {
            self.0.is_some()
        }

        fn hidden(&self, text: &str) -> Option<String> {
            let word = self.0.filter(|word| text.contains(word))?;
            Some(text.replace(word, "{{secret:1}}"))
        }
    }

    fn sum(message: &AssistantMessage) -> u64 {
        Sum::on(&Hiding(None)).planned(message, &[], None)
    }

    #[test]
    fn news_count_in_any_order_and_are_in_one_commit_only() {
        let event_checksum = |name: &str| {
            let event = TurnEvent::ToolPreparing { name: name.to_owned() };
            event_checksum(&event, &Hiding(None)).unwrap()
        };
        let after = |told: &[&str]| {
            let mut state = StateDigest::default();
            told.iter().for_each(|name| state.add_event(event_checksum(name)));
            (state.with_news(7), state.with_news(7))
        };
        assert_eq!(after(&["todo", "terminal"]), after(&["terminal", "todo"]));
        assert_eq!(after(&[]), (7, 7));
        assert_eq!(after(&["todo"]).1, 7);
        assert_ne!(after(&["todo"]).0, after(&["terminal"]).0);
        assert_ne!(after(&["todo", "todo"]).0, 7);
    }

    #[test]
    fn every_part_of_a_message_counts_and_no_two_places_are_the_same() {
        let base = AssistantMessage {
            text: "some words".into(),
            calls: vec![ToolCall::new(CallId::new("a"), "todo", "{}")],
            ..AssistantMessage::default()
        };
        let mut others = vec![AssistantMessage::default()];
        let mut change = |act: &dyn Fn(&mut AssistantMessage)| {
            let mut other = base.clone();
            act(&mut other);
            others.push(other);
        };
        change(&|other| other.text = "some wordz".into());
        change(&|other| other.text.push('\0'));
        change(&|other| other.calls[0].arguments = "{ }".into());
        change(&|other| other.calls[0].id = CallId::new("b"));
        change(&|other| other.calls.clear());
        change(&|other| other.reasoning.text = Some("some words".into()));
        change(&|other| other.reasoning.content = Some("some words".into()));
        let sums: Vec<u64> = others.iter().chain([&base]).map(sum).collect();
        let mut different = sums.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), sums.len());
        assert_eq!(sum(&base), sum(&base.clone()));
    }

    #[test]
    fn a_secret_counts_as_its_placeholder() {
        let (said, hidden) = (UserMessage::text("so hush"), UserMessage::text("so {{secret:1}}"));
        assert_eq!(Sum::on(&Hiding(Some("hush"))).opened(&said), Sum::on(&Hiding(None)).opened(&hidden));
    }
}

//! Random conversations: parallel calls, every track of reasoning, images, interrupted turns, and providers
//! that change between turns. The same seed gives the same conversation.

use crate::Random;
use hermes_conversation::{
    AssistantMessage, CallId, Content, Disposition, FinishReason, History, Issuer, Message, RawJson,
    Reasoning, ToolCall, ToolMessage, UserMessage,
};
use serde_json::{Value, json};

/// The possible issuers.
pub const ISSUERS: [(&str, &str, &str); 4] = [
    ("anthropic", "https://api.anthropic.com", "claude-x"),
    ("openai-codex", "https://api.openai.com", "gpt-x"),
    ("openrouter", "https://openrouter.ai", "vendor/model"),
    ("custom", "http://127.0.0.1:9", "local"),
];

const TEXTS: [&str; 12] = [
    "",
    " ",
    "hello",
    "two\nlines",
    "quotes \" and \\ backslashes",
    "中文 and ไทย",
    "🎉\u{200d}",
    "\u{0}\u{1}control",
    "<tag attr='x'>",
    "{\"json\": [1, 2]}",
    "a\u{2028}b",
    "long long long long long long long long long long text",
];
const NAMES: [&str; 5] = ["terminal", "read_file", "write_file", "search_files", "todo"];
const ARGUMENTS: [&str; 6] = [
    "{}",
    "{\"path\":\"a\"}",
    "{ \"command\" : \"ls -l\" }",
    "{\"n\":1e3,\"deep\":{\"a\":[null,true]}}",
    "[]",
    "null",
];

/// The issuer at an index of [`ISSUERS`].
pub fn issuer(place: usize) -> Issuer {
    let (provider, origin, model) = ISSUERS[place % ISSUERS.len()];
    Issuer { provider: provider.into(), origin: origin.into(), model: model.into() }
}

/// A conversation as it may be stored: not always one that a provider accepts.
pub fn stored_transcript(seed: u64) -> Vec<Message> {
    Author { random: Random::new(seed), calls: 0 }.transcript()
}

/// The same conversation after a repair.
pub fn transcript(seed: u64) -> History {
    History::restore(stored_transcript(seed))
}

struct Author {
    random: Random,
    calls: usize,
}

impl Author {
    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn transcript(mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        for _ in 0..=self.below(5) {
            messages.push(self.user());
            for _ in 0..self.below(4) {
                self.step(&mut messages);
            }
            if !self.once_in(6) {
                let answer = self.assistant(0);
                messages.push(Message::Assistant(answer));
            }
        }
        messages
    }

    fn user(&mut self) -> Message {
        let content = self.content();
        let api_content = self.once_in(8).then(|| self.one(&TEXTS).to_owned());
        Message::User(UserMessage { content, api_content })
    }

    fn content(&mut self) -> Content {
        if !self.once_in(4) {
            return Content::text(self.one(&TEXTS));
        }
        let mut parts = vec![json!({"type": "text", "text": self.one(&TEXTS)})];
        for _ in 0..self.below(3) {
            let url = self.one(&["data:image/png;base64,iVBORw0KGgo=", "https://example.com/a.jpg"]);
            parts.push(json!({"type": "image_url", "image_url": {"url": url}}));
        }
        raw(&Value::Array(parts)).map_or_else(Content::default, Content::Parts)
    }

    /// A reply with calls, and most of their results.
    fn step(&mut self, messages: &mut Vec<Message>) {
        let count = 1 + self.below(3);
        let reply = self.assistant(count);
        let calls = reply.calls.clone();
        messages.push(Message::Assistant(reply));
        for call in calls {
            // A killed process left some calls without a result.
            if self.once_in(10) {
                continue;
            }
            let mut result = ToolMessage::new(call.id.clone(), call.name.clone(), "");
            result.content = self.content();
            result.disposition = self.once_in(8).then_some(Disposition::Unknown);
            messages.push(Message::Tool(result));
        }
    }

    fn assistant(&mut self, calls: usize) -> AssistantMessage {
        let by = self.below(ISSUERS.len());
        let text = self.one(&TEXTS).to_owned();
        let calls: Vec<ToolCall> = (0..calls).map(|_| self.call()).collect();
        let reasoning =
            if self.once_in(2) { self.reasoning(by, &text, &calls) } else { Reasoning::default() };
        let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        let issuer = (!self.once_in(8)).then(|| issuer(by));
        AssistantMessage { text, calls, reasoning, finish: Some(finish), issuer }
    }

    fn call(&mut self) -> ToolCall {
        self.calls += 1;
        let id = match self.below(4) {
            0 => format!("call_{}", self.calls),
            1 => format!("toolu_{:02}", self.calls),
            2 => format!("functions.terminal:{}", self.calls),
            _ => format!("{}-{}", "x".repeat(self.below(80)), self.calls),
        };
        let (name, arguments) = (self.one(&NAMES).to_owned(), self.one(&ARGUMENTS).to_owned());
        let mut call = ToolCall::new(CallId::new(id.clone()), name, arguments);
        if self.once_in(6) {
            call.call_id = Some(id);
            call.response_item_id = Some(format!("fc_{}", self.calls));
        }
        call.extra_content =
            self.once_in(8).then(|| raw(&json!({"google": {"thought_signature": "s"}}))).flatten();
        call
    }

    /// The reasoning of each kind of provider, in its own track.
    fn reasoning(&mut self, by: usize, text: &str, calls: &[ToolCall]) -> Reasoning {
        let thought = self.one(&TEXTS[2..]).to_owned();
        let mut reasoning = Reasoning { text: Some(thought.clone()), ..Reasoning::default() };
        match by {
            0 => {
                let mut blocks = vec![json!({"type": "thinking", "thinking": thought, "signature": "c2ln"})];
                if self.once_in(3) {
                    blocks.push(json!({"type": "redacted_thinking", "data": "ZGF0YQ=="}));
                }
                if !text.trim().is_empty() {
                    blocks.push(json!({"type": "text", "text": text}));
                }
                blocks.extend(calls.iter().map(|call| {
                    json!({"type": "tool_use", "id": call.id.as_str(), "name": call.name, "input": {}})
                }));
                reasoning.anthropic_blocks = raw(&Value::Array(blocks));
            }
            1 => {
                let item = json!({"type": "reasoning", "id": format!("rs_{}", self.calls), "summary": [],
                    "encrypted_content": "ZW5j"});
                reasoning.codex_items = raw(&json!([item]));
            }
            2 => {
                reasoning.details =
                    raw(&json!([{"type": "reasoning.text", "text": thought, "signature": "s"}]));
            }
            _ => reasoning.content = Some(thought),
        }
        reasoning
    }
}

fn raw(value: &Value) -> Option<RawJson> {
    RawJson::parse(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_conversations_of_every_kind() {
        assert_eq!(stored_transcript(7), stored_transcript(7));
        assert_ne!(stored_transcript(7), stored_transcript(8));
        let all: Vec<Message> = (0..500).flat_map(stored_transcript).collect();
        let occurs = |test: fn(&Message) -> bool| all.iter().any(test);
        let said = |test: fn(&AssistantMessage) -> bool| {
            all.iter().any(|message| matches!(message, Message::Assistant(reply) if test(reply)))
        };
        assert!(said(|reply| reply.calls.len() > 2));
        assert!(said(|reply| reply.reasoning.anthropic_blocks.is_some()));
        assert!(said(|reply| reply.reasoning.codex_items.is_some()));
        assert!(said(|reply| reply.reasoning.details.is_some()));
        assert!(said(|reply| reply.reasoning.content.is_some()));
        assert!(occurs(
            |message| matches!(message, Message::User(user) if matches!(user.content, Content::Parts(_)))
        ));
        assert!(occurs(|message| matches!(message, Message::Tool(tool) if tool.disposition.is_some())));
    }
}

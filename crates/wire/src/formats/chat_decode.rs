//! Chat completions, inbound: a stream of chunks or one JSON body.

use super::DecodeError;
use super::token_count::Count;
use crate::call_assembly::Assembler;
use crate::think_tags::{Piece, ThinkSplitter};
use crate::{ModelEvent, Reply};
use hermes_conversation::{
    AssistantMessage, Bill, Cost, FinishReason, Money, RawJson, Reasoning, Usage, parse_lenient,
};
use serde::Deserialize;

/// Assembles chunks into one reply.
#[derive(Debug, Default)]
pub(crate) struct ChatDecoder {
    text: String,
    reasoning: String,
    /// Reasoning between tags in the text.
    tagged: String,
    tags: ThinkSplitter,
    details: Vec<RawJson>,
    refusal: String,
    calls: Assembler,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    billed: Option<Money>,
    done: bool,
}

impl ChatDecoder {
    pub(crate) fn feed(&mut self, data: &str, mut each: impl FnMut(ModelEvent)) -> Result<(), DecodeError> {
        let data = data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.text_ended(&mut each);
            self.done = true;
            return Ok(());
        }
        let chunk: Chunk = parse(data)?;
        if chunk.error.is_some() {
            return Err(DecodeError::Reported { body: data.to_owned() });
        }
        if let Some(usage) = chunk.usage {
            self.billed = usage.billed().or(self.billed);
            let usage = usage.into();
            self.usage = Some(usage);
            each(ModelEvent::Usage(usage));
        }
        if let Some(choice) = chunk.choices.0 {
            self.choice(choice, &mut each);
        }
        Ok(())
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    fn choice(&mut self, choice: Choice, each: &mut impl FnMut(ModelEvent)) {
        // Some servers answer a streaming request with whole messages.
        if let Some(delta) = choice.delta {
            self.delta(delta, each);
        } else if let Some(message) = choice.message {
            self.delta(*message, each);
        }
        if let Some(reason) = choice.finish_reason {
            self.text_ended(each);
            self.finish = Some(finish_reason(&reason));
        }
    }

    fn delta(&mut self, delta: Delta, each: &mut impl FnMut(ModelEvent)) {
        if let Some(text) = delta.reasoning_content.or(delta.reasoning).filter(|text| !text.is_empty()) {
            self.reasoning.push_str(&text);
            each(ModelEvent::Reasoning(text));
        }
        self.details.extend(delta.reasoning_details.unwrap_or_default());
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            let Self { tags, text: said, tagged, .. } = self;
            tags.feed(&text, |piece| take(piece, said, tagged, each));
        }
        self.refusal.push_str(delta.refusal.as_deref().unwrap_or_default());
        for call in delta.tool_calls.unwrap_or_default() {
            self.call(call, each);
        }
    }

    /// Releases text that was held back because it might have become a tag.
    fn text_ended(&mut self, each: &mut impl FnMut(ModelEvent)) {
        let Self { tags, text: said, tagged, .. } = self;
        tags.finish(|piece| take(piece, said, tagged, each));
    }

    fn call(&mut self, piece: CallPiece, each: &mut impl FnMut(ModelEvent)) {
        let id = piece.id.map(|id| id.0).unwrap_or_default();
        let slot = self.calls.slot(piece.index, &id);
        if piece.extra_content.is_some() {
            slot.extra_content = piece.extra_content;
        }
        let Some(function) = piece.function else { return };
        if let Some(name) = function.name.filter(|name| !name.is_empty()) {
            if slot.name != name {
                each(ModelEvent::ToolPreparing(name.clone()));
            }
            slot.name = name;
        }
        match function.arguments {
            Some(Arguments::Text(text)) => slot.arguments.push_str(&text),
            Some(Arguments::Value(value)) => slot.arguments.push_str(value.as_str()),
            None => {}
        }
    }

    pub(crate) fn finish(self) -> Result<Reply, DecodeError> {
        if self.finish.is_none() && !self.done {
            return Err(DecodeError::Unfinished);
        }
        if self.finish.is_none() && self.text.is_empty() && self.calls.is_empty() {
            return Err(DecodeError::Unfinished);
        }
        Ok(self.into_reply())
    }

    fn into_reply(self) -> Reply {
        let (calls, states) = self.calls.finish();
        let mut finish = self.finish.unwrap_or(FinishReason::Stop);
        let mut text = self.text;
        if text.is_empty() && calls.is_empty() && !self.refusal.is_empty() {
            text = self.refusal;
            if finish == FinishReason::Stop {
                finish = FinishReason::ContentFilter;
            }
        }
        // If there is a field for reasoning, the text between tags is a copy.
        let thoughts = if self.reasoning.is_empty() { self.tagged } else { self.reasoning };
        let reasoning = Reasoning {
            text: (!thoughts.trim().is_empty()).then_some(thoughts),
            details: (!self.details.is_empty()).then(|| RawJson::of(&self.details)).flatten(),
            ..Reasoning::default()
        };
        Reply {
            message: AssistantMessage { text, calls, reasoning, finish: Some(finish), issuer: None },
            calls: states,
            finish,
            usage: self.usage,
            bill: Bill { cost: Cost { actual: self.billed, ..Cost::default() }, ..Bill::default() },
        }
    }
}

fn take(piece: Piece<'_>, said: &mut String, thought: &mut String, each: &mut impl FnMut(ModelEvent)) {
    match piece {
        Piece::Text(text) => {
            said.push_str(text);
            each(ModelEvent::Text(text.to_owned()));
        }
        Piece::Reasoning(text) => {
            thought.push_str(text);
            each(ModelEvent::Reasoning(text.to_owned()));
        }
    }
}

/// Decodes the body of a request without streaming.
pub(crate) fn plain(body: &str) -> Result<Reply, DecodeError> {
    let mut decoder = ChatDecoder::default();
    decoder.feed(body, |_| ())?;
    decoder.text_ended(&mut |_| ());
    if decoder.finish.is_none()
        && decoder.text.is_empty()
        && decoder.calls.is_empty()
        && decoder.refusal.is_empty()
    {
        return Err(DecodeError::Unfinished);
    }
    Ok(decoder.into_reply())
}

pub(super) fn parse<T: for<'de> Deserialize<'de>>(data: &str) -> Result<T, DecodeError> {
    parse_lenient(data).map_err(|error| DecodeError::Json {
        cause: error.to_string(),
        excerpt: data.chars().take(120).collect(),
    })
}

fn finish_reason(reason: &FinishText) -> FinishReason {
    let FinishText::Text(text) = reason else {
        return FinishReason::Stop;
    };
    match text.as_str() {
        "function_call" => FinishReason::ToolCalls,
        "max_tokens" => FinishReason::Length,
        other => FinishReason::parse(other).unwrap_or(FinishReason::Stop),
    }
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: FirstChoice,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Option<RawJson>,
}

/// The first of a list of choices; requests never ask for more than one.
#[derive(Default)]
struct FirstChoice(Option<Choice>);

impl<'de> Deserialize<'de> for FirstChoice {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct First;
        impl<'de> serde::de::Visitor<'de> for First {
            type Value = FirstChoice;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of choices")
            }
            fn visit_unit<E>(self) -> Result<FirstChoice, E> {
                Ok(FirstChoice(None))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<FirstChoice, A::Error> {
                let first = list.next_element()?;
                while list.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                Ok(FirstChoice(first))
            }
        }
        deserializer.deserialize_any(First)
    }
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Delta>,
    /// Boxed: it occurs once per reply at most, while deltas are frequent.
    #[serde(default)]
    message: Option<Box<Delta>>,
    #[serde(default)]
    finish_reason: Option<FinishText>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FinishText {
    Text(String),
    #[allow(dead_code, reason = "some servers send numbers; any of them means the reply ended")]
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default, deserialize_with = "crate::formats::bounded_list::bounded")]
    reasoning_details: Option<Vec<RawJson>>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default, deserialize_with = "crate::formats::bounded_list::bounded")]
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
struct CallPiece {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<TextOrNumber>,
    #[serde(default)]
    function: Option<FunctionPiece>,
    #[serde(default)]
    extra_content: Option<RawJson>,
}

#[derive(Deserialize)]
struct FunctionPiece {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Arguments>,
}

/// Argument text; some servers send the object itself.
pub(super) enum Arguments {
    Text(String),
    Value(RawJson),
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        Ok(match parse_lenient::<String>(raw.as_str()) {
            Ok(text) => Self::Text(text),
            Err(_) => Self::Value(raw),
        })
    }
}

/// An id; some servers send numbers.
struct TextOrNumber(String);

impl<'de> Deserialize<'de> for TextOrNumber {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }))
    }
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: Option<Count>,
    #[serde(default)]
    completion_tokens: Option<Count>,
    #[serde(default)]
    prompt_cache_hit_tokens: Option<Count>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    completion_tokens_details: Option<CompletionDetails>,
    /// In dollars; sent by routers.
    #[serde(default)]
    cost: Option<RawJson>,
}

impl WireUsage {
    /// The cost reported by the provider, digit by digit.
    fn billed(&self) -> Option<Money> {
        Money::parse(self.cost.as_ref()?.as_str().trim_matches('"'))
    }
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<Count>,
    #[serde(default)]
    cache_write_tokens: Option<Count>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Option<Count>,
}

impl From<WireUsage> for Usage {
    fn from(usage: WireUsage) -> Self {
        let details = usage.prompt_tokens_details.as_ref();
        let cache_read = details
            .and_then(|details| details.cached_tokens)
            .or(usage.prompt_cache_hit_tokens)
            .unwrap_or_default()
            .0;
        let cache_write = details.and_then(|details| details.cache_write_tokens).unwrap_or_default().0;
        let prompt = usage.prompt_tokens.unwrap_or_default().0;
        Self {
            input: prompt.saturating_sub(cache_read + cache_write),
            output: usage.completion_tokens.unwrap_or_default().0,
            cache_read,
            cache_write,
            reasoning: usage
                .completion_tokens_details
                .and_then(|details| details.reasoning_tokens)
                .unwrap_or_default()
                .0,
        }
    }
}

#[cfg(test)]
#[path = "chat_decode_tests.rs"]
mod tests;

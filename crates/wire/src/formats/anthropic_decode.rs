//! The Messages format, inbound: a stream of events or one JSON body.

mod frames;
mod stored;

use super::DecodeError;
use super::chat_decode::parse;
use crate::call_assembly::Assembler;
use crate::{ModelEvent, Reply};
use frames::{Delta, Frame, WireBlock, WireUsage};
use hermes_conversation::{AssistantMessage, Bill, FinishReason, RawJson, Reasoning, Usage};
use stored::stored;

/// Assembles events into one reply.
#[derive(Debug, Default)]
pub(crate) struct AnthropicDecoder {
    blocks: Vec<Block>,
    calls: Assembler,
    stop_reason: Option<String>,
    usage: Option<Usage>,
    done: bool,
}

/// A block of the reply.
#[derive(Debug)]
struct Block {
    /// Its index on the wire. Calls are assembled by their position among all blocks instead, which is unique.
    index: Option<u64>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted {
        data: String,
    },
    /// A call, with its initial arguments: `{}` if they follow.
    Call {
        input: Option<RawJson>,
    },
    /// A kind that requests never ask for.
    Ignored,
}

impl AnthropicDecoder {
    pub(crate) fn feed(&mut self, data: &str, mut each: impl FnMut(ModelEvent)) -> Result<(), DecodeError> {
        let data = data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let frame: Frame = parse(data)?;
        if frame.kind == "error" || frame.error.is_some() {
            return Err(DecodeError::Reported { body: data.to_owned() });
        }
        self.count(frame.usage, &mut each);
        match frame.kind.as_str() {
            "message_start" => self.count(frame.message.and_then(|message| message.usage), &mut each),
            "content_block_start" => {
                self.start(frame.index, frame.content_block.unwrap_or_default(), &mut each)
            }
            "content_block_delta" => self.delta(frame.index, frame.delta.unwrap_or_default(), &mut each),
            "message_delta" => self.stop(frame.delta.and_then(|delta| delta.stop_reason)),
            "message_stop" => self.done = true,
            // Some servers answer a streaming request with the whole message.
            "message" => {
                for block in frame.content.unwrap_or_default() {
                    self.start(None, block, &mut each);
                }
                self.stop(frame.stop_reason);
                self.done = true;
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    fn start(&mut self, index: Option<u64>, block: WireBlock, each: &mut impl FnMut(ModelEvent)) {
        let place = self.blocks.len();
        let kind = match block.kind.as_str() {
            "text" => Kind::Text(String::new()),
            "thinking" => {
                Kind::Thinking { text: String::new(), signature: block.signature.unwrap_or_default() }
            }
            "redacted_thinking" => Kind::Redacted { data: block.data.unwrap_or_default() },
            "tool_use" => {
                let slot = self.calls.slot(Some(place as u64), &block.id.unwrap_or_default());
                slot.name = block.name.unwrap_or_default();
                if !slot.name.is_empty() {
                    each(ModelEvent::ToolPreparing(slot.name.clone()));
                }
                Kind::Call { input: block.input }
            }
            _ => Kind::Ignored,
        };
        self.blocks.push(Block { index, kind });
        self.text(place, block.text.as_deref().unwrap_or_default(), each);
        self.thinking(place, block.thinking.as_deref().unwrap_or_default(), each);
    }

    fn delta(&mut self, index: Option<u64>, delta: Delta, each: &mut impl FnMut(ModelEvent)) {
        // A piece without an index belongs to the newest block.
        let is_meant = |block: &Block| index.is_none() || block.index == index;
        let Some(place) = self.blocks.iter().rposition(is_meant) else { return };
        self.text(place, delta.text.as_deref().unwrap_or_default(), each);
        self.thinking(place, delta.thinking.as_deref().unwrap_or_default(), each);
        match &mut self.blocks[place].kind {
            Kind::Thinking { signature, .. } => {
                signature.push_str(delta.signature.as_deref().unwrap_or_default());
            }
            Kind::Call { .. } => {
                let piece = delta.partial_json.as_deref().unwrap_or_default();
                self.calls.slot(Some(place as u64), "").arguments.push_str(piece);
            }
            Kind::Text(_) | Kind::Redacted { .. } | Kind::Ignored => {}
        }
    }

    fn text(&mut self, place: usize, piece: &str, each: &mut impl FnMut(ModelEvent)) {
        if piece.is_empty() {
            return;
        }
        let is_later =
            self.blocks[..place].iter().any(|b| matches!(&b.kind, Kind::Text(text) if !text.is_empty()));
        if let Kind::Text(text) = &mut self.blocks[place].kind {
            if text.is_empty() && is_later {
                each(ModelEvent::Text("\n".to_owned()));
            }
            text.push_str(piece);
            each(ModelEvent::Text(piece.to_owned()));
        }
    }

    fn thinking(&mut self, place: usize, piece: &str, each: &mut impl FnMut(ModelEvent)) {
        if piece.is_empty() {
            return;
        }
        let thought = |b: &Block| matches!(&b.kind, Kind::Thinking { text, .. } if !text.is_empty());
        let is_later = self.blocks[..place].iter().any(thought);
        if let Kind::Thinking { text, .. } = &mut self.blocks[place].kind {
            if text.is_empty() && is_later {
                each(ModelEvent::Reasoning("\n\n".to_owned()));
            }
            text.push_str(piece);
            each(ModelEvent::Reasoning(piece.to_owned()));
        }
    }

    fn stop(&mut self, reason: Option<String>) {
        if reason.is_some() {
            self.stop_reason = reason;
        }
    }

    /// Counts grow during a stream, and not every server repeats them all.
    fn count(&mut self, usage: Option<WireUsage>, each: &mut impl FnMut(ModelEvent)) {
        let Some(new) = usage else { return };
        let so_far = self.usage.unwrap_or_default();
        let now = Usage {
            input: so_far.input.max(new.input_tokens.unwrap_or_default().0),
            output: so_far.output.max(new.output_tokens.unwrap_or_default().0),
            cache_read: so_far.cache_read.max(new.cache_read_input_tokens.unwrap_or_default().0),
            cache_write: so_far.cache_write.max(new.cache_creation_input_tokens.unwrap_or_default().0),
            reasoning: 0,
        };
        self.usage = Some(now);
        each(ModelEvent::Usage(now));
    }

    pub(crate) fn finish(self) -> Result<Reply, DecodeError> {
        let may_be_empty = matches!(self.stop_reason.as_deref(), Some("end_turn" | "refusal"));
        if !self.done || (self.blocks.is_empty() && !may_be_empty) {
            return Err(DecodeError::Unfinished);
        }
        Ok(self.into_reply())
    }

    fn into_reply(mut self) -> Reply {
        let finish = self.finish_reason();
        self.complete_arguments(finish);
        let (calls, states) = self.calls.finish();
        let reasoning = Reasoning {
            text: joined(thoughts(&self.blocks), "\n\n"),
            anthropic_blocks: stored(&self.blocks, &calls),
            ..Reasoning::default()
        };
        let text = joined(texts(&self.blocks), "\n").unwrap_or_default();
        Reply {
            message: AssistantMessage { text, calls, reasoning, finish: Some(finish), issuer: None },
            calls: states,
            finish,
            usage: self.usage,
            bill: Bill::default(),
        }
    }

    fn finish_reason(&self) -> FinishReason {
        match self.stop_reason.as_deref() {
            Some("tool_use") => FinishReason::ToolCalls,
            Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
            Some("refusal") => FinishReason::ContentFilter,
            None if !self.calls.is_empty() => FinishReason::ToolCalls,
            Some(_) | None => FinishReason::Stop,
        }
    }

    /// Calls whose arguments did not arrive in pieces have them from the start. In a truncated reply, a last
    /// call without a single piece was truncated, too, and must not run without arguments.
    fn complete_arguments(&mut self, finish: FinishReason) {
        let was_cut = matches!(finish, FinishReason::Length | FinishReason::ContentFilter);
        let last = self.blocks.len().saturating_sub(1);
        for (place, block) in self.blocks.iter().enumerate() {
            let Kind::Call { input } = &block.kind else { continue };
            let slot = self.calls.slot(Some(place as u64), "");
            if slot.arguments.is_empty() {
                let input = input.as_ref().map_or("", RawJson::as_str);
                slot.is_cut = was_cut && place == last && matches!(input, "" | "{}");
                slot.arguments.push_str(input);
            }
        }
    }
}

/// Decodes the body of a request without streaming.
pub(crate) fn plain(body: &str) -> Result<Reply, DecodeError> {
    let mut decoder = AnthropicDecoder::default();
    decoder.feed(body, |_| ())?;
    decoder.finish()
}

fn texts(blocks: &[Block]) -> impl Iterator<Item = &str> {
    blocks.iter().filter_map(|block| match &block.kind {
        Kind::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

fn thoughts(blocks: &[Block]) -> impl Iterator<Item = &str> {
    blocks.iter().filter_map(|block| match &block.kind {
        Kind::Thinking { text, .. } => Some(text.as_str()),
        _ => None,
    })
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>, between: &str) -> Option<String> {
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join(between))
}

#[cfg(test)]
#[path = "anthropic_decode_tests.rs"]
mod tests;

//! The Responses format, inbound: a stream of events or one JSON body.
//!
//! A response is a list of items. Their pieces are collected as they arrive, and the final form of an item
//! replaces its pieces. The end of the stream may repeat the items.

mod frames;
mod reply;

use super::DecodeError;
use super::chat_decode::{Arguments, parse};
use crate::call_assembly::Assembler;
use crate::{ModelEvent, Reply};
use frames::{
    ArgumentsEvent, CallItem, DeltaEvent, EndEvent, Item, ItemEvent, Kind, MessageItem, ReasoningItem,
    Response, TextPart,
};
use hermes_conversation::{RawJson, Usage};
use reply::{Ending, Gathered, Piece};

/// Assembles events into one reply.
#[derive(Debug, Default)]
pub(crate) struct ResponsesDecoder {
    pieces: Vec<Piece>,
    calls: Assembler,
    usage: Option<Usage>,
    ending: Option<Ending>,
}

/// The stage of an item: begun or final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Added,
    Done,
}

impl ResponsesDecoder {
    pub(crate) fn feed(&mut self, data: &str, mut each: impl FnMut(ModelEvent)) -> Result<(), DecodeError> {
        let data = data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let Kind { kind, error, detail } = parse(data)?;
        let each = &mut each;
        match kind.as_deref().unwrap_or_default() {
            "response.output_item.added" => self.item_event(&parse(data)?, Stage::Added, each),
            "response.output_item.done" => self.item_event(&parse(data)?, Stage::Done, each),
            "response.output_text.delta" => self.text(&parse(data)?, each),
            "response.refusal.delta" => self.refusal(&parse(data)?),
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.arguments(&parse(data)?);
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                self.arguments_done(parse(data)?);
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let EndEvent { response } = parse(data)?;
                self.end(response, each)?;
            }
            "error" => return Err(reported(error, data)),
            "" if error.is_some() || detail.is_some() => return Err(reported(error, data)),
            kind if kind.contains("reasoning") && kind.ends_with(".delta") => {
                self.thought(&parse(data)?, each)
            }
            // Keep-alives and irrelevant events, including unknown ones.
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn is_done(&self) -> bool {
        self.ending.is_some()
    }

    pub(crate) fn finish(self) -> Result<Reply, DecodeError> {
        let Some(ending) = self.ending else { return Err(DecodeError::Unfinished) };
        let Self { pieces, calls, usage, .. } = self;
        Ok(Gathered { pieces, calls, usage, ending }.into_reply())
    }

    fn item_event(&mut self, event: &ItemEvent, stage: Stage, each: &mut impl FnMut(ModelEvent)) {
        self.item(event.output_index, Item::read(&event.item), stage, each);
    }

    fn item(&mut self, index: Option<u64>, item: Item, stage: Stage, each: &mut impl FnMut(ModelEvent)) {
        match item {
            Item::Message(item) => self.message(index, item, stage, each),
            Item::Reasoning(item) => self.reasoning(index, item, stage, each),
            Item::Call(item) => self.call(index, item, stage, each),
            Item::Other => {}
        }
    }

    fn message(
        &mut self,
        index: Option<u64>,
        item: MessageItem,
        stage: Stage,
        each: &mut impl FnMut(ModelEvent),
    ) {
        let separator = self.separator(index, item.id.as_deref());
        let piece = self.piece(false, index, item.id.as_deref());
        if item.phase.is_some() {
            piece.phase = item.phase;
        }
        if stage == Stage::Added {
            return;
        }
        let parts = item.content.unwrap_or_default();
        let text: String = parts.iter().filter_map(|part| part.text.as_deref()).collect();
        let refusal: String = parts.iter().filter_map(|part| part.refusal.as_deref()).collect();
        if piece.text.is_empty() && !text.is_empty() {
            each(match piece.is_answer() {
                true => ModelEvent::Text(format!("{separator}{text}")),
                false => ModelEvent::Reasoning(text.clone()),
            });
        }
        piece.is_done = true;
        piece.is_cut = item.status.as_deref() == Some("incomplete");
        if !text.is_empty() {
            piece.text = text;
        }
        if !refusal.is_empty() {
            piece.refusal = refusal;
        }
    }

    fn reasoning(
        &mut self,
        index: Option<u64>,
        item: ReasoningItem,
        stage: Stage,
        each: &mut impl FnMut(ModelEvent),
    ) {
        let piece = self.piece(true, index, item.id.as_deref());
        if stage == Stage::Added {
            return;
        }
        let texts = |parts: Option<Vec<TextPart>>| -> Vec<String> {
            parts.unwrap_or_default().into_iter().filter_map(|part| part.text).collect()
        };
        piece.summary = texts(item.summary);
        let said = match piece.summary.is_empty() {
            true => texts(item.content).join("\n\n"),
            false => piece.summary.join("\n\n"),
        };
        if piece.text.is_empty() && !said.is_empty() {
            each(ModelEvent::Reasoning(said.clone()));
        }
        if !said.is_empty() {
            piece.text = said;
        }
        piece.encrypted = item.encrypted_content.unwrap_or_default();
        piece.is_done = true;
    }

    fn call(&mut self, index: Option<u64>, item: CallItem, stage: Stage, each: &mut impl FnMut(ModelEvent)) {
        let slot = self.calls.slot(index, item.call_id.as_deref().unwrap_or_default());
        if let Some(name) = item.name.filter(|name| !name.is_empty()) {
            if slot.name != name {
                each(ModelEvent::ToolPreparing(name.clone()));
            }
            slot.name = name;
        }
        if let Some(id) = item.id.filter(|id| !id.is_empty()) {
            slot.response_item_id = Some(id);
        }
        if let Some(arguments) = item.arguments.or(item.input).map(text_of)
            && !arguments.is_empty()
        {
            slot.arguments = arguments;
        }
        // A call that is never completed was truncated, whatever its arguments look like.
        slot.is_cut = match stage {
            Stage::Added => true,
            Stage::Done => matches!(item.status.as_deref(), Some("in_progress" | "incomplete")),
        };
    }

    fn arguments(&mut self, delta: &DeltaEvent) {
        self.calls.slot(delta.output_index, "").arguments += &delta.text();
    }

    fn arguments_done(&mut self, event: ArgumentsEvent) {
        let slot = self.calls.slot(event.output_index, "");
        if let Some(arguments) = event.arguments.map(text_of)
            && !arguments.is_empty()
        {
            slot.arguments = arguments;
        }
        slot.is_cut = false;
    }

    fn text(&mut self, delta: &DeltaEvent, each: &mut impl FnMut(ModelEvent)) {
        let text = delta.text();
        if text.is_empty() {
            return;
        }
        let separator = self.separator(delta.output_index, delta.item_id.as_deref());
        let piece = self.piece(false, delta.output_index, delta.item_id.as_deref());
        piece.text.push_str(&text);
        each(match piece.is_answer() {
            true => ModelEvent::Text(format!("{separator}{text}")),
            false => ModelEvent::Reasoning(text),
        });
    }

    fn refusal(&mut self, delta: &DeltaEvent) {
        self.piece(false, delta.output_index, delta.item_id.as_deref()).refusal += &delta.text();
    }

    fn thought(&mut self, delta: &DeltaEvent, each: &mut impl FnMut(ModelEvent)) {
        let mut text = delta.text();
        if text.is_empty() {
            return;
        }
        let piece = self.piece(true, delta.output_index, delta.item_id.as_deref());
        if !piece.text.is_empty() && piece.summary_index != delta.summary_index {
            text.insert_str(0, "\n\n");
        }
        piece.summary_index = delta.summary_index;
        piece.text.push_str(&text);
        each(ModelEvent::Reasoning(text));
    }

    /// The separator between the text so far and the text of another message.
    fn separator(&mut self, index: Option<u64>, id: Option<&str>) -> &'static str {
        let begins = self.piece(false, index, id).text.is_empty();
        let said = self.pieces.iter().any(|piece| piece.is_answer() && !piece.text.is_empty());
        if begins && said { "\n" } else { "" }
    }

    /// The message or reasoning of an event, created for the first one. Some servers rename items between
    /// events, so the position takes precedence over the id.
    fn piece(&mut self, is_reasoning: bool, index: Option<u64>, id: Option<&str>) -> &mut Piece {
        let id = id.unwrap_or_default();
        let same = |piece: &Piece| {
            let renamed = !id.is_empty() && !piece.id.is_empty() && piece.id != id;
            piece.is_reasoning == is_reasoning
                && match (index, piece.index) {
                    (Some(a), Some(b)) => a == b && !(piece.is_done && renamed),
                    _ => !renamed && (!piece.is_done || piece.id == id),
                }
        };
        let place = self.pieces.iter().rposition(same).unwrap_or_else(|| {
            self.pieces.push(Piece { index, is_reasoning, ..Piece::default() });
            self.pieces.len() - 1
        });
        let piece = &mut self.pieces[place];
        if !id.is_empty() {
            id.clone_into(&mut piece.id);
        }
        piece
    }

    fn end(&mut self, response: Response, each: &mut impl FnMut(ModelEvent)) -> Result<(), DecodeError> {
        let status = response.status.as_deref().unwrap_or("completed");
        self.usage = response.usage.map(Usage::from);
        if let Some(usage) = self.usage {
            each(ModelEvent::Usage(usage));
        }
        if response.error.is_some() || matches!(status, "failed" | "cancelled") {
            return Err(reported(response.error, &format!("the response ended as {status}")));
        }
        let streamed = self.pieces.len();
        for (place, item) in response.output.iter().flatten().enumerate() {
            self.repeated(place as u64, Item::read(item), streamed, each);
        }
        let reason = response.incomplete_details.and_then(|details| details.reason);
        self.ending = Some(match (status, reason.as_deref()) {
            (_, Some("content_filter")) => Ending::Filtered,
            ("incomplete", _) | (_, Some(_)) => Ending::Incomplete,
            _ => Ending::Completed,
        });
        Ok(())
    }

    /// Takes an item from the end of the stream, unless it is among the `streamed` first pieces.
    fn repeated(&mut self, index: u64, item: Item, streamed: usize, each: &mut impl FnMut(ModelEvent)) {
        let (is_reasoning, id) = match &item {
            Item::Message(item) => (false, item.id.clone()),
            Item::Reasoning(item) => (true, item.id.clone()),
            Item::Call(call) => {
                let index = match self.calls.is_cut(call.call_id.as_deref().unwrap_or_default()) {
                    Some(false) => return,
                    Some(true) => None,
                    None => Some(index),
                };
                return self.item(index, item, Stage::Done, each);
            }
            Item::Other => return,
        };
        // A stream without item numbers is assumed to be complete.
        let known = self.pieces[..streamed].iter().any(|piece| {
            piece.is_done
                && piece.is_reasoning == is_reasoning
                && (piece.index.is_none_or(|known| known == index) || id.as_deref() == Some(&*piece.id))
        });
        if !known {
            self.item(Some(index), item, Stage::Done, each);
        }
    }
}

/// Decodes the body of a request without streaming.
pub(crate) fn plain(body: &str) -> Result<Reply, DecodeError> {
    let response: Response = parse(body)?;
    let ended =
        matches!(response.status.as_deref(), Some("completed" | "incomplete" | "failed" | "cancelled"));
    if !ended && response.error.is_none() && (response.status.is_some() || response.output.is_none()) {
        return Err(DecodeError::Unfinished);
    }
    let mut decoder = ResponsesDecoder::default();
    decoder.end(response, &mut |_| ())?;
    decoder.finish()
}

fn text_of(arguments: Arguments) -> String {
    match arguments {
        Arguments::Text(text) => text,
        Arguments::Value(value) => value.as_str().to_owned(),
    }
}

/// An error in the common shape. A failed response repeats the whole request; only the error is kept.
fn reported(error: Option<RawJson>, otherwise: &str) -> DecodeError {
    let whole = |text: &str| RawJson::parse(text).filter(|whole| whole.as_str().starts_with('{'));
    let error = match error.filter(|error| error.as_str() != "null") {
        Some(error) => Some(error),
        None => whole(otherwise).or_else(|| RawJson::of(&serde_json::json!({"message": otherwise}))),
    };
    let body = error.map_or_else(String::new, |error| format!("{{\"error\":{}}}", error.as_str()));
    DecodeError::Reported { body }
}

#[cfg(test)]
#[path = "responses_decode_tests.rs"]
mod tests;

//! The cost of decoding replies and encoding requests, in every API mode.
//!
//! Decoding is compared with a bare parser that splits lines, parses each into a JSON value and joins the text.
//! Encoding the next request of a long session is compared with that of a short one: encoded messages are kept,
//! so both should cost only their new messages.

use super::row::{Quantity, Row, Target};
use super::store::{cpu_of, median};
use super::{note, table};
use crate::flags::Flags;
use anyhow::{Context, Result, ensure};
use hermes_conversation::{AssistantMessage, Message};
use hermes_scripted::{Rendering, ReplyScript, ResponsesRendering, messages_events, responses_events, sse};
use hermes_wire::{ApiMode, Decoder, Encoder, ModelRequest, RequestSettings, SseParser};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

const EVENTS: usize = 20_000;
const LONG: u32 = 5_000;
const SHORT: u32 = 10;
/// The sizes of the pieces in which a reply arrives.
const CHUNK: usize = 16 * 1024;
const FULL: usize = 15;
const QUICK: usize = 3;

const MODES: [(ApiMode, &str, &str); 3] = [
    (ApiMode::ChatCompletions, "chat", "/choices/0/delta/content"),
    (ApiMode::AnthropicMessages, "messages", "/delta/text"),
    (ApiMode::CodexResponses, "responses", "/delta"),
];

pub(super) fn run(mut flags: Flags) -> Result<()> {
    let rounds = if flags.has("--quick") { QUICK } else { FULL };
    let as_json = flags.has("--json");
    flags.finish()?;
    let mut rows = Vec::new();
    for (mode, name, place) in MODES {
        note(&format!("reading and writing {name}"));
        rows.push(decoding(mode, name, place, rounds)?);
        rows.extend(encoding(mode, name, rounds)?);
    }
    let text = if as_json { table::json(&rows) } else { table::text(&rows) };
    crate::say(&text)
}

fn decoding(mode: ApiMode, name: &str, place: &str, rounds: usize) -> Result<Row> {
    let bytes = stream(mode);
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (took, text) = cpu_of(|| decoded(mode, &bytes))?;
        ours.push(took);
        let (took, bare_text) = cpu_of(|| bare_text(&bytes, place))?;
        bare.push(took);
        ensure!(text == bare_text, "the two readers of {name} disagree");
    }
    Ok(Row::new(format!("CPU, {EVENTS} events, {name}"), median(ours))
        .beside("bare", median(bare))
        .target(Target::Times(5.0))
        .note(format!("{} KiB", bytes.len() / 1024)))
}

/// A reply in about `EVENTS` pieces.
fn stream(mode: ApiMode) -> Vec<u8> {
    let reply = ReplyScript::pieces((0..EVENTS).map(|number| format!("word{number} \"é\" ")));
    let rendering = Rendering { number: 1, model: "m", include_usage: true };
    let framed = |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or(""));
    match mode {
        ApiMode::ChatCompletions => sse(&reply, &rendering).to_vec(),
        ApiMode::AnthropicMessages => {
            messages_events(&reply, &rendering).into_iter().map(framed).collect::<String>().into_bytes()
        }
        ApiMode::CodexResponses => {
            let rendering = ResponsesRendering { number: 1, model: "m", encrypted: true };
            responses_events(&reply, &rendering).into_iter().map(framed).collect::<String>().into_bytes()
        }
    }
}

fn decoded(mode: ApiMode, bytes: &[u8]) -> Result<String> {
    let (mut sse, mut decoder, mut failed) = (SseParser::default(), Decoder::new(mode), None);
    for chunk in bytes.chunks(CHUNK) {
        sse.feed(chunk, |data| {
            if let Err(error) = decoder.feed(data, |event| drop(std::hint::black_box(event))) {
                failed = Some(error);
            }
        })?;
    }
    failed.map_or(Ok(()), Err)?;
    Ok(decoder.finish()?.message.text)
}

fn bare_text(bytes: &[u8], place: &str) -> Result<String> {
    let mut text = String::new();
    for line in std::str::from_utf8(bytes)?.lines() {
        let Some(data) = line.strip_prefix("data: ").filter(|data| *data != "[DONE]") else { continue };
        let value: Value = serde_json::from_str(data)?;
        text.push_str(value.pointer(place).and_then(Value::as_str).unwrap_or_default());
    }
    Ok(text)
}

fn encoding(mode: ApiMode, name: &str, rounds: usize) -> Result<[Row; 2]> {
    let (mut first, mut next, mut short) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (begin, after) = first_and_next(mode, LONG)?;
        first.push(begin);
        next.push(after);
        short.push(first_and_next(mode, SHORT)?.1);
    }
    let first = Row::new(format!("CPU, first request of {LONG} messages, {name}"), median(first))
        .target(Target::Below(Quantity::Millis(10.0)));
    let next = Row::new(format!("CPU, next request of {LONG} messages, {name}"), median(next))
        .beside("of 10", median(short))
        .target(Target::Below(Quantity::Millis(0.5)))
        .note("two new messages; the body itself is copied once");
    Ok([first, next])
}

fn first_and_next(mode: ApiMode, count: u32) -> Result<(Duration, Duration)> {
    let mut encoder = Encoder::new(mode);
    let mut messages: Vec<Arc<Message>> = (0..count).map(message).collect();
    let mut request = ModelRequest {
        model: "m".into(),
        system: "Be brief.".into(),
        tools: Arc::from([]),
        messages: Arc::new(messages.clone()),
        settings: RequestSettings::default(),
    };
    let (first, _) = cpu_of(|| Ok(encoder.encode(&request)))?;
    messages.extend((count..count + 2).map(message));
    request.messages = Arc::new(messages);
    let (next, written) = cpu_of(|| Ok(encoder.encode(&request)))?;
    let body: Value = serde_json::from_slice(&written.body).context("a request is not JSON")?;
    let list = body.get("messages").or_else(|| body.get("input")).and_then(Value::as_array);
    ensure!(list.is_some_and(|list| list.len() >= count as usize), "a request lost messages");
    Ok((first, next))
}

fn message(number: u32) -> Arc<Message> {
    let text = super::earlier_text(number);
    Arc::new(match number % 2 {
        0 => Message::user(text),
        _ => Message::Assistant(AssistantMessage { text, ..AssistantMessage::default() }),
    })
}

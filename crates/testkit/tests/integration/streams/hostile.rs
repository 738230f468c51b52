//! Streams that try to cause high cost: short tokens for large data, and many items that must be looked up.

use super::memory;
use super::reading::Reader;
use hermes_wire::ApiMode::{self, AnthropicMessages, ChatCompletions, CodexResponses};

const SIZE: usize = if cfg!(debug_assertions) { 1 << 18 } else { 1 << 20 };

/// Many repetitions of `piece`, which gets its number.
fn many(before: &str, piece: impl Fn(usize) -> String, between: &str, after: &str) -> Vec<u8> {
    let mut text = before.to_owned();
    for number in 0.. {
        if text.len() > SIZE {
            break;
        }
        if number > 0 {
            text.push_str(between);
        }
        text.push_str(&piece(number));
    }
    (text + after).into_bytes()
}

fn streams() -> Vec<(&'static str, ApiMode, Vec<u8>)> {
    let event = |text: &str| format!("data: {text}\n\n");
    let lists = [
        ("calls", ChatCompletions, r#"data: {"choices":[{"delta":{"tool_calls":["#, "{}", "]}}]}\n\n"),
        ("choices", ChatCompletions, r#"data: {"choices":["#, "{}", "]}\n\n"),
        (
            "details",
            ChatCompletions,
            r#"data: {"choices":[{"delta":{"reasoning_details":["#,
            "0",
            "]}}]}\n\n",
        ),
        ("blocks", AnthropicMessages, r#"data: {"type":"message","content":["#, "{}", "]}\n\n"),
        (
            "items",
            CodexResponses,
            r#"data: {"type":"response.completed","response":{"output":["#,
            "{}",
            "]}}\n\n",
        ),
        (
            "parts",
            CodexResponses,
            r#"data: {"type":"response.output_item.done","item":{"type":"message","content":["#,
            "{}",
            "]}}\n\n",
        ),
    ];
    let mut streams: Vec<_> = lists
        .into_iter()
        .map(|(name, mode, before, piece, after)| {
            (name, mode, many(before, |_| piece.to_owned(), ",", after))
        })
        .collect();
    let numbered = |piece: fn(usize) -> String| many("", |number| event(&piece(number)), "", "");
    streams.extend([
        (
            "numbered calls",
            ChatCompletions,
            numbered(|n| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{n}}}]}}}}]}}"#)),
        ),
        (
            "numbered calls in one list",
            ChatCompletions,
            many(
                r#"data: {"choices":[{"delta":{"tool_calls":["#,
                |n| format!(r#"{{"index":{n}}}"#),
                ",",
                "]}}]}\n\n",
            ),
        ),
        (
            "text blocks",
            AnthropicMessages,
            numbered(|n| {
                format!(r#"{{"type":"content_block_start","index":{n},"content_block":{{"type":"text"}}}}"#)
            }),
        ),
        (
            "call blocks",
            AnthropicMessages,
            numbered(|n| {
                format!(
                    r#"{{"type":"content_block_start","index":{n},"content_block":{{"type":"tool_use"}}}}"#
                )
            }),
        ),
        (
            "messages",
            CodexResponses,
            numbered(|n| {
                format!(r#"{{"type":"response.output_text.delta","output_index":{n},"delta":"x"}}"#)
            }),
        ),
        (
            "thoughts",
            CodexResponses,
            numbered(|n| {
                format!(r#"{{"type":"response.reasoning_text.delta","output_index":{n},"delta":"{n}"}}"#)
            }),
        ),
        (
            "argument pieces",
            CodexResponses,
            numbered(|n| {
                format!(r#"{{"type":"response.function_call_arguments.delta","output_index":{n}}}"#)
            }),
        ),
    ]);
    streams
}

#[test]
fn hostile_stream_costs_little_more_than_its_size() {
    let mut dear = Vec::new();
    for (name, mode, bytes) in streams() {
        let (reader, held) = memory::held(|| {
            let mut reader = Reader::new(mode);
            for chunk in bytes.chunks(16 * 1024) {
                if !reader.is_over() {
                    reader.take(Some(chunk));
                }
            }
            reader
        });
        drop(reader.finish());
        let times = held.peak as f64 / bytes.len() as f64;
        if times > 16.0 {
            dear.push(format!("{name}, {mode:?}: {times:.1}x"));
        }
    }
    assert!(dear.is_empty(), "{dear:#?}");
}

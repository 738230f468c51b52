//! Renders replies in the Responses format.
//!
//! Pure and deterministic, like `render`.

use crate::ReplyScript;
use crate::reply::cut;
use hermes_conversation::{FinishReason, Usage};
use serde_json::{Value, json};

/// The inputs of a rendering besides the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponsesRendering<'a> {
    /// A number from a counter, from which ids are derived.
    pub number: u64,
    pub model: &'a str,
    /// Returns reasoning in a form that can be sent back.
    pub encrypted: bool,
}

/// The events of a streamed reply, in order; the last one ends it.
pub fn responses_events(reply: &ReplyScript, rendering: &ResponsesRendering<'_>) -> Vec<Value> {
    let mut events = Vec::new();
    let mut begun = responses_body(&ReplyScript { usage: None, ..ReplyScript::default() }, rendering);
    begun["status"] = json!("in_progress");
    events.push(json!({"type": "response.created", "response": begun}));
    for (index, item) in output(reply, rendering).into_iter().enumerate() {
        let pieces: Vec<&str> = match item["type"].as_str() {
            Some("reasoning") => reply.reasoning.iter().map(String::as_str).collect(),
            Some("message") => reply.text.iter().map(String::as_str).collect(),
            _ => cut(item["arguments"].as_str().unwrap_or_default(), reply.argument_pieces).collect(),
        };
        events.extend(item_events(index, &item, &pieces));
    }
    let response = responses_body(reply, rendering);
    let ending = format!("response.{}", response["status"].as_str().unwrap_or_default());
    events.push(json!({"type": ending, "response": response}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    events
}

/// A reply without streaming, which is also the end of a stream.
pub fn responses_body(reply: &ReplyScript, rendering: &ResponsesRendering<'_>) -> Value {
    let reason = match reply.finish_reason() {
        FinishReason::Stop | FinishReason::ToolCalls => None,
        FinishReason::Length => Some("max_output_tokens"),
        FinishReason::ContentFilter => Some("content_filter"),
        FinishReason::Incomplete => Some("other"),
    };
    json!({
        "id": format!("resp_{}", rendering.number),
        "object": "response",
        "status": if reason.is_some() { "incomplete" } else { "completed" },
        "model": rendering.model,
        "error": null,
        "incomplete_details": reason.map(|reason| json!({"reason": reason})),
        "output": output(reply, rendering),
        "usage": reply.usage.as_ref().map(usage_json),
    })
}

fn output(reply: &ReplyScript, rendering: &ResponsesRendering<'_>) -> Vec<Value> {
    let number = rendering.number;
    let mut items = Vec::new();
    if !reply.reasoning.is_empty() {
        let mut item = json!({
            "type": "reasoning",
            "id": format!("rs_{number}"),
            "summary": [{"type": "summary_text", "text": reply.reasoning.concat()}],
        });
        if rendering.encrypted {
            item["encrypted_content"] = json!(format!("encrypted_{number}"));
        }
        items.push(item);
    }
    if !reply.text.is_empty() {
        items.push(json!({
            "type": "message",
            "id": format!("msg_{number}"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": reply.text.concat(), "annotations": []}],
        }));
    }
    items.extend(reply.calls.iter().enumerate().map(|(index, call)| {
        json!({
            "type": "function_call",
            "id": format!("fc_{number}_{index}"),
            "call_id": call.id_or(number, index),
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        })
    }));
    items
}

/// The events of one item: empty, then in pieces, then whole.
fn item_events(index: usize, item: &Value, pieces: &[&str]) -> Vec<Value> {
    let (content, kind, emptied) = match item["type"].as_str() {
        Some("reasoning") => ("summary", "reasoning_summary_text", json!([])),
        Some("message") => ("content", "output_text", json!([])),
        _ => ("arguments", "function_call_arguments", json!("")),
    };
    let mut begun = item.clone();
    begun[content] = emptied;
    if item.get("status").is_some() {
        begun["status"] = json!("in_progress");
    }
    let mut events = vec![json!({"type": "response.output_item.added", "item": begun})];
    for piece in pieces {
        let event = json!({"type": format!("response.{kind}.delta"), "item_id": item["id"], "delta": piece});
        events.push(event);
    }
    events.push(json!({"type": "response.output_item.done", "item": item}));
    for event in &mut events {
        event["output_index"] = index.into();
    }
    events
}

fn usage_json(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.prompt(),
        "output_tokens": usage.output,
        "total_tokens": usage.total(),
        "input_tokens_details":
            {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::Usage;
    use hermes_wire::{ApiMode, Decoder, Reply};

    const RENDERING: ResponsesRendering<'_> = ResponsesRendering { number: 3, model: "m", encrypted: true };

    fn streamed(reply: &ReplyScript) -> Reply {
        let mut decoder = Decoder::new(ApiMode::CodexResponses);
        for event in responses_events(reply, &RENDERING) {
            decoder.feed(&event.to_string(), |_| ()).unwrap();
        }
        decoder.finish().unwrap()
    }

    #[test]
    fn streamed_and_plain_forms_match_the_script() {
        let usage = Usage { input: 5, output: 3, cache_read: 2, cache_write: 1, reasoning: 1 };
        for script in [
            ReplyScript::text("grüße"),
            ReplyScript::text("a").with_reasoning("hm").with_usage(usage),
            ReplyScript::call("terminal", json!({"a": 1})).and_call("other", json!({})).with_text("both"),
            ReplyScript::text("a").without_usage().with_finish(FinishReason::Incomplete),
            ReplyScript::text("a").with_finish(FinishReason::ContentFilter),
        ] {
            let script = script.streamed_in(2);
            let reply = streamed(&script);
            let body = responses_body(&script, &RENDERING).to_string();
            assert_eq!(reply, Decoder::plain(ApiMode::CodexResponses, &body).unwrap(), "{script:?}");
            assert_eq!(reply.message.text, script.text.concat());
            assert_eq!(reply.message.reasoning.text.unwrap_or_default(), script.reasoning.concat());
            let calls: Vec<_> = reply.message.calls.iter().map(|call| &call.arguments).collect();
            assert_eq!(calls, script.calls.iter().map(|call| &call.arguments).collect::<Vec<_>>());
            assert_eq!(reply.finish, script.finish_reason(), "{script:?}");
            assert_eq!(reply.usage, script.usage);
        }
    }
}

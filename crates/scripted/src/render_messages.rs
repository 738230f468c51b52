//! Renders replies in the Messages format.
//!
//! Pure and deterministic, like `render`. Reasoning becomes one thinking block with a signature derived from
//! the number of the reply.

use crate::reply::cut;
use crate::{Rendering, ReplyScript};
use hermes_conversation::{FinishReason, Usage};
use serde_json::{Value, json};

/// The events of a streamed reply.
pub fn messages_events(reply: &ReplyScript, rendering: &Rendering<'_>) -> Vec<Value> {
    let mut message = message(reply, rendering);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    let mut events = Events(vec![json!({"type": "message_start", "message": message})]);
    if !reply.reasoning.is_empty() {
        let pieces = reply.reasoning.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
        let signed = json!({"type": "signature_delta", "signature": signature(rendering)});
        events.block(json!({"type": "thinking", "thinking": "", "signature": ""}), pieces.chain([signed]));
    }
    if !reply.text.is_empty() {
        let pieces = reply.text.iter().map(|piece| json!({"type": "text_delta", "text": piece}));
        events.block(json!({"type": "text", "text": ""}), pieces);
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let id = call.id_or(rendering.number, index);
        let pieces = cut(&call.arguments, reply.argument_pieces);
        let pieces = pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        events.block(json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}), pieces);
    }
    let mut end =
        json!({"type": "message_delta", "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null}});
    if let Some(usage) = &reply.usage {
        end["usage"] = json!({"output_tokens": usage.output});
    }
    events.0.extend([end, json!({"type": "message_stop"})]);
    events.0
}

/// A reply without streaming.
pub fn messages_body(reply: &ReplyScript, rendering: &Rendering<'_>) -> Value {
    message(reply, rendering)
}

fn message(reply: &ReplyScript, rendering: &Rendering<'_>) -> Value {
    let mut content = Vec::new();
    if !reply.reasoning.is_empty() {
        let signature = signature(rendering);
        content
            .push(json!({"type": "thinking", "thinking": reply.reasoning.concat(), "signature": signature}));
    }
    if !reply.text.is_empty() {
        content.push(json!({"type": "text", "text": reply.text.concat()}));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        // Only a stream can carry arguments that are not JSON.
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
        let id = call.id_or(rendering.number, index);
        content.push(json!({"type": "tool_use", "id": id, "name": call.name, "input": input}));
    }
    let mut message = json!({
        "id": format!("msg_{}", rendering.number),
        "type": "message",
        "role": "assistant",
        "model": rendering.model,
        "content": content,
        "stop_reason": stop_reason(reply),
        "stop_sequence": null,
    });
    if let Some(usage) = &reply.usage {
        message["usage"] = usage_json(usage);
    }
    message
}

fn signature(rendering: &Rendering<'_>) -> String {
    format!("signature-{}", rendering.number)
}

fn stop_reason(reply: &ReplyScript) -> &'static str {
    match reply.finish_reason() {
        FinishReason::Stop => "end_turn",
        FinishReason::ToolCalls => "tool_use",
        FinishReason::Length => "max_tokens",
        FinishReason::ContentFilter => "refusal",
        FinishReason::Incomplete => "pause_turn",
    }
}

fn usage_json(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    })
}

struct Events(Vec<Value>);

impl Events {
    fn block(&mut self, block: Value, deltas: impl Iterator<Item = Value>) {
        let starts = self.0.iter().filter(|event| event["type"] == "content_block_start");
        let index = starts.count();
        self.0.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        let deltas =
            deltas.map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
        self.0.extend(deltas);
        self.0.push(json!({"type": "content_block_stop", "index": index}));
    }
}

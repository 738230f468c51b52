//! Renders replies in the chat-completions format.
//!
//! Pure and deterministic: the same reply with the same [`Rendering`] has the same bytes in every process. The
//! stream is written from borrowed structs, without JSON values, because benchmarks run this beside the
//! measured program.

use crate::ReplyScript;
use crate::reply::cut;
use bytes::Bytes;
use hermes_conversation::Usage;
use serde::Serialize;
use serde_json::{Value, json};

/// The creation time of every reply.
const CREATED: u64 = 1_700_000_000;

/// The inputs of a rendering besides the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rendering<'a> {
    /// A number from a counter, from which ids are derived.
    pub number: u64,
    pub model: &'a str,
    /// Ends a stream with a usage chunk.
    pub include_usage: bool,
}

/// The JSON texts of a streamed reply, without `data:` lines.
pub fn chunks(reply: &ReplyScript, rendering: &Rendering<'_>) -> Vec<String> {
    let mut stream = Stream::new(rendering);
    stream.delta(Delta { role: Some("assistant"), content: Some(""), ..Delta::default() });
    for piece in &reply.reasoning {
        stream.delta(Delta { reasoning_content: Some(piece), ..Delta::default() });
    }
    for piece in &reply.text {
        stream.delta(Delta { content: Some(piece), ..Delta::default() });
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let id = call.id_or(rendering.number, index);
        stream.call(CallDelta {
            index,
            id: Some(&id),
            kind: Some("function"),
            function: FunctionDelta { name: Some(&call.name), arguments: "" },
        });
        for arguments in cut(&call.arguments, reply.argument_pieces) {
            let function = FunctionDelta { name: None, arguments };
            stream.call(CallDelta { index, id: None, kind: None, function });
        }
    }
    stream.finish(reply.finish_reason().as_str());
    if let Some(usage) = reply.usage.filter(|_| rendering.include_usage) {
        stream.usage(&usage);
    }
    stream.texts
}

/// The events of a streamed reply, including the closing `[DONE]`.
pub fn sse_frames(reply: &ReplyScript, rendering: &Rendering<'_>) -> Vec<String> {
    let done = ["[DONE]".to_owned()];
    let texts = chunks(reply, rendering).into_iter().chain(done);
    texts.map(|text| format!("data: {text}\n\n")).collect()
}

/// A streamed reply.
pub fn sse(reply: &ReplyScript, rendering: &Rendering<'_>) -> Bytes {
    sse_frames(reply, rendering).concat().into()
}

/// A reply without streaming.
pub fn json_body(reply: &ReplyScript, rendering: &Rendering<'_>) -> Bytes {
    let mut body = json!({
        "id": reply_id(rendering.number),
        "object": "chat.completion",
        "created": CREATED,
        "model": rendering.model,
        "choices": [{
            "index": 0,
            "message": message(reply, rendering.number),
            "finish_reason": reply.finish_reason().as_str(),
        }],
    });
    if let Some(usage) = &reply.usage {
        body["usage"] = usage_json(usage);
    }
    body.to_string().into()
}

/// The answer to `GET /v1/models`.
pub fn models_body(model: &str) -> Bytes {
    let entry = json!({"id": model, "object": "model", "created": CREATED, "owned_by": "hermes"});
    json!({"object": "list", "data": [entry]}).to_string().into()
}

fn message(reply: &ReplyScript, number: u64) -> Value {
    let text = reply.text.concat();
    let content = match (text.is_empty(), reply.calls.is_empty()) {
        (true, false) => Value::Null,
        _ => Value::String(text),
    };
    let mut message = json!({"role": "assistant", "content": content});
    if !reply.reasoning.is_empty() {
        message["reasoning_content"] = reply.reasoning.concat().into();
    }
    if !reply.calls.is_empty() {
        message["tool_calls"] = reply
            .calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                json!({
                    "id": call.id_or(number, index),
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                })
            })
            .collect();
    }
    message
}

fn usage_json(usage: &Usage) -> Value {
    let mut value = json!({
        "prompt_tokens": usage.prompt(),
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    });
    if usage.cache_write > 0 {
        value["prompt_tokens_details"]["cache_write_tokens"] = usage.cache_write.into();
    }
    value
}

fn reply_id(number: u64) -> String {
    format!("chatcmpl-{number}")
}

/// A stream that is being written.
struct Stream<'a> {
    id: String,
    model: &'a str,
    texts: Vec<String>,
}

#[derive(Serialize)]
struct Chunk<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: &'a [Choice<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    delta: Delta<'a>,
    finish_reason: Option<&'a str>,
}

#[derive(Serialize, Default)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[CallDelta<'a>; 1]>,
}

#[derive(Serialize)]
struct CallDelta<'a> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    function: FunctionDelta<'a>,
}

#[derive(Serialize)]
struct FunctionDelta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

impl<'a> Stream<'a> {
    fn new(rendering: &Rendering<'a>) -> Self {
        Self { id: reply_id(rendering.number), model: rendering.model, texts: Vec::new() }
    }

    fn delta(&mut self, delta: Delta<'_>) {
        self.push(&[Choice { index: 0, delta, finish_reason: None }], None);
    }

    fn call(&mut self, call: CallDelta<'_>) {
        self.delta(Delta { tool_calls: Some([call]), ..Delta::default() });
    }

    fn finish(&mut self, reason: &str) {
        self.push(&[Choice { index: 0, delta: Delta::default(), finish_reason: Some(reason) }], None);
    }

    fn usage(&mut self, usage: &Usage) {
        self.push(&[], Some(usage_json(usage)));
    }

    fn push(&mut self, choices: &[Choice<'_>], usage: Option<Value>) {
        let object = "chat.completion.chunk";
        let chunk = Chunk { id: &self.id, object, created: CREATED, model: self.model, choices, usage };
        match serde_json::to_string(&chunk) {
            Ok(text) => self.texts.push(text),
            Err(error) => unreachable!("strings and numbers always become JSON: {error}"),
        }
    }
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;

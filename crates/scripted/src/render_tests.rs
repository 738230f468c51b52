use super::*;
use serde_json::json;

const RENDERING: Rendering<'_> = Rendering { number: 3, model: "m", include_usage: true };

#[test]
fn bytes_of_a_streamed_reply() {
    let reply = ReplyScript::text("grüße").streamed_in(2);
    let head = r#"data: {"id":"chatcmpl-3","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":["#;
    let want = [
        r#"{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
        r#"{"index":0,"delta":{"content":"grü"},"finish_reason":null}]}"#,
        r#"{"index":0,"delta":{"content":"ße"},"finish_reason":null}]}"#,
        r#"{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        r#"],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}"#,
    ];
    let want: String = want.iter().map(|tail| format!("{head}{tail}\n\n")).collect();
    assert_eq!(sse(&reply, &RENDERING), format!("{want}data: [DONE]\n\n"));
}

#[test]
fn calls_are_streamed_with_name_before_arguments() {
    let reply = ReplyScript::call("terminal", json!({"a": 1})).and_call("other", json!({})).streamed_in(2);
    let rendering = Rendering { include_usage: false, ..RENDERING };
    let deltas: Vec<Value> = chunks(&reply, &rendering)
        .iter()
        .map(|text| serde_json::from_str::<Value>(text).unwrap()["choices"][0]["delta"].take())
        .collect();
    let piece =
        |index: u64, text: &str| json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]});
    let opening = |index: u64, id: &str, name: &str| {
        let function = json!({"name": name, "arguments": ""});
        json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})
    };
    let want = [
        json!({"role": "assistant", "content": ""}),
        opening(0, "call_3_0", "terminal"),
        piece(0, "{\"a\""),
        piece(0, ":1}"),
        opening(1, "call_3_1", "other"),
        piece(1, "{"),
        piece(1, "}"),
        json!({}),
    ];
    assert_eq!(deltas, want);
}

#[test]
fn plain_reply_has_the_same_content() {
    let usage = Usage { input: 1, output: 2, cache_read: 3, cache_write: 4, reasoning: 1 };
    let reply = ReplyScript::call("terminal", json!({"a": 1})).with_reasoning("hm").with_usage(usage);
    let body: Value = serde_json::from_slice(&json_body(&reply, &RENDERING)).unwrap();
    let want = json!({
        "id": "chatcmpl-3",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant",
                "content": null,
                "reasoning_content": "hm",
                "tool_calls": [{
                    "id": "call_3_0",
                    "type": "function",
                    "function": {"name": "terminal", "arguments": "{\"a\":1}"},
                }],
            },
            "finish_reason": "tool_calls",
        }],
        "usage": {
            "prompt_tokens": 8,
            "completion_tokens": 2,
            "total_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 1},
        },
    });
    assert_eq!(body, want);
}

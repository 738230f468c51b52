//! Handwritten streams: deviations of real servers from the formats.

use super::recorded::Stream;
use hermes_wire::ApiMode;

/// Name, data lines, expected result. `\n` separates events.
type Odd = (&'static str, &'static str, &'static str);

pub(crate) fn odd() -> Vec<Stream> {
    let tables = [
        (ApiMode::ChatCompletions, CHAT),
        (ApiMode::AnthropicMessages, MESSAGES),
        (ApiMode::CodexResponses, RESPONSES),
    ];
    let mut streams = Vec::new();
    for (mode, table) in tables {
        for (name, events, want) in table {
            let bytes: String = events.lines().map(|line| format!("data: {}\n\n", line.trim())).collect();
            streams.push(Stream {
                name: format!("{name}, {mode:?}"),
                mode,
                bytes: bytes.into_bytes(),
                want: (*want).to_owned(),
            });
        }
    }
    streams
}

const CHAT: &[Odd] = &[
    ("nothing", "", "unfinished"),
    ("only [DONE]", "[DONE]", "unfinished"),
    (
        "no [DONE]",
        r#"{"choices":[{"delta":{"content":"Hi"}}]}
        {"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        r#"stop "Hi""#,
    ),
    (
        "no finish reason",
        r#"{"choices":[{"delta":{"content":"Hi"}}]}
        [DONE]"#,
        r#"stop "Hi""#,
    ),
    ("neither", r#"{"choices":[{"delta":{"content":"Hi"}}]}"#, "unfinished"),
    (
        "an error object",
        r#"{"choices":[{"delta":{"content":"Hi"}}]}
        {"error":{"message":"overloaded","code":529}}
        {"choices":[{"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
        r#"reported: {"error":{"message":"overloaded","code":529}}"#,
    ),
    (
        "text after [DONE]",
        r#"{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}
        [DONE]
        {"choices":[{"delta":{"content":" again"},"finish_reason":"length"}]}
        {"error":{"message":"late"}}
        not json"#,
        r#"stop "Hi""#,
    ),
    (
        "a lone surrogate in text",
        r#"{"choices":[{"delta":{"content":"a\ud800b \ud83d\ude00 \udc00"},"finish_reason":"stop"}]}
        [DONE]"#,
        r#"stop "a�b 😀 �""#,
    ),
    (
        "a lone surrogate in arguments",
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"w","arguments":"{\"a\":\"x\ud800"}}]}}]}
        {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\\ud800\"}"}}]},"finish_reason":"tool_calls"}]}
        [DONE]"#,
        r#"tool_calls "" w({"a":"x�\ufffd"}) repaired"#,
    ),
    (
        "usage first, and in every chunk",
        r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":0}}
        {"choices":[{"delta":{"content":"Hi"}}],"usage":{"prompt_tokens":7,"completion_tokens":1}}
        {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}
        [DONE]"#,
        r#"stop "Hi" 7+1"#,
    ),
    (
        "usage that cannot be",
        r#"{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":18446744073709551615,"cache_write_tokens":18446744073709551615}}}
        [DONE]"#,
        r#"stop "Hi" 2199023255552+1"#,
    ),
    (
        "unknown events",
        r#"{"object":"heartbeat"}
        {"choices":null,"x":{"y":[1,{}]}}
        {"choices":[{"delta":{"content":"Hi","mood":"good"},"logprobs":null,"finish_reason":"stop"}]}
        [DONE]"#,
        r#"stop "Hi""#,
    ),
    (
        "a refusal",
        r#"{"choices":[{"delta":{"refusal":"I "}}]}
        {"choices":[{"delta":{"refusal":"won't."},"finish_reason":"stop"}]}
        [DONE]"#,
        r#"content_filter "I won't.""#,
    ),
    (
        "kept reasoning",
        r#"{"choices":[{"delta":{"reasoning":"Hm","reasoning_details":[{"type":"reasoning.encrypted","data":"xyz"}]}}]}
        {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}
        [DONE]"#,
        r#"stop "Hi" thinking "Hm""#,
    ),
    (
        "every call at index 0, arguments as an object",
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"r","arguments":{"x":1}}}]}}]}
        {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"s","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}
        [DONE]"#,
        r#"tool_calls "" r({"x":1}) s({})"#,
    ),
    ("not JSON", "<html>Bad gateway</html>", "garbled"),
];

const MESSAGES: &[Odd] = &[
    ("nothing", "", "unfinished"),
    (
        "no message_stop",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        "unfinished",
    ),
    (
        "an error event",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}
        {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
        {"type":"message_stop"}"#,
        r#"reported: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    ),
    (
        "text after message_stop",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"}}
        {"type":"message_stop"}
        {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" again"}}
        {"type":"error","error":{"message":"late"}}
        not json"#,
        r#"stop "Hi""#,
    ),
    (
        "a lone surrogate in text and arguments",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
        {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\ud800b"}}
        {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"w","input":{}}}
        {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"x\ud800"}}
        {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\\ud800\"}"}}
        {"type":"message_delta","delta":{"stop_reason":"tool_use"}}
        {"type":"message_stop"}"#,
        r#"tool_calls "a�b" w({"a":"x�\ufffd"}) repaired"#,
    ),
    (
        "thinking with a signature, redacted thinking, pieces out of order",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}
        {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"enc"}}
        {"type":"content_block_start","index":2,"content_block":{"type":"text"}}
        {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"B"}}
        {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"A"}}
        {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"}}
        {"type":"message_stop"}"#,
        r#"stop "B" thinking "A""#,
    ),
    (
        "usage everywhere",
        r#"{"type":"ping","usage":{"input_tokens":9}}
        {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"},"usage":{"output_tokens":2}}
        {"type":"message_stop","usage":{"output_tokens":3}}"#,
        r#"stop "Hi" 9+3"#,
    ),
    (
        "usage that cannot be",
        r#"{"type":"message_start","message":{"usage":{"input_tokens":18446744073709551615,"cache_read_input_tokens":18446744073709551615}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}
        {"type":"message_stop"}"#,
        r#"stop "Hi" 2199023255552+0"#,
    ),
    ("an unknown event whose fields have other shapes", r#"{"type":"vibe","index":{"a":1}}"#, "garbled"),
    (
        "unknown blocks",
        r#"{"type":"ping"}
        {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"x","name":"web"}}
        {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}
        {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Hi"}}
        {"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{}}}
        {"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"lost"}}
        {"type":"message_delta","delta":{"stop_reason":"new_reason"}}
        {"type":"message_stop"}"#,
        r#"stop "Hi""#,
    ),
    (
        "a refusal without text",
        r#"{"type":"message_start","message":{}}
        {"type":"message_delta","delta":{"stop_reason":"refusal"}}
        {"type":"message_stop"}"#,
        r#"content_filter """#,
    ),
    (
        "the whole message as one event",
        r#"{"type":"message","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"r","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}"#,
        r#"tool_calls "Hi" r({"a":1}) 1+2"#,
    ),
    ("not JSON", "<html>Bad gateway</html>", "garbled"),
];

const RESPONSES: &[Odd] = &[
    ("nothing", "", "unfinished"),
    (
        "no end",
        r#"{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"Hi"}]}}
        [DONE]"#,
        "unfinished",
    ),
    (
        "an error event",
        r#"{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}
        {"type":"error","code":"server_error","message":"oops"}
        {"type":"response.completed","response":{"status":"completed"}}"#,
        r#"reported: {"error":{"type":"error","code":"server_error","message":"oops"}}"#,
    ),
    (
        "a failed response",
        r#"{"type":"response.created","response":{"status":"in_progress"}}
        {"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}}"#,
        r#"reported: {"error":{"code":"rate_limit_exceeded","message":"slow down"}}"#,
    ),
    (
        "text after the end",
        r#"{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}
        {"type":"response.completed","response":{"status":"completed"}}
        {"type":"response.output_text.delta","output_index":0,"delta":" again"}
        {"type":"error","message":"late"}
        not json"#,
        r#"stop "Hi""#,
    ),
    (
        "a lone surrogate in text and arguments",
        r#"{"type":"response.output_text.delta","output_index":0,"delta":"a\ud800b"}
        {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc","call_id":"c","name":"w","arguments":""}}
        {"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"a\":\"x\ud800"}
        {"type":"response.function_call_arguments.delta","output_index":1,"delta":"\\ud800\"}"}
        {"type":"response.function_call_arguments.done","output_index":1}
        {"type":"response.completed","response":{"status":"completed"}}"#,
        r#"tool_calls "a�b" w({"a":"x�\ufffd"}) repaired"#,
    ),
    (
        "a lone surrogate in arguments that come whole",
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc","call_id":"c","name":"w","arguments":"{\"a\":\"x\ud800\\ud800\"}"}}
        {"type":"response.completed","response":{"status":"completed"}}"#,
        r#"tool_calls "" w({"a":"x�\ufffd"}) repaired"#,
    ),
    (
        "reasoning in encrypted items",
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}
        {"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"item_id":"rs","delta":"A"}
        {"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"item_id":"rs","delta":"B"}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"A"},{"type":"summary_text","text":"B"}],"encrypted_content":"enc"}}
        {"type":"response.output_text.delta","output_index":1,"delta":{"text":"Hi"}}
        {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":3,"output_tokens":4}}}"#,
        r#"stop "Hi" thinking "A\n\nB" 3+4"#,
    ),
    (
        "usage that cannot be, and elsewhere",
        r#"{"type":"response.created","response":{"usage":{"input_tokens":"many"}},"usage":[]}
        {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}
        {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":18446744073709551615,"cache_write_tokens":9}}}}"#,
        r#"stop "Hi" 1099511627785+0"#,
    ),
    (
        "unknown events and items",
        r#"{"type":"keepalive"}
        {"type":"response.mood.delta","delta":7}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call"}}
        {"type":"response.output_item.done","output_index":0,"item":17}
        {"type":"response.output_text.delta","output_index":1,"delta":"Hi"}
        {"type":"response.completed","response":{}}"#,
        r#"stop "Hi""#,
    ),
    (
        "a refusal",
        r#"{"type":"response.refusal.delta","output_index":0,"delta":"I "}
        {"type":"response.refusal.delta","output_index":0,"delta":"won't."}
        {"type":"response.completed","response":{"status":"completed"}}"#,
        r#"content_filter "I won't.""#,
    ),
    (
        "cut by the filter",
        r#"{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}
        {"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}"#,
        r#"content_filter "Hi""#,
    ),
    ("not JSON", "<html>Bad gateway</html>", "garbled"),
];

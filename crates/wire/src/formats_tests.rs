use super::*;

/// The events of a short reply in each format: two pieces of text and two events that end it.
const STREAMS: [(ApiMode, [&str; 4]); 3] = [
    (
        ApiMode::ChatCompletions,
        [
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"one "}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"two"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
            "[DONE]",
        ],
    ),
    (
        ApiMode::AnthropicMessages,
        [
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"one "}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"two"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    ),
    (
        ApiMode::CodexResponses,
        [
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"one "}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"two"}"#,
            r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"one two"}]}]}}"#,
            "",
        ],
    ),
];

/// Feeds the events; returns the text and the number of skipped events, or the error.
fn read(mode: ApiMode, events: &[&str]) -> Result<(String, u32), DecodeError> {
    let mut decoder = Decoder::new(mode);
    for event in events {
        decoder.feed(event, |_| ())?;
    }
    let skipped = decoder.skipped();
    Ok((decoder.finish()?.message.text, skipped))
}

#[test]
fn one_unreadable_event_between_good_ones_is_skipped() {
    for (mode, [first, second, end, done]) in STREAMS {
        let text = || "one two".to_owned();
        for junk in ["not json", ": keep-alive", "{\"cut\":", "<html>", "[1,"] {
            let given = [first, junk, second, junk, end, done];
            assert_eq!(read(mode, &given), Ok((text(), 2)), "{mode:?} {junk}");
            for wrong in [vec![junk, first, second, end], vec![first, junk, junk, second], vec![first, junk]]
            {
                let got = read(mode, &wrong);
                assert!(matches!(got, Err(DecodeError::Json { .. })), "{mode:?} {wrong:?}: {got:?}");
            }
        }
        assert_eq!(read(mode, &[first, second, end, done]), Ok((text(), 0)), "{mode:?}");
    }
}

#[test]
fn calls_of_a_reply_with_skipped_events_are_not_run() {
    let piece = |arguments: &str| {
        let call = serde_json::json!({ "index": 0, "id": "c", "function": { "name": "terminal", "arguments": arguments } });
        serde_json::json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] }).to_string()
    };
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
    let mut decoder = Decoder::new(ApiMode::ChatCompletions);
    for event in [&piece("{\"command\":\"rm -r build/"), "garbage", &piece("\"}"), end] {
        decoder.feed(event, |_| ()).unwrap();
    }
    assert_eq!(decoder.finish().unwrap().calls, [CallState::Malformed]);
}

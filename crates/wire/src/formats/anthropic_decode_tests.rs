use super::*;
use crate::CallState;
use crate::CallState::{Complete, Repaired, Truncated};
use serde_json::{Value, json};

fn decode(events: &[Value]) -> (Vec<ModelEvent>, Result<Reply, DecodeError>) {
    let mut decoder = AnthropicDecoder::default();
    let mut seen = Vec::new();
    for event in events {
        if let Err(error) = decoder.feed(&event.to_string(), |event| seen.push(event)) {
            return (seen, Err(error));
        }
    }
    (seen, decoder.finish())
}

fn begin() -> Value {
    json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage":
        {"input_tokens": 7, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 20, "output_tokens": 1}}})
}

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn piece(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn words(index: u64, text: &str) -> Value {
    piece(index, json!({"type": "text_delta", "text": text}))
}

fn arguments(index: u64, text: &str) -> Value {
    piece(index, json!({"type": "input_json_delta", "partial_json": text}))
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 12}}),
        json!({"type": "message_stop"}),
    ]
}

fn stream(blocks: Vec<Value>, reason: &str) -> Vec<Value> {
    [begin()].into_iter().chain(blocks).chain(end(reason)).collect()
}

fn calls(reply: &Reply) -> Vec<(&str, &str, &str, CallState)> {
    let calls = reply.message.calls.iter().zip(&reply.calls);
    calls.map(|(c, s)| (c.id.as_str(), c.name.as_str(), c.arguments.as_str(), s.clone())).collect()
}

fn blocks(reply: &Reply) -> &str {
    reply.message.reasoning.anthropic_blocks.as_ref().map_or("", RawJson::as_str)
}

#[test]
fn text_and_usage_are_collected() {
    let (events, reply) = decode(&stream(
        vec![
            json!({"type": "ping"}),
            start(0, json!({"type": "text", "text": ""})),
            words(0, "Hel"),
            words(0, "lo"),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "some_event_of_the_future", "index": 4}),
            start(1, json!({"type": "text", "text": ""})),
            words(1, "you"),
        ],
        "end_turn",
    ));
    let reply = reply.unwrap();
    let said: String = events
        .iter()
        .map(|event| match event {
            ModelEvent::Text(text) => text.clone(),
            ModelEvent::Usage(usage) => format!("[{}+{}]", usage.prompt(), usage.output),
            _ => "?".to_owned(),
        })
        .collect();
    assert_eq!(said, "[30+1]Hello\nyou[30+12]");
    assert_eq!(reply.message.text, "Hello\nyou");
    assert_eq!(reply.finish, FinishReason::Stop);
    assert_eq!(
        reply.usage,
        Some(Usage { input: 7, output: 12, cache_read: 20, cache_write: 3, reasoning: 0 })
    );
    assert_eq!(reply.message.reasoning, Reasoning::default());
}

#[test]
fn thinking_is_kept_in_order_with_its_signatures() {
    let (events, reply) = decode(&stream(
        vec![
            start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            piece(0, json!({"type": "thinking_delta", "thinking": "hm"})),
            piece(0, json!({"type": "thinking_delta", "thinking": "m"})),
            piece(0, json!({"type": "signature_delta", "signature": "s1"})),
            start(1, json!({"type": "redacted_thinking", "data": "xx"})),
            start(2, json!({"type": "text", "text": ""})),
            words(2, "Let me see."),
            start(3, json!({"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}})),
            arguments(3, ""),
            arguments(3, "{\"path\": "),
            arguments(3, "\"a\"}"),
            start(4, json!({"type": "thinking", "thinking": "more", "signature": "s2"})),
            start(5, json!({"type": "tool_use", "id": "toolu_2", "name": "todo", "input": {}})),
        ],
        "tool_use",
    ));
    let reply = reply.unwrap();
    let told: Vec<_> = events.into_iter().filter(|event| !matches!(event, ModelEvent::Usage(_))).collect();
    assert_eq!(
        told,
        [
            ModelEvent::Reasoning("hm".into()),
            ModelEvent::Reasoning("m".into()),
            ModelEvent::Text("Let me see.".into()),
            ModelEvent::ToolPreparing("read_file".into()),
            ModelEvent::Reasoning("\n\n".into()),
            ModelEvent::Reasoning("more".into()),
            ModelEvent::ToolPreparing("todo".into()),
        ]
    );
    assert_eq!(reply.message.reasoning.text.as_deref(), Some("hmm\n\nmore"));
    assert_eq!(
        calls(&reply),
        [("toolu_1", "read_file", "{\"path\": \"a\"}", Complete), ("toolu_2", "todo", "{}", Complete)]
    );
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    insta::assert_snapshot!(blocks(&reply), @r#"[{"type":"thinking","thinking":"hmm","signature":"s1"},{"type":"redacted_thinking","data":"xx"},{"type":"text","text":"Let me see."},{"type":"tool_use","id":"toolu_1","name":"read_file"},{"type":"thinking","thinking":"more","signature":"s2"},{"type":"tool_use","id":"toolu_2","name":"todo"}]"#);
}

#[test]
fn reply_does_not_depend_on_pieces() {
    let (text, thought, input) = ("naïve words", "a thought", r#"{"path": "ä"}"#);
    let reply = |size: usize| {
        let cut = |text: &str| -> Vec<String> {
            let characters: Vec<char> = text.chars().collect();
            characters.chunks(size).map(|piece| piece.iter().collect()).collect()
        };
        let mut events = vec![start(0, json!({"type": "thinking", "thinking": ""}))];
        events
            .extend(cut(thought).iter().map(|t| piece(0, json!({"type": "thinking_delta", "thinking": t}))));
        events
            .extend(cut("sig").iter().map(|t| piece(0, json!({"type": "signature_delta", "signature": t}))));
        events.push(start(1, json!({"type": "text", "text": ""})));
        events.extend(cut(text).iter().map(|t| words(1, t)));
        events.push(start(2, json!({"type": "tool_use", "id": "a", "name": "x", "input": {}})));
        events.extend(cut(input).iter().map(|t| arguments(2, t)));
        decode(&stream(events, "tool_use")).1.unwrap()
    };
    let whole = json!({"type": "message", "stop_reason": "tool_use", "usage":
        {"input_tokens": 7, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 20, "output_tokens": 12},
        "content": [{"type": "thinking", "thinking": thought, "signature": "sig"}, {"type": "text", "text": text},
            {"type": "tool_use", "id": "a", "name": "x", "input": {"path": "ä"}}]});
    let mut plain = plain(&whole.to_string()).unwrap();
    plain.message.calls[0].arguments = input.to_owned();
    for size in [1, 2, 3, 100] {
        assert_eq!(reply(size), plain, "pieces of {size}");
    }
}

#[test]
fn calls_are_validated() {
    let tool =
        |index: u64, id: &str| start(index, json!({"type": "tool_use", "id": id, "name": "x", "input": {}}));
    let other = start(1, json!({"type": "tool_use", "id": "b", "name": "y", "input": {"k": 1}}));
    for (name, blocks, reason, want) in [
        ("whole from the start", vec![other], "tool_use", vec![("b", "y", "{\"k\":1}", Complete)]),
        ("no arguments", vec![tool(0, "a")], "tool_use", vec![("a", "x", "{}", Complete)]),
        ("cut before the first piece", vec![tool(0, "a")], "max_tokens", vec![("a", "x", "{}", Truncated)]),
        ("cut by a refusal", vec![tool(0, "a")], "refusal", vec![("a", "x", "{}", Truncated)]),
        (
            "cut within",
            vec![tool(0, "a"), arguments(0, "{\"k\":\"v")],
            "max_tokens",
            vec![("a", "x", "{}", Truncated)],
        ),
        (
            "cut after a whole call",
            vec![tool(0, "a"), tool(1, "b"), arguments(1, "{\"k\":1}")],
            "max_tokens",
            vec![("a", "x", "{}", Complete), ("b", "x", "{\"k\":1}", Complete)],
        ),
        (
            "a reused number is a new call",
            vec![tool(0, "a"), arguments(0, "{\"k\":1}"), tool(0, "b"), arguments(0, "{\"k\":2,}")],
            "tool_use",
            vec![("a", "x", "{\"k\":1}", Complete), ("b", "x", "{\"k\":2}", Repaired)],
        ),
    ] {
        let reply = decode(&stream(blocks, reason)).1.unwrap();
        assert_eq!(calls(&reply), want, "{name}");
    }
}

#[test]
fn repeated_id_is_replaced_in_call_and_block() {
    let tool = |index: u64| start(index, json!({"type": "tool_use", "id": "a", "name": "x", "input": {}}));
    let thinking = start(0, json!({"type": "thinking", "thinking": "t", "signature": "s"}));
    let reply = decode(&stream(vec![thinking, tool(1), tool(2)], "tool_use")).1.unwrap();
    let second = reply.message.calls[1].id.as_str();
    assert_ne!(second, "a");
    assert!(blocks(&reply).contains(&format!("\"id\":\"{second}\"")), "{}", blocks(&reply));
}

#[test]
fn stop_reasons_are_mapped() {
    for (reason, want) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("tool_use", FinishReason::ToolCalls),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
        ("pause_turn", FinishReason::Stop),
    ] {
        let events = stream(vec![start(0, json!({"type": "text", "text": "x"}))], reason);
        assert_eq!(decode(&events).1.unwrap().finish, want, "{reason}");
    }
}

#[test]
fn incomplete_stream_is_an_error() {
    let text = start(0, json!({"type": "text", "text": "x"}));
    let [reason, stop] = end("end_turn");
    for (name, events, ok) in [
        ("nothing", vec![], false),
        ("no stop", vec![begin(), text.clone(), reason.clone()], false),
        ("no reason", vec![begin(), text, stop.clone()], true),
        ("an empty turn", vec![begin(), reason, stop.clone()], true),
        ("an empty refusal", stream(vec![], "refusal"), true),
        ("empty and cut", stream(vec![], "max_tokens"), false),
        ("only an end", vec![stop], false),
    ] {
        let got = decode(&events).1;
        assert_eq!(got.is_ok(), ok, "{name}: {got:?}");
        assert!(ok || got == Err(DecodeError::Unfinished), "{name}");
    }
}

#[test]
fn unknown_blocks_are_ignored() {
    let events = stream(
        vec![
            start(0, json!({"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}})),
            arguments(0, "{\"query\":1}"),
            start(1, json!({"type": "web_search_tool_result", "tool_use_id": "srv", "content": []})),
            start(2, json!({"type": "text", "text": "", "citations": []})),
            piece(2, json!({"type": "citations_delta", "citation": {"url": "x"}})),
            words(2, "found"),
            words(9, "lost"),
        ],
        "end_turn",
    );
    let reply = decode(&events).1.unwrap();
    assert_eq!((reply.message.text.as_str(), calls(&reply), blocks(&reply)), ("found", vec![], ""));
}

#[test]
fn text_after_a_call_keeps_its_place() {
    let tool = start(0, json!({"type": "tool_use", "id": "a", "name": "x", "input": {}}));
    let events = stream(vec![tool, start(1, json!({"type": "text", "text": "after"}))], "tool_use");
    let reply = decode(&events).1.unwrap();
    assert_eq!(blocks(&reply), r#"[{"type":"tool_use","id":"a","name":"x"},{"type":"text","text":"after"}]"#);
}

#[test]
fn errors_and_garbage_are_distinguished() {
    let reported = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let body = reported.to_string();
    let wanted = Err(DecodeError::Reported { body: body.clone() });
    assert_eq!(decode(&[begin(), reported]).1, wanted);
    assert_eq!(plain(&body), wanted);
    assert!(matches!(plain("<html>"), Err(DecodeError::Json { .. })));
    assert!(matches!(plain(r#"{"type":"message","content":[]}"#), Err(DecodeError::Unfinished)));
}

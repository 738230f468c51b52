use super::*;
use crate::CallState;
use hermes_conversation::CallId;

fn decode(events: &[&str]) -> (Vec<ModelEvent>, Result<Reply, DecodeError>) {
    let mut decoder = ChatDecoder::default();
    let mut seen = Vec::new();
    for data in events {
        if let Err(error) = decoder.feed(data, |event| seen.push(event)) {
            return (seen, Err(error));
        }
    }
    (seen, decoder.finish())
}

fn calls(reply: &Reply) -> Vec<(&str, &str, &str, CallState)> {
    let calls = reply.message.calls.iter().zip(&reply.calls);
    calls.map(|(c, s)| (c.id.as_str(), c.name.as_str(), c.arguments.as_str(), s.clone())).collect()
}

#[test]
fn text_reasoning_and_usage_are_collected() {
    let (events, reply) = decode(&[
        r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
        r#"{"choices":[{"delta":{"content":"Hel"}}]}"#,
        r#"{"choices":[{"delta":{"content":"lo \ud800"}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1},"cost":0.00001375}}"#,
        "[DONE]",
    ]);
    let reply = reply.unwrap();
    let used = Usage { input: 6, output: 3, cache_read: 4, cache_write: 0, reasoning: 1 };
    assert_eq!(
        events,
        [
            ModelEvent::Reasoning("hm".into()),
            ModelEvent::Text("Hel".into()),
            ModelEvent::Text("lo \u{fffd}".into()),
            ModelEvent::Usage(used),
        ]
    );
    assert_eq!(reply.message.text, "Hello \u{fffd}");
    assert_eq!(reply.message.reasoning.text.as_deref(), Some("hm"));
    assert_eq!(reply.finish, FinishReason::Stop);
    assert_eq!(reply.usage, Some(used));
    assert_eq!(reply.bill.cost.actual.unwrap().units(), 13_750_000);
}

#[test]
fn text_between_think_tags_becomes_reasoning() {
    let (events, reply) = decode(&[
        r#"{"choices":[{"delta":{"content":"<thi"}}]}"#,
        r#"{"choices":[{"delta":{"content":"nk>hm</think>\n\nHello <"}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    let reply = reply.unwrap();
    assert_eq!(
        events,
        [ModelEvent::Reasoning("hm".into()), ModelEvent::Text("Hello ".into()), ModelEvent::Text("<".into())]
    );
    assert_eq!(
        (reply.message.text.as_str(), reply.message.reasoning.text.as_deref()),
        ("Hello <", Some("hm"))
    );
    // Beside a field for reasoning the tags only repeat it; a body without streaming is decoded in the same
    // way.
    let body = r#"{"choices":[{"message":{"content":"<think>b</think>x <thi","reasoning_content":"a"}}]}"#;
    let reply = plain(body).unwrap();
    assert_eq!((reply.message.text.as_str(), reply.message.reasoning.text.as_deref()), ("x <thi", Some("a")));
}

#[test]
fn tool_calls_are_assembled() {
    let start = |index: u64, id: &str, name: &str, arguments: &str| {
        serde_json::json!({"choices":[{"delta":{"tool_calls":[
            {"index":index,"id":id,"function":{"name":name,"arguments":arguments}}]}}]})
        .to_string()
    };
    let more = |index: u64, arguments: &str| {
        serde_json::json!({"choices":[{"delta":{"tool_calls":[{"index":index,"function":{"arguments":arguments}}]}}]})
            .to_string()
    };
    let end = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned();
    use crate::CallState::*;
    for (name, events, want) in [
        (
            "in pieces",
            vec![start(0, "a", "x", "{\"k\""), more(0, ":1}"), start(1, "b", "y", "{}"), end.clone()],
            vec![("a", "x", "{\"k\":1}", Complete), ("b", "y", "{}", Complete)],
        ),
        (
            "a reused index with a new id is a new call",
            vec![start(0, "a", "x", "{}"), start(0, "b", "y", "{}"), end.clone()],
            vec![("a", "x", "{}", Complete), ("b", "y", "{}", Complete)],
        ),
        (
            "missing and repeated ids are replaced by derived ones",
            vec![
                start(0, "", "read_file", "{}"),
                start(1, "b", "y", "{}"),
                start(2, "b", "y", "{}"),
                end.clone(),
            ],
            vec![
                ("call_d24f0efbdf6f", "read_file", "{}", Complete),
                ("b", "y", "{}", Complete),
                (derived_third(), "y", "{}", Complete),
            ],
        ),
        (
            "cut arguments",
            vec![start(0, "a", "x", "{\"k\":\"v"), end.clone()],
            vec![("a", "x", "{}", Truncated)],
        ),
        ("no arguments", vec![start(0, "a", "x", ""), end.clone()], vec![("a", "x", "{}", Repaired)]),
        ("no name", vec![start(0, "a", "", "{}"), end], vec![("a", "invalid_tool_call", "{}", Complete)]),
    ] {
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let reply = decode(&events).1.unwrap();
        assert_eq!(calls(&reply), want, "{name}");
    }
}

fn derived_third() -> &'static str {
    String::leak(CallId::derived("y", "{}", 2).as_str().to_owned())
}

#[test]
fn end_without_finish_reason_needs_the_done_mark() {
    let text = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    assert_eq!(decode(&[text]).1, Err(DecodeError::Unfinished));
    assert_eq!(decode(&["[DONE]"]).1, Err(DecodeError::Unfinished));
    assert_eq!(decode(&[text, "[DONE]"]).1.unwrap().finish, FinishReason::Stop);
}

#[test]
fn errors_and_garbage_are_distinguished() {
    let reported = r#"{"error":{"message":"boom"}}"#;
    assert_eq!(decode(&[reported]).1, Err(DecodeError::Reported { body: reported.into() }));
    assert!(matches!(decode(&["<html>"]).1, Err(DecodeError::Json { .. })));
}

#[test]
fn body_without_streaming_is_decoded() {
    let reply = plain(
        r#"{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":7,"type":"function","function":{"name":"x","arguments":{"a":1}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
    )
    .unwrap();
    assert_eq!(calls(&reply), [("7", "x", "{\"a\":1}", CallState::Complete)]);
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    let refusal =
        plain(r#"{"choices":[{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]}"#)
            .unwrap();
    assert_eq!((refusal.message.text.as_str(), refusal.finish), ("No.", FinishReason::ContentFilter));
}

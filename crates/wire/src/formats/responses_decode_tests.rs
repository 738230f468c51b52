use super::*;
use crate::CallState;
use hermes_conversation::FinishReason;
use serde_json::{Value, json};

fn decode(events: &[Value]) -> (Vec<ModelEvent>, Result<Reply, DecodeError>) {
    let mut decoder = ResponsesDecoder::default();
    let mut seen = Vec::new();
    for event in events {
        if let Err(error) = decoder.feed(&event.to_string(), |event| seen.push(event)) {
            return (seen, Err(error));
        }
    }
    (seen, decoder.finish())
}

fn reply(events: &[Value]) -> Reply {
    decode(events).1.unwrap()
}

fn body(status: &str, output: Value) -> Reply {
    plain(&json!({"status": status, "output": output}).to_string()).unwrap()
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "output": []}})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn delta(kind: &str, index: u64, delta: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": index, "delta": delta})
}

fn said(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn remark(text: &str) -> Value {
    let mut item = said(text);
    item["phase"] = json!("commentary");
    item
}

fn thought(text: &str) -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": text}],
        "encrypted_content": "gAAA", "status": null})
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "terminal",
        "arguments": arguments, "status": "completed"})
}

fn calls(reply: &Reply) -> Vec<(&str, &str, CallState)> {
    let calls = reply.message.calls.iter().zip(&reply.calls);
    calls.map(|(call, state)| (call.id.as_str(), call.arguments.as_str(), state.clone())).collect()
}

#[test]
fn stream_is_reported_and_collected() {
    let usage = json!({"input_tokens": 10, "output_tokens": 7, "total_tokens": 17,
        "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 3}});
    let mut summary = delta("reasoning_summary_text", 0, "first");
    summary["summary_index"] = json!(0);
    let mut more = delta("reasoning_summary_text", 0, "second");
    more["summary_index"] = json!(1);
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA", "summary":
        [{"type": "summary_text", "text": "first"}, {"type": "summary_text", "text": "second"}]});
    let (events, reply) = decode(&[
        json!({"type": "response.created", "response": {"status": "in_progress", "output": []}}),
        added(0, json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "part"})),
        summary,
        more,
        done(0, reasoning),
        added(1, json!({"type": "message", "id": "msg_1", "content": [], "phase": "final_answer"})),
        delta("output_text", 1, "Hel"),
        json!({"type": "keepalive", "sequence_number": 7}),
        delta("output_text", 1, "lo"),
        json!({"type": "response.output_text.done", "output_index": 1, "text": "Hello"}),
        done(
            1,
            json!({"type": "message", "id": "msg_1", "status": "completed", "phase": "final_answer",
            "content": [{"type": "output_text", "text": "Hello"}]}),
        ),
        json!({"type": "response.completed", "response":
            {"status": "completed", "output": [], "error": null, "usage": usage}}),
    ]);
    let reply = reply.unwrap();
    let used = Usage { input: 6, output: 7, cache_read: 4, cache_write: 0, reasoning: 3 };
    assert_eq!(
        events,
        [
            ModelEvent::Reasoning("first".into()),
            ModelEvent::Reasoning("\n\nsecond".into()),
            ModelEvent::Text("Hel".into()),
            ModelEvent::Text("lo".into()),
            ModelEvent::Usage(used),
        ]
    );
    assert_eq!((reply.message.text.as_str(), reply.finish), ("Hello", FinishReason::Stop));
    assert_eq!(reply.usage, Some(used));
    let reasoning = reply.message.reasoning;
    assert_eq!(reasoning.text.as_deref(), Some("first\n\nsecond"));
    insta::assert_snapshot!(reasoning.codex_items.unwrap().as_str(), @r#"[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"first"},{"type":"summary_text","text":"second"}],"encrypted_content":"gAAA"}]"#);
    insta::assert_snapshot!(reasoning.codex_messages.unwrap().as_str(), @r#"[{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello"}],"id":"msg_1","phase":"final_answer"}]"#);
}

#[test]
fn calls_are_assembled() {
    let begun = |index, id: &str| {
        added(
            index,
            json!({"type": "function_call", "call_id": id,
        "name": "terminal", "arguments": "", "status": "in_progress"}),
        )
    };
    let arguments = |index, text| delta("function_call_arguments", index, text);
    let end = |index, text: &str| json!({"type": "response.function_call_arguments.done", "output_index": index, "arguments": text});
    use CallState::*;
    for (name, events, want) in [
        (
            "interleaved",
            vec![
                begun(0, "a"),
                begun(1, "b"),
                arguments(0, "{\"k\""),
                arguments(1, "{}"),
                arguments(0, ":1}"),
                done(1, call("b", "{}")),
                done(0, call("a", "{\"k\":1}")),
            ],
            vec![("a", "{\"k\":1}", Complete), ("b", "{}", Complete)],
        ),
        ("done is all there is", vec![done(0, call("a", "{}"))], vec![("a", "{}", Complete)]),
        (
            "the end of the arguments is enough",
            vec![begun(0, "a"), arguments(0, "{\"k"), end(0, "{\"k\":1}")],
            vec![("a", "{\"k\":1}", Complete)],
        ),
        ("never done", vec![begun(0, "a"), arguments(0, "{}")], vec![("a", "{}", Truncated)]),
        (
            "done but in progress",
            vec![done(
                0,
                json!({"type": "function_call", "call_id": "a", "name": "terminal",
                "arguments": "{}", "status": "in_progress"}),
            )],
            vec![("a", "{}", Truncated)],
        ),
        (
            "a custom tool",
            vec![done(
                0,
                json!({"type": "custom_tool_call", "call_id": "a", "name": "terminal",
                "input": "{\"k\":1}"}),
            )],
            vec![("a", "{\"k\":1}", Complete)],
        ),
        ("cut arguments", vec![done(0, call("a", "{\"k\":\"v"))], vec![("a", "{}", Truncated)]),
    ] {
        let mut events = events;
        events.push(completed());
        let reply = reply(&events);
        assert_eq!(calls(&reply), want, "{name}");
        assert_eq!(reply.finish, FinishReason::ToolCalls, "{name}");
    }
}

#[test]
fn items_repeated_at_the_end_are_not_duplicated() {
    let output = json!([thought("hm"), said("yes"), call("a", "{}")]);
    let end = json!({"type": "response.completed", "response": {"status": "completed", "output": output}});
    let items = [thought("hm"), said("yes"), call("a", "{}")];
    let numbered: Vec<Value> =
        items.iter().enumerate().map(|(place, item)| done(place as u64, item.clone())).collect();
    let unnumbered: Vec<Value> =
        items.iter().map(|item| json!({"type": "response.output_item.done", "item": item})).collect();
    let shifted: Vec<Value> =
        items.iter().enumerate().map(|(place, item)| done(place as u64 + 5, item.clone())).collect();
    for (name, mut events) in
        [("numbered", numbered), ("unnumbered", unnumbered), ("shifted", shifted), ("none", vec![])]
    {
        events.push(end.clone());
        let reply = reply(&events);
        assert_eq!(reply.message.text, "yes", "{name}");
        assert_eq!(calls(&reply), [("a", "{}", CallState::Complete)], "{name}");
        assert_eq!(reply.message.reasoning.text.as_deref(), Some("hm"), "{name}");
        let stored = reply.message.reasoning.codex_items.unwrap();
        assert_eq!(stored.as_str().matches("gAAA").count(), 1, "{name}");
        assert_eq!(reply.message.calls[0].response_item_id.as_deref(), Some("fc_a"), "{name}");
    }
}

#[test]
fn ends_are_mapped_to_finish_reasons() {
    use FinishReason::*;
    let refusal = json!({"type": "message", "id": "m", "content": [{"type": "refusal", "refusal": "No."}]});
    let mut cut = said("half");
    cut["status"] = json!("incomplete");
    let mut boxed = thought("so: <response>the answer</response>");
    boxed["encrypted_content"] = Value::Null;
    for (name, status, reason, output, text, finish) in [
        ("an answer", "completed", "", json!([said("a")]), "a", Stop),
        ("two messages", "completed", "", json!([said("a"), said("b")]), "a\nb", Stop),
        ("out of room", "incomplete", "max_output_tokens", json!([said("a")]), "a", Incomplete),
        ("out of room, untold", "incomplete", "", json!([said("a")]), "a", Incomplete),
        ("filtered", "incomplete", "content_filter", json!([said("a")]), "a", ContentFilter),
        ("refused", "completed", "", json!([refusal]), "No.", ContentFilter),
        ("a message that was cut", "completed", "", json!([cut]), "half", Incomplete),
        ("only thoughts", "completed", "", json!([thought("hm")]), "", Incomplete),
        ("only a remark", "completed", "", json!([remark("looking")]), "", Incomplete),
        ("a remark and an answer", "completed", "", json!([remark("looking"), said("a")]), "a", Stop),
        ("a remark and a call", "completed", "", json!([remark("looking"), call("a", "{}")]), "", ToolCalls),
        ("an answer among the thoughts", "completed", "", json!([boxed]), "the answer", Stop),
        ("nothing", "completed", "", json!([]), "", Stop),
        ("a leaked call", "completed", "", json!([said("ok to=functions.terminal {}")]), "", Incomplete),
        ("talk about leaks", "completed", "", json!([said("`to=functions.x`")]), "`to=functions.x`", Stop),
        (
            "the provider's own items",
            "completed",
            "",
            json!([{"type": "web_search_call", "id": "ws", "action": {"type": "search"}}, said("a")]),
            "a",
            Stop,
        ),
    ] {
        let mut response = json!({"status": status, "output": output});
        if !reason.is_empty() {
            response["incomplete_details"] = json!({"reason": reason});
        }
        let whole = plain(&response.to_string()).unwrap();
        assert_eq!((whole.message.text.as_str(), whole.finish), (text, finish), "{name}");
        let streamed = reply(&[json!({"type": format!("response.{status}"), "response": response})]);
        assert_eq!(streamed, whole, "{name}");
    }
}

#[test]
fn commentary_becomes_reasoning_and_keeps_its_phase() {
    let (events, reply) = decode(&[
        added(0, json!({"type": "message", "id": "msg_1", "phase": "commentary", "content": []})),
        delta("output_text", 0, "looking"),
        done(0, remark("looking")),
        done(1, call("a", "{}")),
        completed(),
    ]);
    let reply = reply.unwrap();
    assert_eq!(
        events,
        [ModelEvent::Reasoning("looking".into()), ModelEvent::ToolPreparing("terminal".into())]
    );
    assert_eq!(reply.message.reasoning.text.as_deref(), Some("looking"));
    let stored = reply.message.reasoning.codex_messages.unwrap();
    assert!(stored.as_str().contains(r#""phase":"commentary""#), "{}", stored.as_str());
}

#[test]
fn shown_text_equals_stored_text() {
    let (events, reply) = decode(&[
        delta("output_text", 0, "a"),
        done(0, said("a")),
        done(1, json!({"type": "message", "id": "msg_2", "content": [{"type": "output_text", "text": "b"}]})),
        completed(),
    ]);
    let shown: String = events
        .iter()
        .map(|event| match event {
            ModelEvent::Text(text) => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(shown, "a\nb");
    assert_eq!(reply.unwrap().message.text, "a\nb");
}

#[test]
fn renamed_items_are_not_duplicated() {
    let mut first = delta("output_text", 0, "Hel");
    first["item_id"] = json!("x1");
    let mut second = delta("output_text", 0, "lo");
    second["item_id"] = json!("x2");
    let reply = reply(&[added(0, json!({"type": "message", "id": "x0"})), first, second, completed()]);
    assert_eq!(reply.message.text, "Hello");
}

#[test]
fn temporary_and_unencrypted_reasoning_is_not_kept_for_replay() {
    let mut temporary = thought("hm");
    temporary["id"] = json!("rs_tmp_1");
    let mut bare = thought("ha");
    bare["encrypted_content"] = Value::Null;
    let reply = body("completed", json!([temporary, bare, said("a")]));
    assert_eq!(reply.message.reasoning.codex_items, None);
    assert_eq!(reply.message.reasoning.text.as_deref(), Some("hm\n\nha"));
}

#[test]
fn stream_without_its_end_is_unfinished() {
    for events in [
        vec![],
        vec![delta("output_text", 0, "a")],
        vec![done(0, said("a"))],
        vec![json!({"type": "response.in_progress", "response": {}})],
    ] {
        assert_eq!(decode(&events).1, Err(DecodeError::Unfinished), "{events:?}");
    }
    let mut decoder = ResponsesDecoder::default();
    decoder.feed("[DONE]", |_| ()).unwrap();
    assert_eq!(decoder.finish(), Err(DecodeError::Unfinished));
    for unfinished in [r#"{"status":"in_progress","output":[]}"#, "{}"] {
        assert_eq!(plain(unfinished), Err(DecodeError::Unfinished), "{unfinished}");
    }
}

#[test]
fn errors_are_reported_in_one_shape() {
    let failed = json!({"status": "failed", "instructions": "secret", "output": [],
        "error": {"code": "server_error", "message": "boom"}});
    let nested = r#"{"error":{"code":"server_error","message":"boom"}}"#;
    for (event, want) in [
        (json!({"type": "response.failed", "response": failed}), nested),
        (json!({"type": "error", "error": {"code": "server_error", "message": "boom"}}), nested),
        (json!({"error": {"code": "server_error", "message": "boom"}}), nested),
        (
            json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow"}),
            r#"{"error":{"type":"error","code":"rate_limit_exceeded","message":"slow"}}"#,
        ),
        (json!({"detail": "Unsupported"}), r#"{"error":{"detail":"Unsupported"}}"#),
        (
            json!({"type": "response.failed", "response": {"status": "failed"}}),
            r#"{"error":{"message":"the response ended as failed"}}"#,
        ),
    ] {
        let reported = DecodeError::Reported { body: want.to_owned() };
        assert_eq!(decode(std::slice::from_ref(&event)).1, Err(reported), "{event}");
    }
    assert_eq!(plain(&failed.to_string()), Err(DecodeError::Reported { body: nested.to_owned() }));
    let mut decoder = ResponsesDecoder::default();
    assert!(matches!(decoder.feed("<html>", |_| ()), Err(DecodeError::Json { .. })));
}

#[test]
fn calls_with_the_same_id_are_reported_separately() {
    let (first, mut second) = (call("a", "{\"k\":1}"), call("a", "{\"k\":2}"));
    second["name"] = json!("read_file");
    let output = json!([first, second]);
    let (events, reply) = decode(&[
        done(0, first),
        done(1, second),
        json!({"type": "response.completed", "response": {"status": "completed", "output": output}}),
    ]);
    let prepared = ["terminal", "read_file"].map(|name| ModelEvent::ToolPreparing(name.into()));
    assert_eq!(events, prepared);
    let reply = reply.unwrap();
    let arguments: Vec<_> = reply.message.calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, ["{\"k\":1}", "{\"k\":2}"]);
    assert_ne!(reply.message.calls[0].id, reply.message.calls[1].id);
}

#[test]
fn end_of_stream_completes_a_call() {
    let begun = json!({"type": "response.output_item.added", "item":
        {"type": "function_call", "call_id": "a", "name": "terminal", "arguments": ""}});
    let output = json!([call("a", "{}")]);
    let end = json!({"type": "response.completed", "response": {"status": "completed", "output": output}});
    assert_eq!(calls(&reply(&[begun, end])), [("a", "{}", CallState::Complete)]);
}

/// Events as a confused server might send them: any of them, in any order, any number of times.
fn confused() -> Vec<Value> {
    let mut events = vec![
        completed(),
        json!({"type": "response.completed", "response": {"output": [said("x"), call("a", "{"), 7]}}),
        json!({"type": "response.incomplete", "response": {"incomplete_details": {}}}),
        json!({"type": "response.function_call_arguments.done", "arguments": {"k": 1}}),
        json!({"type": "response.output_item.done", "item": {"type": "message", "content": "odd"}}),
        json!({"type": "response.reasoning_text.delta", "delta": {"text": "hm"}}),
        json!({"type": "response.reasoning_text.delta", "delta": 7}),
        json!({"type": "response.output_item.done", "item": null}),
        json!({"type": "response.new_thing", "delta": []}),
        json!({"type": "response.reasoning.delta"}),
    ];
    for index in 0..2 {
        for item in [said("yes"), remark("looking"), thought("hm"), call("a", "{}"), call("b", "{\"k\":1}")] {
            events.extend([added(index, item.clone()), done(index, item)]);
        }
        for kind in ["output_text", "refusal", "function_call_arguments", "reasoning_summary_text"] {
            events.push(delta(kind, index, "to=functions.é<response>"));
        }
    }
    events
}

proptest::proptest! {
    #[test]
    fn no_order_of_events_confuses_the_decoder(
        events in proptest::collection::vec(proptest::sample::select(confused()), 0..20)
    ) {
        if let (shown, Ok(reply)) = decode(&events) {
            proptest::prop_assert_eq!(reply.message.calls.len(), reply.calls.len());
            let ids: std::collections::HashSet<_> = reply.message.calls.iter().map(|call| &call.id).collect();
            proptest::prop_assert_eq!(ids.len(), reply.calls.len(), "{:?}", shown);
        }
    }
}

use super::*;
use hermes_context::{Keep, Past, Window};
use hermes_conversation::{AssistantMessage, CallId, RawJson, ToolCall, ToolMessage};
use serde_json::json;

fn calling(id: &str) -> Message {
    let call = ToolCall {
        id: CallId::new(id),
        name: "read_file".into(),
        arguments: "{}".into(),
        call_id: None,
        response_item_id: None,
        extra_content: None,
    };
    Message::Assistant(AssistantMessage { calls: vec![call], ..AssistantMessage::default() })
}

fn result(id: &str) -> Message {
    Message::Tool(ToolMessage::new(CallId::new(id), "read_file", "found ".repeat(200)))
}

/// Two exchanges with tool calls, then a prompt.
fn history() -> Vec<Arc<Message>> {
    let long = "words ".repeat(300);
    let all = [
        Message::user(format!("first {long}")),
        calling("a"),
        result("a"),
        Message::assistant(format!("one {long}")),
        Message::user(format!("second {long}")),
        calling("b"),
        result("b"),
        Message::assistant(format!("two {long}")),
        Message::user("and now?"),
    ];
    all.into_iter().map(Arc::new).collect()
}

/// Runs `test` with a view of a history.
fn with_view<T>(history: &[Arc<Message>], keep: Keep, past: Past, test: impl FnOnce(&View<'_>) -> T) -> T {
    let weights = Weights::of(history);
    test(&View {
        history,
        weights: &weights,
        fixed: 100,
        last: None,
        scale: 1.0,
        window: Window::default(),
        trigger: Trigger::Loop,
        focus: None,
        past: &past,
        keep: &keep,
        nodes: &[],
        tools: &hermes_tools::KnownTools,
    })
}

fn planned(value: Value, past: Past) -> Result<Decision, String> {
    with_view(&history(), Keep::default(), past, |view| {
        decision(serde_json::from_value(value).map_err(|error| error.to_string())?, view)
    })
}

#[test]
fn plans_are_checked() {
    let shrink =
        |from: i64, to: i64| planned(json!({"decision": "shrink", "replace": [from, to]}), Past::default());
    for (from, to) in [(0, 4), (1, 3), (0, 9), (3, 4), (4, 8)] {
        let Ok(Decision::Shrink(plan)) = shrink(from, to) else { panic!("{from} {to}") };
        assert_eq!(plan.replace, from as usize..to as usize);
        assert_eq!(plan.question, None);
    }
    for (from, to, want) in [
        (2, 4, "separate a call from its result, at message 2"),
        (0, 2, "separate a call from its result, at message 2"),
        (1, 6, "separate a call from its result, at message 6"),
        (3, 3, "wants to replace messages 3 to 3 of 9"),
        (4, 3, "wants to replace"),
        (0, 10, "wants to replace messages 0 to 10 of 9"),
        (-1, 3, "invalid value"),
    ] {
        let why = shrink(from, to).unwrap_err();
        assert!(why.contains(want), "{from} {to}: {why}");
    }
    assert_eq!(planned(json!({"decision": "leave"}), Past::default()), Ok(Decision::Leave));
    let stuck = planned(json!({"decision": "stuck", "why": "too\n full"}), Past::default());
    assert_eq!(stuck, Ok(Decision::Stuck("too full".into())));
    assert!(planned(json!({"decision": "dance"}), Past::default()).is_err());
    let asked = json!({"decision": "shrink", "replace": [0, 4],
        "question": {"system": "s", "text": "t", "max_output_tokens": 9_000_000}});
    let Ok(Decision::Shrink(plan)) = planned(asked, Past::default()) else { panic!() };
    assert_eq!(plan.question.unwrap().max_output_tokens, MOST_OUTPUT);
}

#[test]
fn repeated_compactions_are_rejected() {
    let shrink = json!({"decision": "shrink", "replace": [0, 4]});
    let often = Past { in_this_turn: 3, ..Past::default() };
    assert!(matches!(planned(shrink.clone(), often), Ok(Decision::Stuck(why)) if why.contains("3 times")));
    let resting = Past { resting: Some("later".into()), ..Past::default() };
    assert_eq!(planned(shrink, resting), Ok(Decision::Stuck("later".into())));
}

/// Replaces messages 0 to 8 with `messages`.
fn assemble(messages: Value, tail: usize, keep: Keep) -> Result<Assembled, String> {
    assemble_range(0..8, messages, tail, "what was", keep)
}

fn assemble_range(
    replace: Range<usize>,
    messages: Value,
    tail: usize,
    summary: &str,
    keep: Keep,
) -> Result<Assembled, String> {
    assemble_history(&history(), replace, messages, tail, summary, keep)
}

fn assemble_history(
    history: &[Arc<Message>],
    replace: Range<usize>,
    messages: Value,
    tail: usize,
    summary: &str,
    keep: Keep,
) -> Result<Assembled, String> {
    with_view(history, keep, Past::default(), |view| {
        let plan = Plan { replace, question: None, before: view.tokens() };
        let said = json!({"messages": messages, "tail": tail, "summary": summary});
        let said = serde_json::from_value(said).unwrap();
        assembled(said, view, &plan, Answer::Said { model: "m", text: "t" })
    })
}

fn user(text: &str) -> Value {
    serde_json::to_value(Message::user(text)).unwrap()
}

fn assistant(text: &str) -> Value {
    json!({"assistant": {"text": text}})
}

#[test]
fn valid_shorter_history_is_accepted() {
    let made = assemble(json!([user("what was"), assistant("yes"), {"keep": [8, 9]}]), 1, Keep::default());
    let made = made.unwrap();
    assert_eq!((made.messages.len(), made.tail, made.kept.tail), (3, 1, 1));
    assert_eq!(made.by, SummaryBy::Model("m".into()));
    assert_eq!(made.nodes, [NewNode { children: vec![], text: "what was".into() }]);
    assert!(made.after.value() < 300, "{:?}", made.after);
    // The summary may precede the next user message.
    let made = assemble(json!([user("what was\n\nand now?")]), 0, Keep::default()).unwrap();
    assert_eq!((made.messages.len(), made.tail), (1, 0));
    // The newest question may be in the range, and is repeated.
    let made =
        assemble_range(0..9, json!([user("it was\n\nand now?")]), 0, "it was", Keep::default()).unwrap();
    assert_eq!(made.tail, 0);
    // A range in the middle.
    let made = assemble_range(
        1..4,
        json!([{"keep": [0, 1]}, assistant("s"), {"keep": [4, 9]}]),
        5,
        "s",
        Keep::default(),
    );
    assert_eq!(made.unwrap().tail, 5);
}

#[test]
fn missing_pin_or_todo_is_rejected() {
    let keep =
        Keep { pins: vec!["the port is 8080".into()], todos: vec!["[1] x (pending)".into()], memory: None };
    let fine = json!([user("the port is 8080\n[1] x (pending)"), assistant("yes"), {"keep": [8, 9]}]);
    assert_eq!(assemble(fine, 1, keep.clone()).unwrap().kept.pins, 1);
    let lost = json!([user("the port is 8080"), assistant("yes"), {"keep": [8, 9]}]);
    assert!(assemble(lost, 1, keep).unwrap_err().contains("removed a pin or an open to-do: [1] x"));
}

#[test]
fn invalid_histories_are_rejected() {
    let long = "words ".repeat(300);
    for (messages, tail, want) in [
        // Larger, or as large.
        (json!([{"keep": [0, 9]}]), 1, "smaller"),
        (json!([user(&"x ".repeat(90_000)), assistant("yes"), {"keep": [8, 9]}]), 1, "smaller"),
        // The newest question is gone, changed, or not the newest.
        (json!([user("what was")]), 0, "removed or changed the last user message"),
        (
            json!([user("what was"), assistant("yes"), user("and now")]),
            0,
            "removed or changed the last user message",
        ),
        (json!([user("s\n\nand now? Delete everything.")]), 0, "removed or changed the last user message"),
        (
            json!([{"keep": [8, 9]}, assistant("a"), user("do more")]),
            0,
            "removed or changed the last user message",
        ),
        // Not a conversation.
        (json!([{"keep": [8, 9]}, {"keep": [6, 7]}]), 0, "no provider accepts"),
        (json!([{"keep": [5, 6]}, {"keep": [8, 9]}]), 1, "no provider accepts"),
        (json!([user("a"), user("and now?")]), 0, "no provider accepts"),
        // Not messages.
        (json!([{"keep": [8, 10]}]), 0, "messages that do not exist"),
        (json!([{"keep": [9, 8]}]), 0, "messages that do not exist"),
        (json!([{"keep": "all"}]), 0, "messages that do not exist"),
        (json!(["and now?"]), 0, "invalid message, at index 0"),
        (json!([{"system": {"content": {"text": "x"}}}]), 0, "invalid message, at index 0"),
        // The reported tail is longer than the unchanged one.
        (json!([user("what was"), assistant("yes"), {"keep": [8, 9]}]), 2, "reported 2 unchanged messages"),
        (json!(vec![json!({"keep": [0, 9]}); 200]), 0, "repeatedly"),
        (json!([user(&long), assistant("b"), assistant("c"), {"keep": [8, 9]}]), 1, "no provider accepts"),
    ] {
        let why = assemble(messages.clone(), tail, Keep::default()).unwrap_err();
        assert!(why.contains(want), "{why}\n{messages}");
    }
    // Messages outside the range must not change.
    for messages in [
        json!([assistant("s"), {"keep": [4, 9]}]),
        json!([{"keep": [0, 1]}, assistant("s"), {"keep": [8, 9]}]),
        json!([user("first"), assistant("s"), {"keep": [4, 9]}]),
    ] {
        let why = assemble_range(1..4, messages.clone(), 0, "s", Keep::default()).unwrap_err();
        assert!(why.contains("outside the planned range"), "{why}\n{messages}");
    }
    let fine = json!([user("what was"), assistant("yes"), {"keep": [8, 9]}]);
    assert!(
        assemble_range(0..8, fine, 1, " \n", Keep::default())
            .unwrap_err()
            .contains("empty or too long summary")
    );
}

#[test]
fn reply_at_the_end_must_be_kept() {
    let mut history = history();
    history.push(Arc::new(Message::assistant("a long answer")));
    let put = |messages: Value| assemble_history(&history, 0..10, messages, 0, "it was", Keep::default());
    let why = put(json!([user("it was\n\nand now?")])).unwrap_err();
    assert!(why.contains("removed the reply"), "{why}");
    assert_eq!(put(json!([user("it was\n\nand now?"), assistant("in short")])).unwrap().messages.len(), 2);
}

#[test]
fn protocol_version_and_tools_are_checked() {
    let tool = |name: &str, parameters: &str| ToolWire {
        name: name.into(),
        description: "d".into(),
        parameters: RawJson::parse(parameters).unwrap(),
    };
    let said = |protocol: u32, tools: Vec<ToolWire>| {
        initialized(Initialized { name: "n".into(), protocol, threshold_tokens: None, tools }).map(|_| ())
    };
    assert_eq!(said(1, vec![tool("recall", r#"{"type":"object"}"#)]), Ok(()));
    for (protocol, tools, want) in [
        (2, vec![], "protocol version 2"),
        (1, vec![tool("a b", r#"{"type":"object"}"#)], "an invalid name: `a b`"),
        (1, vec![tool("", r#"{"type":"object"}"#)], "invalid name"),
        (1, vec![tool("x", "[]")], "not an object schema"),
        (1, vec![tool("x", r#"{"type":"string"}"#)], "not an object schema"),
        (1, vec![tool("x", r#"{"type":"object"}"#); 33], "33 tools"),
    ] {
        let why = said(protocol, tools).unwrap_err();
        assert!(why.contains(want), "{why}");
    }
}

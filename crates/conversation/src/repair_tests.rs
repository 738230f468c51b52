use super::*;
use crate::Reasoning;
use proptest::prelude::*;

fn calls(ids: &[&str]) -> Message {
    Message::Assistant(AssistantMessage {
        calls: ids.iter().map(|id| ToolCall::new(CallId::new(*id), "terminal", "{}")).collect(),
        ..Default::default()
    })
}

fn result(id: &str) -> Message {
    Message::tool(CallId::new(id), "terminal", "ok")
}

fn stub(id: &str) -> Message {
    Message::tool(CallId::new(id), "terminal", UNAVAILABLE_RESULT)
}

#[test]
fn invalid_sequences_are_repaired() {
    let (user, assistant) = (Message::user, Message::assistant);
    for (name, given, want) in [
        ("valid stays", vec![user("q"), calls(&["a"]), result("a"), assistant("x")], None),
        ("users merge", vec![user("a"), user("b")], Some(vec![user("a\n\nb")])),
        (
            "assistants merge",
            vec![user("q"), assistant("a"), assistant("b")],
            Some(vec![user("q"), assistant("a\nb")]),
        ),
        (
            "orphan result goes",
            vec![user("q"), result("z"), assistant("x")],
            Some(vec![user("q"), assistant("x")]),
        ),
        (
            "second result goes",
            vec![user("q"), calls(&["a"]), result("a"), result("a")],
            Some(vec![user("q"), calls(&["a"]), result("a")]),
        ),
        (
            "missing result is stubbed before the next user",
            vec![user("q"), calls(&["a", "b"]), result("b"), user("n")],
            Some(vec![user("q"), calls(&["a", "b"]), result("b"), stub("a"), user("n")]),
        ),
        (
            "missing result at the end is stubbed",
            vec![user("q"), calls(&["a"])],
            Some(vec![user("q"), calls(&["a"]), stub("a")]),
        ),
        (
            "late result does not count",
            vec![user("q"), calls(&["a"]), user("n"), result("a")],
            Some(vec![user("q"), calls(&["a"]), stub("a"), user("n")]),
        ),
        (
            "repeated ids are dropped",
            vec![user("q"), calls(&["a", "a"]), result("a")],
            Some(vec![user("q"), calls(&["a"]), result("a")]),
        ),
    ] {
        let want = want.unwrap_or_else(|| given.clone());
        assert_eq!(repair(given), want, "{name}");
    }
}

#[test]
fn merged_user_message_loses_additions_of_the_first() {
    let first = UserMessage { content: Content::text("a"), api_content: Some("a+memory".into()) };
    let merged = repair(vec![Message::User(first), Message::user("b")]);
    assert_eq!(merged, [Message::user("a\n\nb")]);
}

#[test]
fn reasoning_without_text_is_dropped_and_its_neighbours_merge() {
    let thinking = Message::Assistant(AssistantMessage {
        reasoning: Reasoning { text: Some("hm".into()), ..Default::default() },
        ..Default::default()
    });
    assert_eq!(repair(vec![Message::user("a"), thinking, Message::user("b")]), [Message::user("a\n\nb")]);
}

#[test]
fn damaged_arguments_are_emptied_and_their_result_says_so() {
    let mut broken = ToolCall::new(CallId::new("a"), "", "{\"x\":");
    broken.call_id = Some("other".into());
    let given = vec![
        Message::user("q"),
        Message::Assistant(AssistantMessage { calls: vec![broken], ..Default::default() }),
        result("other"),
    ];
    let repaired = repair(given);
    assert_eq!(repaired[1].calls()[0].arguments, "{}");
    assert_eq!(repaired[1].calls()[0].name, "invalid_tool_call");
    assert_eq!(repaired[2].text(), format!("{CORRUPT_ARGUMENTS}\nok"));
}

fn any_message() -> impl Strategy<Value = Message> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        "[a-z]{0,3}".prop_map(Message::user),
        "[a-z]{0,3}".prop_map(Message::assistant),
        prop::collection::vec(id.clone(), 0..4).prop_map(|ids| calls(&ids)),
        id.prop_map(result),
    ]
}

proptest! {
    #[test]
    fn repair_is_idempotent_and_pairs_every_call(given in prop::collection::vec(any_message(), 0..20)) {
        let once = repair(given);
        prop_assert_eq!(repair(once.clone()), once.clone());
        for (place, message) in once.iter().enumerate() {
            let answers: Vec<_> = once[place + 1..]
                .iter()
                .map_while(|m| match m { Message::Tool(t) => Some(&t.call_id), _ => None })
                .collect();
            for call in message.calls() {
                prop_assert_eq!(answers.iter().filter(|id| ***id == call.id).count(), 1);
            }
        }
    }
}

use super::*;
use crate::compaction::marker::framed;
use crate::compaction::reading::read;
use hermes_conversation::{AssistantMessage, CallId, ToolCall, UserMessage};

/// Every message has about a hundred tokens times the digit after its letter; `u` user, `a` reply, `c` two
/// calls without text, `t` result, `s` summary, `m` summary and text of the user.
fn history(shape: &str) -> Vec<Arc<Message>> {
    let said = |word: &str| {
        let text = "x".repeat(word[1..].parse::<usize>().unwrap_or(1) * 400);
        let calls = ["1", "2"].map(|id| ToolCall::new(CallId::new(id), "terminal", "{}")).to_vec();
        Arc::new(match &word[..1] {
            "u" => Message::user(text),
            "a" => Message::assistant(text),
            "c" => Message::Assistant(AssistantMessage { calls, ..Default::default() }),
            "t" => Message::tool(CallId::new("1"), "terminal", text),
            "s" => Message::user(framed("i", &text)),
            _ => Message::User(UserMessage::text("ask").preceded_by(&framed("i", &text))),
        })
    };
    shape.split(' ').map(said).collect()
}

fn room() -> Room {
    Room {
        tail: 320,
        tail_messages: 2,
        tail_messages_tokens: 1_000,
        newest: 1_000,
        unseen: 0,
        head_messages: 3,
        head: 500,
        is_refused: false,
    }
}

#[test]
fn the_stretch_is_cut_where_it_may_be() {
    let refused = Room { is_refused: true, ..room() };
    let no_head = Room { head_messages: 0, ..room() };
    let five = Room { tail_messages: 5, ..room() };
    let unseen = |unseen: u64| Room { unseen, ..room() };
    for (name, shape, room, want) in [
        ("head, middle, tail", "u a u a u a u a u a", room(), Some(3..6)),
        ("the head is for the first time", "u a u a u a u a u a", no_head, Some(0..6)),
        ("more messages than tokens", "u a u a u a u a u a", five, Some(2..5)),
        ("no more than half as much again", "u a u a u a u a2 u a2", room(), Some(3..8)),
        ("two messages at least", "u a u a u a u a u5 a4", room(), Some(3..8)),
        ("the head takes results along", "u c t t a u a u a u a", room(), Some(4..7)),
        ("a heavy head is not kept", "u6 a u a u a u a u a", room(), Some(0..6)),
        ("or only in part", "u a6 u a u a u a u a", room(), Some(1..6)),
        ("the newest request stays", "u a u a c t t c t t", no_head, Some(0..2)),
        ("and the newest message", "u a u a u c t t c t t", room(), Some(2..3)),
        ("unless they are too heavy", "u a u a4 u c t t c t t", room(), Some(3..4)),
        ("a turn too heavy", "u a u a u c t4 t4 c t t", room(), Some(3..8)),
        ("one turn alone, between calls", "u c t4 t4 c t4 t4 c t t", room(), Some(0..7)),
        ("a last group too heavy", "u a u c t9 t9", room(), Some(0..6)),
        (
            "a reply at the end stays, for the next message follows it",
            "u a u a u a u a20",
            room(),
            Some(3..7),
        ),
        ("unless the model has not seen it", "u a u c t9 t9", unseen(2_000), Some(0..3)),
        ("with the request it is too heavy", "u a u c t9 t9", unseen(1_900), Some(0..6)),
        ("what was seen in the same turn goes", "u a c t t u c t t c t5 t4", unseen(2_000), Some(5..9)),
        ("text after results do not hide them", "u a u c t9 t9 u", unseen(2_100), Some(2..3)),
        ("a reply has seen them", "u a u c t9 t9 a", unseen(9_000), Some(2..6)),
        ("calls without results are no news", "u9 a u a u c", unseen(9_000), Some(0..2)),
        ("a summary is not kept as head", "s a u a u a u a u a", room(), Some(0..6)),
        ("a summary in the middle", "u a s a u a u a u a", room(), Some(0..6)),
        ("a summary is always replaced", "u a u a u a s a", room(), Some(0..7)),
        ("text in its message are repeated", "m c t3 t3 c t t c t t", room(), Some(0..7)),
        ("a summary alone is nothing new", "s u a u", room(), None),
        ("nor with the newest request", "m a a a", room(), None),
        ("too short", "u a u9 a9", room(), None),
        ("unless it was refused", "u9 a9 u9", refused, Some(0..2)),
        ("nothing at all in front", "u", refused, None),
        ("begins with a reply", "a u a u a u a u a", room(), Some(0..5)),
    ] {
        let history = history(shape);
        let weights = Weights::of(&history);
        assert_eq!(stretch(&history, &weights, &read(&history), room), want, "{name}");
    }
}

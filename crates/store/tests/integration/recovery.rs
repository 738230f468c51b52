//! Crash recovery: open turns are closed once, and the history is complete.

use crate::desk::{Desk, intent, owner, reply, session, texts};
use hermes_conversation::{
    CallId, Disposition, Intent, IntentState, Message, Settled, Settlement, ToolMessage, Transcript,
};
use hermes_store::Recovery;

fn unknown(id: &str) -> Message {
    let result = ToolMessage::new(CallId::new(id), "terminal", "unknown");
    Message::Tool(result.with_disposition(Disposition::Unknown))
}

fn not_started(id: &str) -> Message {
    let result = ToolMessage::new(CallId::new(id), "terminal", "not started");
    Message::Tool(result.with_disposition(Disposition::None))
}

struct Case {
    name: &'static str,
    calls: &'static [&'static str],
    intents: Vec<Intent>,
    answered: bool,
    want: Vec<Message>,
    found: Recovery,
}

fn cases() -> Vec<Case> {
    use IntentState::{Planned, Refused, Started};
    vec![
        Case {
            name: "nothing but the user's message",
            calls: &[],
            intents: vec![],
            answered: false,
            want: vec![],
            found: Recovery { turns: 1, ..Recovery::default() },
        },
        Case {
            name: "one started, one planned, one refused, one without an intent",
            calls: &["a", "b", "c", "d"],
            intents: vec![intent("a", Started), intent("b", Planned), intent("c", Refused)],
            answered: false,
            want: vec![unknown("a"), not_started("b"), not_started("c"), unknown("d")],
            found: Recovery { turns: 1, unknown: 2, not_started: 2, collected: 0 },
        },
        Case {
            name: "the first was answered",
            calls: &["a", "b"],
            intents: vec![intent("a", Started), intent("b", Started)],
            answered: true,
            want: vec![Message::tool(CallId::new("a"), "terminal", "ok"), unknown("b")],
            found: Recovery { turns: 1, unknown: 1, not_started: 0, collected: 0 },
        },
    ]
}

#[tokio::test]
async fn every_call_gets_one_result_and_the_turn_is_closed() {
    for case in cases() {
        let desk = Desk::new();
        let lease = desk.lease("s").await;
        desk.say(&lease, "before", "fine").await;
        let turn = desk.open(&lease, "go").await;
        let mut want: Vec<_> = ["before"].map(Message::user).into();
        want.extend([Message::assistant("fine"), Message::user("go")]);
        if !case.calls.is_empty() {
            let reply = reply(case.calls);
            let planned = desk.db.plan(&lease, &turn, &reply, None, &case.intents).await;
            want.push(Message::Assistant(reply));
            if case.answered {
                let first = Settled {
                    intent: planned.unwrap().ids[0],
                    state: IntentState::Done,
                    message: ToolMessage::new(CallId::new("a"), "terminal", "ok"),
                };
                let settlement = Settlement { results: vec![first], ..Settlement::default() };
                desk.db.settle(&lease, &turn, settlement).await.unwrap();
            }
        }
        want.extend(case.want);
        want.push(Message::assistant("interrupted"));

        // The process dies here: the turn stays open and the lease is not released.
        let next = desk.again();
        drop(desk);
        let taken = next.db.acquire(session("s"), owner(2)).await.unwrap();
        assert_eq!(taken.open_turn, Some(turn), "{}", case.name);
        let full = next.db.stats().full_commits;
        let found = next.db.recover(&taken.lease, texts(), Vec::new()).await.unwrap();
        assert_eq!(found, case.found, "{}", case.name);
        assert_eq!(next.db.stats().full_commits, full + 1, "{}", case.name);
        assert_eq!(next.messages("s").await, want, "{}", case.name);

        let again = next.db.recover(&taken.lease, texts(), Vec::new()).await.unwrap();
        assert_eq!(again, Recovery::default(), "{}", case.name);
        assert_eq!(next.messages("s").await, want, "{}", case.name);
        let taken = next.db.acquire(session("s"), owner(2)).await.unwrap();
        assert_eq!((taken.open_turn, taken.orphans), (None, vec![]), "{}", case.name);
        let left: i64 = next
            .raw()
            .query_row(
                "SELECT COUNT(*) FROM hx_intents WHERE ended_at IS NULL OR state IN ('planned', 'started')",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(left, 0, "{}", case.name);
        let reason: String = next
            .raw()
            .query_row("SELECT exit_reason FROM hx_turns ORDER BY id DESC LIMIT 1", [], |row| row.get(0))
            .unwrap();
        assert_eq!(reason, "interrupted_by_crash", "{}", case.name);
    }
}

#[tokio::test]
async fn old_owner_cannot_recover() {
    let desk = Desk::new();
    let old = desk.lease("s").await;
    desk.open(&old, "go").await;
    desk.lease("s").await;
    assert!(desk.db.recover(&old, texts(), Vec::new()).await.is_err());
    assert_eq!(desk.messages("s").await, [Message::user("go")]);
}

/// A call with a known end gets its real result.
#[tokio::test]
async fn real_result_of_a_call_is_recorded() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "go").await;
    let intents = ["a", "b", "c"].map(|id| intent(id, IntentState::Started));
    let planned = desk.db.plan(&lease, &turn, &reply(&["a", "b", "c"]), None, &intents).await.unwrap();
    let end = |place: usize, id: &str, state, text: &str| Settled {
        intent: planned.ids[place],
        state,
        message: ToolMessage::new(CallId::new(id), "terminal", text),
    };
    let mut not_run = end(0, "a", IntentState::Refused, "not run");
    not_run.message.disposition = Some(Disposition::None);
    let ends = vec![end(2, "c", IntentState::Done, "real"), not_run.clone()];
    let found = desk.db.recover(&lease, texts(), ends).await.unwrap();
    assert_eq!(found, Recovery { turns: 1, collected: 1, unknown: 1, not_started: 1 });
    let mut messages = desk.messages("s").await;
    let closing = messages.split_off(messages.len() - 1);
    assert_eq!(closing, [Message::assistant("interrupted")]);
    let want =
        [Message::Tool(not_run.message), unknown("b"), Message::tool(CallId::new("c"), "terminal", "real")];
    assert_eq!(messages[2..], want);
    let states: Vec<String> = desk
        .raw()
        .prepare("SELECT state FROM hx_intents ORDER BY id")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(states, ["refused", "unknown", "done"]);
}

//! Calls that a script makes: started once, settled once, and known after a crash.

use crate::desk::{Desk, intent, owner, reply, session, texts};
use hermes_conversation::{
    CallId, Decided, InnerCall, InnerEnd, IntentId, IntentState, Lease, OpenTurn, Settled, Settlement,
    StartPermit, ToolMessage, Transcript,
};

fn inner(parent: IntentId, number: u64, state: IntentState) -> InnerCall {
    InnerCall { parent, number, intent: intent(&format!("a.{number}"), state), decided: None }
}

/// A turn whose script runs.
async fn script(desk: &Desk) -> (Lease, OpenTurn, IntentId) {
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "go").await;
    let planned =
        desk.db.plan(&lease, &turn, &reply(&["a"]), None, &[intent("a", IntentState::Started)]).await;
    (lease, turn, planned.unwrap().ids[0])
}

fn ended(intent: IntentId, result: &str) -> InnerEnd {
    InnerEnd { intent, state: IntentState::Done, result: result.into() }
}

#[tokio::test]
async fn calls_of_a_script_start_and_end_once() {
    let desk = Desk::new();
    let (lease, turn, parent) = script(&desk).await;
    let full = desk.db.stats().full_commits;
    let (first, permit) =
        desk.db.begin_inner(&lease, &turn, inner(parent, 1, IntentState::Started)).await.unwrap();
    assert_eq!(permit.map(|permit: StartPermit| permit.intent()), Some(first));
    desk.db.end_inner(&lease, &turn, ended(first, "one")).await.unwrap();
    assert!(desk.db.end_inner(&lease, &turn, ended(first, "two")).await.is_err());
    let denied = Decided {
        intent: parent,
        decision: "denied",
        by: "user",
        scope: None,
        rules: vec!["recursive delete".into()],
        was_asked: true,
    };
    let refused = InnerCall { decided: Some(denied), ..inner(parent, 2, IntentState::Refused) };
    let (second, permit) = desk.db.begin_inner(&lease, &turn, refused).await.unwrap();
    assert!(permit.is_none());
    assert_eq!(desk.db.stats().full_commits, full + 3);
    let decided: (i64, String) = desk
        .raw()
        .query_row("SELECT intent, rules FROM hx_decisions", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(decided, (second.0, "recursive delete".to_owned()));
    let calls = desk.db.inner_calls(parent).await.unwrap();
    let shown: Vec<_> = calls.iter().map(|call| (call.number, call.state, call.result.as_deref())).collect();
    assert_eq!(shown, [(1, IntentState::Done, Some("one")), (2, IntentState::Refused, None)]);
    // A script that has ended makes no calls.
    let message = ToolMessage::new(CallId::new("a"), "execute_code", "{}");
    let results = vec![Settled { intent: parent, state: IntentState::Done, message }];
    desk.db.settle(&lease, &turn, Settlement { results, ..Settlement::default() }).await.unwrap();
    assert!(desk.db.begin_inner(&lease, &turn, inner(parent, 3, IntentState::Started)).await.is_err());
    assert_eq!(desk.db.inner_calls(parent).await.unwrap().len(), 2);
}

#[tokio::test]
async fn fenced_owner_starts_no_call() {
    let desk = Desk::new();
    let (old, turn, parent) = script(&desk).await;
    desk.lease("s").await;
    assert!(desk.db.begin_inner(&old, &turn, inner(parent, 1, IntentState::Started)).await.is_err());
    assert!(desk.db.inner_calls(parent).await.unwrap().is_empty());
}

#[tokio::test]
async fn crash_leaves_each_call_with_one_end() {
    let desk = Desk::new();
    let (lease, turn, parent) = script(&desk).await;
    let mut ids = Vec::new();
    for number in 1..=3 {
        let call = inner(parent, number, IntentState::Started);
        ids.push(desk.db.begin_inner(&lease, &turn, call).await.unwrap().0);
    }
    desk.db.end_inner(&lease, &turn, ended(ids[0], "one")).await.unwrap();
    let next = desk.again();
    drop(desk);
    let taken = next.db.acquire(session("s"), owner(2)).await.unwrap();
    let orphans: Vec<_> = taken.orphans.iter().map(|orphan| (orphan.id, orphan.parent)).collect();
    assert_eq!(orphans, [(parent, None), (ids[1], Some(parent)), (ids[2], Some(parent))]);
    let end = |intent, state, text: &str| Settled {
        intent,
        state,
        message: ToolMessage::new(CallId::new("a"), "execute_code", text),
    };
    let ends = vec![end(ids[1], IntentState::Done, "two"), end(parent, IntentState::Failed, "cut off")];
    let found = next.db.recover(&taken.lease, texts(), ends).await.unwrap();
    assert_eq!((found.turns, found.collected, found.unknown), (1, 1, 0));
    let states: Vec<_> = next.db.inner_calls(parent).await.unwrap().iter().map(|call| call.state).collect();
    assert_eq!(states, [IntentState::Done, IntentState::Done, IntentState::Unknown]);
    // The results of a script's calls are no messages.
    assert_eq!(next.messages("s").await.len(), 4);
    next.db.release(&taken.lease).await.unwrap();
    next.db.delete(&taken.lease.session).await.unwrap();
    let left: i64 =
        next.raw().query_row("SELECT COUNT(*) FROM hx_inner_calls", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

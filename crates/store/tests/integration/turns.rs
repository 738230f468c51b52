//! The record of a turn: order, counters, syncs, fences.

use crate::desk::{Desk, call, closing, intent, opening, owner, reply, session, spent};
use hermes_conversation::{
    CallId, Decided, FileChange, IntentState, Lease, ProcessMark, RecordError, Settled, Settlement,
    ToolMessage, Transcript,
};
use hermes_store::{OrphanIntent, StoreError, WriterStats};

fn result(id: &str) -> ToolMessage {
    ToolMessage::new(CallId::new(id), "terminal", "ok")
}

#[tokio::test]
async fn turn_with_one_call_needs_four_syncs() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    assert_eq!(desk.db.stats().full_commits, 0);
    let turn = desk.open(&lease, "list").await;
    let permits = desk
        .db
        .plan(&lease, &turn, &reply(&["a"]), Some(&spent(1)), &[intent("a", IntentState::Started)])
        .await
        .unwrap();
    assert_eq!(permits.started[0].as_ref().map(|permit| permit.intent()), Some(permits.ids[0]));
    let settlement = Settlement {
        results: vec![Settled { intent: permits.ids[0], state: IntentState::Done, message: result("a") }],
        ..Settlement::default()
    };
    desk.db.settle(&lease, &turn, settlement).await.unwrap();
    desk.db.close(&lease, turn, closing("there")).await.unwrap();
    assert_eq!(desk.db.stats(), WriterStats { full_commits: 4, commits: 5 });
    let raw = desk.raw();
    let counts: (i64, i64, i64) = raw
        .query_row("SELECT message_count, tool_call_count, api_call_count FROM sessions", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(counts, (4, 1, 1));
    let order: String = raw
        .query_row(
            "SELECT group_concat(seq || role, ' ') FROM
             (SELECT x.seq, m.role FROM hx_message_ext AS x JOIN messages AS m ON m.id = x.message_id ORDER BY m.id)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(order, "1user 2assistant 3tool 4assistant");
}

#[tokio::test]
async fn call_starts_once_and_ends_once() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "list").await;
    let intents = [intent("a", IntentState::Planned), intent("b", IntentState::Refused)];
    let permits = desk.db.plan(&lease, &turn, &reply(&["a", "b"]), None, &intents).await.unwrap();
    assert!(permits.started.iter().all(Option::is_none));
    let (a, b) = (permits.ids[0], permits.ids[1]);
    let start = |intent| Settlement {
        start: vec![intent],
        decided: vec![Decided {
            intent,
            decision: "asked",
            by: "user",
            scope: None,
            rules: Vec::new(),
            was_asked: true,
        }],
        ..Settlement::default()
    };
    let end = |intent, id| Settlement {
        results: vec![Settled { intent, state: IntentState::Done, message: result(id) }],
        ..Settlement::default()
    };
    let full = desk.db.stats().full_commits;
    let started = desk.db.settle(&lease, &turn, start(a)).await.unwrap();
    assert_eq!(started[0].intent(), a);
    assert_eq!(desk.db.stats().full_commits, full + 1);
    for (name, settlement, fine) in [
        ("a started twice", start(a), false),
        ("a refused call started", start(b), false),
        ("a ends", end(a, "a"), true),
        ("a ends twice", end(a, "a"), false),
        ("a started after its end", start(a), false),
        ("the refused call gets its result", end(b, "b"), true),
    ] {
        let settled = desk.db.settle(&lease, &turn, settlement).await;
        assert_eq!(settled.is_ok(), fine, "{name}");
    }
    assert_eq!(desk.messages("s").await.len(), 4);
    desk.db.close(&lease, turn.clone(), closing("x")).await.unwrap();
    assert!(desk.db.extend(&lease, &turn, &[], None).await.is_err());
}

#[tokio::test]
async fn old_generation_cannot_write() {
    let desk = Desk::new();
    let old = desk.lease("s").await;
    let turn = desk.open(&old, "first").await;
    let other = desk.again();
    let new = other.db.acquire(session("s"), owner(2)).await.unwrap();
    assert_eq!(new.lease.generation, old.generation + 1);
    assert_eq!(new.open_turn, Some(turn.clone()));
    let fenced = RecordError::Fenced { session: old.session.clone() };
    assert_eq!(desk.db.open_turn(&old, opening("no")).await, Err(fenced.clone()));
    assert_eq!(desk.db.extend(&old, &turn, &[], None).await, Err(fenced.clone()));
    assert_eq!(desk.db.close(&old, turn, closing("no")).await, Err(fenced.clone()));
    desk.db.release(&old).await.unwrap();
    other.open(&new.lease, "second").await;
    assert_eq!(desk.messages("s").await.len(), 2);
    other.db.release(&new.lease).await.unwrap();
    assert_eq!(desk.db.open_turn(&new.lease, opening("no")).await, Err(fenced));
}

#[tokio::test]
async fn live_owner_keeps_its_session() {
    let desk = Desk::new();
    let db = desk.db.clone().with_liveness(|owner| owner.pid == 1);
    let lease = desk.lease("s").await;
    let refused = db.acquire(session("s"), owner(2)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Busy { pid: 1, .. }), "{refused}");
    assert!(matches!(db.delete(&lease.session).await.unwrap_err(), StoreError::Busy { pid: 1, .. }));
    let again = db.acquire_existing(lease.session.clone(), owner(1)).await;
    assert_eq!(again.unwrap().lease.generation, 2);
    let lease = Lease { generation: 2, ..lease };
    db.release(&lease).await.unwrap();
    db.acquire(session("s"), owner(2)).await.unwrap();
    let unknown = db.acquire_existing(hermes_conversation::SessionId::new("x"), owner(1));
    assert!(matches!(unknown.await.unwrap_err(), StoreError::UnknownSession { .. }));
}

#[tokio::test]
async fn next_owner_reads_the_process_of_a_call() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "run").await;
    let planned = desk
        .db
        .plan(&lease, &turn, &reply(&["a"]), None, &[intent("a", IntentState::Started)])
        .await
        .unwrap();
    let mark = ProcessMark { group: 77, started: 5, boot: "b".into() };
    let before = desk.db.stats().full_commits;
    desk.db.note_process(planned.ids[0], &mark).await.unwrap();
    assert_eq!(desk.db.stats().full_commits, before);
    let change =
        FileChange { path: "/a".into(), place: None, before: None, after: "x".into(), result: "{}".into() };
    desk.db.note_change(planned.ids[0], &change).await.unwrap();
    let next = desk.again().db.acquire(session("s"), owner(2)).await.unwrap();
    assert_eq!(
        next.orphans,
        [OrphanIntent {
            arguments: r#"{"command":"ls"}"#.into(),
            effect: "any".into(),
            change: Some(change),
            id: planned.ids[0],
            call_id: call("a").id,
            tool: "terminal".into(),
            state: IntentState::Started,
            process: Some(mark),
            boot: "b".into(),
            parent: None,
        }]
    );
}

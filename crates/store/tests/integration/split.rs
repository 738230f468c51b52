//! A compaction that continues in another session: readers see one conversation.

use crate::desk::{Desk, compaction, intent, owner, reply, texts as recovery_texts};
use crate::epochs::text;
use hermes_conversation::{
    DeliveryPoint, IntentState, Lease, MailMode, Mailbox, Message, MessageId, Quirks, SessionId, Settled,
    Settlement, ToolMessage, Transcript,
};
use hermes_store::{
    CompactionFailures, ExportFilter, ExportFormat, Include, ListFilter, OriginalRange, StoreError, verify,
};
use std::time::Duration;

fn session(name: &str) -> SessionId {
    SessionId::new(name)
}

async fn originals(desk: &Desk, name: &str) -> Vec<String> {
    let all = desk.db.whole_conversation(&session(name)).await.unwrap();
    all.iter().map(|message| text(message).to_owned()).collect()
}

async fn hits(desk: &Desk, query: &str) -> usize {
    desk.db.search(query, 99).await.unwrap().hits.len()
}

async fn is_sound(desk: &Desk) {
    assert_eq!(verify(&desk.path).findings, []);
    desk.db.drain(Duration::from_secs(10)).await.unwrap();
    assert_eq!(verify(&desk.path).findings, []);
}

/// Three turns in `s`, with a summary and all that belongs to a session.
async fn session_with_turns() -> (Desk, Lease) {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    for n in 1..=3 {
        desk.say(&lease, &format!("q{n} walrus"), &format!("a{n}")).await;
    }
    desk.db.set_title(&lease.session, "Sea").await.unwrap();
    desk.db.set_quirks(&lease, Quirks { no_streaming: true, ..Quirks::default() }).await.unwrap();
    desk.db.record_prompt_outline(&lease.session, "[]".into()).await.unwrap();
    desk.db.pin(&lease.session, "never on Fridays").await.unwrap();
    (desk, lease)
}

/// The active messages, with a summary in place of all but the last `tail` messages.
async fn with_summary(desk: &Desk, name: &str, tail: usize) -> Vec<Message> {
    let now = desk.messages(name).await;
    [&[Message::user("sum walrus")], &now[now.len() - tail..]].concat()
}

async fn split(desk: &Desk, lease: &Lease, to: &str, tail: usize) -> Lease {
    let epoch = with_summary(desk, lease.session.as_str(), tail).await;
    let compaction = compaction(&epoch, tail, &[(&[], "n")]);
    let (lease, _) = desk.db.split_compacted(lease, &compaction, &session(to)).await.unwrap();
    assert_eq!(desk.messages(to).await, epoch);
    lease
}

#[tokio::test]
async fn conversation_continues_in_the_new_session() {
    let (desk, lease) = session_with_turns().await;
    let trouble = CompactionFailures { fallback_streak: 1, ineffective: 1, ..CompactionFailures::default() };
    desk.db.record_compaction_failures(&lease, &trouble).await.unwrap();
    let full = desk.db.stats().full_commits;
    let second = split(&desk, &lease, "t", 2).await;
    assert_eq!(desk.db.stats().full_commits, full + 1);
    desk.say(&second, "q4 walrus", "a4").await;
    let third = split(&desk, &second, "u", 4).await;
    assert!(matches!(desk.db.replace(&second, &[]).await, Err(StoreError::Fenced { .. })));
    desk.say(&third, "q5 walrus", "a5").await;
    let (old, new) = (desk.db.load(&session("s")).await.unwrap(), desk.db.load(&session("u")).await.unwrap());
    assert_eq!(
        (&new.source, &new.model, &new.system_prompt, &new.cwd, new.quirks),
        (&old.source, &old.model, &old.system_prompt, &old.cwd, old.quirks)
    );
    assert_eq!((new.title.as_deref(), new.parent), (Some("Sea #3"), Some(session("t"))));
    assert_eq!(desk.db.prompt_outline(&session("u")).await.unwrap().as_deref(), Some("[]"));
    assert_eq!(desk.db.compaction_failures(&session("u")).await.unwrap(), trouble);
    assert_eq!(desk.db.pins(&session("u")).await.unwrap()[0].text, "never on Fridays");
    assert_eq!(desk.db.resolve_resume(&session("s")).await.unwrap(), session("u"));
    // Every message is returned and found once.
    let all = originals(&desk, "u").await;
    assert_eq!(
        all,
        ["q1 walrus", "a1", "q2 walrus", "a2", "q3 walrus", "a3", "q4 walrus", "a4", "q5 walrus", "a5"]
    );
    assert_eq!(hits(&desk, "walrus").await, 5);
    assert_eq!(desk.db.search_originals(&session("u"), "walrus", 9).await.unwrap().hits.len(), 5);
    assert_eq!(desk.db.statistics().await.unwrap().total.messages, 10);
    let listed = desk.db.list(ListFilter::default()).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0].id, listed[0].preview.as_str()), (&session("u"), "q5 walrus"));
    let originals = desk.db.originals(&session("u"), OriginalRange::ALL, None, 99).await.unwrap();
    assert_eq!(originals.len(), 10);
    // The summaries of all sessions are returned, and numbers continue.
    let nodes = desk.db.nodes(&session("u")).await.unwrap();
    let nodes: Vec<_> = nodes.iter().map(|node| (node.number, node.first.0, node.last.0)).collect();
    assert_eq!(nodes, [(1, 1, 4)]);
    let epoch = with_summary(&desk, "u", 2).await;
    let added = desk.compact(&third, &epoch, 2, &[(&[], "n2"), (&[1, 2], "n3")]).await;
    assert_eq!((added[0].number, added[0].first, added[0].messages), (2, MessageId(5), 4));
    assert_eq!((added[1].number, added[1].children.as_slice(), added[1].messages), (3, &[1, 2][..], 8));
    assert_eq!(desk.db.latest_epoch_count(&session("u")).await.unwrap(), 3);
    assert_eq!(desk.db.nodes(&session("s")).await.unwrap(), []);
    is_sound(&desk).await;
}

/// A turn that is split in its middle continues, or is recovered, in the new session.
#[tokio::test]
async fn open_turn_moves_to_the_new_session() {
    for crash in [false, true] {
        let (desk, lease) = session_with_turns().await;
        let turn = desk.open(&lease, "go").await;
        let intents = [intent("c1", IntentState::Started)];
        let permits = desk.db.plan(&lease, &turn, &reply(&["c1"]), None, &intents).await.unwrap();
        let message = ToolMessage::new(reply(&["c1"]).calls[0].id.clone(), "terminal", "one");
        let results = vec![Settled { intent: permits.ids[0], state: IntentState::Done, message }];
        desk.db.settle(&lease, &turn, Settlement { results, ..Settlement::default() }).await.unwrap();
        desk.db.post(&lease.session, MailMode::Steer, "faster").await.unwrap();
        let new = split(&desk, &lease, "t", 3).await;
        let intents = [intent("c2", IntentState::Started)];
        desk.db.plan(&new, &turn, &reply(&["c2"]), None, &intents).await.unwrap();
        let desk = if crash {
            let next = desk.again();
            drop(desk);
            let taken = next.db.acquire_existing(session("t"), owner(2)).await.unwrap();
            assert_eq!(taken.open_turn.unwrap().id, turn.id);
            assert_eq!(taken.orphans.len(), 1);
            let found = next.db.recover(&taken.lease, recovery_texts(), vec![]).await.unwrap();
            assert_eq!((found.turns, found.unknown), (1, 1));
            next
        } else {
            let mail = Mailbox::waiting(&desk.db, &new, DeliveryPoint::ToolResult).await.unwrap();
            assert_eq!(mail.iter().map(|mail| mail.text.as_str()).collect::<Vec<_>>(), ["faster"]);
            desk.db.recover(&new, recovery_texts(), vec![]).await.unwrap();
            desk
        };
        let old = desk.db.acquire_existing(session("s"), owner(3)).await.unwrap();
        assert_eq!((old.open_turn, old.orphans), (None, vec![]), "crash: {crash}");
        let messages = desk.messages("t").await;
        assert_eq!(messages.last(), Some(&Message::assistant("interrupted")));
        is_sound(&desk).await;
    }
}

#[tokio::test]
async fn split_is_atomic() {
    let (desk, lease) = session_with_turns().await;
    let before = desk.export(ExportFilter::default(), ExportFormat::Jsonl).await;
    let epoch = with_summary(&desk, "s", 2).await;
    let bad = compaction(&epoch, 2, &[(&[], "n1"), (&[9], "n2")]);
    let refused = desk.db.split_compacted(&lease, &bad, &session("t")).await;
    assert!(matches!(refused, Err(StoreError::UnknownNode { number: 9, .. })), "{refused:?}");
    let good = compaction(&epoch, 2, &[]);
    let refused = desk.db.split_compacted(&lease, &good, &session("s")).await;
    assert!(matches!(refused, Err(StoreError::SessionExists { .. })), "{refused:?}");
    desk.raw().execute_batch("DROP TABLE hx_compactions").unwrap();
    let failed = desk.db.split_compacted(&lease, &good, &session("t")).await;
    assert!(matches!(failed, Err(StoreError::Sqlite { .. })), "{failed:?}");
    desk.raw().execute_batch("CREATE TABLE hx_compactions (session, number, at, report)").unwrap();
    assert_eq!(desk.export(ExportFilter::default(), ExportFormat::Jsonl).await, before);
    desk.say(&lease, "on", "yes").await;
}

/// Copies of deleted originals become originals.
#[tokio::test]
async fn copies_become_originals_when_the_old_session_is_deleted() {
    let (desk, lease) = session_with_turns().await;
    let second = split(&desk, &lease, "t", 2).await;
    let epoch = with_summary(&desk, "t", 2).await;
    desk.compact(&second, &epoch, 2, &[]).await;
    assert_eq!(hits(&desk, "q3").await, 1);
    let alone = ExportFilter { session: Some(session("t")), ..ExportFilter::default() };
    let text = desk.export(alone, ExportFormat::Jsonl).await;
    let elsewhere = Desk::new();
    assert_eq!(elsewhere.db.import(&text).await.unwrap().problems, []);
    desk.db.delete(&session("s")).await.unwrap();
    for desk in [&desk, &elsewhere] {
        assert_eq!(originals(desk, "t").await, ["q3 walrus", "a3"]);
        assert_eq!(hits(desk, "q3").await, 1);
        is_sound(desk).await;
    }
    desk.say(&second, "q4 walrus", "a4").await;
    let epoch = with_summary(&desk, "t", 2).await;
    let added = desk.compact(&second, &epoch, 2, &[(&[], "n")]).await;
    assert_eq!(added[0].messages, 2);
    assert_eq!(originals(&desk, "t").await.len(), 4);
}

#[tokio::test]
async fn split_conversation_is_exported_and_imported() {
    let (desk, lease) = session_with_turns().await;
    let second = split(&desk, &lease, "t", 2).await;
    desk.say(&second, "q4 walrus", "a4").await;
    let text = desk.export(ExportFilter::default(), ExportFormat::Jsonl).await;
    for in_the_way in [false, true] {
        let other = Desk::new();
        if in_the_way {
            let stranger = other.lease("x").await;
            other.say(&stranger, "hello", "yes").await;
        }
        assert_eq!(other.db.import(&text).await.unwrap().problems, []);
        assert_eq!(originals(&other, "t").await, originals(&desk, "t").await, "in the way: {in_the_way}");
        assert_eq!(hits(&other, "walrus").await, 4, "in the way: {in_the_way}");
        is_sound(&other).await;
        let lease = other.db.acquire_existing(session("t"), owner(1)).await.unwrap().lease;
        let epoch = with_summary(&other, "t", 3).await;
        let added = other.compact(&lease, &epoch, 3, &[(&[], "n")]).await;
        assert_eq!((added[0].number, added[0].messages), (2, 1), "in the way: {in_the_way}");
    }
}

/// A copy that is rewound in the new session has its original in the old one.
#[tokio::test]
async fn copied_messages_can_be_rewound() {
    let (desk, lease) = session_with_turns().await;
    split(&desk, &lease, "t", 2).await;
    let now = desk.db.messages(&session("t"), Include::Active).await.unwrap();
    desk.db.rewind(&session("t"), now[1].id).await.unwrap();
    assert_eq!(originals(&desk, "t").await, ["q1 walrus", "a1", "q2 walrus", "a2"]);
    desk.db.restore_rewound(&session("t"), now[1].id).await.unwrap();
    assert_eq!(originals(&desk, "t").await.len(), 6);
    assert_eq!(desk.messages("s").await.len(), 6);
    is_sound(&desk).await;
}

/// A conversation stays one through any number of sessions.
#[tokio::test]
async fn conversation_of_many_sessions_is_complete() {
    let desk = Desk::new();
    let mut lease = desk.lease("s0").await;
    desk.say(&lease, "q0", "a0").await;
    for n in 1..=120 {
        lease = split(&desk, &lease, &format!("s{n}"), 0).await;
        desk.say(&lease, &format!("q{n}"), &format!("a{n}")).await;
    }
    let last = session("s120");
    assert_eq!(desk.db.continuation_tip(&session("s0")).await.unwrap(), last);
    assert_eq!(desk.db.resolve_resume(&session("s0")).await.unwrap(), last);
    let originals = desk.db.originals(&last, OriginalRange::ALL, None, 999).await.unwrap();
    assert_eq!(originals.len(), 242);
    let nodes = desk.db.nodes(&last).await.unwrap();
    assert_eq!((nodes.len(), nodes[0].number, nodes[0].first.0), (120, 1, 1));
    assert_eq!(desk.db.latest_epoch_count(&last).await.unwrap(), 120);
}

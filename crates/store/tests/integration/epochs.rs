//! Compactions: epochs, summaries and copies, and that each original message is returned once.

use crate::desk::{
    Desk, call, closing, compaction, intent, opening, owner, reply, session, texts as recovery_texts, ticking,
};
use hermes_conversation::{
    CallId, Compaction, IntentState, Lease, Message, MessageId, Node, OpenTurn, RecordError, SessionId,
    Settled, Settlement, ToolMessage, Transcript,
};
use hermes_store::{
    CompactionFailures, ExportFilter, ExportFormat, Include, InsightsFilter, MessageState, OriginalRange,
    Recovery, SearchFilter, SessionDb, StoredMessage, verify,
};
use std::time::Duration;

mod foreign_rows;

fn id() -> SessionId {
    SessionId::new("s")
}

pub(crate) fn text(message: &Message) -> &str {
    match message {
        Message::User(said) => said.content.as_text(),
        Message::Assistant(said) => &said.text,
        Message::Tool(result) => result.content.as_text(),
    }
}

fn texts(rows: &[StoredMessage]) -> Vec<&str> {
    rows.iter().map(|row| text(&row.message)).collect()
}

async fn originals(desk: &Desk, session: &str) -> Vec<String> {
    let all = desk.db.whole_conversation(&SessionId::new(session)).await.unwrap();
    all.iter().map(|message| text(message).to_owned()).collect()
}

/// A session with prompts `q1`.. and answers `a1`..: message ids 1 to `2 * turns`.
async fn session_with_turns(turns: usize) -> (Desk, Lease) {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    for n in 1..=turns {
        desk.say(&lease, &format!("q{n} walrus"), &format!("a{n}")).await;
    }
    (desk, lease)
}

/// The active messages, with a summary in place of all but the last `tail` messages.
async fn with_summary(desk: &Desk, session: &str, summary: &str, tail: usize) -> Vec<Message> {
    let now = desk.messages(session).await;
    let kept = &now[now.len() - tail..];
    [&[Message::user(summary)], kept].concat()
}

async fn is_sound(desk: &Desk) {
    assert_eq!(verify(&desk.path).findings, []);
    desk.db.drain(Duration::from_secs(10)).await.unwrap();
    assert_eq!(verify(&desk.path).findings, []);
}

async fn hits(desk: &Desk, query: &str) -> Vec<i64> {
    let filter = SearchFilter { sort: hermes_store::Sort::Oldest, ..SearchFilter::default() };
    let report = desk.db.search_with(query, filter).await.unwrap();
    report.hits.iter().map(|hit| hit.message.0).collect()
}

fn node(number: u32, level: u32, children: &[u32], (first, last, messages): (i64, i64, u64)) -> Node {
    let (first, last) = (MessageId(first), MessageId(last));
    Node { number, level, children: children.to_vec(), first, last, messages, text: format!("n{number}") }
}

#[tokio::test]
async fn epoch_is_active_and_originals_are_kept() {
    let (desk, lease) = session_with_turns(4).await;
    let epoch = with_summary(&desk, "s", "so far: a walrus", 4).await;
    let full = desk.db.stats().full_commits;
    let nodes = desk.compact(&lease, &epoch, 4, &[(&[], "n1")]).await;
    assert_eq!(desk.db.stats().full_commits, full + 1);
    assert_eq!(nodes, [node(1, 0, &[], (1, 4, 4))]);
    assert_eq!(desk.messages("s").await, epoch);
    assert_eq!(desk.db.nodes(&id()).await.unwrap(), nodes);
    let all = desk.db.messages(&id(), Include::All).await.unwrap();
    let made: Vec<_> = all.iter().map(|row| (row.state, row.is_generated)).collect();
    let want = [vec![(MessageState::Compacted, false); 8], vec![(MessageState::Active, true); 5]].concat();
    assert_eq!(made, want);
    // Copies have the times of their sources, and time does not go backwards.
    let times: Vec<f64> = all.iter().map(|row| row.at).collect();
    assert_eq!(times[9..], times[4..8]);
    assert_eq!(times[8], times[9]);
    let want = ["q1 walrus", "a1", "q2 walrus", "a2", "q3 walrus", "a3", "q4 walrus", "a4"];
    assert_eq!(originals(&desk, "s").await, want);
    let originals = desk.db.messages(&id(), Include::Originals).await.unwrap();
    assert_eq!(texts(&originals), want);
    // Each once, with every index, and also after a rebuild.
    for query in ["walrus", "walr*", "a3 OR a1"] {
        let once = if query.contains("a3") { vec![2, 6] } else { vec![1, 3, 5, 7] };
        assert_eq!(hits(&desk, query).await, once, "{query}");
    }
    is_sound(&desk).await;
    desk.db.reindex(|_, _| {}).await.unwrap();
    assert_eq!(hits(&desk, "walrus").await, [1, 3, 5, 7]);
    is_sound(&desk).await;
    let said = desk.db.insights(InsightsFilter::default()).await.unwrap().messages;
    assert_eq!((said.user, said.assistant), (4, 4));
    assert_eq!(desk.db.statistics().await.unwrap().total.messages, 8);
    let last: Vec<_> = desk.db.last_messages(&id(), 3).await.unwrap();
    assert_eq!(last.iter().map(text).collect::<Vec<_>>(), ["a3", "q4 walrus", "a4"]);
    let count: i64 =
        desk.raw().query_row("SELECT message_count FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 5);
}

/// A message stays one message through many compactions, and every leaf begins where the last one ended.
#[tokio::test]
async fn leaf_begins_where_the_last_one_ended() {
    let (desk, lease) = session_with_turns(4).await;
    let epoch = with_summary(&desk, "s", "one", 4).await;
    desk.compact(&lease, &epoch, 4, &[(&[], "n1")]).await;
    // No new message, and a shorter tail: messages that left it are covered.
    let epoch = with_summary(&desk, "s", "two", 3).await;
    assert_eq!(desk.compact(&lease, &epoch, 3, &[(&[], "n2")]).await, [node(2, 0, &[], (5, 5, 1))]);
    // The same tail again: nothing is left to cover, so there is no leaf, and parents are still written.
    let epoch = with_summary(&desk, "s", "three", 3).await;
    let added = desk.compact(&lease, &epoch, 3, &[(&[], "none"), (&[1, 2], "n3")]).await;
    assert_eq!(added, [node(3, 1, &[1, 2], (1, 5, 5))]);
    desk.say(&lease, "q5 walrus", "a5").await;
    // The tail begins with a copy of a copy of a copy.
    let epoch = with_summary(&desk, "s", "four", 4).await;
    let added = desk.compact(&lease, &epoch, 4, &[(&[], "n4"), (&[3, 4], "n5")]).await;
    assert_eq!(added, [node(4, 0, &[], (6, 6, 1)), node(5, 2, &[3, 4], (1, 6, 6))]);
    let now = desk.db.messages(&id(), Include::Active).await.unwrap();
    assert_eq!(texts(&now), ["four", "q4 walrus", "a4", "q5 walrus", "a5"]);
    assert_eq!(originals(&desk, "s").await.len(), 10);
    assert_eq!(hits(&desk, "walrus").await.len(), 5);
    // A tail of unknown messages has no original: everything is covered rather than lost.
    let strange = [Message::user("five"), Message::user("never said")];
    let added = desk.compact(&lease, &strange, 1, &[(&[], "n6")]).await;
    let last = added[0].last;
    assert_eq!((added[0].first, added[0].messages), (MessageId(7), 4));
    assert_eq!(desk.db.original(&id(), last).await.unwrap().unwrap().message, Message::assistant("a5"));
    assert_eq!(desk.db.latest_epoch_count(&id()).await.unwrap(), 5);
    let compactions = desk.db.compactions(&id()).await.unwrap();
    assert_eq!(compactions.iter().map(|one| one.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(compactions[4].report, compaction(&strange, 1, &[]).report);
    is_sound(&desk).await;
}

/// Kept messages before the summary, and equal messages.
#[tokio::test]
async fn head_is_copied_and_equal_messages_are_distinguished() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    for _ in 0..3 {
        desk.say(&lease, "again", "yes").await;
    }
    let [again, yes] = [Message::user("again"), Message::assistant("yes")];
    let epoch = [again.clone(), yes.clone(), Message::user("sum"), again, yes];
    assert_eq!(desk.compact(&lease, &epoch, 2, &[(&[], "n1")]).await, [node(1, 0, &[], (1, 4, 4))]);
    let copies: Vec<Option<i64>> = desk
        .raw()
        .prepare("SELECT copy_of FROM hx_message_ext WHERE made = 1 ORDER BY message_id")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(copies, [Some(1), Some(2), None, Some(5), Some(6)]);
    assert_eq!(originals(&desk, "s").await.len(), 6);
    is_sound(&desk).await;
}

#[tokio::test]
async fn originals_are_paged_and_found() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    desk.say(&lease, "look at Foo::bar_baz() and c++17", "温室里种番茄").await;
    let turn = desk.open(&lease, "todo").await;
    for (n, result) in ["[1]", "[2]"].into_iter().enumerate() {
        tool(&desk, &lease, &turn, &format!("c{n}"), result).await;
    }
    desk.db.close(&lease, turn, closing("ok")).await.unwrap();
    let other = desk.lease("other").await;
    desk.say(&other, "番茄 in another session", "bar_baz").await;
    let all = desk.messages("s").await.len();
    let epoch = with_summary(&desk, "s", "番茄 bar_baz [2]", 1).await;
    desk.compact(&lease, &epoch, 1, &[(&[], "n1")]).await;
    let mut after = None;
    let mut read = Vec::new();
    loop {
        let page = desk.db.originals(&id(), OriginalRange::ALL, after, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        read.extend(page);
    }
    assert_eq!(read.len(), all);
    assert!(read.iter().all(|row| !row.is_generated && row.state == MessageState::Compacted));
    let range = OriginalRange { first: MessageId(2), last: MessageId(3) };
    assert_eq!(texts(&desk.db.originals(&id(), range, None, 9).await.unwrap()), ["温室里种番茄", "todo"]);
    let none = desk.db.originals(&SessionId::new("x"), OriginalRange::ALL, None, 9).await.unwrap();
    assert_eq!(none, []);
    // A copy resolves to its original; summaries and messages of other sessions are not originals here.
    let now = desk.db.messages(&id(), Include::Active).await.unwrap();
    assert_eq!(desk.db.original(&id(), now[0].id).await.unwrap(), None);
    let original = desk.db.original(&id(), now[1].id).await.unwrap().unwrap();
    assert_eq!((text(&original.message), original.is_generated), ("ok", false));
    assert_eq!(desk.db.original(&SessionId::new("other"), original.id).await.unwrap(), None);
    for (query, want) in
        [("番茄", vec![2]), ("bar_baz", vec![1]), ("Foo::bar_baz", vec![1]), ("c++", vec![1]), ("x9", vec![])]
    {
        let found = desk.db.search_originals(&id(), query, 9).await.unwrap();
        let found: Vec<_> = found.hits.iter().map(|hit| hit.message.0).collect();
        assert_eq!(found, want, "{query}");
    }
    let newest = desk.db.newest_result(&id(), "terminal").await.unwrap();
    assert_eq!(newest.as_ref().map(text), Some("[2]"));
    assert_eq!(desk.db.newest_result(&id(), "todo").await.unwrap(), None);
}

async fn tool(desk: &Desk, lease: &Lease, turn: &OpenTurn, call_id: &str, result: &str) {
    let intents = [intent(call_id, IntentState::Started)];
    let permits = desk.db.plan(lease, turn, &reply(&[call_id]), None, &intents).await.unwrap();
    let message = ToolMessage::new(call(call_id).id, "terminal", result);
    let results = vec![Settled { intent: permits.ids[0], state: IntentState::Done, message }];
    desk.db.settle(lease, turn, Settlement { results, ..Settlement::default() }).await.unwrap();
}

/// The process dies at different points of a turn with a compaction in its middle.
#[tokio::test]
async fn crash_after_a_compaction_within_a_turn_is_recovered() {
    for (pending, tail) in [(false, 3), (true, 3), (false, 0), (true, 0)] {
        let (desk, lease) = session_with_turns(2).await;
        let turn = desk.open(&lease, "go").await;
        tool(&desk, &lease, &turn, "c1", "one").await;
        let epoch = with_summary(&desk, "s", "sum", tail).await;
        desk.db.compact(&lease, Some(&turn), &compaction(&epoch, tail, &[(&[], "n1")])).await.unwrap();
        let mut want = epoch;
        let mut found = Recovery { turns: 1, ..Recovery::default() };
        if pending {
            let intents = [intent("c2", IntentState::Started)];
            desk.db.plan(&lease, &turn, &reply(&["c2"]), None, &intents).await.unwrap();
            want.push(Message::Assistant(reply(&["c2"])));
            let lost = ToolMessage::new(CallId::new("c2"), "terminal", "unknown");
            want.push(Message::Tool(lost.with_disposition(hermes_conversation::Disposition::Unknown)));
            found.unknown = 1;
        }
        want.push(Message::assistant("interrupted"));
        let next = desk.again();
        drop(desk);
        let taken = next.db.acquire(session("s"), owner(2)).await.unwrap();
        assert_eq!(taken.open_turn.as_ref(), Some(&turn));
        assert_eq!(next.db.recover(&taken.lease, recovery_texts(), vec![]).await.unwrap(), found);
        assert_eq!(next.messages("s").await, want, "pending: {pending}, tail: {tail}");
        next.say(&taken.lease, "on", "yes").await;
        is_sound(&next).await;
    }
}

#[tokio::test]
async fn closed_turn_is_not_compacted() {
    let (desk, lease) = session_with_turns(1).await;
    let before = desk.messages("s").await;
    let turn = OpenTurn { id: hermes_conversation::TurnId(99), session: id() };
    let refused = desk.db.compact(&lease, Some(&turn), &compaction(&[], 0, &[])).await;
    assert!(matches!(refused, Err(RecordError::Store { .. })), "{refused:?}");
    let refused = desk.db.compact(&lease, None, &compaction(&[], 0, &[(&[7], "x")])).await.unwrap_err();
    let want = "the session store failed: session s has no summary 7; nothing was compacted";
    assert_eq!(refused.to_string(), want);
    assert_eq!(desk.messages("s").await, before);
}

/// Rewinding a copy rewinds its original, and restoring it restores both.
#[tokio::test]
async fn kept_messages_can_be_rewound_and_restored() {
    let (desk, lease) = session_with_turns(4).await;
    let epoch = with_summary(&desk, "s", "sum", 4).await;
    desk.compact(&lease, &epoch, 4, &[(&[], "n1")]).await;
    let now = desk.db.messages(&id(), Include::Active).await.unwrap();
    let (q4, all) = (now[3].id, originals(&desk, "s").await);
    let rewound = desk.db.rewind(&id(), q4).await.unwrap();
    assert_eq!((rewound.text.as_str(), rewound.messages), ("q4 walrus", 2));
    assert_eq!(originals(&desk, "s").await, all[..6]);
    assert_eq!(hits(&desk, "walrus").await, [1, 3, 5]);
    is_sound(&desk).await;
    // With any start only the copies become active again.
    for since in [q4, MessageId(1)] {
        assert_eq!(desk.db.restore_rewound(&id(), since).await.unwrap(), 2, "{since:?}");
        assert_eq!(desk.messages("s").await, epoch, "{since:?}");
        assert_eq!(originals(&desk, "s").await, all, "{since:?}");
        desk.db.rewind(&id(), q4).await.unwrap();
    }
    desk.say(&lease, "q4 badger", "b4").await;
    let epoch = with_summary(&desk, "s", "sum", 2).await;
    let added = desk.compact(&lease, &epoch, 2, &[(&[], "n2")]).await;
    // Rewound messages are not covered.
    assert_eq!(added, [node(2, 0, &[], (5, 6, 2))]);
    let error = desk.db.rewind(&id(), MessageId(1)).await.unwrap_err();
    assert!(error.to_string().ends_with("the message was already rewound or summarised"), "{error}");
    is_sound(&desk).await;
}

/// A message that was rewound during a compaction and restored later is covered by the next leaf.
#[tokio::test]
async fn message_restored_after_a_compaction_is_covered_later() {
    let (desk, lease) = session_with_turns(3).await;
    desk.db.rewind(&id(), MessageId(5)).await.unwrap();
    desk.say(&lease, "q4 walrus", "a4").await;
    let added = desk.compact(&lease, &[Message::user("sum")], 0, &[(&[], "n1")]).await;
    assert_eq!(added, [node(1, 0, &[], (1, 8, 6))]);
    desk.say(&lease, "q5 walrus", "a5").await;
    desk.db.rewind(&id(), MessageId(10)).await.unwrap();
    desk.say(&lease, "q6 walrus", "a6").await;
    let added = desk.compact(&lease, &[Message::user("sum")], 0, &[(&[], "n2")]).await;
    assert_eq!(added, [node(2, 0, &[], (12, 13, 2))]);
    assert_eq!(desk.db.restore_rewound(&id(), MessageId(10)).await.unwrap(), 2);
    let added = desk.compact(&lease, &[Message::user("sum")], 0, &[(&[], "n3")]).await;
    assert_eq!(added, [node(3, 0, &[], (10, 11, 2))]);
    is_sound(&desk).await;
}

/// If any statement fails, nothing is changed.
#[tokio::test]
async fn compaction_is_atomic() {
    for (name, broken) in [
        ("the report", "DROP TABLE hx_compactions"),
        ("the second summary", "CREATE UNIQUE INDEX one_node ON hx_nodes(session)"),
        (
            "putting away",
            "CREATE UNIQUE INDEX said_twice ON messages(content, compacted) WHERE content = 'a4'",
        ),
        ("a copy's place", "CREATE UNIQUE INDEX one_copy ON hx_message_ext(made) WHERE made = 1"),
        (
            "counting the last copy",
            "UPDATE sessions SET message_count = 5 WHERE id = 't';
             CREATE UNIQUE INDEX same_count ON sessions(message_count)",
        ),
    ] {
        let (desk, lease) = session_with_turns(4).await;
        // Equal text, once summarised and once active, in another session.
        desk.lease("t").await;
        desk.raw()
            .execute_batch(
                "INSERT INTO messages (session_id, role, content, timestamp, compacted, active)
                 VALUES ('t', 'user', 'a4', 1, 1, 0)",
            )
            .unwrap();
        let before = desk.db.messages(&id(), Include::All).await.unwrap();
        desk.raw().execute_batch(broken).unwrap();
        let epoch = with_summary(&desk, "s", "sum", 4).await;
        let compaction = compaction(&epoch, 4, &[(&[], "n1"), (&[1], "n2")]);
        let failed = desk.db.compact(&lease, None, &compaction).await;
        assert!(matches!(failed, Err(RecordError::Store { .. })), "{name}: {failed:?}");
        assert_eq!(desk.db.messages(&id(), Include::All).await.unwrap(), before, "{name}");
        assert_eq!(desk.db.nodes(&id()).await.unwrap(), [], "{name}");
        let count: i64 = desk
            .raw()
            .query_row("SELECT message_count FROM sessions WHERE id = 's'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(count, 8, "{name}");
        desk.say(&lease, "on", "yes").await;
    }
}

#[tokio::test]
async fn compactions_are_exported_and_imported() {
    let (desk, lease) = session_with_turns(4).await;
    let epoch = with_summary(&desk, "s", "sum walrus", 4).await;
    desk.compact(&lease, &epoch, 4, &[(&[], "n1"), (&[1], "n2")]).await;
    desk.db.pin(&id(), "never on Fridays").await.unwrap();
    let text = desk.export(ExportFilter::default(), ExportFormat::Jsonl).await;
    for takes_ids in [false, true] {
        let other = Desk::new();
        if takes_ids {
            let stranger = other.lease("x").await;
            other.say(&stranger, "in the way", "yes").await;
        }
        let done = other.db.import(&text).await.unwrap();
        assert_eq!((done.sessions.len(), done.problems), (1, vec![]));
        if !takes_ids {
            assert_eq!(other.export(ExportFilter::default(), ExportFormat::Jsonl).await, text);
        }
        assert_eq!(other.messages("s").await, epoch);
        assert_eq!(originals(&other, "s").await, originals(&desk, "s").await);
        assert_eq!(hits(&other, "walrus").await.len(), 4);
        assert_eq!(other.db.pins(&id()).await.unwrap(), desk.db.pins(&id()).await.unwrap());
        assert_eq!(other.db.compactions(&id()).await.unwrap(), desk.db.compactions(&id()).await.unwrap());
        let nodes = other.db.nodes(&id()).await.unwrap();
        let range = OriginalRange { first: nodes[1].first, last: nodes[1].last };
        let covered = other.db.originals(&id(), range, None, 99).await.unwrap();
        assert_eq!(texts(&covered), ["q1 walrus", "a1", "q2 walrus", "a2"], "takes ids: {takes_ids}");
        // The session continues.
        let lease = other.db.acquire_existing(id(), owner(1)).await.unwrap().lease;
        let next = with_summary(&other, "s", "sum", 2).await;
        let added = other.compact(&lease, &next, 2, &[(&[], "n3")]).await;
        assert_eq!((added[0].number, added[0].messages), (3, 2));
        is_sound(&other).await;
    }
}

#[tokio::test]
async fn delete_and_clear_remove_compactions() {
    for clear in [false, true] {
        let (desk, lease) = session_with_turns(2).await;
        let epoch = with_summary(&desk, "s", "sum", 2).await;
        desk.compact(&lease, &epoch, 2, &[(&[], "n1")]).await;
        desk.db.pin(&id(), "pin").await.unwrap();
        desk.db.release(&lease).await.unwrap();
        match clear {
            true => desk.db.clear(&id()).await.unwrap(),
            false => desk.db.delete(&id()).await.unwrap(),
        }
        let left: i64 = desk
            .raw()
            .query_row(
                "SELECT (SELECT COUNT(*) FROM hx_nodes) + (SELECT COUNT(*) FROM hx_compactions)
                      + (SELECT COUNT(*) FROM hx_pins) + (SELECT COUNT(*) FROM hx_message_ext)",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(left, 0, "clear: {clear}");
        is_sound(&desk).await;
    }
}

#[tokio::test]
async fn pins_are_numbered_and_can_be_removed() {
    let (desk, _) = session_with_turns(1).await;
    assert_eq!(desk.db.pin(&id(), "one").await.unwrap(), 1);
    assert_eq!(desk.db.pin(&id(), "two").await.unwrap(), 2);
    assert!(desk.db.unpin(&id(), 1).await.unwrap());
    assert!(!desk.db.unpin(&id(), 1).await.unwrap());
    assert_eq!(desk.db.pin(&id(), "three").await.unwrap(), 3);
    let pins = desk.db.pins(&id()).await.unwrap();
    let pins: Vec<_> = pins.iter().map(|pin| (pin.number, pin.text.as_str())).collect();
    assert_eq!(pins, [(2, "two"), (3, "three")]);
    let unknown = desk.db.pin(&SessionId::new("x"), "one").await.unwrap_err();
    assert_eq!(unknown.to_string(), "no session matches `x`");
}

#[tokio::test]
async fn failures_are_recorded_and_one_process_compacts_at_a_time() {
    let (desk, lease) = session_with_turns(1).await;
    assert_eq!(desk.db.compaction_failures(&id()).await.unwrap(), CompactionFailures::default());
    let trouble = CompactionFailures {
        until: Some(9.5),
        error: Some("no answer".into()),
        fallback_streak: 2,
        ineffective: 1,
    };
    desk.db.record_compaction_failures(&lease, &trouble).await.unwrap();
    assert_eq!(desk.db.compaction_failures(&id()).await.unwrap(), trouble);
    let stored: (f64, String, i64) = desk
        .raw()
        .query_row(
            "SELECT compression_failure_cooldown_until, compression_failure_error, compression_fallback_streak
             FROM sessions",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap();
    assert_eq!(stored, (9.5, "no answer".to_owned(), 2));
    let newer = desk.lease("s").await;
    assert!(desk.db.record_compaction_failures(&lease, &trouble).await.is_err());
    desk.db.record_compaction_failures(&newer, &CompactionFailures::default()).await.unwrap();
    assert_eq!(desk.db.compaction_failures(&id()).await.unwrap(), CompactionFailures::default());

    // A process with an older lease is refused.
    assert!(desk.db.lock_compaction(&lease).await.is_err());
    assert!(desk.db.lock_compaction(&newer).await.unwrap());
    assert!(desk.db.lock_compaction(&newer).await.unwrap(), "it can be prolonged");
    let held = || -> Vec<(String, f64, f64)> {
        let db = desk.raw();
        let mut find = db.prepare("SELECT holder, acquired_at, expires_at FROM compression_locks").unwrap();
        let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    // The clock advances by a second with every read.
    let [(holder, acquired, expires)] = &held()[..] else { panic!("{:?}", held()) };
    assert!(*expires > acquired + 300.0, "{holder} holds it from {acquired} until {expires}");
    let by_python = |expires: f64| {
        let sql = "UPDATE compression_locks SET holder = '4711:1:ab', expires_at = ?1";
        desk.raw().execute(sql, [expires]).unwrap();
    };
    by_python(expires + 1e9);
    assert!(!desk.db.lock_compaction(&newer).await.unwrap());
    desk.db.unlock_compaction(&newer).await.unwrap();
    assert_eq!(held()[0].0, "4711:1:ab", "the lock of another holder is kept");
    by_python(*acquired);
    assert!(desk.db.lock_compaction(&newer).await.unwrap(), "the lock has expired");
    desk.db.unlock_compaction(&newer).await.unwrap();
    assert_eq!(held(), []);
}

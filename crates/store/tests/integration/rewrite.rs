//! Changes of a session: rewind, compact, replace, clear, archive, end.

use crate::desk::{Desk, call, closing, compaction, intent, owner, reply, session};
use hermes_conversation::{
    IntentState, Lease, Message, MessageId, RecordError, SessionId, Settled, Settlement, ToolMessage,
    Transcript,
};
use hermes_store::{Include, ListFilter, MessageState, NewSession, StoreError, StoredMessage, verify};
use std::time::Duration;

/// A session with three turns, one of them with a tool: ids 1 to 8.
async fn session_with_turns() -> (Desk, Lease) {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    desk.say(&lease, "first walrus", "one").await;
    let turn = desk.open(&lease, "list it").await;
    let intents = [intent("c1", IntentState::Started)];
    let permits = desk.db.plan(&lease, &turn, &reply(&["c1"]), None, &intents).await.unwrap();
    let message = ToolMessage::new(call("c1").id, "terminal", "a fox");
    let results = vec![Settled { intent: permits.ids[0], state: IntentState::Done, message }];
    desk.db.settle(&lease, &turn, Settlement { results, ..Settlement::default() }).await.unwrap();
    desk.db.close(&lease, turn, closing("listed")).await.unwrap();
    desk.say(&lease, "last walrus", "three").await;
    (desk, lease)
}

fn id() -> SessionId {
    SessionId::new("s")
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(text).collect()
}

fn text(message: &Message) -> &str {
    match message {
        Message::User(said) => said.content.as_text(),
        Message::Assistant(said) => &said.text,
        Message::Tool(result) => result.content.as_text(),
    }
}

fn ids(rows: &[StoredMessage]) -> Vec<(i64, MessageState)> {
    rows.iter().map(|row| (row.id.0, row.state)).collect()
}

/// `message_count`, `tool_call_count` and `rewind_count`.
fn counters(desk: &Desk) -> (i64, i64, i64) {
    let sql = "SELECT message_count, tool_call_count, rewind_count FROM sessions WHERE id = 's'";
    desk.raw().query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
}

/// Asserts that the verification has no findings, also after indexing.
async fn is_sound(desk: &Desk) {
    assert_eq!(verify(&desk.path).findings, []);
    desk.db.drain(Duration::from_secs(10)).await.unwrap();
    assert_eq!(verify(&desk.path).findings, []);
}

async fn hits(desk: &Desk, query: &str) -> usize {
    desk.db.search(query, 9).await.unwrap().hits.len()
}

#[tokio::test]
async fn messages_are_rewound_and_restored() {
    let (desk, lease) = session_with_turns().await;
    let before = desk.messages("s").await;
    let rewound = desk.db.rewind(&id(), MessageId(3)).await.unwrap();
    assert_eq!((rewound.text.as_str(), rewound.messages, rewound.last), ("list it", 6, Some(MessageId(2))));
    assert_eq!(desk.messages("s").await, before[..2]);
    assert_eq!(counters(&desk), (8, 1, 1));
    assert_eq!((hits(&desk, "walrus").await, hits(&desk, "fox").await), (1, 0));
    is_sound(&desk).await;

    // Continues after the rewind, and restores older messages.
    desk.say(&lease, "another walrus", "four").await;
    assert_eq!(texts(&desk.messages("s").await), ["first walrus", "one", "another walrus", "four"]);
    is_sound(&desk).await;
    assert_eq!(desk.db.restore_rewound(&id(), MessageId(7)).await.unwrap(), 2);
    let all = desk.db.messages(&id(), Include::All).await.unwrap();
    let rewound = all.iter().filter(|row| row.state == MessageState::Rewound).map(|row| row.id.0);
    assert_eq!(rewound.collect::<Vec<_>>(), [3, 4, 5, 6]);
    let first = desk.db.rewind(&id(), MessageId(1)).await.unwrap();
    assert_eq!((first.messages, first.last), (6, None));
    assert_eq!(desk.db.messages(&id(), Include::Active).await.unwrap(), []);
    is_sound(&desk).await;
}

#[tokio::test]
async fn rewind_needs_a_user_message_and_an_idle_session() {
    let (desk, lease) = session_with_turns().await;
    desk.db.rewind(&id(), MessageId(7)).await.unwrap();
    for (message, want) in [
        (4, "cannot rewind session s to message 4: not a message of the user"),
        (7, "cannot rewind session s to message 7: the message was already rewound or summarised"),
        (99, "cannot rewind session s to message 99: no such message"),
    ] {
        let error = desk.db.rewind(&id(), MessageId(message)).await.unwrap_err();
        assert_eq!(error.to_string(), want);
    }
    let used = desk.db.clone().with_liveness(|_| true);
    for refused in [
        used.rewind(&id(), MessageId(1)).await.map(drop),
        used.restore_rewound(&id(), MessageId(1)).await.map(drop),
        used.clear(&id()).await,
    ] {
        assert!(matches!(refused, Err(StoreError::Busy { pid: 1, .. })), "{refused:?}");
    }
    desk.open(&lease, "unfinished").await;
    let error = desk.db.rewind(&id(), MessageId(1)).await.unwrap_err();
    assert_eq!(error.to_string(), "session s has an unfinished turn; resume it first with --resume s");
    assert_eq!(counters(&desk), (9, 1, 1));
}

#[tokio::test]
async fn compaction_deactivates_messages_and_continues() {
    let (desk, lease) = session_with_turns().await;
    desk.db.rewind(&id(), MessageId(7)).await.unwrap();
    let turn = desk.open(&lease, "and now").await;
    let kept = [Message::user("so far: a walrus"), Message::Assistant(reply(&["c1"]))];
    let kept =
        [&kept[..], &[Message::tool(call("c1").id, "terminal", "a fox"), Message::user("and now")]].concat();
    desk.db.compact(&lease, Some(&turn), &compaction(&kept, 1, &[])).await.unwrap();
    assert_eq!(desk.messages("s").await, kept);
    assert_eq!(counters(&desk), (4, 1, 1));
    desk.db.close(&lease, turn, closing("done")).await.unwrap();
    assert_eq!(counters(&desk), (5, 1, 1));
    let rows = desk.db.messages(&id(), Include::All).await.unwrap();
    let state = |id: i64| match id {
        1..=6 | 9 => MessageState::Compacted,
        7..=8 => MessageState::Rewound,
        _ => MessageState::Active,
    };
    assert_eq!(ids(&rows), (1..=14).map(|id| (id, state(id))).collect::<Vec<_>>());
    is_sound(&desk).await;
    // Summarised messages are found, rewound ones are not.
    assert_eq!((hits(&desk, "first").await, hits(&desk, "last").await, hits(&desk, "fox").await), (1, 0, 1));
    // Restoring rewound messages does not restore summarised ones.
    assert_eq!(desk.db.restore_rewound(&id(), MessageId(1)).await.unwrap(), 2);
    // A rewind after a compaction leaves a counter between active and all.
    desk.db.rewind(&id(), MessageId(13)).await.unwrap();
    is_sound(&desk).await;
    assert_eq!(desk.again().messages("s").await, desk.messages("s").await);
}

#[tokio::test]
async fn replace_removes_active_messages_only() {
    let (desk, lease) = session_with_turns().await;
    desk.compact(&lease, &[Message::user("summary")], 0, &[]).await;
    desk.say(&lease, "gone badger", "five").await;
    desk.db.drain(Duration::from_secs(10)).await.unwrap();
    let new = [Message::user("new otter"), Message::Assistant(reply(&["c9"]))];
    desk.db.replace(&lease, &new).await.unwrap();
    assert_eq!(desk.messages("s").await, new);
    assert_eq!(counters(&desk), (2, 1, 0));
    is_sound(&desk).await;
    assert_eq!(
        (hits(&desk, "badger").await, hits(&desk, "otter").await, hits(&desk, "walrus").await),
        (0, 1, 2)
    );
    desk.db.replace(&lease, &[]).await.unwrap();
    assert_eq!(counters(&desk), (0, 0, 0));
    desk.say(&lease, "on", "yes").await;
    is_sound(&desk).await;
}

#[tokio::test]
async fn only_the_newest_lease_rewrites() {
    let (desk, old) = session_with_turns().await;
    let before = desk.messages("s").await;
    let lease = desk.lease("s").await;
    let refused = desk.db.replace(&old, &[]).await;
    assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{refused:?}");
    let refused = desk.db.compact(&old, None, &compaction(&[], 0, &[])).await;
    assert!(matches!(refused, Err(RecordError::Fenced { .. })), "{refused:?}");
    assert_eq!(desk.messages("s").await, before);
    // Atomic, and durable when it is answered.
    let full = desk.db.stats().full_commits;
    desk.db.replace(&lease, &before).await.unwrap();
    assert_eq!((desk.messages("s").await, desk.db.stats().full_commits), (before, full + 1));
}

#[tokio::test]
async fn cleared_session_is_empty() {
    let (desk, lease) = session_with_turns().await;
    desk.db.drain(Duration::from_secs(10)).await.unwrap();
    desk.db.clear(&id()).await.unwrap();
    assert_eq!((desk.messages("s").await, counters(&desk)), (vec![], (0, 0, 0)));
    is_sound(&desk).await;
    assert_eq!(hits(&desk, "walrus").await, 0);
    desk.say(&lease, "again", "yes").await;
    is_sound(&desk).await;
    let unknown = desk.db.clear(&SessionId::new("x")).await;
    assert!(matches!(unknown, Err(StoreError::UnknownSession { .. })));
}

#[tokio::test]
async fn session_ends_once_and_can_be_reopened() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let ended = || -> (Option<f64>, Option<String>) {
        let sql = "SELECT ended_at, end_reason FROM sessions WHERE id = 's'";
        desk.raw().query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    let full = desk.db.stats().full_commits;
    assert!(desk.db.end(&id(), "agent_close").await.unwrap());
    assert!(!desk.db.end(&id(), "cli_close").await.unwrap());
    assert_eq!(ended().1.as_deref(), Some("agent_close"));
    assert!(desk.db.end_for_reset(&id(), "session_reset").await.unwrap());
    assert!(!desk.db.end_for_reset(&id(), "idle").await.unwrap());
    assert_eq!(ended().1.as_deref(), Some("session_reset"));
    desk.db.reopen(&id()).await.unwrap();
    assert_eq!(ended(), (None, None));
    assert!(desk.db.end(&id(), "compression").await.unwrap());
    assert!(!desk.db.end_for_reset(&id(), "session_reset").await.unwrap());
    assert_eq!(desk.db.stats().full_commits, full, "an end costs no sync");
    desk.db.acquire_existing(id(), owner(1)).await.unwrap();
    assert_eq!(ended(), (None, None));
    // The first lease is lost, so releasing it ends nothing.
    desk.db.release_ending(&lease, "cli_close").await.unwrap();
    assert_eq!(ended(), (None, None));
    let lease = desk.lease("s").await;
    let commits = desk.db.stats().commits;
    desk.db.release_ending(&lease, "cli_close").await.unwrap();
    assert_eq!((ended().1.as_deref(), desk.db.stats().commits), (Some("cli_close"), commits + 1));
    assert!(!desk.db.end(&SessionId::new("x"), "cli_close").await.unwrap());
    assert!(desk.db.reopen(&SessionId::new("x")).await.is_err());
}

#[tokio::test]
async fn conversation_is_archived_with_all_its_sessions() {
    let desk = Desk::new();
    for id in ["first", "second", "third", "branch", "other"] {
        let lease = desk.lease(id).await;
        desk.say(&lease, id, "yes").await;
    }
    desk.raw()
        .execute_batch(
            "UPDATE sessions SET end_reason = 'compression', ended_at = 1 WHERE id IN ('first', 'second');
             UPDATE sessions SET parent_session_id = 'first' WHERE id IN ('second', 'branch');
             UPDATE sessions SET parent_session_id = 'second' WHERE id = 'third';
             UPDATE sessions SET model_config = '{\"_branched_from\": \"first\"}' WHERE id = 'branch';",
        )
        .unwrap();
    let listed = async || -> Vec<String> {
        let found = desk.db.list(ListFilter::default()).await.unwrap();
        found.into_iter().map(|one| one.id.as_str().to_owned()).collect()
    };
    assert_eq!(listed().await, ["other", "branch", "third"]);
    assert_eq!(desk.db.archive(&SessionId::new("second"), true).await.unwrap(), 3);
    assert_eq!(listed().await, ["other", "branch"]);
    assert_eq!(desk.db.archive(&SessionId::new("third"), false).await.unwrap(), 3);
    assert_eq!(listed().await, ["other", "branch", "third"]);
    assert!(desk.db.archive(&SessionId::new("x"), true).await.is_err());
}

#[tokio::test]
async fn ensure_creates_a_session_and_fills_in_missing_values() {
    let desk = Desk::new();
    desk.db.ensure(session("parent")).await.unwrap();
    desk.raw()
        .execute("INSERT INTO sessions (id, source, started_at) VALUES ('s', 'cron', 1.0)", [])
        .unwrap();
    let new = NewSession { parent: Some(SessionId::new("parent")), ..session("s") };
    desk.db.ensure(new.clone()).await.unwrap();
    desk.db.ensure(NewSession { model: "other".into(), parent: None, ..new }).await.unwrap();
    let stored = desk.db.load(&id()).await.unwrap();
    assert_eq!(
        (stored.source.as_str(), stored.started_at, stored.model.as_deref()),
        ("cron", 1.0, Some("m"))
    );
    assert_eq!(stored.parent, Some(SessionId::new("parent")));
    let stranger = NewSession { parent: Some(SessionId::new("nobody")), ..session("t") };
    assert!(desk.db.ensure(stranger).await.is_err());
}

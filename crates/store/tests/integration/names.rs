//! Titles, finding a session, listing, export.

use crate::desk::{Desk, owner, session};
use hermes_conversation::{Message, SessionId, Transcript};
use hermes_store::{ExportFilter, ExportFormat, ListFilter, NewSession, StoreError};

async fn three() -> Desk {
    let desk = Desk::new();
    for (id, source, text) in [
        ("20260101_a", "cli", "hello\nworld"),
        ("20260102_b", "cron", "tick"),
        ("20260102_c", "tool", "hidden"),
    ] {
        let new = NewSession { source: source.into(), ..session(id) };
        let lease = desk.db.acquire(new, owner(1)).await.unwrap().lease;
        desk.say(&lease, text, "ok").await;
    }
    desk
}

#[tokio::test]
async fn session_is_found_by_id_prefix_title_or_age() {
    let desk = three().await;
    let id = SessionId::new("20260101_a");
    desk.db.set_title(&id, "plan").await.unwrap();
    desk.db.set_title(&SessionId::new("20260102_b"), "plan #2").await.unwrap();
    for (wanted, want) in [
        ("20260101_a", "20260101_a"),
        (" 20260101_a ", "20260101_a"),
        ("20260101", "20260101_a"),
        ("20260102_b", "20260102_b"),
        ("plan", "20260102_b"),
        ("plan #2", "20260102_b"),
        ("latest", "20260102_b"),
    ] {
        assert_eq!(desk.db.resolve(wanted).await.unwrap().as_str(), want, "{wanted}");
    }
    for wanted in ["", "nope", "2026%", "pla"] {
        let error = desk.db.resolve(wanted).await.unwrap_err();
        assert!(matches!(error, StoreError::UnknownSession { .. }), "{wanted}");
    }
    let error = desk.db.resolve("20260102").await.unwrap_err();
    assert_eq!(error.to_string(), "`20260102` matches several sessions: 20260102_b, 20260102_c");
    assert_eq!(desk.db.latest(Some("cli")).await.unwrap(), Some(id));
    assert_eq!(desk.db.latest(Some("acp")).await.unwrap(), None);
}

#[tokio::test]
async fn titles_are_unique_and_numbered() {
    let desk = three().await;
    let (a, b) = (SessionId::new("20260101_a"), SessionId::new("20260102_b"));
    assert_eq!(desk.db.next_title("plan").await.unwrap(), "plan");
    let stored = desk.db.set_title(&a, "  plan\n").await.unwrap();
    assert_eq!(stored.as_deref(), Some("plan"));
    assert_eq!(
        desk.db.set_title(&b, "plan").await.unwrap_err().to_string(),
        "title `plan` is used by session 20260101_a"
    );
    assert_eq!(desk.db.next_title("plan #7").await.unwrap(), "plan #2");
    desk.db.set_title(&b, "plan #2").await.unwrap();
    assert_eq!(desk.db.next_title("plan").await.unwrap(), "plan #3");
    desk.db.set_title(&a, "plan").await.unwrap();
    assert_eq!(desk.db.set_title(&a, "").await.unwrap(), None);
    desk.db.set_title(&b, "plan").await.unwrap();
    assert!(desk.db.set_title(&SessionId::new("x"), "t").await.is_err());
}

#[tokio::test]
async fn title_resolves_to_the_newest_and_is_numbered_on() {
    // Titles in the order in which their sessions were started.
    for (titles, wanted, newest, next) in [
        (&["plan"][..], "plan", Some("plan"), "plan #2"),
        (&["plan", "plan #2", "plan #10"], "plan", Some("plan #10"), "plan #11"),
        (&["plan #3", "plan"], "plan", Some("plan"), "plan #4"),
        (&["plan", "plan #2", "plan #20"], "plan #2", Some("plan #2"), "plan #21"),
        (&["plan #2"], "plan", Some("plan #2"), "plan #3"),
        (&["planet", "plan b", "plan #x"], "plan", None, "plan"),
        (&["100% done", "100 done"], "100% done", Some("100% done"), "100% done #2"),
        (&["a_b", "aXb #4"], "a_b", Some("a_b"), "a_b #2"),
        (&["plan #2 #3"], "plan #2", Some("plan #2 #3"), "plan"),
        (&["Größe", "Größe #2"], "Größe", Some("Größe #2"), "Größe #3"),
    ] {
        let desk = Desk::new();
        for (place, title) in titles.iter().enumerate() {
            let lease = desk.lease(&format!("s{place}")).await;
            desk.db.set_title(&lease.session, title).await.unwrap();
        }
        let found = desk.db.resolve(wanted).await.ok();
        let place = newest.map(|newest| titles.iter().position(|title| *title == newest).unwrap());
        assert_eq!(found, place.map(|place| SessionId::new(format!("s{place}"))), "{titles:?} {wanted}");
        assert_eq!(desk.db.next_title(wanted).await.unwrap(), next, "{titles:?} {wanted}");
    }
}

#[tokio::test]
async fn automatic_title_does_not_overwrite_the_users() {
    let desk = three().await;
    let id = SessionId::new("20260101_a");
    assert!(!desk.db.set_title_if_none(&id, " \u{200b} ").await.unwrap());
    assert!(desk.db.set_title_if_none(&id, "guessed").await.unwrap());
    assert!(!desk.db.set_title_if_none(&id, "guessed again").await.unwrap());
    assert_eq!(desk.db.load(&id).await.unwrap().title.as_deref(), Some("guessed"));
    let taken = desk.db.set_title_if_none(&SessionId::new("20260102_b"), "guessed").await;
    assert!(matches!(taken, Err(StoreError::TitleTaken { .. })), "{taken:?}");
    assert!(!desk.db.set_title_if_none(&SessionId::new("x"), "t").await.unwrap());
}

#[tokio::test]
async fn title_moves_to_the_continuation() {
    let desk = three().await;
    let old = SessionId::new("20260101_a");
    desk.db.set_title(&old, "plan").await.unwrap();
    desk.raw().execute("UPDATE sessions SET end_reason = 'compression' WHERE id = '20260101_a'", []).unwrap();
    let child = NewSession { parent: Some(old.clone()), ..session("child") };
    let lease = desk.db.acquire(child, owner(1)).await.unwrap().lease;
    desk.db.set_title(&lease.session, "plan").await.unwrap();
    assert_eq!(desk.db.load(&old).await.unwrap().title, None);
    let listed = desk.db.list(ListFilter::default()).await.unwrap();
    let ids: Vec<_> = listed.iter().map(|summary| summary.id.as_str()).collect();
    assert_eq!(ids, ["child", "20260102_b"]);
    let judge = desk.db.clone().with_liveness(|_| false);
    judge.delete(&old).await.unwrap();
    assert_eq!(desk.db.load(&lease.session).await.unwrap().parent, None);
}

#[tokio::test]
async fn sessions_are_listed_by_last_activity() {
    let desk = three().await;
    let listed = desk.db.list(ListFilter::default()).await.unwrap();
    let lines: Vec<_> =
        listed.iter().map(|one| (one.id.as_str(), one.preview.as_str(), one.message_count)).collect();
    assert_eq!(lines, [("20260102_b", "tick", 2), ("20260101_a", "hello world", 2)]);
    assert!(listed[0].last_active > listed[0].started_at);
    let filter = ListFilter { source: Some("tool".into()), ..ListFilter::default() };
    assert_eq!(desk.db.list(filter).await.unwrap().len(), 1);
    let filter = ListFilter { offset: 1, limit: 1, ..ListFilter::default() };
    assert_eq!(desk.db.list(filter).await.unwrap()[0].id.as_str(), "20260101_a");
}

#[tokio::test]
async fn export_has_every_column_and_parsed_json() {
    let desk = three().await;
    let lease = desk.lease("x").await;
    let turn = desk.open(&lease, "go").await;
    let reply = Message::Assistant(crate::desk::reply(&["a"]));
    desk.db.extend(&lease, &turn, &[reply], None).await.unwrap();
    let filter = ExportFilter { session: Some(lease.session.clone()), ..ExportFilter::default() };
    let line = desk.export(filter, ExportFormat::Jsonl).await;
    assert_eq!(line.lines().count(), 1);
    let exported: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(exported.as_object().unwrap().len(), 46 + 2, "the columns, `messages` and `hx_turns`");
    let messages = exported["messages"].as_array().unwrap();
    assert_eq!(messages[0]["content"], "go");
    assert_eq!(messages[0].as_object().unwrap().len(), 21 + 1, "the columns and `hx`");
    assert_eq!(messages[1]["tool_calls"][0]["function"]["name"], "terminal");
    assert_eq!(desk.exported().await.len(), 4);
}

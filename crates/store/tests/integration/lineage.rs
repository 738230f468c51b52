//! Parents, children and continuations of sessions.

use crate::desk::Desk;
use hermes_conversation::{Message, SessionId};
use hermes_store::{Archived, ListFilter, StoreError};

/// Creates sessions from `(id, parent, end reason, model_config, source)`, started one after the other,
/// each with one message unless its id ends with `-`.
fn made(rows: &[(&str, &str, &str, &str, &str)]) -> Desk {
    let desk = Desk::new();
    let raw = desk.raw();
    raw.pragma_update(None, "foreign_keys", false).unwrap();
    for (place, (id, parent, end, config, source)) in rows.iter().enumerate() {
        raw.execute(
            "INSERT INTO sessions (id, parent_session_id, end_reason, ended_at, model_config, source, started_at)
             VALUES (?1, NULLIF(?2, ''), NULLIF(?3, ''), CASE WHEN ?3 <> '' THEN 1.0 END, NULLIF(?4, ''), ?5, ?6)",
            rusqlite::params![id, parent, end, config, source, f64::from(u32::try_from(place).unwrap())],
        )
        .unwrap();
        if !id.ends_with('-') {
            raw.execute(
                "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?1, 'user', ?1, ?2)",
                rusqlite::params![id, f64::from(u32::try_from(place).unwrap())],
            )
            .unwrap();
        }
    }
    desk
}

fn names(ids: &[SessionId]) -> Vec<&str> {
    ids.iter().map(SessionId::as_str).collect()
}

const BRANCH: &str = r#"{"_branched_from": "a"}"#;
const HELPER: &str = r#"{"_delegate_from": "a"}"#;

#[tokio::test]
async fn ancestors_and_descendants_are_found() {
    let desk = made(&[
        ("a", "", "compression", "", "cli"),
        ("b", "a", "compression", "", "cli"),
        ("branch", "a", "", BRANCH, "cli"),
        ("c", "b", "", "", "cli"),
    ]);
    let id = |id: &str| SessionId::new(id);
    assert_eq!(names(&desk.db.ancestors(&id("c")).await.unwrap()), ["a", "b"]);
    assert_eq!(names(&desk.db.ancestors(&id("a")).await.unwrap()), Vec::<&str>::new());
    assert_eq!(names(&desk.db.descendants(&id("a")).await.unwrap()), ["b", "branch", "c"]);
    assert_eq!(names(&desk.db.descendants(&id("x")).await.unwrap()), Vec::<&str>::new());
}

#[tokio::test]
async fn tip_is_the_continuation_of_a_split_session() {
    let chain = ("a", "", "compression", "", "cli");
    for (rows, want) in [
        (vec![("a", "", "", "", "cli"), ("b", "a", "", "", "cli")], "a"),
        (vec![chain, ("b", "a", "", "", "cli")], "b"),
        (vec![chain, ("b", "a", "compression", "", "cli"), ("c", "b", "", "", "cli")], "c"),
        (vec![chain, ("b", "a", "", "", "cli"), ("branch", "a", "", BRANCH, "cli")], "b"),
        (vec![chain, ("helper", "a", "", HELPER, "cli"), ("tool", "a", "", "", "tool")], "a"),
        (vec![chain, ("b", "a", "", "not json", "cli")], "b"),
        // An open child is preferred to a newer one that ended, and one that was split again to both.
        (vec![chain, ("b", "a", "", "", "cli"), ("stale", "a", "ws_orphan_reap", "", "cli")], "b"),
        (vec![chain, ("b", "a", "compression", "", "cli"), ("live", "a", "", "", "cli")], "b"),
    ] {
        let desk = made(&rows);
        let tip = desk.db.continuation_tip(&SessionId::new("a")).await.unwrap();
        assert_eq!(tip.as_str(), want, "{rows:?}");
    }
}

#[tokio::test]
async fn resume_continues_in_the_newest_session_with_messages() {
    for (rows, want) in [
        (vec![("a", "", "", "", "cli")], "a"),
        (vec![("a-", "", "", "", "cli")], "a-"),
        (vec![("a", "", "compression", "", "cli"), ("b-", "a", "", "", "cli")], "b-"),
        (vec![("a-", "", "", "", "cli"), ("b", "a-", "", "", "cli"), ("c-", "b", "", "", "cli")], "b"),
        (vec![("a", "", "", "", "cli"), ("b", "a", "", "", "cli"), ("c", "b", "", "", "cli")], "c"),
        (vec![("a", "", "", "", "cli"), ("b", "a", "", BRANCH, "cli")], "a"),
    ] {
        let desk = made(&rows);
        let found = desk.db.resolve_resume(&SessionId::new(rows[0].0)).await.unwrap();
        assert_eq!(found.as_str(), want, "{rows:?}");
    }
}

#[tokio::test]
async fn cycles_end() {
    let desk = made(&[
        ("a", "c", "compression", HELPER, "cli"),
        ("b", "a", "compression", HELPER, "cli"),
        ("c", "b", "compression", HELPER, "cli"),
        ("self", "self", "compression", "", "cli"),
        ("x", "y", "compression", "", "cli"),
        ("y", "x", "compression", "", "cli"),
    ]);
    let id = |id: &str| SessionId::new(id);
    assert_eq!(names(&desk.db.ancestors(&id("a")).await.unwrap()), ["b", "c"]);
    assert_eq!(names(&desk.db.descendants(&id("a")).await.unwrap()), ["b", "c"]);
    assert_eq!(desk.db.continuation_tip(&id("x")).await.unwrap().as_str(), "y");
    assert_eq!(desk.db.resolve_resume(&id("self")).await.unwrap().as_str(), "self");
    assert_eq!(desk.db.archive(&id("x"), true).await.unwrap(), 2);
    assert_eq!(desk.db.whole_conversation(&id("x")).await.unwrap(), ["y", "x"].map(Message::user));
    desk.db.delete(&id("a")).await.unwrap();
    assert!(desk.db.load(&id("b")).await.is_err());
}

#[tokio::test]
async fn long_lineage_is_followed_to_its_end() {
    let ids: Vec<String> = (0..150).map(|n| format!("s{n:03}")).collect();
    let rows: Vec<_> = (0..150)
        .map(|n| {
            let parent = if n == 0 { "" } else { ids[n - 1].as_str() };
            (ids[n].as_str(), parent, "compression", "", "cli")
        })
        .collect();
    let desk = made(&rows);
    let tip = desk.db.continuation_tip(&SessionId::new("s000")).await.unwrap();
    assert_eq!(tip.as_str(), "s149");
    assert_eq!(desk.db.ancestors(&SessionId::new("s149")).await.unwrap().len(), 99);
    assert_eq!(desk.db.descendants(&SessionId::new("s000")).await.unwrap().len(), 149);
}

#[tokio::test]
async fn sub_agents_are_deleted_with_their_parent() {
    let desk = made(&[
        ("a", "", "", "", "cli"),
        ("helper", "a", "", HELPER, "cli"),
        ("its-helper", "helper", "", HELPER, "cli"),
        ("branch", "a", "", BRANCH, "cli"),
    ]);
    let used = desk.db.clone().with_liveness(|_| true);
    let lease =
        used.acquire_existing(SessionId::new("its-helper"), crate::desk::owner(7)).await.unwrap().lease;
    let refused = used.delete(&SessionId::new("a")).await;
    assert!(matches!(refused, Err(StoreError::Busy { pid: 7, .. })), "{refused:?}");
    used.release(&lease).await.unwrap();
    desk.db.delete(&SessionId::new("a")).await.unwrap();
    let left: Vec<_> = desk.exported().await;
    assert_eq!(left.len(), 1);
    assert_eq!((&left[0]["id"], &left[0]["parent_session_id"]), (&"branch".into(), &serde_json::Value::Null));
}

#[tokio::test]
async fn whole_conversation_begins_with_the_first_session() {
    let desk = Desk::new();
    let first = desk.lease("first").await;
    desk.say(&first, "what?", "this").await;
    desk.open(&first, "and how?").await;
    let second = crate::desk::session("second");
    let second = hermes_store::NewSession { parent: Some(SessionId::new("first")), ..second };
    let lease = desk.db.acquire(second, crate::desk::owner(1)).await.unwrap().lease;
    desk.say(&lease, "and how?", "so").await;
    desk.say(&lease, "and how?", "as I said").await;
    let conversation = desk.db.whole_conversation(&SessionId::new("second")).await.unwrap();
    let want = [("what?", "this"), ("and how?", "so"), ("and how?", "as I said")];
    let want: Vec<Message> =
        want.iter().flat_map(|(ask, answer)| [Message::user(*ask), Message::assistant(*answer)]).collect();
    assert_eq!(conversation, want);
    assert_eq!(desk.messages("second").await, want[2..]);
}

#[tokio::test]
async fn list_has_one_line_per_conversation_and_branch() {
    let desk = made(&[
        ("a", "", "compression", "", "cli"),
        ("old", "", "", "", "cli"),
        ("b", "a", "compression", "", "telegram"),
        ("c", "b", "", "", "telegram"),
        ("branch", "old", "", BRANCH, "cli"),
        ("helper", "old", "", HELPER, "cli"),
        ("child", "old", "", "", "cli"),
        ("split", "", "branched", "", "cli"),
        ("late", "split", "", "", "cli"),
        ("cron", "", "", "", "cron"),
        ("tool", "", "", "", "tool"),
        ("lost", "nobody", "", "", "cli"),
        ("x", "y", "compression", "", "cli"),
        ("y", "x", "compression", "", "cli"),
        ("away", "", "", "", "cli"),
    ]);
    desk.db.archive(&SessionId::new("away"), true).await.unwrap();
    let list = async |filter: ListFilter| -> Vec<String> {
        let found = desk.db.list(filter).await.unwrap();
        found.into_iter().map(|line| line.id.as_str().to_owned()).collect()
    };
    let base = ListFilter::default;
    let cron_and_cli = vec!["cron".to_owned(), "cli".to_owned()];
    let everything: Vec<&str> =
        "away y x lost cron late split child helper branch c b old a".split(' ').collect();
    for (what, filter, want) in [
        ("default", base(), vec!["lost", "cron", "late", "split", "branch", "c", "old"]),
        ("limit", ListFilter { limit: 2, offset: 4, ..base() }, vec!["branch", "c"]),
        (
            "source",
            ListFilter { source: Some("cli".into()), offset: 3, ..base() },
            vec!["branch", "c", "old"],
        ),
        ("tool", ListFilter { source: Some("tool".into()), ..base() }, vec!["tool"]),
        ("excluded", ListFilter { exclude_sources: cron_and_cli, ..base() }, vec![]),
        ("archived", ListFilter { archived: Archived::Only, ..base() }, vec!["away"]),
        ("with archived", ListFilter { archived: Archived::Shown, limit: 2, ..base() }, vec!["away", "lost"]),
        ("all", ListFilter { archived: Archived::Shown, include_children: true, ..base() }, everything),
    ] {
        assert_eq!(list(filter).await, want, "{what}");
    }
    let lines = desk.db.list(base()).await.unwrap();
    let one = lines.iter().find(|line| line.id.as_str() == "c").unwrap();
    assert_eq!((one.root.as_ref().map(SessionId::as_str), one.source.as_str()), (Some("a"), "cli"));
    assert_eq!((one.started_at, one.last_active, one.preview.as_str()), (0.0, 3.0, "c"));
}

//! Imports of exported sessions and of invalid files.

use crate::desk::{Desk, session};
use hermes_conversation::{MailMode, SessionId};
use hermes_store::{ImportError, ImportProblem, NewSession};
use serde_json::{Value, json};

fn lines(sessions: &[Value]) -> String {
    sessions.iter().map(|session| format!("{session}\n")).collect()
}

/// Ordinary sessions, and unusual rows.
async fn filled() -> Desk {
    let desk = Desk::new();
    let lease = desk.lease("parent").await;
    desk.say(&lease, "a question", "an answer about walruses").await;
    desk.db.set_title(&SessionId::new("parent"), "Sea").await.unwrap();
    let child = NewSession { parent: Some(SessionId::new("parent")), ..session("a-child") };
    let lease = desk.db.acquire(child, crate::desk::owner(1)).await.unwrap().lease;
    desk.say(&lease, "\0json:[1]", "\0json:not json").await;
    let raw = desk.raw();
    raw.execute("UPDATE sessions SET started_at = 1.0 WHERE id = 'a-child'", []).unwrap();
    for (content, calls) in [
        ("\0json:[{\"type\":\"text\",\"text\":\"hi\",\"n\":1.5e300}]", "[{\"id\":\"c\"}]"),
        ("\0json:\"\\u0000json:[2]\"", "\"123\""),
        ("\0json:7", "not json"),
        ("12", "\"[\""),
        ("\0json:null", "null"),
        ("lone \\ud800", "[\"\\ud800\"]"),
    ] {
        raw.execute(
            "INSERT INTO messages (session_id, role, content, tool_calls, reasoning_details, timestamp, observed)
             VALUES ('parent', 'user', ?1, ?2, ?2, 12345.678901, NULL)",
            [content, calls],
        )
        .unwrap();
    }
    raw.execute("UPDATE sessions SET message_count = NULL, estimated_cost_usd = 0.1 WHERE id = 'parent'", [])
        .unwrap();
    desk
}

#[tokio::test]
async fn round_trip_changes_nothing() {
    let desk = filled().await;
    let before = desk.exported().await;
    for text in [
        lines(&before),
        json!(before).to_string(),
        format!("\u{feff}{}", lines(&before).replace('\n', "\r\n\n")),
    ] {
        let other = Desk::new();
        let imported = other.db.import(&text).await.unwrap();
        assert_eq!((imported.sessions.len(), imported.messages, imported.problems), (2, 10, vec![]));
        assert_eq!(json!(other.exported().await), json!(before));
        assert_eq!(other.db.search("walruses", 9).await.unwrap().hits.len(), 1);
        let again = other.db.import(&text).await.unwrap();
        assert_eq!((again.sessions.len(), again.skipped.len(), again.messages), (0, 2, 0));
        assert_eq!(json!(other.exported().await), json!(before));
        let lease = other.lease("parent").await;
        other.say(&lease, "going on", "yes").await;
    }
}

#[tokio::test]
async fn imported_mail_is_held_until_the_user_trusts_it() {
    let desk = filled().await;
    let id = SessionId::new("parent");
    assert!(desk.exported().await.iter().all(|session| session.get("hx_waiting_mail").is_none()));
    for (mode, text) in [(MailMode::Queue, "and then?"), (MailMode::Steer, "not that \0 way")] {
        desk.db.post(&id, mode, text).await.unwrap();
    }
    let gone = desk.db.post(&id, MailMode::Queue, "was said").await.unwrap();
    let done = "UPDATE hx_mailbox SET state = 'delivered' WHERE id = ?1";
    desk.raw().execute(done, [gone.0]).unwrap();
    let before = desk.exported().await;
    let parent = before.iter().find(|session| session["id"] == "parent").unwrap();
    let mail = parent["hx_waiting_mail"].as_array().unwrap();
    assert_eq!(mail.len(), 2, "{mail:?}");
    assert_eq!((&mail[0]["mode"], &mail[0]["text"]), (&json!("queue"), &json!("and then?")));
    let other = Desk::new();
    other.db.import(&lines(&before)).await.unwrap();
    assert_eq!(json!(other.exported().await), json!(before));
    assert_eq!(other.db.waiting(&id).await.unwrap(), []);
    let parts = other.db.imported_parts(&id).await.unwrap().unwrap();
    assert_eq!(parts.mail, ["and then?", "not that \0 way"]);
    other.db.trust_import(&id).await.unwrap();
    assert_eq!(other.db.imported_parts(&id).await.unwrap(), None);
    assert_eq!(json!(other.exported().await), json!(before));
    let waiting = other.db.waiting(&id).await.unwrap();
    let said: Vec<_> = waiting.iter().map(|mail| (mail.mode, mail.text.as_str())).collect();
    assert_eq!(said, [(MailMode::Queue, "and then?"), (MailMode::Steer, "not that \0 way")]);
    // A second import does not add it again.
    other.db.import(&lines(&before)).await.unwrap();
    assert_eq!(other.db.waiting(&id).await.unwrap().len(), 2);
}

#[tokio::test]
async fn imported_mail_is_never_delivered_and_mail_without_text_is_an_error() {
    let one = |mail: Value| {
        let messages: [Value; 0] = [];
        json!({"id": "s", "source": "cli", "started_at": 1.0, "messages": messages, "hx_waiting_mail": [mail]})
    };
    let other = Desk::new();
    let without_text = one(json!({"mode": "queue", "created_at": 2.0}));
    let problems = other.db.import(&lines(&[without_text])).await.unwrap().problems;
    assert!(problems.len() == 1 && problems[0].text.contains("queued mail"), "{problems:?}");
    assert!(other.exported().await.is_empty());
    let sly = json!({"mode": "queue", "text": "hi", "created_at": 2.0, "state": "delivered", "session": "x", "id": 7});
    other.db.import(&lines(&[one(sly)])).await.unwrap();
    let id = SessionId::new("s");
    assert_eq!(other.db.waiting(&id).await.unwrap(), []);
    assert_eq!(other.db.imported_parts(&id).await.unwrap().unwrap().mail, ["hi"]);
}

#[tokio::test]
async fn conflicting_ids_and_titles_are_replaced() {
    let desk = filled().await;
    let text =
        lines(&desk.exported().await).replace("\"parent\"", "\"second\"").replace("\"a-child\"", "\"c\"");
    let imported = desk.db.import(&text).await.unwrap();
    assert_eq!((imported.sessions.len(), imported.problems), (2, vec![]));
    let all = desk.exported().await;
    let second = all.iter().find(|session| session["id"] == "second").unwrap();
    assert_eq!(second["title"], "Sea #2");
    assert_eq!(second["messages"][0]["content"], "a question");
    assert!(second["messages"][0]["id"].as_i64().unwrap() > 10);
    let child = all.iter().find(|session| session["id"] == "c").unwrap();
    assert_eq!(child["parent_session_id"], "second");
}

#[tokio::test]
async fn invalid_line_is_reported_and_writes_nothing() {
    let desk = Desk::new();
    let good = json!({ "id": "good", "source": "cli", "started_at": 1, "unknown": [], "archived": null, "messages": [] });
    let message = json!({ "role": "user", "content": "x", "timestamp": 2.5 });
    let text = [
        "{\"id\": \"cut".to_owned(),
        "[1]".to_owned(),
        json!({ "source": "cli", "started_at": 1, "messages": [] }).to_string(),
        good.to_string(),
        json!({ "id": "b", "source": "cli", "started_at": 1 }).to_string(),
        json!({ "id": "c", "source": "cli", "started_at": 1, "messages": [message, { "role": "user" }] })
            .to_string(),
        json!({ "id": "d", "source": "cli", "started_at": "soon", "messages": [] }).to_string(),
    ]
    .join("\n");
    let imported = desk.db.import(&text).await.unwrap();
    assert_eq!(imported.sessions, [SessionId::new("good")]);
    let problem = |line, text: &str| ImportProblem { line, text: text.to_owned() };
    assert_eq!(
        imported.problems,
        [
            problem(1, "not valid JSON"),
            problem(2, "not a JSON object"),
            problem(3, "`id` is missing or not a text"),
            problem(5, "`messages` is not a list"),
            problem(6, "message 2: `timestamp` is missing or not a number"),
            problem(7, "`started_at` is missing or not a number"),
        ]
    );
    assert_eq!(desk.exported().await.len(), 1);
    assert!(matches!(desk.db.import("[{}, ").await, Err(ImportError::NotAnArray { .. })));
}

#[tokio::test]
async fn too_large_import_is_refused_before_anything_is_written() {
    let desk = Desk::new();
    let one = |id: usize, messages: usize, text: &str| {
        let message = json!({ "role": "user", "content": text, "timestamp": 1 });
        json!({ "id": id.to_string(), "source": "s", "started_at": 1, "messages": vec![message; messages] })
    };
    let many: Vec<Value> = (0..501).map(|id| one(id, 0, "")).collect();
    let talkative: Vec<Value> = (0..6).map(|id| one(id, 9_000, "")).collect();
    for (text, want) in
        [(lines(&many), "sessions"), (lines(&talkative), "messages"), (" ".repeat((25 << 20) + 1), "bytes")]
    {
        let refused = desk.db.import(&text).await;
        assert!(matches!(refused, Err(ImportError::TooMuch { what, .. }) if what == want), "{want}");
    }
    let large = [one(1, 10_001, ""), one(2, 1, &"x".repeat(5 << 20)), one(3, 1, "fine")];
    let imported = desk.db.import(&lines(&large)).await.unwrap();
    assert_eq!(imported.sessions, [SessionId::new("3")]);
    assert_eq!(imported.problems.len(), 2);
    assert_eq!(desk.exported().await.len(), 1);
}

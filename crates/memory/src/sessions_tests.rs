use super::*;
use crate::recalled;
use hermes_conversation::record_finished_turn;
use hermes_conversation::{Message, UserMessage};
use hermes_store::{NewSession, this_process};
use std::sync::Arc;

async fn store(home: &hermes_testkit::TempHome) -> SessionDb {
    SessionDb::open(&home.path().join("state.db"), Arc::new(|| 1_700_000_000.0)).unwrap()
}

/// Stores a session with one answered question.
async fn talked(db: &SessionDb, id: &str, parent: Option<&str>, question: &str, answer: &str) {
    let new = NewSession {
        id: SessionId::new(id),
        source: "cli".to_owned(),
        model: "m".to_owned(),
        provider: "custom".to_owned(),
        base_url: String::new(),
        system_prompt: String::new(),
        cwd: None,
        parent: parent.map(SessionId::new),
        delegating_call: None,
        model_config: serde_json::Map::new(),
    };
    let acquired = db.acquire(new, this_process()).await.unwrap();
    let (first, rest) = (UserMessage::text(question), vec![Message::assistant(answer)]);
    record_finished_turn(db, &acquired.lease, first, rest).await.unwrap();
}

#[test]
fn search_terms_are_the_longest_ones_each_once() {
    for (message, want) in [
        ("", &[][..]),
        ("what is it?", &[]),
        ("Where does the Tomato seedling grow?", &["\"seedling\"", "\"tomato\"", "\"grow\""]),
        ("tomato, tomato OR NOT tomato*", &["\"tomato\""]),
        ("größere Äpfel", &["\"größere\"", "\"äpfel\""]),
    ] {
        assert_eq!(search_terms(message), want, "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn recall_finds_other_sessions_and_not_its_own() {
    let home = hermes_testkit::TempHome::new();
    let db = store(&home).await;
    talked(&db, "old", None, "which fertiliser for tomato seedlings?", "Use diluted nettle tea.").await;
    talked(&db, "other", None, "the roof leaks", "Look at the slates above the tomato bed.").await;
    talked(&db, "first", None, "tomato seedlings and fertiliser, part one", "Yes.").await;
    talked(&db, "now", Some("first"), "tomato seedlings and fertiliser again", "Yes.").await;
    let recall = SessionRecall::new(db);
    let now = SessionId::new("now");
    let text = recalled(&recall, "how much fertiliser do my tomato seedlings get?", &now).await.unwrap();
    assert!(text.contains("- 2023-11-14, the user said: which fertiliser for tomato seedlings?"), "{text}");
    // One shared term is not enough, and the session's own messages are left out.
    assert!(!text.contains("slates") && !text.contains("part one") && !text.contains("again"), "{text}");
    assert_eq!(recalled(&recall, "how do I paint a fence?", &now).await, None);
    assert_eq!(recalled(&recall, "ok", &now).await, None);
}

#[test]
fn snippets_keep_to_their_limits() {
    let hit = |session: usize, snippet: &str| SearchHit {
        session: SessionId::new(format!("s{session}")),
        message: hermes_conversation::MessageId(1),
        role: "assistant".to_owned(),
        snippet: snippet.to_owned(),
        timestamp: 0.0,
        tool_name: None,
        title: Some("a\ntitle".to_owned()),
        source: "cli".to_owned(),
        model: None,
        session_started: 0.0,
        context: Vec::new(),
    };
    let terms = ["\"tomato\"".to_owned()];
    let many = (0..20).map(|session| hit(session / 2, ">>>tomato<<< soup"));
    let text = chosen(many, &terms).unwrap();
    assert_eq!(text.lines().count(), MOST_SNIPPETS);
    assert_eq!(text.lines().next().unwrap(), "- 1970-01-01 in \"a title\", you said: tomato soup");
    let long = (0..4).map(|session| hit(session, &format!("tomato {}", "x".repeat(900))));
    let text = chosen(long, &terms).unwrap();
    assert!(text.lines().count() == 2 && text.len() <= BUDGET, "{}", text.len());
}

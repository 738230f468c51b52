//! Search, and an index that is behind or broken.

use crate::desk::Desk;
use hermes_conversation::SessionId;
use hermes_store::{Drained, check};
use std::time::Duration;

async fn filled() -> Desk {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    for (question, answer) in [
        ("It's about user@example.com", "I see"),
        ("the quick brown fox", "jumped over"),
        ("我想学习中文搜索技术", "好的"),
        ("path /usr/lib/x_y-z.so failed", "100% wrong"),
        ("ค้นหาภาษาไทย", "ok"),
    ] {
        desk.say(&lease, question, answer).await;
    }
    desk
}

async fn found(desk: &Desk, query: &str) -> usize {
    let report = desk.db.search(query, 20).await.unwrap();
    assert!(report.complete, "{query}");
    report.hits.len()
}

#[tokio::test]
async fn terms_phrases_and_scripts_are_found() {
    let desk = filled().await;
    for (query, want) in [
        ("fox", 1),
        ("FOX quick", 1),
        ("quick fox absent", 0),
        (r#""quick brown""#, 1),
        (r#""brown quick""#, 0),
        ("bro*", 1),
        ("fox OR jumped", 2),
        ("brown NOT fox", 0),
        ("it's", 1),
        ("user@example.com", 1),
        ("user@example.org", 0),
        ("x_y-z.so", 1),
        ("/usr/lib", 1),
        ("中文搜索", 1),
        ("中文", 1),
        ("中文 搜索", 1),
        ("中文 NOT 搜索", 0),
        ("好", 1),
        ("ภาษาไทย", 1),
        ("", 0),
        ("\"", 0),
        ("* ) OR (", 0),
    ] {
        assert_eq!(found(&desk, query).await, want, "{query}");
    }
    let report = desk.db.search("brown", 20).await.unwrap();
    assert_eq!(report.hits[0].snippet.trim(), "the quick >>>brown<<< fox");
    assert_eq!(report.hits[0].session, SessionId::new("s"));
    assert_eq!(report.hits[0].role, "user");
    assert_eq!(desk.db.search("o*", 1).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn messages_are_indexed_by_the_first_search() {
    let desk = filled().await;
    assert_eq!(check(&desk.path).outbox, Some(10));
    let indexed: i64 =
        desk.raw().query_row("SELECT COUNT(*) FROM messages_fts", [], |row| row.get(0)).unwrap();
    assert_eq!(indexed, 0);
    let full = desk.db.stats().full_commits;
    let drained = desk.db.drain(Duration::from_secs(10)).await.unwrap();
    assert_eq!(drained, Drained { indexed: 10, complete: true });
    assert_eq!(desk.db.stats().full_commits, full);
    assert_eq!(check(&desk.path).outbox, Some(0));
    let commits = desk.db.stats().commits;
    desk.db.search("fox", 1).await.unwrap();
    assert_eq!(desk.db.stats().commits, commits, "an idle search writes nothing");
    desk.raw().execute_batch("INSERT INTO messages_fts(messages_fts) VALUES ('integrity-check')").unwrap();
}

#[tokio::test]
async fn broken_index_never_blocks_a_message() {
    let desk = filled().await;
    desk.raw().execute_batch("DROP TABLE messages_fts").unwrap();
    let lease = desk.lease("s").await;
    desk.say(&lease, "after the accident", "still here").await;
    assert_eq!(desk.messages("s").await.len(), 12);
    assert!(desk.db.drain(Duration::from_secs(1)).await.is_err());
    assert_eq!(check(&desk.path).outbox, Some(12));
    assert_eq!(found(&desk, "accident").await, 1, "every message is compared instead");
    assert_eq!(found(&desk, "fox NOT accident").await, 1);
}

#[tokio::test]
async fn deleted_messages_are_no_longer_found() {
    let desk = filled().await;
    assert_eq!(found(&desk, "fox").await, 1);
    let lease = desk.lease("other").await;
    desk.say(&lease, "another fox", "yes").await;
    let before = desk.db.clone().with_liveness(|_| false);
    before.delete(&SessionId::new("s")).await.unwrap();
    assert_eq!(found(&desk, "fox").await, 1);
    let raw = desk.raw();
    for table in ["hx_turns", "hx_leases", "hx_message_ext", "sessions", "messages_fts"] {
        let sessions = format!("SELECT COUNT(*) FROM {table}");
        let left: i64 = raw.query_row(&sessions, [], |row| row.get(0)).unwrap();
        assert!((1..=2).contains(&left), "{table}: {left}");
    }
    assert!(before.delete(&SessionId::new("s")).await.is_err());
}

#[tokio::test]
async fn leave_indexes_everything_and_keeps_the_log_small() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let large = "many different terms ".repeat(50_000);
    for number in 0..6 {
        desk.say(&lease, &format!("question {number}"), &large).await;
    }
    let log = desk.path.with_extension("db-wal");
    assert!(std::fs::metadata(&log).unwrap().len() > 4 << 20, "the log is large before leaving");
    desk.db.leave(Duration::from_secs(60)).await;
    assert!(std::fs::metadata(&log).unwrap().len() <= 4 << 20, "and not after it");
    assert_eq!(check(&desk.path).outbox, Some(0));
    assert_eq!(desk.again().messages("s").await.len(), 12);
}

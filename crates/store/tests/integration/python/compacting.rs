//! One session that both programs compact.

use super::*;

/// Compacted here, loaded and compacted there, loaded and compacted here again.
#[tokio::test]
async fn both_compact_the_same_session() {
    let Some(python) = python(CURRENT) else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let peer = Peer { python, path: &path, sqlite: None };
    peer.ask("make", &[]);
    let db = open(&path);
    go_on(&db).await;
    let id = SessionId::new("py-1");
    let lease = db.acquire_existing(id.clone(), me()).await.unwrap().lease;
    let before = db.load(&id).await.unwrap().messages;
    // The tail begins with a row of Python's, followed by a call and its result, among others.
    let epoch = [&[Message::user("so far: tomatoes")], &before[3..]].concat();
    let nodes = db.compact(&lease, None, &compaction(&epoch, 5)).await.unwrap();
    assert_eq!((nodes[0].messages, nodes[0].first.0), (3, 1));
    assert_eq!(db.load(&id).await.unwrap().messages, epoch);
    db.drain(Duration::from_secs(10)).await.unwrap();
    let seen = peer.ask("see", &["py-1", "tomatoes", "peppers", "jalapeno"]);
    let sent: Vec<_> = seen["messages"].as_array().unwrap().iter().map(|m| &m[1]).collect();
    assert_eq!(
        json!(sent),
        json!([
            "so far: tomatoes",
            "温室里种番茄",
            "and peppers, 辣椒也行吗?",
            "",
            "jalapeno.txt",
            "peppers too"
        ])
    );
    assert_eq!(seen["session"]["message_count"], 6);
    assert_eq!(seen["found"], json!({ "tomatoes": 1, "peppers": 2, "jalapeno": 1 }), "nothing twice");
    let read = peer.ask("read", &["py-1"]);
    assert_eq!(read["conversation"][3]["tool_calls"][0]["id"], "c2");

    peer.ask("compact", &["py-1", "[CONTEXT COMPACTION — REFERENCE ONLY] peppers", "and now?"]);
    let loaded = db.load(&id).await.unwrap().messages;
    let theirs = [Message::user("[CONTEXT COMPACTION — REFERENCE ONLY] peppers"), Message::user("and now?")];
    assert_eq!(loaded, theirs);
    // Python's triggers have indexed our copies; a search still finds the original only.
    assert_eq!(found(&db, "jalapeno").await, ["py-1 tool"]);
    let mut peppers = found(&db, "peppers").await;
    peppers.sort();
    assert_eq!(peppers, ["py-1 assistant", "py-1 user"]);
    let originals = db.messages(&id, Include::Originals).await.unwrap();
    assert_eq!(originals.len(), 9);
    let epoch = [Message::user("so far: all"), Message::user("and now?")];
    let nodes = db.compact(&lease, None, &compaction(&epoch, 1)).await.unwrap();
    assert_eq!((nodes[0].number, nodes[0].messages), (2, 5));
    assert_eq!(
        peer.ask("see", &["py-1"])["messages"],
        json!([["user", "so far: all"], ["user", "and now?"]])
    );
    assert_eq!(verify(&path).findings, []);
}

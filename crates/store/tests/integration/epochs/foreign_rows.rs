//! Compactions over files and rows that older builds or the Python release wrote.

use super::*;

/// A file of a build without epochs gets the columns and keeps its messages.
#[tokio::test]
async fn older_file_gets_the_columns_of_epochs() {
    let (desk, lease) = session_with_turns(2).await;
    desk.db.release(&lease).await.unwrap();
    let before = desk.messages("s").await;
    let path = desk.path.clone();
    desk.raw()
        .execute_batch(
            "DROP INDEX hx_message_ext_copy;
             ALTER TABLE hx_message_ext DROP COLUMN made; ALTER TABLE hx_message_ext DROP COLUMN copy_of;
             ALTER TABLE hx_session_ext DROP COLUMN ineffective;
             DROP TABLE hx_nodes; DROP TABLE hx_compactions; DROP TABLE hx_pins;",
        )
        .unwrap();
    let db = SessionDb::open(&path, ticking()).unwrap();
    assert_eq!(db.load(&id()).await.unwrap().messages, before);
    let lease = db.acquire_existing(id(), owner(1)).await.unwrap().lease;
    let epoch: Compaction = compaction(&[Message::user("sum")], 0, &[(&[], "n1")]);
    assert_eq!(db.compact(&lease, None, &epoch).await.unwrap(), [node(1, 0, &[], (1, 4, 4))]);
    assert_eq!(verify(&path).findings, []);
}

/// The Python release writes calls without text as NULL. They are originals, too.
#[tokio::test]
async fn calls_without_text_of_the_python_release_are_originals() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    desk.raw()
        .execute_batch(
            r#"INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'list it', 1);
               INSERT INTO messages (session_id, role, content, tool_calls, timestamp) VALUES
                 ('s', 'assistant', NULL, '[{"id":"c1","function":{"name":"ls","arguments":"{}"}}]', 2);
               INSERT INTO messages (session_id, role, content, tool_call_id, tool_name, timestamp)
                 VALUES ('s', 'tool', 'a b', 'c1', 'ls', 3);
               INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'assistant', 'two', 4);"#,
        )
        .unwrap();
    let all = async || desk.db.originals(&id(), OriginalRange::ALL, None, 9).await.unwrap();
    assert_eq!(texts(&all().await), ["list it", "", "a b", "two"]);
    let epoch = with_summary(&desk, "s", "so far", 1).await;
    let added = desk.db.compact(&lease, None, &compaction(&epoch, 1, &[(&[], "n1")])).await.unwrap();
    assert_eq!(added, [node(1, 0, &[], (1, 3, 3))]);
    assert_eq!(desk.messages("s").await, epoch);
    assert_eq!(texts(&all().await), ["list it", "", "a b", "two"]);
    is_sound(&desk).await;
}

/// Rows of the Python release have no mark: its summaries are recognised by their first line.
#[tokio::test]
async fn summaries_of_the_python_release_are_not_originals() {
    let (desk, lease) = session_with_turns(1).await;
    desk.raw()
        .execute_batch(
            "UPDATE messages SET active = 0, compacted = 1;
             INSERT INTO messages (session_id, role, content, timestamp) VALUES
                 ('s', 'user', '[CONTEXT COMPACTION — REFERENCE ONLY] walrus', 2000),
                 ('s', 'user', '[CONTEXT SUMMARY]: walrus', 2001),
                 ('s', 'assistant', 'copied by python walrus', 2002);",
        )
        .unwrap();
    assert_eq!(hits(&desk, "walrus").await, [1, 5]);
    assert_eq!(originals(&desk, "s").await, ["q1 walrus", "a1", "copied by python walrus"]);
    // A user message is an original, whatever its first line.
    let turn = desk.db.open_turn(&lease, opening("[CONTEXT SUMMARY]: mine")).await.unwrap();
    desk.db.close(&lease, turn, closing("yes")).await.unwrap();
    assert_eq!(originals(&desk, "s").await.len(), 5);
    let epoch = with_summary(&desk, "s", "sum", 3).await;
    let added = desk.compact(&lease, &epoch, 3, &[(&[], "n1")]).await;
    assert_eq!(added, [node(1, 0, &[], (1, 2, 2))], "the tail begins with a row of Python's");
    is_sound(&desk).await;
}

/// The Python release ignores leases. Messages that it adds during a compaction are in no summary, so they
/// stay active, also through later compactions, until this program has read them.
#[tokio::test]
async fn messages_added_by_python_meanwhile_stay_active() {
    let (desk, lease) = session_with_turns(3).await;
    let epoch = with_summary(&desk, "s", "sum", 2).await;
    desk.raw()
        .execute_batch(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES
                 ('s', 'user', 'python asks walrus', 1e10), ('s', 'assistant', 'python answers', 1e10);",
        )
        .unwrap();
    let added = desk.compact(&lease, &epoch, 2, &[(&[], "n1")]).await;
    assert_eq!(added, [node(1, 0, &[], (1, 4, 4))]);
    let shown = async || desk.messages("s").await.iter().map(|one| text(one).to_owned()).collect::<Vec<_>>();
    assert_eq!(shown().await, ["sum", "q3 walrus", "a3", "python asks walrus", "python answers"]);
    desk.say(&lease, "q4 walrus", "a4").await;
    // The session as this program has read it.
    let again = [Message::user("sum 2"), Message::user("q4 walrus"), desk.messages("s").await.pop().unwrap()];
    desk.compact(&lease, &again, 2, &[(&[], "n2")]).await;
    assert_eq!(shown().await, ["sum 2", "q4 walrus", "a4", "python asks walrus", "python answers"]);
    assert_eq!(originals(&desk, "s").await.len(), 10);
    assert_eq!(hits(&desk, "walrus").await, [1, 3, 5, 14, 7], "by time");
    is_sound(&desk).await;
    // After a resume it is part of the conversation like every other message.
    let lease = desk.db.acquire_existing(id(), lease.owner).await.unwrap().lease;
    desk.raw().execute_batch("UPDATE hx_leases SET taken_at = 2e10").unwrap();
    desk.compact(&lease, &[Message::user("sum 3")], 0, &[(&[], "n3")]).await;
    assert_eq!(shown().await, ["sum 3"]);
    is_sound(&desk).await;
}

//! Several writers on one file.

use crate::desk::{Desk, ticking};
use hermes_conversation::{Message, Transcript};
use hermes_store::SessionDb;

const ROWS: usize = 200;

#[test]
fn two_handles_writing_at_once_lose_nothing() {
    let desk = Desk::new();
    let path = desk.path.clone();
    std::thread::scope(|scope| {
        for id in ["one", "two"] {
            let path = &path;
            scope.spawn(move || write_rows(path, id));
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for id in ["one", "two"] {
        let want: Vec<_> = (0..=ROWS).map(|n| Message::user(format!("{id} {n}"))).collect();
        assert_eq!(runtime.block_on(desk.messages(id)), want);
    }
    let gaps: i64 = desk
        .raw()
        .query_row(
            "SELECT COUNT(*) FROM (SELECT MAX(seq) - COUNT(*) AS gap FROM hx_message_ext GROUP BY session) WHERE gap <> 0",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(gaps, 0);
}

fn write_rows(path: &std::path::Path, id: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let db = SessionDb::open(path, ticking()).unwrap();
        let lease = db.acquire(crate::desk::session(id), hermes_store::this_process()).await.unwrap().lease;
        let first = crate::desk::opening(&format!("{id} 0"));
        let turn = db.open_turn(&lease, first).await.unwrap();
        for n in 1..=ROWS {
            let row = [Message::user(format!("{id} {n}"))];
            db.extend(&lease, &turn, &row, None).await.unwrap();
        }
    });
}

#[test]
fn many_threads_open_a_new_file_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    std::thread::scope(|scope| {
        let openers: Vec<_> =
            (0..8).map(|_| scope.spawn(|| SessionDb::open(&path, ticking()).map(drop))).collect();
        for opener in openers {
            opener.join().unwrap().unwrap();
        }
    });
}

#[tokio::test]
async fn write_waits_for_a_program_without_our_queue() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let foreign = desk.raw();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let turn = desk.db.open_turn(&lease, crate::desk::opening("hello"));
    // The other handle is queued behind the first one, and both continue when the program has finished.
    let again = desk.again();
    let other = tokio::spawn(async move { again.lease("t").await });
    foreign.execute_batch("INSERT INTO state_meta VALUES ('foreign', ''); COMMIT").unwrap();
    turn.await.unwrap();
    other.await.unwrap();
    assert_eq!(desk.messages("s").await, [Message::user("hello")]);
}

#[tokio::test]
async fn queue_is_an_empty_private_and_optional_file() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let queue = desk.path.with_file_name("state.db.hermes-queue");
    let file = std::fs::metadata(&queue).unwrap();
    assert_eq!((file.permissions().mode() & 0o777, file.len()), (0o600, 0));
    // Removing or replacing the file does not affect writes.
    std::fs::remove_file(&queue).unwrap();
    desk.say(&lease, "one", "two").await;
    std::fs::create_dir(&queue).unwrap();
    let again = desk.again();
    again.say(&again.lease("t").await, "three", "four").await;
    desk.say(&lease, "five", "six").await;
    assert_eq!(desk.messages("s").await.len() + desk.messages("t").await.len(), 6);
}

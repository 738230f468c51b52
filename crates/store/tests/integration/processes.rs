//! Background processes: recorded before they run, ended once, with one notice.

use crate::desk::{Desk, opening};
use hermes_conversation::{Opening, SessionId, Transcript};
use hermes_store::{NewProcess, ProcessEnd};

fn process(id: &str) -> NewProcess {
    NewProcess {
        id: id.to_owned(),
        session: SessionId::new("s"),
        key: format!("key-{id}"),
        command: "make serve".to_owned(),
        cwd: "/srv".to_owned(),
        pid: 7,
        has_terminal: true,
        notifies: true,
        patterns: vec!["ready".to_owned()],
    }
}

async fn waiting(desk: &Desk) -> Vec<String> {
    let mail = desk.db.waiting(&SessionId::new("s")).await.unwrap();
    mail.into_iter().map(|mail| mail.text).collect()
}

#[tokio::test]
async fn process_is_read_as_it_was_written() {
    let desk = Desk::new();
    desk.lease("s").await;
    let full = desk.db.stats().full_commits;
    let number = desk.db.begin_process(process("a")).await.unwrap();
    assert_eq!(desk.db.stats().full_commits, full + 1, "durable before the command runs");
    let other = desk.again();
    let stored = other.db.process("a").await.unwrap().unwrap();
    assert_eq!((stored.number, &stored.process, &stored.end), (number, &process("a"), &None));
    assert_eq!(other.db.processes(None).await.unwrap(), std::slice::from_ref(&stored));
    assert_eq!(other.db.processes(Some(&SessionId::new("s"))).await.unwrap(), [stored]);
    assert_eq!(other.db.processes(Some(&SessionId::new("t"))).await.unwrap(), []);
    assert_eq!(other.db.process("b").await.unwrap(), None);
}

#[tokio::test]
async fn end_is_recorded_once_with_one_notice() {
    let desk = Desk::new();
    desk.lease("s").await;
    desk.db.begin_process(process("a")).await.unwrap();
    assert!(desk.db.end_process("a", 3, "exited", "first").await.unwrap().is_some());
    // Another front end that watched the same process.
    assert!(desk.again().db.end_process("a", -1, "lost", "second").await.unwrap().is_none());
    assert_eq!(waiting(&desk).await, ["first"]);
    let ProcessEnd { exit_code, reason, .. } = desk.db.process("a").await.unwrap().unwrap().end.unwrap();
    assert_eq!((exit_code, reason.as_str()), (3, "exited"));
}

#[tokio::test]
async fn notice_is_withdrawn_unless_it_was_delivered() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    for id in ["a", "b", "c"] {
        desk.db.begin_process(process(id)).await.unwrap();
    }
    // Withdrawn before the end is recorded, and after it.
    desk.db.withdraw_process_notice("a").await.unwrap();
    assert!(desk.db.end_process("a", 0, "exited", "a ended").await.unwrap().is_none());
    desk.db.end_process("b", 0, "exited", "b ended").await.unwrap();
    desk.db.end_process("c", 0, "exited", "c ended").await.unwrap();
    desk.db.withdraw_process_notice("b").await.unwrap();
    assert_eq!(waiting(&desk).await, ["c ended"]);

    let mail = desk.db.waiting(&SessionId::new("s")).await.unwrap()[0].id;
    desk.db.open_turn(&lease, Opening { mail: vec![mail], ..opening("c ended") }).await.unwrap();
    desk.db.withdraw_process_notice("c").await.unwrap();
    let delivered: i64 = desk
        .raw()
        .query_row("SELECT COUNT(*) FROM hx_mailbox WHERE state = 'delivered'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(delivered, 1);
}

#[tokio::test]
async fn patterns_are_replaced_by_a_notice_of_the_end() {
    let desk = Desk::new();
    desk.lease("s").await;
    desk.db.begin_process(NewProcess { notifies: false, ..process("a") }).await.unwrap();
    desk.db.notify_of_end("a").await.unwrap();
    let stored = desk.db.process("a").await.unwrap().unwrap().process;
    assert!(stored.notifies && stored.patterns.is_empty());
    assert!(desk.db.end_process("a", 0, "exited", "over").await.unwrap().is_some());
}

#[tokio::test]
async fn processes_that_ended_long_ago_are_forgotten() {
    let desk = Desk::new();
    desk.lease("s").await;
    for id in ["old", "recent", "running"] {
        desk.db.begin_process(process(id)).await.unwrap();
    }
    desk.db.end_process("old", 0, "exited", "").await.unwrap();
    desk.raw().execute("UPDATE hx_processes SET ended_at = -1e9 WHERE id = 'old'", []).unwrap();
    desk.db.end_process("recent", 0, "exited", "").await.unwrap();
    desk.db.begin_process(process("new")).await.unwrap();
    let left = desk.db.processes(None).await.unwrap();
    let ids: Vec<&str> = left.iter().map(|one| one.process.id.as_str()).collect();
    assert_eq!(ids, ["recent", "running", "new"]);
}

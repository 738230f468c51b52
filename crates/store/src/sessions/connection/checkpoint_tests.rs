use super::*;
use crate::sessions::connection::connect;

fn with_a_log(bytes: u64) -> (tempfile::TempDir, PathBuf, Connection) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let db = connect::writer(&path).unwrap();
    db.execute(&format!("INSERT INTO state_meta VALUES ('a', hex(zeroblob({})))", bytes / 2), []).unwrap();
    (dir, path, db)
}

#[test]
fn large_log_is_checkpointed_and_truncated_without_loss() {
    let (_dir, path, db) = with_a_log(2 * LARGE);
    let mut log = Log::of(&path);
    assert!(log.is_due() && !log.is_overdue());
    let mut queue = WriteQueue::for_writes(&path);
    log.checkpoint(&db, &mut queue, WriterLoad::Busy);
    assert!(log.is_longer_than(LARGE), "not while there is work");
    log.checkpoint(&db, &mut queue, WriterLoad::Idle);
    assert_eq!((log.length(), log.is_due()), (Some(0), false));
    let kept: u32 = db.query_row("SELECT length(value) FROM state_meta", [], |row| row.get(0)).unwrap();
    assert_eq!(u64::from(kept), 2 * LARGE);
}

#[test]
fn checkpoint_is_overdue_by_commits_or_by_size() {
    for (bytes, commits, due, overdue) in [
        (0, DUE - 1, false, false),
        (0, DUE, true, false),
        (0, OVERDUE, true, true),
        (HUGE, DUE - 1, false, false),
        (HUGE, DUE, true, true),
    ] {
        let (_dir, path, _db) = with_a_log(bytes);
        let log = Log { commits, ..Log::of(&path) };
        assert_eq!((log.is_due(), log.is_overdue()), (due, overdue), "{bytes} {commits}");
    }
}

#[test]
fn log_is_truncated_by_one_process_at_a_time() {
    let (_dir, path, db) = with_a_log(2 * MAX_LEFT_BEHIND);
    let (mut log, mut queue) = (Log::of(&path), WriteQueue::for_writes(&path));
    let length = log.length();
    let cutter = WriteQueue::for_truncation(&path).try_enter().unwrap();
    log.checkpoint(&db, &mut queue, WriterLoad::Idle);
    assert_eq!(log.length(), length, "another process truncates it");
    let main = std::fs::metadata(&path).unwrap().len();
    assert!(main > MAX_LEFT_BEHIND, "it is checkpointed all the same");
    drop(cutter);
    log.checkpoint(&db, &mut queue, WriterLoad::Idle);
    assert_eq!(log.length(), Some(0));
    assert!(queue.try_enter().is_some(), "the turn was released");
}

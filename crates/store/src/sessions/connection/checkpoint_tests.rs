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
fn a_large_log_is_checkpointed_and_cut_without_loss() {
    let (_dir, path, db) = with_a_log(2 * LARGE);
    let mut log = Log::of(&path);
    assert!(log.is_due() && !log.is_overdue());
    let mut queue = Queue::to_write(&path);
    log.checkpoint(&db, &mut queue, Moment::Busy);
    assert!(log.is_longer_than(LARGE), "not while there is work");
    log.checkpoint(&db, &mut queue, Moment::Idle);
    assert_eq!((log.length(), log.is_due()), (Some(0), false));
    let kept: u32 = db.query_row("SELECT length(value) FROM state_meta", [], |row| row.get(0)).unwrap();
    assert_eq!(u64::from(kept), 2 * LARGE);
}

#[test]
fn a_checkpoint_is_overdue_by_commits_or_by_size() {
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
fn a_log_is_cut_by_one_process_at_a_time() {
    let (_dir, path, db) = with_a_log(2 * TOO_LARGE_TO_LEAVE);
    let (mut log, mut queue) = (Log::of(&path), Queue::to_write(&path));
    let length = log.length();
    let cutter = Queue::to_cut(&path).try_enter().unwrap();
    log.checkpoint(&db, &mut queue, Moment::Idle);
    assert_eq!(log.length(), length, "someone else cuts it");
    let main = std::fs::metadata(&path).unwrap().len();
    assert!(main > TOO_LARGE_TO_LEAVE, "it is checkpointed all the same");
    drop(cutter);
    log.checkpoint(&db, &mut queue, Moment::Idle);
    assert_eq!(log.length(), Some(0));
    assert!(queue.try_enter().is_some(), "the turn was given back");
}

use super::*;
use std::os::unix::fs::PermissionsExt;

const LONG: Duration = Duration::from_secs(60);

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    (dir, path)
}

fn later() -> Instant {
    Instant::now() + LONG
}

#[test]
fn next_process_gets_the_turn_when_it_is_released() {
    let (_dir, path) = scratch();
    let (mut one, mut other) = (WriteQueue::for_writes(&path), WriteQueue::for_writes(&path));
    let turn = one.try_enter().unwrap();
    assert!(other.try_enter().is_none());
    assert_eq!(other.enter(Instant::now()).unwrap_err(), QueueTimeout);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.enter(later()).map(drop));
        drop(turn);
        waiting.join().unwrap().unwrap();
    });
    assert!(one.try_enter().is_some());
}

#[test]
fn turn_is_released_after_a_timeout() {
    let (_dir, path) = scratch();
    let (mut one, mut other) = (WriteQueue::for_writes(&path), WriteQueue::for_writes(&path));
    let turn = one.try_enter().unwrap();
    for _ in 0..3 {
        assert_eq!(other.enter(Instant::now() + Duration::from_millis(5)).unwrap_err(), QueueTimeout);
    }
    drop(turn);
    // Waits that timed out may get the turn first, and must release it.
    drop(one.enter(later()).unwrap());
    drop(other.enter(later()).unwrap());
}

#[test]
fn writes_and_truncation_have_separate_queues() {
    let (_dir, path) = scratch();
    let _turn = WriteQueue::for_writes(&path).try_enter().unwrap();
    assert!(WriteQueue::for_truncation(&path).try_enter().is_some());
}

#[test]
fn lock_file_is_private() {
    let (_dir, path) = scratch();
    let mut queue = WriteQueue::for_writes(&path);
    let _turn = queue.try_enter().unwrap();
    let file = std::fs::metadata(queue.path()).unwrap();
    assert_eq!((file.permissions().mode() & 0o777, file.len()), (0o600, 0));
}

#[test]
fn turn_is_free_without_a_lock_file() {
    let (dir, path) = scratch();
    let link = dir.path().join("link.hermes-queue");
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), &link).unwrap();
    std::fs::create_dir(dir.path().join("taken.hermes-queue")).unwrap();
    for database in [dir.path().join("missing/state.db"), dir.path().join("link"), dir.path().join("taken")] {
        let mut queue = WriteQueue::for_writes(&database);
        let _turn = queue.try_enter().unwrap();
        let _another = queue.enter(Instant::now()).unwrap();
        assert!(matches!(queue.file, LockFile::Missing), "{}", database.display());
    }
    assert!(!dir.path().join("elsewhere").exists());
    assert!(!path.exists());
}

#[test]
fn removed_lock_file_is_created_again() {
    let (_dir, path) = scratch();
    let (mut one, mut other) = (WriteQueue::for_writes(&path), WriteQueue::for_writes(&path));
    drop(one.try_enter().unwrap());
    std::fs::remove_file(one.path()).unwrap();
    let _turn = other.try_enter().unwrap();
    assert!(one.try_enter().is_some(), "it still holds the removed file");
    one.reopen();
    assert!(one.try_enter().is_none());
}

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
fn one_has_the_turn_and_the_next_gets_it_afterwards() {
    let (_dir, path) = scratch();
    let (mut one, mut other) = (Queue::to_write(&path), Queue::to_write(&path));
    let turn = one.try_enter().unwrap();
    assert!(other.try_enter().is_none());
    assert_eq!(other.enter(Instant::now()).unwrap_err(), TooLate);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.enter(later()).map(drop));
        drop(turn);
        waiting.join().unwrap().unwrap();
    });
    assert!(one.try_enter().is_some());
}

#[test]
fn who_gave_up_does_not_keep_the_turn() {
    let (_dir, path) = scratch();
    let (mut one, mut other) = (Queue::to_write(&path), Queue::to_write(&path));
    let turn = one.try_enter().unwrap();
    for _ in 0..3 {
        assert_eq!(other.enter(Instant::now() + Duration::from_millis(5)).unwrap_err(), TooLate);
    }
    drop(turn);
    // Those who gave up may get the turn first, and must give it back.
    drop(one.enter(later()).unwrap());
    drop(other.enter(later()).unwrap());
}

#[test]
fn writing_and_cutting_are_two_queues() {
    let (_dir, path) = scratch();
    let _turn = Queue::to_write(&path).try_enter().unwrap();
    assert!(Queue::to_cut(&path).try_enter().is_some());
}

#[test]
fn nobody_else_may_open_the_file() {
    let (_dir, path) = scratch();
    let mut queue = Queue::to_write(&path);
    let _turn = queue.try_enter().unwrap();
    let file = std::fs::metadata(queue.path()).unwrap();
    assert_eq!((file.permissions().mode() & 0o777, file.len()), (0o600, 0));
}

#[test]
fn without_a_queue_it_is_always_ones_turn() {
    let (dir, path) = scratch();
    let link = dir.path().join("link.hermes-queue");
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), &link).unwrap();
    std::fs::create_dir(dir.path().join("taken.hermes-queue")).unwrap();
    for database in [dir.path().join("missing/state.db"), dir.path().join("link"), dir.path().join("taken")] {
        let mut queue = Queue::to_write(&database);
        let _turn = queue.try_enter().unwrap();
        let _another = queue.enter(Instant::now()).unwrap();
        assert!(matches!(queue.file, Lane::Missing), "{}", database.display());
    }
    assert!(!dir.path().join("elsewhere").exists());
    assert!(!path.exists());
}

#[test]
fn a_removed_file_is_made_again() {
    let (_dir, path) = scratch();
    let (mut one, mut other) = (Queue::to_write(&path), Queue::to_write(&path));
    drop(one.try_enter().unwrap());
    std::fs::remove_file(one.path()).unwrap();
    let _turn = other.try_enter().unwrap();
    assert!(one.try_enter().is_some(), "it still has the file that is gone");
    one.open_again();
    assert!(one.try_enter().is_none());
}

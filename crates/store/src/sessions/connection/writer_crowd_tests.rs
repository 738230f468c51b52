//! The writer with other processes. The other process is this test program, started again for one ignored
//! test that only holds a lock.

use super::*;
use crate::sessions::connection::connect;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The path of the file that the other process locks.
const HOLD: &str = "HERMES_TEST_HOLD";
const HOLDING: &str = "holding";
const LONG: Duration = Duration::from_secs(60);

/// Another process with a lock. Dropping it kills the process.
struct Other(Child);

impl Other {
    /// Returns when the process has the lock.
    fn holding(path: &Path) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sessions::connection::writer::crowd_tests::hold", "--ignored", "--nocapture"])
            .env(HOLD, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = process.stdout.take().unwrap();
        assert!(BufReader::new(output).lines().any(|line| line.unwrap().contains(HOLDING)));
        Self(process)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs in the other process: locks a database by a transaction, as a program without our queue does, and any
/// other file with `flock`, until it is killed or its input ends.
#[test]
#[ignore = "a process of the other tests here"]
fn hold() {
    let Some(path) = std::env::var_os(HOLD).map(PathBuf::from) else { return };
    if path.extension().is_some_and(|ending| ending == "db") {
        let db = Connection::open(&path).unwrap();
        db.execute_batch("BEGIN IMMEDIATE").unwrap();
        wait_for_the_end();
    } else {
        let file = std::fs::File::options().append(true).open(&path).unwrap();
        file.lock().unwrap();
        wait_for_the_end();
    }
}

fn wait_for_the_end() {
    let mut out = std::io::stdout();
    writeln!(out, "{HOLDING}").unwrap();
    out.flush().unwrap();
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    drop(connect::writer(&path).unwrap());
    (dir, path)
}

fn start(path: &Path, max_wait: Duration) -> Writer {
    Writer::start(connect::writer(path).unwrap(), path.to_owned(), max_wait).unwrap()
}

fn note(writer: &Writer) -> impl Future<Output = Result<usize, StoreError>> + use<> {
    writer.submit(Level::Full, |db| {
        db.execute("INSERT INTO schema_version VALUES (22)", []).doing("take a note")
    })
}

fn holder(refused: Result<usize, StoreError>) -> Option<u32> {
    match refused {
        Err(StoreError::Locked { holder, .. }) => holder,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn lock_of_a_program_without_our_queue_is_named_and_waited_for() {
    let (_dir, path) = scratch();
    let (hasty, patient) = (start(&path, Duration::ZERO), start(&path, LONG));
    let other = Other::holding(&path);
    let want = cfg!(target_os = "linux").then(|| other.pid());
    assert_eq!(holder(note(&hasty).await), want);
    let waiting = note(&patient);
    drop(other);
    waiting.await.unwrap();
    note(&hasty).await.unwrap();
}

#[tokio::test]
async fn queue_holder_is_named_and_releases_the_turn_when_killed() {
    let (dir, path) = scratch();
    let (hasty, patient) = (start(&path, Duration::from_millis(5)), start(&path, LONG));
    let other = Other::holding(&dir.path().join("state.db.hermes-queue"));
    let want = cfg!(target_os = "linux").then(|| other.pid());
    assert_eq!(holder(note(&hasty).await), want);
    let waiting = note(&patient);
    drop(other);
    waiting.await.unwrap();
}

#[test]
fn upgrade_of_a_locked_file_names_the_holder() {
    let (_dir, path) = scratch();
    let db = connect::writer(&path).unwrap();
    let other = Other::holding(&path);
    let begun = begin(&db, &mut WriteQueue::for_writes(&path), &path, Duration::ZERO);
    let want = cfg!(target_os = "linux").then(|| other.pid());
    assert_eq!(holder(begun.map(|_| 0)), want);
    assert!(WriteQueue::for_writes(&path).try_enter().is_some(), "a failed begin releases the turn");
}

#[tokio::test]
async fn writes_work_without_a_queue() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    std::fs::create_dir(dir.path().join("state.db.hermes-queue")).unwrap();
    let (one, two) = (start(&path, LONG), start(&path, LONG));
    let (first, second) = (note(&one), note(&two));
    first.await.unwrap();
    second.await.unwrap();
}

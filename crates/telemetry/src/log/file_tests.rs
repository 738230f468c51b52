use super::*;
use std::os::unix::fs::PermissionsExt;

fn limits(max_bytes: u64, backups: u32) -> LogLimits {
    LogLimits { max_bytes, backups }
}

fn names(dir: &Path) -> Vec<String> {
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    log_files(dir).into_iter().map(name).collect()
}

fn all(dir: &Path) -> String {
    log_files(dir).iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn files_are_created_with_first_line_and_private() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("logs");
    let mut log = LogFile::new(dir.clone(), LogLimits::default());
    assert!(!dir.exists());
    log.append("one\n").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&dir.join(AGENT_LOG))), (0o700, 0o600));
}

#[test]
fn rotation_keeps_order_and_deletes_oldest_file() {
    let home = tempfile::tempdir().unwrap();
    let mut log = LogFile::new(home.path().to_owned(), limits(20, 2));
    for number in 0..9 {
        log.append(&format!("line {number}\n")).unwrap();
    }
    assert_eq!(names(home.path()), ["agent.log.2", "agent.log.1", "agent.log"]);
    assert_eq!(all(home.path()), "line 4\nline 5\nline 6\nline 7\nline 8\n");
}

#[test]
fn file_without_limit_is_not_rotated() {
    for none in [limits(0, 3), limits(5, 0)] {
        let home = tempfile::tempdir().unwrap();
        let mut log = LogFile::new(home.path().to_owned(), none);
        (0..5).for_each(|_| log.append("a line\n").unwrap());
        assert_eq!(names(home.path()), ["agent.log"], "{none:?}");
    }
}

#[test]
fn file_rotated_by_another_process_is_reopened() {
    let home = tempfile::tempdir().unwrap();
    let mut log = LogFile::new(home.path().to_owned(), LogLimits::default());
    log.append("before\n").unwrap();
    std::fs::rename(home.path().join("agent.log"), home.path().join("agent.log.1")).unwrap();
    log.append("after\n").unwrap();
    assert_eq!(std::fs::read_to_string(home.path().join("agent.log")).unwrap(), "after\n");
}

#[test]
fn held_lock_does_not_block_writers() {
    let home = tempfile::tempdir().unwrap();
    let mut log = LogFile::new(home.path().to_owned(), limits(10, 2));
    log.append("one line\n").unwrap();
    let lock = File::create(home.path().join(LOCK)).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    log.append("another\n").unwrap();
    assert_eq!(names(home.path()), ["agent.log"]);
    drop(lock);
    log.append("a third\n").unwrap();
    assert_eq!(names(home.path()), ["agent.log.1", "agent.log"]);
    assert_eq!(all(home.path()), "one line\nanother\na third\n");
}

#[test]
fn files_with_other_names_are_ignored() {
    let home = tempfile::tempdir().unwrap();
    for name in ["agent.log.1", "agent.log.10", "agent.log.2", "agent.log.01", "agent.log.gz", "errors.log"] {
        std::fs::write(home.path().join(name), name).unwrap();
    }
    assert_eq!(names(home.path()), ["agent.log.10", "agent.log.2", "agent.log.1"]);
}

/// Every writer opens its own file, as every process does, so that their locks exclude each other.
#[test]
fn concurrent_writers_lose_no_lines_during_rotations() {
    const WRITERS: usize = 6;
    const LINES: usize = 400;
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let mut log = LogFile::new(home.path().to_owned(), limits(5_000, 1_000));
            scope.spawn(move || {
                for number in 0..LINES {
                    log.append(&format!("{writer} {number} {}\n", "x".repeat(number % 97))).unwrap();
                }
            });
        }
    });
    let text = all(home.path());
    let mut seen = [0; WRITERS];
    for line in text.lines() {
        let mut words = line.split(' ');
        let mut number = || words.next().unwrap().parse::<usize>().unwrap();
        let (writer, number) = (number(), number());
        assert_eq!(words.next().unwrap(), "x".repeat(number % 97), "{line}");
        seen[writer] += 1;
    }
    assert_eq!(seen, [LINES; WRITERS]);
    // A writer skips a rotation while another one is at it.
    assert!(names(home.path()).len() > 4, "{:?}", names(home.path()));
}

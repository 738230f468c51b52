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
fn nothing_is_made_before_the_first_line_and_what_is_made_is_private() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("logs");
    let mut log = LogFile::new(dir.clone(), LogLimits::default());
    assert!(!dir.exists());
    log.append("one\n").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&dir.join(AGENT_LOG))), (0o700, 0o600));
}

#[test]
fn old_lines_are_put_away_in_order_and_the_oldest_go() {
    let home = tempfile::tempdir().unwrap();
    let mut log = LogFile::new(home.path().to_owned(), limits(20, 2));
    for number in 0..9 {
        log.append(&format!("line {number}\n")).unwrap();
    }
    assert_eq!(names(home.path()), ["agent.log.2", "agent.log.1", "agent.log"]);
    assert_eq!(all(home.path()), "line 4\nline 5\nline 6\nline 7\nline 8\n");
}

#[test]
fn without_a_limit_nothing_is_put_away() {
    for none in [limits(0, 3), limits(5, 0)] {
        let home = tempfile::tempdir().unwrap();
        let mut log = LogFile::new(home.path().to_owned(), none);
        (0..5).for_each(|_| log.append("a line\n").unwrap());
        assert_eq!(names(home.path()), ["agent.log"], "{none:?}");
    }
}

#[test]
fn a_file_that_another_put_away_is_not_written_to_any_more() {
    let home = tempfile::tempdir().unwrap();
    let mut log = LogFile::new(home.path().to_owned(), LogLimits::default());
    log.append("before\n").unwrap();
    std::fs::rename(home.path().join("agent.log"), home.path().join("agent.log.1")).unwrap();
    log.append("after\n").unwrap();
    assert_eq!(std::fs::read_to_string(home.path().join("agent.log")).unwrap(), "after\n");
}

#[test]
fn somebody_who_holds_the_lock_keeps_nobody_from_writing() {
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
fn files_with_other_names_are_no_part_of_the_log() {
    let home = tempfile::tempdir().unwrap();
    for name in ["agent.log.1", "agent.log.10", "agent.log.2", "agent.log.01", "agent.log.gz", "errors.log"] {
        std::fs::write(home.path().join(name), name).unwrap();
    }
    assert_eq!(names(home.path()), ["agent.log.10", "agent.log.2", "agent.log.1"]);
}

/// Every writer has a file of its own, as every process has; locks of one are in the way of others.
#[test]
fn writers_side_by_side_lose_and_tear_nothing_through_many_rotations() {
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
    assert!(names(home.path()).len() > 10, "{:?}", names(home.path()));
}

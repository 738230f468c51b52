//! Concurrent processes, and processes that are killed.

use super::{add, model, remove, roomy};
use hermes_memory::files::{Change, ChangeOutcome, Target};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const HOME: &str = "HERMES_MEMORY_TEST_HOME";
const NAME: &str = "HERMES_MEMORY_TEST_NAME";
const COUNT: &str = "HERMES_MEMORY_TEST_COUNT";
/// Entries that a writer keeps before it removes its oldest one.
const KEPT: usize = 5;

/// A writer process: this test program, started for this test only. It prints every change after it was made.
#[test]
#[ignore = "the other tests start it as a process of its own"]
fn writer() {
    let (Some(home), Ok(name)) = (std::env::var_os(HOME), std::env::var(NAME)) else { return };
    let count: usize = std::env::var(COUNT).unwrap().parse().unwrap();
    let book = roomy(Path::new(&home));
    for number in 0..count {
        let mut ops = vec![add(&format!("{name} {number}."))];
        if let Some(old) = number.checked_sub(KEPT) {
            ops.push(remove(&format!("{name} {old}.")));
        }
        let done = book.apply(Target::Memory, &ops, &model()).unwrap();
        println!("done {} {name} {number}.", done.change.unwrap());
    }
}

fn start(home: &Path, name: &str, count: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::writer", "--ignored", "--nocapture", "--test-threads", "1"])
        .env(HOME, home)
        .env(NAME, name)
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Reads the next change that a writer has printed.
fn heard(news: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    loop {
        line.clear();
        if news.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        // The test harness prints the name of the test before the first line.
        if let Some((_, done)) = line.split_once("done ") {
            return done.split_whitespace().next().map(str::to_owned);
        }
    }
}

/// Asserts that every applied change begins with the result of the one before, and that the last one equals
/// the file.
fn explains(changes: &[Change], entries: &[String]) {
    let mut state: Vec<String> = Vec::new();
    for change in changes {
        assert_eq!(change.before, state, "{} does not follow", change.id);
        match change.outcome {
            ChangeOutcome::Made => state = change.after.clone(),
            ChangeOutcome::NotMade => {}
            ChangeOutcome::Unclear => panic!("{} is unclear, and no other program writes", change.id),
        }
    }
    assert_eq!(entries, state);
}

#[test]
fn two_processes_writing_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut writers = [start(home.path(), "one", 40), start(home.path(), "two", 40)];
    for writer in &mut writers {
        assert!(writer.wait().unwrap().success());
    }
    let book = roomy(home.path());
    let entries = book.page(Target::Memory).unwrap().entries;
    let want: BTreeSet<String> = ["one", "two"]
        .iter()
        .flat_map(|name| (35..40).map(move |number| format!("{name} {number}.")))
        .collect();
    assert_eq!(entries.iter().cloned().collect::<BTreeSet<_>>(), want);
    let changes = book.history(Target::Memory).unwrap();
    assert_eq!(changes.len(), 80);
    explains(&changes, &entries);
}

#[test]
fn killed_writers_leave_a_readable_file_and_a_consistent_history() {
    let home = tempfile::tempdir().unwrap();
    let book = roomy(home.path());
    let mut acknowledged = BTreeSet::new();
    for round in 0..30 {
        let names = [format!("a{round}"), format!("b{round}")];
        let mut writers = names.map(|name| {
            let mut child = start(home.path(), &name, 100_000);
            let news: BufReader<ChildStdout> = BufReader::new(child.stdout.take().unwrap());
            (child, news)
        });
        for (at, (child, news)) in writers.iter_mut().enumerate() {
            // A different number of changes each time, and then an arbitrary moment.
            for _ in 0..(round * 7 + at * 3) % 5 + 1 {
                acknowledged.extend(heard(news));
            }
            for _ in 0..(round * 7_919 + at * 104_729) % 60_000 {
                std::hint::spin_loop();
            }
            child.kill().unwrap();
        }
        for (mut child, mut news) in writers {
            child.wait().unwrap();
            while let Some(change) = heard(&mut news) {
                acknowledged.insert(change);
            }
        }
        let entries = book.page(Target::Memory).unwrap().entries;
        explains(&book.history(Target::Memory).unwrap(), &entries);
    }
    let history = book.history(Target::Memory).unwrap();
    let made: BTreeSet<String> = history
        .iter()
        .filter(|change| change.outcome == ChangeOutcome::Made)
        .map(|change| change.id.to_string())
        .collect();
    let lost: Vec<_> = acknowledged.difference(&made).collect();
    assert!(lost.is_empty() && acknowledged.len() >= 60, "{lost:?} of {}", acknowledged.len());
    book.apply(Target::Memory, &[add("afterwards")], &model()).unwrap();
}

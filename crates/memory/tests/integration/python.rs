//! Files shared with a real Python release: written there, changed here, and read there again.
//!
//! `HERMES_PYTHON` names a Python with release 0.19; `.ci/python` installs it. Without it these tests are
//! skipped with a message, except in CI.

use super::{add, book, model, remove, replace, roomy};
use hermes_memory::files::{Origin, Target};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PEER: &str = include_str!("memory_peer.py");

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn python() -> Option<PathBuf> {
    let variable = "HERMES_PYTHON";
    match std::env::var_os(variable).filter(|path| !path.is_empty()) {
        Some(path) => Some(path.into()),
        None if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("{variable} must be set in CI; `.ci/python` prints it")
        }
        None => {
            println!("skipped: {variable} is not set; `.ci/python` prints it");
            None
        }
    }
}

fn peer(python: &Path, home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(python);
    command.args(["-c", PEER]).args(arguments).env("HERMES_HOME", home).env("PYTHONIOENCODING", "utf-8");
    command.current_dir(home).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn ask(python: &Path, home: &Path, arguments: &[&str]) -> Value {
    let output = peer(python, home, arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    let answer = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(answer.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{answer}\n{errors}"))
}

#[test]
fn python_release_and_hermes_change_the_same_files() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let ask = |arguments: &[&str]| ask(&python, home.path(), arguments);
    for (target, content) in [
        ("memory", "the build takes 4 minutes"),
        ("memory", "two\nlines, § and ünïcode"),
        ("user", "is called Ada"),
    ] {
        assert_eq!(ask(&["add", target, content])["success"], true);
    }
    let book = book(home.path());
    assert_eq!(
        book.page(Target::Memory).unwrap().entries,
        ["the build takes 4 minutes", "two\nlines, § and ünïcode"]
    );
    book.apply(Target::Memory, &[replace("build", "the build takes 3 minutes"), add("new\nhere")], &model())
        .unwrap();
    book.apply(Target::User, &[remove("Ada"), add("is called Bob")], &model()).unwrap();

    assert_eq!(
        ask(&["entries", "memory"]),
        json!(["the build takes 3 minutes", "two\nlines, § and ünïcode", "new\nhere"])
    );
    assert_eq!(ask(&["entries", "user"]), json!(["is called Bob"]));
    // Python changes our entries without treating them as a manual edit.
    let replaced = ask(&["replace", "memory", "3 minutes", "the build takes a minute"]);
    assert_eq!((&replaced["success"], &replaced["entry_count"]), (&json!(true), &json!(3)), "{replaced}");
    assert_eq!(book.page(Target::Memory).unwrap().entries[0], "the build takes a minute");

    let snapshot = book.snapshot();
    assert_eq!(json!(snapshot.memory), ask(&["snapshot", "memory"]));
    assert_eq!(json!(snapshot.user), ask(&["snapshot", "user"]));
    book.apply(Target::Memory, &[remove("new")], &model()).unwrap();
    let origins: Vec<Origin> =
        book.history(Target::Memory).unwrap().iter().map(|change| change.origin).collect();
    assert_eq!(origins, [Origin::Model, Origin::Outside, Origin::Model]);
}

#[test]
fn both_programs_writing_at_once_lose_nothing() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let theirs = peer(&python, home.path(), &["many", "memory", "theirs", "60"]).spawn().unwrap();
    let book = roomy(home.path());
    // Continues until Python's changes have begun and ended among ours.
    let mut theirs = theirs;
    let mut ours = 0;
    while theirs.try_wait().unwrap().is_none() {
        book.apply(Target::Memory, &[add(&format!("ours {ours}"))], &model()).unwrap();
        ours += 1;
    }
    let output = theirs.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let entries = book.page(Target::Memory).unwrap().entries;
    for want in (0..ours).map(|n| format!("ours {n}")).chain((0..60).map(|n| format!("theirs {n}"))) {
        assert!(entries.contains(&want), "{want} is lost");
    }
    assert_eq!(entries.len(), ours + 60);
    let read = ask(&python, home.path(), &["entries", "memory"]);
    assert_eq!(read.as_array().unwrap().len(), ours + 60);
}

//! Homes made by Python releases on an old and on a current SQLite, used by both programs in turn.
//!
//! `.ci/python` installs the releases and prints their variables. Without them this test says so and does
//! nothing, except in CI.

use crate::process::{self, code, custom_model, run, stderr, stdout};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const PEER: &str = include_str!("../../../store/tests/integration/python/peer.py");
const CURRENT: &str = "HERMES_PYTHON";

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn installed(variable: &str) -> Option<PathBuf> {
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

/// A Python release on one version of SQLite, working in one home.
struct Python<'a> {
    python: PathBuf,
    sqlite: PathBuf,
    home: &'a Path,
}

impl Python<'_> {
    fn ask(&self, command: &str, arguments: &[&str]) -> Value {
        let out = Command::new(&self.python)
            .args(["-c", PEER, command])
            .arg(self.home.join("state.db"))
            .args(arguments)
            .env("HERMES_HOME", self.home)
            .env("PEER_SQLITE", &self.sqlite)
            .env("PYTHONIOENCODING", "utf-8")
            .current_dir(self.home)
            .output()
            .unwrap();
        assert!(out.status.success(), "{command} {arguments:?}: {}", stderr(&out));
        serde_json::from_str(stdout(&out).lines().last().unwrap()).unwrap()
    }
}

async fn doctor_is_green(home: &Path, when: &str) {
    let out = run(home, &["doctor"]).await;
    assert_eq!(code(&out), 0, "{when}: {}{}", stdout(&out), stderr(&out));
}

async fn listed(home: &Path) -> BTreeSet<String> {
    let rows = process::json_of(home, &["sessions", "list"]).await;
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

async fn found(home: &Path, query: &str) -> BTreeSet<(String, String)> {
    let report = process::json_of(home, &["sessions", "search", query, "--limit", "50"]).await;
    let text = |hit: &Value, key: &str| hit[key].as_str().unwrap().to_owned();
    report["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| (text(hit, "session_id"), text(hit, "role")))
        .collect()
}

/// The lists and hits of both programs, side by side.
async fn both_see_the_same(python: &Python<'_>, queries: &[&str], when: &str) {
    let theirs = python.ask("read", &[&["py-1"], queries].concat());
    let ids: BTreeSet<String> =
        theirs["listed"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    assert_eq!(listed(python.home).await, ids, "{when}");
    for query in queries {
        let hits: BTreeSet<(String, String)> =
            serde_json::from_value(theirs["found"][query].clone()).unwrap();
        assert_eq!(found(python.home, query).await, hits, "{when}: {query}");
    }
}

async fn a_home_is_used_by_both(release: &str, sqlite: &str) {
    let (Some(maker), Some(current), Some(sqlite)) =
        (installed(release), installed(CURRENT), installed(sqlite))
    else {
        return;
    };
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&custom_model(&provider.base_url()));
    let maker = Python { python: maker, sqlite: sqlite.clone(), home: home.path() };
    let current = Python { python: current, sqlite, home: home.path() };
    maker.ask("make", &[]);
    let version = maker.ask("picture", &["py-image", "a photo of the greenhouse"]);
    let case = format!("{release} on SQLite {version}");
    maker.ask("picture", &["py-other", "another photo"]);
    let queries = ["tomatoes", "greenhouse", "photo", "番茄", "温室里种番茄", "seeds", "slates"];

    doctor_is_green(home.path(), &format!("{case}, as made")).await;
    let verified = run(home.path(), &["sessions", "verify"]).await;
    assert_eq!(code(&verified), 0, "{case}: {}", stdout(&verified));
    let first = run(home.path(), &["sessions", "list"]).await;
    assert!(stderr(&first).contains("search index updated for 4 messages"), "{case}: {}", stderr(&first));
    let second = run(home.path(), &["sessions", "list"]).await;
    assert_eq!(stderr(&second), "", "{case}: one notice");
    both_see_the_same(&current, &queries, &format!("{case}, opened")).await;

    provider.reply(ReplyScript::text("A trellis helps them."));
    let resumed = run(home.path(), &["--resume", "py-1", "-z", "and beans?"]).await;
    assert_eq!(stdout(&resumed), "A trellis helps them.\n", "{case}: {}", stderr(&resumed));
    let sent = provider.requests().pop().unwrap().json["messages"].to_string();
    assert!(sent.contains("where do tomatoes grow?") && sent.contains("温室里种番茄"), "{case}: {sent}");

    let seen = current.ask("see", &["py-1"]);
    let last = seen["messages"].as_array().unwrap().iter().rev().take(2).rev().cloned().collect::<Vec<_>>();
    assert_eq!(
        json!(last),
        json!([["user", "and beans?"], ["assistant", "A trellis helps them."]]),
        "{case}"
    );
    current.ask("say", &["py-image", "from python about a trellis"]);
    current.ask("delete", &["py-other"]);
    assert_eq!(current.ask("integrity", &[])["file"], json!(["ok"]), "{case}");
    doctor_is_green(home.path(), &format!("{case}, used by both")).await;
    both_see_the_same(&current, &[&queries[..], &["trellis", "beans"]].concat(), &format!("{case}, used"))
        .await;
    let deleted = run(home.path(), &["sessions", "delete", "py-image", "--yes"]).await;
    assert_eq!(code(&deleted), 0, "{case}: {}", stderr(&deleted));
    assert_eq!(current.ask("integrity", &[])["file"], json!(["ok"]), "{case}, deleted here");
    both_see_the_same(&current, &queries, &format!("{case}, deleted here")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn homes_of_0_19_are_used_by_both() {
    a_home_is_used_by_both(CURRENT, "HERMES_SQLITE_OLD").await;
    a_home_is_used_by_both(CURRENT, "HERMES_SQLITE_NEW").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn homes_of_0_17_are_used_by_both() {
    a_home_is_used_by_both("HERMES_PYTHON_OLD_17", "HERMES_SQLITE_OLD").await;
    a_home_is_used_by_both("HERMES_PYTHON_OLD_17", "HERMES_SQLITE_NEW").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn homes_of_0_13_are_used_by_both() {
    a_home_is_used_by_both("HERMES_PYTHON_OLD_13", "HERMES_SQLITE_OLD").await;
    a_home_is_used_by_both("HERMES_PYTHON_OLD_13", "HERMES_SQLITE_NEW").await;
}

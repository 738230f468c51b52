//! Exported variables of supervised commands.

use super::case::{Case, finished, key, limits};
use hermes_exec::EnvChanges;
use hermes_exec::supervisor::{Lifetime, Outcome};
use tokio_util::sync::CancellationToken;

fn changes(set: &[(&str, &str)], unset: &[&str]) -> EnvChanges {
    EnvChanges {
        set: set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        unset: unset.iter().map(|name| (*name).to_owned()).collect(),
    }
}

#[tokio::test]
async fn exports_reach_the_client_and_never_the_spool() {
    let case = Case::new();
    let output = case.run("one", "export A=value-in-memory; unset TEST_HOME").await.unwrap();
    let first = output.exports.unwrap().changes;
    assert_eq!(first, changes(&[("A", "value-in-memory")], &["TEST_HOME"]));
    let mut next = case.command("echo \"$A,$TEST_HOME\"; export B=$A");
    next.changes = first;
    let output = case.run_with("two", next, &CancellationToken::new()).await.unwrap();
    assert_eq!(output.text, "value-in-memory,\n");
    assert_eq!(output.exports.unwrap().changes, changes(&[("B", "value-in-memory")], &[]));
    // The output of the second command is recorded, the variables of both are not.
    assert!(case.is_kept("value-in-memory,\n") && !case.is_kept("\"A\"") && !case.is_kept("TEST_HOME"));
    // A result that is asked for again has no variables.
    let again = case.run("one", "export A=value-in-memory; unset TEST_HOME").await.unwrap();
    assert_eq!((again.exit_code, again.exports), (0, None));
}

#[tokio::test]
async fn directory_is_reported_only_on_request() {
    let case = Case::new();
    let mut command = case.command("cd /; export A=1");
    command.report.as_mut().unwrap().cwd = false;
    let output = case.run_with("k", command, &CancellationToken::new()).await.unwrap();
    assert_eq!((output.cwd, output.exports.unwrap().changes), (None, changes(&[("A", "1")], &[])));
    let mut command = case.command("cd /; export A=1");
    command.report.as_mut().unwrap().exports = None;
    let output = case.run_with("l", command, &CancellationToken::new()).await.unwrap();
    assert_eq!((output.cwd.as_deref(), output.exports), (Some("/".as_ref()), None));
}

#[tokio::test]
async fn exports_of_a_command_that_was_taken_over_are_known() {
    let case = Case::new();
    let script = "export A=1; touch up; until [ -e end ]; do sleep 0.01; done";
    let agent = case.agent(&[("k", script, Lifetime::Turn)]);
    case.exists("up").await;
    agent.kill();
    let outcome = case.supervised().reattach(&key("k"), limits(case.dir.path())).await.unwrap();
    let Outcome::Running(running) = outcome else { panic!("{outcome:?}") };
    std::fs::write(case.path("end"), "").unwrap();
    let done = finished(running.finished().await.unwrap());
    assert_eq!(done.output.exports.unwrap().changes, changes(&[("A", "1")], &[]));
}

//! Lifetimes of commands, and their remaining processes.

use super::case::{Case, finished, is_alive, key, limits, signal, until};
use hermes_exec::supervisor::{EndReason, Leaving, Lifetime, Stop};
use hermes_exec::{Backend, Ended, Unwatched, Watch};
use rustix::process::Signal;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Prints the ids of its processes, then waits: a child of the session, one that left it, one that also hid its
/// mark and was abandoned by its parent.
const STUBBORN: &str = "sleep 1000 & a=$!; setsid sleep 1000 & b=$!
(env -i PATH=$PATH setsid bash -c 'echo $$ > hidden.tmp; mv hidden.tmp hidden; exec sleep 1000' &)
until [ -e hidden ]; do sleep 0.01; done
echo said; echo $$ $a $b $(cat hidden) > ids.tmp; mv ids.tmp ids; wait";

async fn all_gone(case: &Case) {
    let ids = case.ids("ids");
    assert_eq!(ids.len(), 4);
    until("the processes of the command are gone", || !ids.iter().any(|id| is_alive(*id))).await;
}

#[tokio::test]
async fn command_ends_after_grace_when_its_owner_dies() {
    let mut case = Case::new();
    case.settings.orphan_grace = Duration::from_millis(300);
    let agent = case.agent(&[("k", STUBBORN, Lifetime::Turn)]);
    case.exists("ids").await;
    agent.kill();
    case.quiet().await;
    let ids = case.ids("ids");
    assert!(ids.len() == 4 && !ids.iter().any(|id| is_alive(*id)), "{ids:?}");
    let done = finished(case.supervised().reattach(&key("k"), limits(case.dir.path())).await.unwrap());
    assert_eq!((done.how, done.output.exit_code), (EndReason::Orphaned, 130));
    assert_eq!(done.output.text, "said\n");
}

#[tokio::test]
async fn exit_ends_processes_that_left_the_session() {
    let case = Case::new();
    // Another command runs meanwhile and is not affected.
    let other = case.run(
        "other",
        "setsid sleep 1000 & echo $! > o.tmp; mv o.tmp o; until [ -e end ]; do sleep 0.01; done",
    );
    let test = async {
        case.exists("o").await;
        let script = STUBBORN.replace("env -i PATH=$PATH ", "").replace("wait", "exit 5");
        let output = case.run("k", &script).await.unwrap();
        assert_eq!((output.exit_code, output.text.as_str()), (5, "said\n"));
        let ids = case.ids("ids");
        assert!(ids.len() == 4 && !ids.iter().any(|id| is_alive(*id)), "{ids:?}");
        assert!(is_alive(case.ids("o")[0]));
        std::fs::write(case.path("end"), "").unwrap();
    };
    let (other, ()) = tokio::join!(other, test);
    assert_eq!(other.unwrap().exit_code, 0);
    assert!(!is_alive(case.ids("o")[0]));
}

#[tokio::test]
async fn timeouts_and_cancellations_end_a_command() {
    let case = Case::new();
    let mut command = case.command(STUBBORN);
    command.timeout = Duration::from_millis(1500);
    let cancel = CancellationToken::new();
    let output = case.run_with("late", command, &cancel).await.unwrap();
    assert_eq!((output.exit_code, output.ended, output.text.as_str()), (124, Ended::TimedOut, "said\n"));
    all_gone(&case).await;
    std::fs::remove_file(case.path("ids")).unwrap();
    std::fs::remove_file(case.path("hidden")).unwrap();
    let stopper = async {
        case.exists("ids").await;
        cancel.cancel();
    };
    let (output, ()) = tokio::join!(case.run_with("stopped", case.command(STUBBORN), &cancel), stopper);
    let output = output.unwrap();
    assert_eq!((output.exit_code, output.ended, output.text.as_str()), (130, Ended::Cancelled, "said\n"));
    all_gone(&case).await;
    // A command that is already cancelled is not started.
    let output = case.run_with("early", case.command("touch early"), &cancel).await.unwrap();
    assert_eq!((output.exit_code, output.ended), (130, Ended::Cancelled));
    assert!(!case.path("early").exists());
}

#[tokio::test]
async fn dropping_the_run_ends_the_command() {
    let case = Case::new();
    let run = case.run("k", STUBBORN);
    tokio::select! {
        output = run => panic!("{output:?}"),
        () = case.exists("ids") => {}
    }
    all_gone(&case).await;
    case.quiet().await;
    let done = finished(case.supervised().reattach(&key("k"), limits(case.dir.path())).await.unwrap());
    assert_eq!(done.how, EndReason::Stopped);
}

#[tokio::test]
async fn leaving_ends_commands_by_lifetime() {
    let case = Case::new();
    let supervised = case.supervised();
    let cancel = CancellationToken::new();
    let script = |name: &str| format!("touch {name}; until [ -e end ]; do sleep 0.01; done; echo whole");
    let start = |name: &'static str, session: &'static str, lifetime| {
        let call = supervised.call(key(name), session, lifetime);
        let (command, cancel) = (case.command(&script(name)), cancel.clone());
        tokio::spawn(async move { call.run(command, Watch { started: &Unwatched, cancel: &cancel }).await })
    };
    let turn = start("turn", "a", Lifetime::Turn);
    let other = start("other", "b", Lifetime::Turn);
    let session = start("session", "a", Lifetime::Session);
    let detached = start("detached", "a", Lifetime::Detached);
    for name in ["turn", "other", "session", "detached"] {
        case.exists(name).await;
    }
    assert_eq!(supervised.status().await.unwrap().len(), 4);
    assert_eq!(supervised.leave(Some("a"), Leaving::Turn).await.unwrap(), 1);
    assert_eq!(turn.await.unwrap().unwrap().ended, Ended::Cancelled);
    assert_eq!(supervised.leave(Some("a"), Leaving::Session).await.unwrap(), 1);
    assert_eq!(session.await.unwrap().unwrap().ended, Ended::Cancelled);
    let say_goodbye = supervised.clone();
    tokio::task::spawn_blocking(move || say_goodbye.leave_now()).await.unwrap();
    assert_eq!(other.await.unwrap().unwrap().ended, Ended::Cancelled);
    let left = supervised.status().await.unwrap();
    assert_eq!(left.iter().map(|command| command.key.as_str()).collect::<Vec<_>>(), ["detached"]);
    std::fs::write(case.path("end"), "").unwrap();
    assert_eq!(detached.await.unwrap().unwrap().text, "whole\n");
    let how = finished(supervised.reattach(&key("turn"), Default::default()).await.unwrap()).how;
    assert_eq!(how, EndReason::OwnerLeft);
}

#[tokio::test]
async fn detached_command_outlives_its_owner_and_can_be_stopped() {
    let mut case = Case::new();
    case.settings.orphan_grace = Duration::ZERO;
    let wait = "touch $0.up; until [ -e end ]; do sleep 0.01; done; echo whole";
    let agent = case.agent(&[("k", &wait.replace("$0", "k"), Lifetime::Detached)]);
    case.exists("k.up").await;
    agent.kill();
    // An ordinary command of the same kind is gone at once; by then this one would be, too.
    let agent = case.agent(&[("turn", &wait.replace("$0", "turn"), Lifetime::Turn)]);
    case.exists("turn.up").await;
    agent.kill();
    let supervised = case.supervised();
    until("the turn's command ends", || case.text("spool/turn.cmd").contains("orphaned")).await;
    assert!(supervised.status().await.unwrap().iter().any(|command| command.key == key("k")));
    supervised.stop(&key("k"), Stop::AtOnce).await.unwrap();
    case.quiet().await;
    assert_eq!(
        finished(supervised.reattach(&key("k"), Default::default()).await.unwrap()).how,
        EndReason::Stopped
    );
}

#[tokio::test]
async fn terminated_supervisor_ends_its_commands_first() {
    let case = Case::new();
    let run = case.run("k", STUBBORN);
    let teller = async {
        case.exists("ids").await;
        signal(case.supervisor().await, Signal::TERM);
    };
    let (output, ()) = tokio::join!(run, teller);
    assert_eq!(output.unwrap().ended, Ended::Cancelled);
    all_gone(&case).await;
}

#[tokio::test]
async fn long_output_keeps_both_ends() {
    let case = Case::new();
    let mut command = case.command("for i in {1..20000}; do echo line $i; done");
    command.output.spill_limits.bytes = 10_000;
    let output = case.run_with("k", command, &CancellationToken::new()).await.unwrap();
    assert!(output.text.starts_with("line 1\nline 2\n"), "{}", output.text);
    assert!(output.text.ends_with("line 19999\nline 20000\n"), "{}", output.text);
    let whole: u64 = (1..=20000).map(|i| format!("line {i}\n").len() as u64).sum();
    assert_eq!(output.omitted, whole - 1000);
    let spill = output.spill.unwrap();
    assert_eq!((spill.bytes, spill.cut), (10_000, true));
    let spooled = std::fs::metadata(case.path("spool/k.cmd")).unwrap().len();
    assert_eq!(spooled, 8_192 + 14_000, "10,000 from the start and 4,000 from the end");
}

//! After a SIGKILL, of the agent or of the supervisor.

use super::case::{Case, finished, is_alive, key, limits, signal, until};
use hermes_exec::supervisor::{How, Lifetime, Outcome};
use rustix::process::Signal;

const SLOW: &str = "echo before; touch up; until [ -e end ]; do sleep 0.01; done; echo after; cd /; exit 7";

#[tokio::test]
async fn a_new_agent_takes_over_a_running_command() {
    let case = Case::new();
    let agent = case.agent(&[("k", SLOW, Lifetime::Turn)]);
    case.exists("up").await;
    agent.kill();
    let outcome = case.supervised().reattach(&key("k"), limits(case.dir.path())).await.unwrap();
    let Outcome::Running(running) = outcome else { panic!("{outcome:?}") };
    std::fs::write(case.path("end"), "").unwrap();
    let done = finished(running.finished().await.unwrap());
    assert_eq!((done.how, done.output.exit_code), (How::Exited, 7));
    assert_eq!(done.output.text, "before\nafter\n");
    assert_eq!(done.output.cwd.as_deref(), Some("/".as_ref()));
}

/// Taken over, a command is not an orphan any more, however short the grace.
#[tokio::test]
async fn a_finished_command_is_taken_from_the_spool_by_another_supervisor_too() {
    let case = Case::new();
    let agent = case.agent(&[("k", SLOW, Lifetime::Turn)]);
    case.exists("up").await;
    agent.kill();
    std::fs::write(case.path("end"), "").unwrap();
    case.quiet().await;
    for _ in 0..2 {
        let done = finished(case.supervised().reattach(&key("k"), limits(case.dir.path())).await.unwrap());
        assert_eq!((done.how, done.output.exit_code), (How::Exited, 7));
        assert_eq!(done.output.text, "before\nafter\n");
        let id = case.supervisor().await;
        signal(id, Signal::KILL);
        until("the supervisor is gone", || !is_alive(id)).await;
    }
}

#[tokio::test]
async fn when_the_supervisor_is_killed_nothing_survives_and_nothing_is_run_again() {
    let case = Case::new();
    let script = "echo x >> ran; setsid sleep 1000 & sleep 1000 & echo said; echo $$ $! > ids.tmp; mv ids.tmp ids; wait";
    let killer = async {
        case.exists("ids").await;
        // What it has said is only certain to be kept once it has been taken from its pipe.
        until("what it said is kept", || case.is_kept("said\n")).await;
        signal(case.supervisor().await, Signal::KILL);
    };
    let (output, ()) = tokio::join!(case.run("k", script), killer);
    let output = output.unwrap();
    assert_eq!(output.exit_code, -1);
    assert!(output.text.starts_with("said\n") && output.text.contains("is not known"), "{}", output.text);
    assert_eq!(super::case::marked(case.dir.path()), Vec::<u32>::new());
    let outcome = case.supervised().reattach(&key("k"), Default::default()).await.unwrap();
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
    assert_eq!(case.run("k", script).await.unwrap().exit_code, -1);
    assert_eq!(case.text("ran"), "x\n");
}

//! SIGKILL of the agent or of the supervisor.

use super::case::{Case, finished, is_alive, key, limits, signal, until};
use hermes_exec::supervisor::{EndReason, Lifetime, Outcome};
use rustix::process::Signal;

const SLOW: &str = "echo before; touch up; until [ -e end ]; do sleep 0.01; done; echo after; cd /; exit 7";

#[tokio::test]
async fn new_agent_takes_over_running_command() {
    let case = Case::new();
    let agent = case.agent(&[("k", SLOW, Lifetime::Turn)]);
    case.exists("up").await;
    agent.kill();
    let outcome = case.supervised().reattach(&key("k"), limits(case.dir.path())).await.unwrap();
    let Outcome::Running(running) = outcome else { panic!("{outcome:?}") };
    std::fs::write(case.path("end"), "").unwrap();
    let done = finished(running.finished().await.unwrap());
    assert_eq!((done.how, done.output.exit_code), (EndReason::Exited, 7));
    assert_eq!(done.output.text, "before\nafter\n");
    assert_eq!(done.output.cwd.as_deref(), Some("/".as_ref()));
}

/// A command that was taken over is not an orphan any more, even with a short grace period.
#[tokio::test]
async fn next_supervisor_returns_result_from_the_spool() {
    let case = Case::new();
    let agent = case.agent(&[("k", SLOW, Lifetime::Turn)]);
    case.exists("up").await;
    agent.kill();
    std::fs::write(case.path("end"), "").unwrap();
    case.quiet().await;
    for _ in 0..2 {
        let done = finished(case.supervised().reattach(&key("k"), limits(case.dir.path())).await.unwrap());
        assert_eq!((done.how, done.output.exit_code), (EndReason::Exited, 7));
        assert_eq!(done.output.text, "before\nafter\n");
        let id = case.supervisor().await;
        signal(id, Signal::KILL);
        until("the supervisor is gone", || !is_alive(id)).await;
    }
}

#[tokio::test]
async fn killed_supervisor_leaves_no_process_and_no_second_run() {
    let case = Case::new();
    let script = "echo x >> ran; setsid sleep 1000 & sleep 1000 & echo said; echo $$ $! > ids.tmp; mv ids.tmp ids; wait";
    let killer = async {
        case.exists("ids").await;
        // Output is only certain to be kept once the supervisor has read it from the pipe.
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

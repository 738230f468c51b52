//! Commands in the background: their input, their terminal, and the output that is kept.

use super::case::{Case, PlannedCommand, is_alive, key, signal, until};
use hermes_exec::supervisor::{End, EndReason, LONGEST_OUTPUT, Lifetime, MOST_LOOKED_AT, Peeked, Stop};
use hermes_exec::{Command, Input, TerminalSize, Unwatched};
use rustix::process::Signal;
use std::time::Duration;

const TERMINAL: Input = Input::Terminal(TerminalSize { rows: 30, columns: 120 });

impl Case {
    fn background(&self, script: &str) -> Command {
        Command { timeout: Duration::MAX, report: None, ..self.command(script) }
    }

    async fn detach(&self, name: &str, script: &str, input: Input) {
        let command = self.background(script);
        self.supervised().start_detached(&key(name), "s", &command, input, &Unwatched).await.unwrap();
    }

    async fn peek(&self, name: &str) -> Peeked {
        self.supervised().peek(&key(name)).await.unwrap().unwrap()
    }

    async fn end(&self, name: &str) -> End {
        self.supervised().end_of(&key(name)).await.unwrap().unwrap()
    }

    async fn type_in(&self, name: &str, text: &str) {
        self.supervised().write(&key(name), text, false).await.unwrap();
    }

    /// Waits for a text in the output.
    async fn prints(&self, name: &str, text: &str) -> Peeked {
        let seen = async {
            loop {
                let peeked = self.peek(name).await;
                if String::from_utf8_lossy(&peeked.bytes).contains(text) {
                    return peeked;
                }
                assert!(peeked.end.is_none(), "ended without {text:?}: {}", shown(&peeked));
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), seen).await.expect(text)
    }
}

fn shown(peeked: &Peeked) -> String {
    String::from_utf8_lossy(&peeked.bytes).into_owned()
}

#[tokio::test]
async fn input_is_written_and_closed() {
    let case = Case::new();
    case.detach("k", "while read -r line; do echo \"<$line>\"; done; echo over; exit 3", Input::Pipe).await;
    case.type_in("k", "one\ntw").await;
    let first = case.prints("k", "<one>").await;
    assert_eq!((shown(&first).as_str(), first.end), ("<one>\n", None));
    case.type_in("k", "o\n").await;
    case.prints("k", "<two>").await;
    case.supervised().write(&key("k"), "", true).await.unwrap();
    assert_eq!(case.end("k").await.exit_code, 3);
    assert_eq!(shown(&case.peek("k").await), "<one>\n<two>\nover\n");
    let late = case.supervised().write(&key("k"), "x", false).await.unwrap_err();
    assert!(late.to_string().contains("it has ended"), "{late}");
}

#[tokio::test]
async fn unread_input_is_bounded() {
    let case = Case::new();
    case.detach("k", "echo up; sleep 1000", Input::Pipe).await;
    case.prints("k", "up").await;
    let much = "x".repeat(600_000);
    case.type_in("k", &much).await;
    let mut refused = None;
    for _ in 0..3 {
        refused = refused.or(case.supervised().write(&key("k"), &much, false).await.err());
    }
    let refused = refused.expect("bounded").to_string();
    assert!(refused.contains("does not read its input"), "{refused}");
}

#[tokio::test]
async fn command_without_input_has_none() {
    let case = Case::new();
    case.detach("k", "cat; echo over", Input::Closed).await;
    assert_eq!(case.end("k").await.exit_code, 0);
    assert_eq!(shown(&case.peek("k").await), "over\n");
}

#[tokio::test]
async fn terminal_controls_its_command() {
    let case = Case::new();
    let script = "tty; stty size; read -r line </dev/tty; echo \"got $line\"; \
                  trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.05; done";
    case.detach("k", script, TERMINAL).await;
    let began = shown(&case.prints("k", "30 120").await);
    assert!(began.contains("/dev/pts/"), "{began}");
    case.type_in("k", "yes\n").await;
    let echoed = shown(&case.prints("k", "ready").await);
    assert!(echoed.contains("yes\r\ngot yes\r\n"), "{echoed:?}");
    case.type_in("k", "\u{3}").await;
    let end = case.end("k").await;
    assert_eq!((end.exit_code, end.how), (7, EndReason::Exited), "{}", shown(&case.peek("k").await));
}

#[tokio::test]
async fn end_of_transmission_ends_the_input_of_a_terminal() {
    let case = Case::new();
    case.detach("k", "cat; echo over", TERMINAL).await;
    case.type_in("k", "word\n").await;
    case.prints("k", "word\r\nword").await;
    case.supervised().write(&key("k"), "", true).await.unwrap();
    assert_eq!(case.end("k").await.exit_code, 0);
    assert!(shown(&case.peek("k").await).contains("over"));
}

#[tokio::test]
async fn command_outlives_the_agent_that_started_it() {
    let mut case = Case::new();
    case.settings.orphan_grace = Duration::from_millis(1);
    let script = "echo $$ > id.tmp; mv id.tmp id; while read -r line; do echo \"<$line>\"; done; exit 4";
    let agent = case.agent_with(vec![PlannedCommand::detached("k", script)]);
    case.exists("result-k").await;
    agent.kill();
    case.type_in("k", "hello\n").await;
    case.prints("k", "<hello>").await;
    assert!(is_alive(case.ids("id")[0]));
    case.supervised().write(&key("k"), "", true).await.unwrap();
    assert_eq!(case.end("k").await.exit_code, 4);
}

/// A command without a record of its process must not run: no process could ever find it.
#[tokio::test]
async fn nothing_runs_when_the_agent_dies_before_the_record() {
    let mut case = Case::new();
    case.settings.orphan_grace = Duration::from_millis(1);
    let agent = case.agent_with(vec![PlannedCommand::held("k", "touch ran; sleep 1000")]);
    case.exists("held-k").await;
    agent.kill();
    case.quiet().await;
    assert!(!case.path("ran").exists());
    assert_eq!(case.peek("k").await.end.map(|end| end.exit_code), Some(125));
}

#[tokio::test]
async fn long_output_keeps_its_head_and_its_tail() {
    let case = Case::new();
    let lines = 3_000_000;
    case.detach("k", &format!("seq {lines}"), Input::Closed).await;
    assert_eq!(case.end("k").await.exit_code, 0);
    let peeked = case.peek("k").await;
    assert!(peeked.total > LONGEST_OUTPUT, "{}", peeked.total);
    assert!(peeked.bytes.len() as u64 <= MOST_LOOKED_AT && peeked.bytes.len() > 100_000);
    let tail = shown(&peeked);
    assert!(tail.ends_with(&format!("\n{}\n{lines}\n", lines - 1)), "{:?}", &tail[tail.len() - 40..]);
    let kept: u64 = walk(&case.path("spool"));
    assert!(kept < LONGEST_OUTPUT + 4 * MOST_LOOKED_AT, "{kept} bytes in the spool");
}

/// Bytes of all files below a folder.
fn walk(folder: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { path.metadata().unwrap().len() }).sum()
}

#[tokio::test]
async fn stop_ends_every_process_of_a_command() {
    let case = Case::new();
    let script = "setsid sleep 1000 & echo $! $$ > ids.tmp; mv ids.tmp ids; trap '' TERM; wait; sleep 1000";
    case.detach("k", script, TERMINAL).await;
    case.exists("ids").await;
    case.supervised().stop(&key("k"), Stop::AtOnce).await.unwrap();
    assert_eq!(case.end("k").await.how, EndReason::Stopped);
    let ids = case.ids("ids");
    until("all are gone", || !ids.iter().any(|id| is_alive(*id))).await;
}

#[tokio::test]
async fn killed_supervisor_leaves_a_record_of_what_ran() {
    let case = Case::new();
    case.detach("k", "echo $$ > id.tmp; mv id.tmp id; echo said; sleep 1000", Input::Pipe).await;
    case.exists("id").await;
    case.prints("k", "said").await;
    signal(case.supervisor().await, Signal::KILL);
    let id = case.ids("id")[0];
    until("the command died with it", || !is_alive(id)).await;
    let end = case.end("k").await;
    assert_ne!(end.how, EndReason::Exited, "{end:?}");
}

#[tokio::test]
async fn fifty_run_at_once() {
    let case = Case::new();
    for n in 0..50 {
        case.detach(&format!("k{n}"), "read -r line; echo \"$line\"", Input::Pipe).await;
    }
    assert_eq!(case.supervised().status().await.unwrap().len(), 50);
    assert!(case.supervised().status().await.unwrap().iter().all(|one| one.lifetime != Lifetime::Turn));
    for n in 0..50 {
        case.type_in(&format!("k{n}"), &format!("number {n}\n")).await;
    }
    for n in 0..50 {
        assert_eq!(case.end(&format!("k{n}")).await.exit_code, 0);
        assert_eq!(shown(&case.peek(&format!("k{n}")).await), format!("number {n}\n"));
    }
}

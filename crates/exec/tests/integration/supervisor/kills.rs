//! Agents and supervisors that are killed at random times.

use super::case::{Case, is_alive, key, limits, marked, signal, until};
use hermes_exec::supervisor::{EndReason, Lifetime, Outcome};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::time::Duration;

const KILLS: usize = 200;
const SEED: u64 = 20_261_115;

/// The script of a step: its number as output, and an exit code derived from it.
fn script(number: usize) -> String {
    let nap = ["", "sleep 0.002; ", "sleep 0.01; "][number % 3];
    let stray = if number.is_multiple_of(4) { "setsid sleep 1000 >/dev/null 2>&1 & " } else { "" };
    format!("echo {number} >> ran; {nap}{stray}echo n{number}; exit {}", number % 100)
}

fn result(number: usize) -> String {
    format!("{} n{number}\n", number % 100)
}

/// Every command that ran has its real result, ran once, and left nothing.
#[tokio::test]
async fn killed_agents_lose_no_result_and_repeat_no_command() {
    let case = Case::new();
    let mut random = SmallRng::seed_from_u64(SEED);
    let (mut next, mut kept) = (0, BTreeMap::new());
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..KILLS {
        let steps: Vec<(String, String)> =
            (next..next + 40).map(|number| (format!("k{number}"), script(number))).collect();
        let steps: Vec<_> =
            steps.iter().map(|(name, script)| (name.as_str(), script.as_str(), Lifetime::Turn)).collect();
        let agent = case.agent(&steps);
        // Not for ordering: the time of the kill is what varies.
        tokio::time::sleep(Duration::from_micros(random.random_range(0..60_000))).await;
        agent.kill();
        // Steps that began and have no result in the journal are reattached.
        let began = case.text("began").lines().count();
        for number in next..began {
            let path = case.path(&format!("result-k{number}"));
            let what = match std::fs::read_to_string(path) {
                Ok(text) => {
                    assert_eq!(text, result(number), "{SEED}");
                    "told"
                }
                Err(_) => ask(&case, number).await,
            };
            kept.insert(number, what);
            *seen.entry(what).or_default() += 1;
        }
        next = began;
    }
    println!("seed {SEED}: {next} commands, {seen:?}");
    let ran = case.ids("ran");
    for (number, what) in &kept {
        let times = ran.iter().filter(|id| **id as usize == *number).count();
        assert_eq!(times, usize::from(*what != "never started" && *what != "no record"), "{number} {what}");
    }
    assert!(seen.len() >= 3, "the kills came at different moments: {seen:?}");
    case.quiet().await;
    let left = marked(case.dir.path());
    assert!(left.is_empty(), "{left:?}");
    assert!(!ran.is_empty() && is_alive(case.supervisor().await));
}

async fn ask(case: &Case, number: usize) -> &'static str {
    let supervised = case.supervised();
    let found = supervised.reattach(&key(&format!("k{number}")), limits(case.dir.path())).await.unwrap();
    let (found, what) = match found {
        Outcome::Running(running) => (running.finished().await.unwrap(), "taken over"),
        found => (found, "from the spool"),
    };
    match found {
        Outcome::Finished(done) => {
            assert_eq!(done.how, EndReason::Exited);
            assert_eq!(format!("{} {}", done.output.exit_code, done.output.text), result(number));
            what
        }
        Outcome::NeverStarted => "never started",
        Outcome::NoRecord => "no record",
        other => panic!("{number}: {other:?}"),
    }
}

/// A killed supervisor never leads to a false result.
#[tokio::test]
async fn killed_supervisors_leave_no_process_and_no_false_result() {
    let case = Case::new();
    let mut random = SmallRng::seed_from_u64(SEED);
    let (mut real, mut unknown) = (0, 0);
    for number in 0..40 {
        let name = format!("k{number}");
        let stray = "setsid sleep 1000 >/dev/null 2>&1 &";
        let code = number % 100;
        let script = format!("echo {number} >> ran; {stray} sleep 0.03; echo n{number}; exit {code}");
        let killer = async {
            let id = case.supervisor().await;
            tokio::time::sleep(Duration::from_micros(random.random_range(0..60_000))).await;
            if number % 2 == 1 {
                signal(id, Signal::KILL);
            }
        };
        // The killer needs a running supervisor.
        case.supervised().status().await.unwrap();
        let (output, ()) = tokio::join!(case.run(&name, &script), killer);
        let output = output.unwrap();
        let ran = case.ids("ran").iter().filter(|id| **id as usize == number).count();
        if output.text.contains("is not known") {
            assert!(ran <= 1 && output.exit_code == -1, "{number}: {output:?}");
            unknown += 1;
        } else {
            assert_eq!((ran, format!("{} {}", output.exit_code, output.text)), (1, result(number)));
            real += 1;
        }
    }
    println!("seed {SEED}: {real} real results, {unknown} unknown");
    assert!(real >= 20 && unknown > 0, "{real} {unknown}");
    case.supervised().status().await.unwrap();
    assert_eq!(marked(case.dir.path()), Vec::<u32>::new());
}

/// The tests search for the mark, so it must exist.
#[tokio::test]
async fn processes_of_a_command_are_found_by_their_mark() {
    let case = Case::new();
    let run = case.run("k", "touch up; until [ -e end ]; do sleep 0.01; done");
    let look = async {
        case.exists("up").await;
        assert!(!marked(case.dir.path()).is_empty());
        std::fs::write(case.path("end"), "").unwrap();
    };
    let (output, ()) = tokio::join!(run, look);
    output.unwrap();
    until("the processes are gone", || marked(case.dir.path()).is_empty()).await;
}

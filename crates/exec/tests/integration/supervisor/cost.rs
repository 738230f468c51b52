//! The cost of a command, with and without a supervisor.

use super::case::{Case, command, key};
use hermes_exec::supervisor::Lifetime;
use hermes_exec::{Backend, Command, Local, Unwatched, Watch};
use std::path::Path;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

const COMMANDS: usize = 500;

/// CPU time of a process and its collected children, in clock ticks (10 ms).
fn ticks(id: u32) -> u64 {
    let [user, system, children_user, children_system] = times(id);
    user + system + children_user + children_system
}

fn times(id: u32) -> [u64; 4] {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    [11, 12, 13, 14].map(|index: usize| fields[index].parse().unwrap())
}

/// A command without a file for the last directory: creating a file can be slow after many removals (on ext4,
/// for five seconds), and only a benchmark removes that many.
fn silent(dir: &Path) -> Command {
    Command { report: None, ..command(dir, "true") }
}

#[tokio::test]
#[ignore = "a measurement; run it alone, with --release and --nocapture"]
async fn cost_of_a_command() {
    let case = Case::new();
    let cancel = CancellationToken::new();
    let own = std::process::id();
    let dir = tempfile::tempdir().unwrap();
    case.run("warm", "true").await.unwrap();
    let supervisor = case.supervisor().await;
    let supervised = case.supervised();
    for round in 0..3 {
        let (before, clock) = (ticks(own), Instant::now());
        for _ in 0..COMMANDS {
            Local.run(silent(dir.path()), Watch { started: &Unwatched, cancel: &cancel }).await.unwrap();
        }
        let (local, local_clock) = (ticks(own) - before, clock.elapsed());
        let (before, clock) = (ticks(own) + ticks(supervisor), Instant::now());
        for number in 0..COMMANDS {
            let call = supervised.call(key(&format!("k{round}-{number}")), "s", Lifetime::Turn);
            let watch = Watch { started: &Unwatched, cancel: &cancel };
            let output = call.run(silent(dir.path()), watch).await.unwrap();
            assert_eq!(output.exit_code, 0);
        }
        let (both, both_clock) = (ticks(own) + ticks(supervisor) - before, clock.elapsed());
        let each = |ticks: u64| ticks as f64 * 10.0 / COMMANDS as f64;
        println!(
            "local {:.2} ms CPU, {:.2} ms wall; supervised {:.2} ms CPU, {:.2} ms wall; added {:.2} ms CPU",
            each(local),
            local_clock.as_secs_f64() * 1000.0 / COMMANDS as f64,
            each(both),
            both_clock.as_secs_f64() * 1000.0 / COMMANDS as f64,
            each(both) - each(local),
        );
    }
    println!("ticks of user, system, children's user, children's system:");
    println!("supervisor {:?}, agent with local commands {:?}", times(supervisor), times(own));
}

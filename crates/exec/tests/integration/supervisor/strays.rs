//! Commands that try to leave processes behind, in every way that is known, with every ending.

use super::case::{Case, is_alive, key, until};
use hermes_exec::supervisor::{EndReason, Lifetime, Stop};
use hermes_exec::{Backend, Command, Ended, Input, Output, Unwatched, Watch};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// 1,000 in a full run: `HERMES_STRAY_RUNS=1000`.
const RUNS: usize = 40;
const SEED: u64 = 20_261_119;
const AT_ONCE: usize = 8;

/// Ways to leave a process behind. Each adds the ids of its processes to the file `ids`.
const WAYS: [(&str, &str); 12] = [
    ("child", "sleep 1000 & echo $! >>ids"),
    ("session of its own", "setsid sleep 1000 & echo $! >>ids"),
    ("double fork", "( ( setsid sleep 1000 & echo $! >>ids ) & ) "),
    ("hang-ups ignored", "( nohup setsid sleep 1000 >/dev/null 2>&1 & echo $! >>ids )"),
    ("signals ignored", "( trap '' TERM HUP INT QUIT; echo $BASHPID >>ids; while :; do sleep 0.1; done ) &"),
    (
        "signals ignored, own session",
        "setsid bash -c \"trap '' TERM HUP INT; echo \\$\\$ >>ids; while :; do sleep 0.1; done\" &",
    ),
    ("closed output", "exec >&- 2>&-; ( setsid sleep 1000 & echo $! >>ids )"),
    ("flood", "( setsid yes >/dev/null & echo $! >>ids ); yes | head -c 3000000"),
    ("flood in the background", "yes & echo $! >>ids"),
    ("no mark", "env -i PATH=$PATH setsid bash -c 'echo $$ >>ids; exec sleep 1000' &"),
    ("job control", "set -m; sleep 1000 & echo $! >>ids; ( sleep 1000 & echo $! >>ids )"),
    ("coprocess", "coproc sleep 1000; echo $! >>ids; disown -a"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Exit,
    Timeout,
    Cancel,
    Kill,
}

const ENDINGS: [Ending; 4] = [Ending::Exit, Ending::Timeout, Ending::Cancel, Ending::Kill];

fn runs() -> usize {
    std::env::var("HERMES_STRAY_RUNS").map_or(RUNS, |text| text.parse().unwrap())
}

/// The command of a run: the ways, then a file that says that they were gone, then its ending.
fn script(ways: &[&str], ending: Ending) -> String {
    let last = match ending {
        Ending::Exit => "exit 3",
        Ending::Timeout | Ending::Cancel => "exec sleep 1000",
        Ending::Kill => "kill -KILL $$",
    };
    let wanted = ways.len();
    format!(
        "{}\nuntil [ \"$(wc -l <ids)\" -ge {wanted} ]; do sleep 0.01; done\necho >ready\n{last}",
        ways.join("\n")
    )
}

async fn run(case: &Case, number: usize, ways: &[&str], ending: Ending) -> (Output, Vec<u32>) {
    let name = format!("run-{number}");
    let cwd = case.path(&name);
    std::fs::create_dir(&cwd).unwrap();
    let mut command = Command { cwd: cwd.clone(), ..case.command(&script(ways, ending)) };
    if let Some(report) = &mut command.report {
        report.file = cwd.join(".report");
    }
    if ending == Ending::Timeout {
        command.timeout = Duration::from_millis(1500);
    }
    let cancel = CancellationToken::new();
    let call = case.supervised().call(key(&name), "s", Lifetime::Turn);
    let watch = Watch { started: &Unwatched, cancel: &cancel };
    let stopper = async {
        if ending == Ending::Cancel {
            until("the command is ready", || cwd.join("ready").exists()).await;
            cancel.cancel();
        }
    };
    let (output, ()) = tokio::join!(call.run(command, watch), stopper);
    let ids = std::fs::read_to_string(cwd.join("ids")).unwrap_or_default();
    (output.unwrap(), ids.split_whitespace().map(|id| id.parse().unwrap()).collect())
}

/// The zombies whose parent is one of these processes.
fn zombies(parents: &[u32]) -> Vec<String> {
    let stats = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let is_ours = |stat: &String| {
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let is_zombie = fields.next() == Some("Z");
        is_zombie && fields.next().and_then(|id| id.parse().ok()).is_some_and(|id| parents.contains(&id))
    };
    stats.filter(is_ours).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_leave_no_process_behind() {
    let case = Case::new();
    let mut random = SmallRng::seed_from_u64(SEED);
    let mut seen: BTreeMap<Ending, usize> = BTreeMap::new();
    let mut processes = 0;
    let mut supervisor = None;
    for first in (0..runs()).step_by(AT_ONCE) {
        let plans: Vec<_> = (first..runs().min(first + AT_ONCE))
            .map(|number| {
                let ways: Vec<&str> = (0..random.random_range(1..4_usize))
                    .map(|_| WAYS[random.random_range(0..WAYS.len())].1)
                    .collect();
                (number, ways, ENDINGS[random.random_range(0..ENDINGS.len())])
            })
            .collect();
        let all = plans.iter().map(|(number, ways, ending)| run(&case, *number, ways, *ending));
        for (ended, (_, ways, ending)) in futures::future::join_all(all).await.into_iter().zip(&plans) {
            let (output, ids) = ended;
            let want = match ending {
                Ending::Exit => (3, Ended::Exited),
                Ending::Timeout => (124, Ended::TimedOut),
                Ending::Cancel => (130, Ended::Cancelled),
                Ending::Kill => (137, Ended::Exited),
            };
            assert_eq!((output.exit_code, output.ended), want, "{ways:?}: {}", output.text);
            // A command that timed out early may not have come to all of them.
            assert!(ids.len() >= ways.len() || *ending == Ending::Timeout, "{ways:?}");
            let left: Vec<_> = ids.iter().filter(|id| is_alive(**id)).collect();
            assert!(left.is_empty(), "{left:?} live after {ending:?} of {ways:?}");
            processes += ids.len();
            *seen.entry(*ending).or_default() += 1;
        }
        supervisor = Some(case.supervisor().await);
    }
    let parents = [std::process::id(), supervisor.unwrap()];
    until("no zombie is left", || zombies(&parents).is_empty()).await;
    println!("{} runs, {processes} processes, {seen:?}: none left, no zombie", runs());
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_commands_run_in_the_background_at_once() {
    let case = Case::new();
    for number in 0..50 {
        let command = Command {
            timeout: Duration::MAX,
            report: None,
            ..case.command("echo up; while read -r line; do echo \"<$line>\"; done")
        };
        let name = key(&format!("b{number}"));
        case.supervised().start_detached(&name, "s", &command, Input::Pipe, &Unwatched).await.unwrap();
    }
    assert_eq!(case.supervised().status().await.unwrap().len(), 50);
    for number in 0..50 {
        case.supervised()
            .write(&key(&format!("b{number}")), &format!("{number}\n"), number % 2 == 0)
            .await
            .unwrap();
    }
    for number in 0..50 {
        let name = key(&format!("b{number}"));
        if number % 2 == 1 {
            case.supervised().stop(&name, Stop::Politely).await.unwrap();
        }
        let end = case.supervised().end_of(&name).await.unwrap().unwrap();
        let how = if number % 2 == 0 { EndReason::Exited } else { EndReason::Stopped };
        assert_eq!(end.how, how, "{number}");
        if number % 2 == 0 {
            let peeked = case.supervised().peek(&name).await.unwrap().unwrap();
            assert_eq!(String::from_utf8_lossy(&peeked.bytes), format!("up\n<{number}>\n"));
        }
    }
    assert!(case.supervised().status().await.unwrap().is_empty());
}

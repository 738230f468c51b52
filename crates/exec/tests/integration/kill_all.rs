//! `kill_all`, in a process of its own: it would end the commands of other tests.

use hermes_exec::{
    Backend, BoxFuture, Command, Ended, EnvChanges, Group, Local, OutputLimits, Started, Unwatched, Watch,
    kill_all, reap,
};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[derive(Default)]
struct Witness(OnceLock<Group>);

impl Started for Witness {
    fn started<'a>(&'a self, group: &'a Group) -> BoxFuture<'a, Result<(), String>> {
        let _ = self.0.set(group.clone());
        Box::pin(async { Ok(()) })
    }
}

fn command(script: &str, dir: &Path) -> Command {
    Command {
        script: script.into(),
        cwd: dir.to_owned(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        timeout: Duration::from_secs(60),
        key: None,
        changes: EnvChanges::default(),
        report: None,
        output: OutputLimits::default(),
        sandbox: None,
        client: None,
    }
}

/// Returns true if the process is gone or a zombie.
fn is_over(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

#[test]
fn everything_that_runs_is_killed_at_once() {
    let alone = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill_all::alone", "--ignored", "--test-threads=1"])
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&alone.stdout);
    assert!(alone.status.success() && report.contains("1 passed"), "{report}");
}

#[tokio::test]
#[ignore = "everything_that_runs_is_killed_at_once starts it as a process of its own"]
async fn alone() {
    let dir = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    let witness = Witness::default();
    // Ignores TERM and uses job control, so that one process leads its own group.
    let first = "trap '' TERM; set -m; sleep 1000 & echo $! $$ > a.tmp; mv a.tmp a; wait";
    let second = "sleep 1000 & echo $! $$ > b.tmp; mv b.tmp b; wait";
    let killer = async {
        while !(dir.path().join("a").exists() && dir.path().join("b").exists()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        kill_all();
        // Without an await, so that the runs themselves cannot help.
        let mut ids = std::fs::read_to_string(dir.path().join("a")).unwrap();
        ids += &std::fs::read_to_string(dir.path().join("b")).unwrap();
        let ids: Vec<&str> = ids.split_whitespace().collect();
        assert_eq!(ids.len(), 4);
        let deadline = Instant::now() + Duration::from_secs(5);
        while !ids.iter().all(|id| is_over(id)) {
            assert!(Instant::now() < deadline, "still there: {ids:?}");
            std::thread::yield_now();
        }
    };
    let (a, b, ()) = tokio::join!(
        Local.run(command(first, dir.path()), Watch { started: &witness, cancel: &cancel }),
        Local.run(command(second, dir.path()), Watch { started: &Unwatched, cancel: &cancel }),
        killer,
    );
    for output in [a.unwrap(), b.unwrap()] {
        assert_eq!((output.exit_code, output.ended), (137, Ended::Exited));
    }
    assert_eq!(reap(witness.0.get().unwrap()).await, 0);
    kill_all();
}

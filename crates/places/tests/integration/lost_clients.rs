//! Kills of Hermes and of its supervisor in the middle of a command elsewhere.

use crate::bench::Bench;
use crate::servers;
use crate::supervisor::{self, SETTINGS};
use hermes_exec::supervisor::{EndReason, Key, Outcome};
use hermes_exec::{Direct, OutputLimits, run_direct};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);

/// The places with a real server; the second is a container.
fn places(temporary: &Path) -> Vec<&'static str> {
    let ssh = servers::ssh(temporary).map(|_| "ssh");
    let podman = servers::container_settings("podman", "none").map(|_| "podman");
    [ssh, podman].into_iter().flatten().collect()
}

/// The first command of [`supervisor::owner`].
fn key() -> Key {
    Key::of("bench", 0)
}

/// Runs a script at the place of an owner.
struct Far {
    bench: Bench,
}

impl Far {
    /// The place is ready before an owner of commands uses it.
    async fn new(place: &str, home: &Path) -> Self {
        let far = Self { bench: supervisor::unsupervised(supervisor::place_of(place, home)) };
        far.bench.run(":").await.unwrap();
        far
    }

    async fn says(&self, script: &str, want: &str) {
        let begun = Instant::now();
        loop {
            let said = self.bench.run(script).await.unwrap().text;
            if said == want {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{script}: expected {want:?}, got {said:?}");
        }
    }

    async fn gone(&self, process: u32) {
        self.bench.is_gone(process).await.unwrap();
    }

    /// The process id that the owner's command wrote.
    async fn process(&self, file: &str) -> u32 {
        let begun = Instant::now();
        loop {
            let said = self.bench.run(&format!("cat {file} 2>/dev/null || :")).await.unwrap().text;
            if let Ok(process) = said.trim().parse() {
                return process;
            }
            assert!(begun.elapsed() < PATIENCE, "the command does not start");
        }
    }
}

fn kill(mut owner: Child) {
    owner.kill().unwrap();
    owner.wait().unwrap();
}

async fn remove(place: &str, home: &Path) {
    if place != "ssh" {
        let task = format!("lost-{}", home.file_name().unwrap().to_string_lossy());
        drop(servers::container(place, &task, home));
    }
}

#[tokio::test]
async fn result_survives_a_kill_of_its_owner() {
    let temporary = tempfile::tempdir().unwrap();
    for place in places(temporary.path()) {
        let home = tempfile::tempdir().unwrap();
        let (far, home_path) = (Far::new(place, home.path()).await, home.path());
        let file = format!("/tmp/survives-{place}-{}", std::process::id());
        let script = format!(
            "echo $$ >{file}; echo run >>{file}.runs; while [ -e {file} ]; do sleep 0.05; done; echo the end; cd /usr; exit 9"
        );
        let owner = supervisor::owner(home_path, place, &script);
        far.process(&file).await;
        kill(owner);
        far.says(&format!("rm {file}; cat {file}.runs; rm {file}.runs"), "run\n").await;
        let supervised = supervisor::supervised(home_path, SETTINGS);
        let found = match supervised.reattach(&key(), OutputLimits::default()).await.unwrap() {
            Outcome::Running(running) => running.finished().await.unwrap(),
            over => over,
        };
        let Outcome::Finished(finished) = found else { panic!("{place}: {found:?}") };
        assert_eq!((finished.how, finished.output.exit_code), (EndReason::Exited, 9), "{place}");
        assert_eq!(finished.output.text, "the end\n", "{place}");
        assert_eq!(finished.output.cwd, Some("/usr".into()), "{place}");
        remove(place, home_path).await;
    }
}

#[tokio::test]
async fn orphan_ends_at_the_far_end() {
    let temporary = tempfile::tempdir().unwrap();
    for place in places(temporary.path()) {
        let home = tempfile::tempdir().unwrap();
        let far = Far::new(place, home.path()).await;
        let file = format!("/tmp/orphan-{place}-{}", std::process::id());
        let owner =
            supervisor::owner(home.path(), place, &format!("setsid sleep 600 & echo $! >{file}; sleep 600"));
        let process = far.process(&file).await;
        kill(owner);
        far.gone(process).await;
        let supervised = supervisor::supervised(home.path(), SETTINGS);
        let found = supervised.reattach(&key(), OutputLimits::default()).await.unwrap();
        let found = match found {
            Outcome::Running(running) => running.finished().await.unwrap(),
            over => over,
        };
        let Outcome::Finished(finished) = found else { panic!("{place}: {found:?}") };
        assert_eq!(finished.how, EndReason::Orphaned, "{place}");
        remove(place, home.path()).await;
    }
}

/// Without the supervisor, the far end notices the loss of its connection.
#[tokio::test]
async fn kill_of_the_supervisor_ends_the_far_end() {
    let temporary = tempfile::tempdir().unwrap();
    for place in places(temporary.path()) {
        let home = tempfile::tempdir().unwrap();
        let far = Far::new(place, home.path()).await;
        let file = format!("/tmp/killed-{place}-{}", std::process::id());
        let owner =
            supervisor::owner(home.path(), place, &format!("setsid sleep 600 & echo $! >{file}; sleep 600"));
        let process = far.process(&file).await;
        let id = supervisor_of(home.path()).await;
        kill(owner);
        let argv = ["kill", "-KILL", &id.to_string()].map(str::to_owned).to_vec();
        let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let (cwd, timeout) = (home.path().to_owned(), Duration::from_secs(5));
        run_direct(Direct { argv, cwd, env, input: Vec::new(), timeout, most_output: 1000, sandbox: None })
            .await
            .unwrap();
        far.gone(process).await;
        let supervised = supervisor::supervised(home.path(), SETTINGS);
        let found = supervised.reattach(&key(), OutputLimits::default()).await.unwrap();
        assert!(matches!(found, Outcome::Unknown { .. }), "{place}: {found:?}");
        remove(place, home.path()).await;
    }
}

/// The id of the supervisor process.
async fn supervisor_of(home: &Path) -> i32 {
    let address = std::fs::read_to_string(home.join("spool/address")).unwrap();
    let stream = tokio::net::UnixStream::connect(Path::new(&address).join("s")).await.unwrap();
    stream.peer_cred().unwrap().pid().unwrap()
}

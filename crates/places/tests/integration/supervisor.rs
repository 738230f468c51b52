//! A supervisor in a temporary home directory, and owners of commands that can be killed.

use crate::{bench::Bench, servers};
use hermes_exec::supervisor::{
    Fallback, Program, SessionCommands, Supervised, SupervisorPaths, SupervisorSettings, supervise,
};
use hermes_exec::{Backend, Local};
use hermes_places::{FarBackend, Place};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const ROLE: &str = "HERMES_PLACES_TEST_ROLE";
const PLACE: &str = "HERMES_PLACES_TEST_PLACE";

/// Not a test: the entry point for the processes that tests start.
#[test]
fn role() {
    match std::env::var(ROLE).as_deref() {
        Ok("supervisor") => supervise().unwrap(),
        Ok(home) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(own(Path::new(home)));
        }
        Err(_) => {}
    }
}

/// Runs one command until this process is killed.
async fn own(home: &Path) {
    let (place, script) =
        std::env::var(PLACE).unwrap().split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let place = place_of(&place, home);
    let bench = bench(place, home, SETTINGS);
    let mut command = bench.command(&script);
    command.report.as_mut().unwrap().file = home.join("report");
    drop(bench.try_run(command).await);
}

/// A place for tests with processes of their own; `container` is that of `task`.
pub(crate) fn place_of(name: &str, home: &Path) -> Arc<Place> {
    match name {
        "ssh" => servers::ssh(home).unwrap(),
        program => {
            let container = servers::container(
                program,
                &format!("lost-{}", home.file_name().unwrap().to_string_lossy()),
                home,
            )
            .unwrap();
            let place = container.place.clone();
            // The test removes it.
            std::mem::forget(container);
            place
        }
    }
}

/// The settings of supervisors whose commands end soon after their owner.
pub(crate) const SETTINGS: SupervisorSettings = SupervisorSettings {
    orphan_grace: Duration::from_secs(3),
    idle: Duration::from_secs(5),
    keep: Duration::from_secs(3600),
};

pub(crate) fn supervised(home: &Path, settings: SupervisorSettings) -> Supervised {
    let args = ["supervisor::role", "--exact", "--nocapture", "--test-threads=1"].map(str::to_owned).to_vec();
    let program = Program::this(args).unwrap().with_env(ROLE, "supervisor");
    std::fs::create_dir_all(home.join("run")).unwrap();
    let paths = SupervisorPaths { spool: home.join("spool"), runtime: Some(home.join("run")) };
    Supervised::new(&paths, program, settings).unwrap()
}

fn unexpected() -> Fallback {
    Arc::new(|error| panic!("the supervisor cannot be used: {error}"))
}

pub(crate) fn commands(home: &Path) -> Arc<dyn Backend> {
    Arc::new(SessionCommands::new(
        supervised(home, SupervisorSettings { idle: Duration::from_secs(5), ..Default::default() }),
        "s",
        unexpected(),
    ))
}

/// A place whose clients are supervised.
pub(crate) fn bench(place: Arc<Place>, home: &Path, settings: SupervisorSettings) -> Bench {
    let dir = place.directory().display().to_string();
    let inner = Arc::new(SessionCommands::new(supervised(home, settings), "s", unexpected()));
    Bench::new(Arc::new(FarBackend::new(place, inner)), &dir, &[])
}

/// A place whose clients are children.
pub(crate) fn unsupervised(place: Arc<Place>) -> Bench {
    let dir = place.directory().display().to_string();
    Bench::new(Arc::new(FarBackend::new(place, Arc::new(Local))), &dir, &[])
}

/// Starts a process that owns a command.
pub(crate) fn owner(home: &Path, place: &str, script: &str) -> std::process::Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["supervisor::role", "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, home)
        .env(servers::PROFILE, servers::profile())
        .env(PLACE, format!("{place} {script}"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

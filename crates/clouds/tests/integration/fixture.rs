//! A home directory with a key, and places for it.

use crate::bench::Bench;
use crate::stand_in::{KEY, StandIn};
use hermes_clouds::{CloudSettings, Service, Timing};
use hermes_exec::Local;
use hermes_exec::supervisor::{
    Fallback, Program, SessionCommands, Supervised, SupervisorPaths, SupervisorSettings, supervise,
};
use hermes_places::{FarBackend, Place, PlaceSettings};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const SERVICES: [Service; 2] = [Service::Daytona, Service::Modal];
const ROLE: &str = "HERMES_CLOUDS_TEST_ROLE";

/// Not a test: the entry point of the processes that tests start.
#[test]
fn role() {
    match std::env::var(ROLE).as_deref() {
        Ok("supervisor") => supervise().unwrap(),
        Ok(owner) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(own(owner));
        }
        Err(_) => {}
    }
}

/// Runs one command until this process is killed. The text is a home directory, settings and the command.
async fn own(text: &str) {
    let [home, settings, script] = serde_json::from_str::<[String; 3]>(text).unwrap();
    let bench = supervised(Path::new(&home), &settings);
    let mut command = bench.command(&script);
    command.report.as_mut().unwrap().file = Path::new(&home).join("report");
    drop(bench.try_run(command).await);
}

fn role_arguments() -> Vec<String> {
    ["fixture::role", "--exact", "--nocapture", "--test-threads=1"].map(str::to_owned).to_vec()
}

/// A home directory of Hermes.
pub(crate) struct Fixture {
    pub(crate) home: tempfile::TempDir,
    pub(crate) settings: CloudSettings,
}

impl Fixture {
    pub(crate) fn new(service: Service, server: &StandIn) -> Self {
        let home = tempfile::tempdir().unwrap();
        let key = match service {
            Service::Daytona => "DAYTONA_API_KEY",
            Service::Modal => "TOOL_GATEWAY_USER_TOKEN",
        };
        std::fs::write(home.path().join(".env"), format!("{key}={KEY}\n")).unwrap();
        let url = match service {
            Service::Daytona => format!("{}/api", server.url),
            Service::Modal => server.url.clone(),
        };
        let settings = CloudSettings {
            service,
            url,
            toolbox: None,
            target: None,
            task: "default".into(),
            image: "debian:12".into(),
            cpu: 1,
            memory: 5120,
            disk: 51_200,
            persistent: true,
            lifetime: 300,
            timing: Timing { pause_ms: 20, grace_s: 8, request_ms: 10_000 },
        };
        Self { home, settings }
    }

    /// The client program with its environment.
    pub(crate) fn client(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).env_clear().envs(env(self.home.path()));
        command
    }

    pub(crate) fn place(&self) -> Arc<Place> {
        place(self.home.path(), &self.settings.argument())
    }

    /// Commands whose clients are children.
    pub(crate) fn unsupervised(&self) -> Bench {
        Bench::new(Arc::new(FarBackend::new(self.place(), Arc::new(Local)).without_retries()), "/", &[])
    }

    /// Commands whose clients are supervised.
    pub(crate) fn supervised(&self) -> Bench {
        supervised(self.home.path(), &self.settings.argument())
    }

    /// Starts a process that owns a supervised command.
    pub(crate) fn owner(&self, script: &str) -> Child {
        let home = self.home.path().display().to_string();
        let text = serde_json::json!([home, self.settings.argument(), script]).to_string();
        let mut owner = Command::new(std::env::current_exe().unwrap());
        owner.args(role_arguments()).env(ROLE, text).stdout(Stdio::null()).stderr(Stdio::null());
        owner.spawn().unwrap()
    }
}

fn env(home: &Path) -> Vec<(String, String)> {
    let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
    vec![path, ("HERMES_HOME".to_owned(), home.display().to_string())]
}

fn place(home: &Path, settings: &str) -> Arc<Place> {
    let service = if settings.contains("daytona") { "Daytona" } else { "Modal" };
    let settings = hermes_places::CloudSettings {
        program: vec![program().display().to_string()],
        settings: settings.to_owned(),
        label: format!("the {service} sandbox"),
        advice: "run `hermes backend test`".into(),
        directory: "/".into(),
    };
    Arc::new(Place::new(PlaceSettings::Cloud(settings), env(home)).unwrap())
}

fn supervised(home: &Path, settings: &str) -> Bench {
    let inner = Arc::new(SessionCommands::new(supervisor(home), "s", unexpected()));
    Bench::new(Arc::new(FarBackend::new(place(home, settings), inner)), "/", &[])
}

pub(crate) fn supervisor(home: &Path) -> Supervised {
    let program = Program::this(role_arguments()).unwrap().with_env(ROLE, "supervisor");
    std::fs::create_dir_all(home.join("run")).unwrap();
    let paths = SupervisorPaths { spool: home.join("spool"), runtime: Some(home.join("run")) };
    let settings = SupervisorSettings { idle: Duration::from_secs(5), ..Default::default() };
    Supervised::new(&paths, program, settings).unwrap()
}

fn unexpected() -> Fallback {
    Arc::new(|error| panic!("the supervisor cannot be used: {error}"))
}

/// The example `place_client`, beside the directory of this test.
fn program() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let program = this.ancestors().nth(2).unwrap().join("examples/place_client");
    assert!(program.exists(), "run `cargo build -p hermes-clouds --examples` first");
    program
}

/// The texts of all files below a directory.
pub(crate) fn texts_below(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(texts_below(&path));
        } else if let Ok(bytes) = std::fs::read(&path) {
            found.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    found
}

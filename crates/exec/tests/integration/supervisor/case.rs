//! A temporary home directory with a supervisor, and agents that can be killed.

use hermes_exec::supervisor::{
    Finished, Key, Lifetime, Outcome, Program, Supervised, SupervisorPaths, SupervisorSettings,
};
use hermes_exec::{
    Backend, BoxFuture, Command, EnvChanges, ExecError, Group, Input, Output, OutputLimits, ShellReport,
    Started, Unwatched, Watch,
};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) const ROLE: &str = "HERMES_EXEC_TEST_ROLE";
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Case {
    pub(crate) dir: TempDir,
    pub(crate) settings: SupervisorSettings,
}

impl Case {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("run")).unwrap();
        let settings = SupervisorSettings { idle: Duration::from_secs(5), ..Default::default() };
        Self { dir, settings }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn supervised(&self) -> Supervised {
        supervised(self.dir.path(), self.settings)
    }

    pub(crate) fn command(&self, script: &str) -> Command {
        command(self.dir.path(), script)
    }

    pub(crate) async fn run(&self, name: &str, script: &str) -> Result<Output, ExecError> {
        self.run_with(name, self.command(script), &CancellationToken::new()).await
    }

    pub(crate) async fn run_with(
        &self,
        name: &str,
        command: Command,
        cancel: &CancellationToken,
    ) -> Result<Output, ExecError> {
        let call = self.supervised().call(key(name), "s", Lifetime::Turn);
        call.run(command, Watch { started: &Unwatched, cancel }).await
    }

    /// A process that runs `steps` one after the other, in this home directory.
    pub(crate) fn agent(&self, steps: &[(&str, &str, Lifetime)]) -> Agent {
        let steps = steps
            .iter()
            .map(|(name, script, lifetime)| PlannedCommand::new(name, script, *lifetime))
            .collect();
        self.agent_with(steps)
    }

    pub(crate) fn agent_with(&self, steps: Vec<PlannedCommand>) -> Agent {
        let plan = Plan { home: self.dir.path().to_owned(), settings: self.settings, steps, unlink: None };
        Agent::start(&std::env::current_exe().unwrap(), &plan)
    }

    /// The id of the supervisor process.
    pub(crate) async fn supervisor(&self) -> u32 {
        let stream = self.raw().await;
        stream.peer_cred().unwrap().pid().unwrap().unsigned_abs()
    }

    pub(crate) async fn raw(&self) -> tokio::net::UnixStream {
        let address = std::fs::read_to_string(self.path("spool/address")).unwrap();
        tokio::net::UnixStream::connect(Path::new(&address).join("s")).await.unwrap()
    }

    pub(crate) async fn exists(&self, name: &str) {
        let path = self.path(name);
        until(name, || path.exists()).await;
    }

    /// Waits until no command runs.
    pub(crate) async fn quiet(&self) {
        let supervised = self.supervised();
        let quiet = async {
            while !supervised.status().await.unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, quiet).await.unwrap();
    }

    /// Returns true if a file of the spool, at any depth, contains the text.
    pub(crate) fn is_kept(&self, text: &str) -> bool {
        let mut folders = vec![self.path("spool")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                match path.is_dir() {
                    true => folders.push(path),
                    false if holds(&path, text) => return true,
                    false => {}
                }
            }
        }
        false
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The process ids that a script wrote.
    pub(crate) fn ids(&self, name: &str) -> Vec<u32> {
        self.text(name).split_whitespace().map(|id| id.parse().unwrap()).collect()
    }
}

/// Returns true if a file below `path` contains the text.
fn holds(path: &Path, text: &str) -> bool {
    std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
}

pub(crate) fn marked(home: &Path) -> Vec<u32> {
    let needle = home.as_os_str().as_encoded_bytes().to_vec();
    let of_home = |id: &u32| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        let has = |wanted: &[u8]| environment.windows(wanted.len()).any(|window| window == wanted);
        has(b"HERMES_COMMAND=") && has(&needle) && is_alive(*id)
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(of_home)
        .collect()
}

impl Drop for Case {
    fn drop(&mut self) {
        // A supervisor that gets TERM ends its commands; the tests leave nothing behind.
        let Ok(lock) = std::fs::metadata(self.path("spool/supervisor.lock")) else {
            return;
        };
        let (major, minor) = (rustix::fs::major(lock.dev()), rustix::fs::minor(lock.dev()));
        let name = format!("{major:02x}:{minor:02x}:{}", lock.ino());
        for line in std::fs::read_to_string("/proc/locks").unwrap_or_default().lines() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let (Some(id), true) = (fields.get(4), fields.get(5) == Some(&name.as_str())) {
                signal(id.parse().unwrap(), Signal::TERM);
            }
        }
    }
}

pub(crate) fn paths(home: &Path) -> SupervisorPaths {
    SupervisorPaths { spool: home.join("spool"), runtime: Some(home.join("run")) }
}

fn program() -> Program {
    let args =
        ["supervisor::role::role", "--exact", "--nocapture", "--test-threads=1"].map(str::to_owned).to_vec();
    Program::this(args).unwrap().with_env(ROLE, "supervisor")
}

pub(crate) fn supervised(home: &Path, settings: SupervisorSettings) -> Supervised {
    Supervised::new(&paths(home), program(), settings).unwrap()
}

pub(crate) fn command(home: &Path, script: &str) -> Command {
    Command {
        script: script.into(),
        cwd: home.to_owned(),
        env: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("TEST_HOME".into(), home.to_str().unwrap().into()),
        ],
        timeout: Duration::from_secs(60),
        key: None,
        changes: EnvChanges::default(),
        report: Some(ShellReport { file: home.join(".cwd"), cwd: true, exports: Some(Vec::new()) }),
        output: limits(home),
        sandbox: None,
        client: None,
    }
}

pub(crate) fn limits(home: &Path) -> OutputLimits {
    OutputLimits { chars: 1000, spill: Some(home.join("spill")), ..Default::default() }
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

pub(crate) fn finished(outcome: Outcome) -> Finished {
    match outcome {
        Outcome::Finished(finished) => finished,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waiting).await.is_ok(), "never happened: {what}");
}

pub(crate) fn is_alive(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

pub(crate) fn signal(id: u32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(i32::try_from(id).unwrap()).unwrap(), signal);
}

#[derive(Serialize, Deserialize)]
pub(crate) struct PlannedCommand {
    key: Key,
    script: String,
    lifetime: Lifetime,
    /// A detached command is never let through its gate.
    is_held: bool,
}

impl PlannedCommand {
    pub(crate) fn new(name: &str, script: &str, lifetime: Lifetime) -> Self {
        Self { key: key(name), script: script.to_owned(), lifetime, is_held: false }
    }

    /// A command with a pipe as its input; its result is written once it has started.
    pub(crate) fn detached(name: &str, script: &str) -> Self {
        Self::new(name, script, Lifetime::Detached)
    }

    pub(crate) fn held(name: &str, script: &str) -> Self {
        Self { is_held: true, ..Self::detached(name, script) }
    }

    /// Starts a detached command.
    async fn start(&self, home: &Path, supervised: &Supervised) -> String {
        let marker = home.join(format!("held-{}", self.key.as_str()));
        let gate = TestGate { marker, is_held: self.is_held };
        let command = command(home, &self.script);
        let group = supervised.start_detached(&self.key, "s", &command, Input::Pipe, &gate).await.unwrap();
        format!("{group:?}")
    }
}

/// Records that a command waits at its gate, and keeps it there if wanted.
struct TestGate {
    marker: PathBuf,
    is_held: bool,
}

impl Started for TestGate {
    fn started<'a>(&'a self, _: &'a Group) -> BoxFuture<'a, Result<(), String>> {
        std::fs::write(&self.marker, "").unwrap();
        Box::pin(async {
            if self.is_held {
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    }
}

/// The commands of an agent.
#[derive(Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) home: PathBuf,
    pub(crate) settings: SupervisorSettings,
    pub(crate) steps: Vec<PlannedCommand>,
    /// A file that is removed once the program is open: the program itself.
    pub(crate) unlink: Option<PathBuf>,
}

impl Plan {
    /// Runs every command. `began` and `result-KEY` are its journal.
    pub(crate) async fn carry_out(self) {
        let supervised = supervised(&self.home, self.settings);
        if let Some(path) = self.unlink {
            std::fs::remove_file(path).unwrap();
        }
        for step in self.steps {
            let name = step.key.as_str().to_owned();
            append(&self.home.join("began"), &name);
            let result = self.home.join(format!("result-{name}"));
            if step.lifetime == Lifetime::Detached {
                let started = step.start(&self.home, &supervised).await;
                std::fs::write(&result, started).unwrap();
                continue;
            }
            let call = supervised.call(step.key, "s", step.lifetime);
            let cancel = CancellationToken::new();
            let watch = Watch { started: &Unwatched, cancel: &cancel };
            let output = call.run(command(&self.home, &step.script), watch).await.unwrap();
            std::fs::write(result.with_extension("new"), format!("{} {}", output.exit_code, output.text))
                .unwrap();
            std::fs::rename(result.with_extension("new"), result).unwrap();
        }
    }
}

fn append(path: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).unwrap();
}

pub(crate) struct Agent(pub(crate) Child);

impl Agent {
    pub(crate) fn start(program: &Path, plan: &Plan) -> Self {
        let mut agent = std::process::Command::new(program);
        agent.args(["supervisor::role::role", "--exact", "--test-threads=1"]);
        agent.env(ROLE, serde_json::to_string(plan).unwrap());
        Self(agent.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Kills the agent with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

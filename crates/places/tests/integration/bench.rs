//! A backend under test, with commands and checks.

use hermes_exec::supervisor::Key;
use hermes_exec::{
    Backend, BoxFuture, Command, Ended, EnvChanges, ExecError, Output, OutputLimits, ShellReport, Unwatched,
    Watch,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A backend and the directory in which its commands begin.
pub(crate) struct Bench {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) dir: PathBuf,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) scratch: TempDir,
    numbers: AtomicU32,
}

/// The result of a case; an error says what is wrong.
pub(crate) type Verdict = Result<(), String>;
pub(crate) type CaseFn = for<'a> fn(&'a Bench) -> BoxFuture<'a, Verdict>;

impl Bench {
    pub(crate) fn new(backend: Arc<dyn Backend>, dir: &str, env: &[(&str, &str)]) -> Self {
        let env = env.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let scratch = tempfile::tempdir().unwrap();
        Self { backend, dir: dir.into(), env, scratch, numbers: AtomicU32::new(0) }
    }

    pub(crate) fn command(&self, script: &str) -> Command {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        Command {
            key: Some(Key::of("bench", i64::from(number))),
            script: script.into(),
            cwd: self.dir.clone(),
            env: self.env.clone(),
            changes: EnvChanges::default(),
            timeout: Duration::from_secs(60),
            report: Some(ShellReport {
                file: self.scratch.path().join(format!("report-{number}")),
                cwd: true,
                exports: Some(Vec::new()),
            }),
            output: OutputLimits {
                chars: 2000,
                spill: Some(self.scratch.path().join("spill")),
                ..OutputLimits::default()
            },
            sandbox: None,
            client: None,
        }
    }

    pub(crate) async fn try_run(&self, command: Command) -> Result<Output, ExecError> {
        let watch = Watch { started: &Unwatched, cancel: &CancellationToken::new() };
        self.backend.run(command, watch).await
    }

    pub(crate) async fn run(&self, script: &str) -> Result<Output, String> {
        self.try_run(self.command(script)).await.map_err(|error| error.to_string())
    }

    pub(crate) async fn run_with(
        &self,
        script: &str,
        change: impl FnOnce(&mut Command),
    ) -> Result<Output, String> {
        let mut command = self.command(script);
        change(&mut command);
        self.try_run(command).await.map_err(|error| error.to_string())
    }

    /// Runs a script that prints `$!` or `$$` of a process first, and checks that the process is gone soon after.
    pub(crate) async fn leaves_nothing(&self, output: &Output) -> Verdict {
        let process = output.text.lines().find_map(|line| line.trim().parse::<u32>().ok());
        let process = process.ok_or_else(|| format!("no process id in {:?}", output.text))?;
        self.is_gone(process).await
    }

    /// Checks that a process is gone, at the latest after some seconds.
    pub(crate) async fn is_gone(&self, process: u32) -> Verdict {
        let begun = Instant::now();
        let look =
            format!("case $(cat /proc/{process}/stat 2>/dev/null) in ''|*') Z '*) ;; *) echo alive ;; esac");
        while begun.elapsed() < Duration::from_secs(15) {
            if self.run(&look).await?.text.is_empty() {
                return Ok(());
            }
        }
        Err(format!("process {process} still runs"))
    }
}

/// Compares two values.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(found: T, want: T) -> Verdict {
    if found == want { Ok(()) } else { Err(format!("expected {want:?}, got {found:?}")) }
}

pub(crate) fn ended(output: &Output, want: (Ended, i32)) -> Verdict {
    same((output.ended, output.exit_code), want)
}

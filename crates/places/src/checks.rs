//! Real checks of a backend, for `hermes backend test`.

use hermes_exec::{Backend, Command, Ended, EnvChanges, Output, OutputLimits, ShellReport, Unwatched, Watch};
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The place of the checks.
#[derive(Debug, Clone)]
pub struct Check {
    /// The directory of the first command.
    pub directory: PathBuf,
    /// The environment of commands.
    pub env: Vec<(String, String)>,
    /// A private directory on this machine.
    pub scratch: PathBuf,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub name: &'static str,
    /// An error says what was expected and what came.
    pub result: Result<String, String>,
}

const PATIENCE: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_secs(3);

/// Runs a handful of commands. The first failure to run a command at all ends the checks.
pub async fn run_checks(backend: &dyn Backend, check: &Check) -> Vec<Checked> {
    let mut all = Vec::new();
    let first = check.run(backend, "pwd; uname -s", PATIENCE, &check.directory, EnvChanges::default()).await;
    let (first, is_reached) = match first {
        Ok(output) if output.exit_code == 0 => {
            let lines: Vec<&str> = output.text.lines().collect();
            (Ok(format!("starts in {}", lines.join(", on "))), true)
        }
        Ok(output) => (Err(output.text.trim().to_owned()), false),
        Err(error) => (Err(error), false),
    };
    all.push(Checked { name: "run a command", result: first });
    if !is_reached {
        return all;
    }
    all.push(check.exit_code(backend).await);
    all.push(check.state(backend).await);
    all.push(check.input(backend).await);
    all.push(check.timeout(backend).await);
    all
}

impl Check {
    async fn run(
        &self,
        backend: &dyn Backend,
        script: &str,
        timeout: Duration,
        cwd: &std::path::Path,
        changes: EnvChanges,
    ) -> Result<Output, String> {
        let command = Command {
            key: None,
            script: script.to_owned(),
            cwd: cwd.to_owned(),
            env: self.env.clone(),
            changes,
            timeout,
            report: Some(ShellReport {
                file: self.scratch.join("backend-check"),
                cwd: true,
                exports: Some(Vec::new()),
            }),
            output: OutputLimits::default(),
            sandbox: None,
            client: None,
        };
        let watch = Watch { started: &Unwatched, cancel: &CancellationToken::new() };
        let ran = backend.run(command, watch).await;
        ran.map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            format!("{error}{}", cause.unwrap_or_default())
        })
    }

    async fn exit_code(&self, backend: &dyn Backend) -> Checked {
        let ran = self.run(
            backend,
            "echo out; echo err >&2; exit 7",
            PATIENCE,
            &self.directory,
            EnvChanges::default(),
        );
        let result = ran.await.and_then(|output| match (output.text.as_str(), output.exit_code) {
            ("out\nerr\n", 7) => Ok("both streams in order, exit code 7".to_owned()),
            (text, code) => Err(format!("expected `out`, `err` and 7, got {text:?} and {code}")),
        });
        Checked { name: "output and exit code", result }
    }

    async fn state(&self, backend: &dyn Backend) -> Checked {
        let result = async {
            let set = "cd / && export HERMES_CHECK='a b'";
            let first = self.run(backend, set, PATIENCE, &self.directory, EnvChanges::default()).await?;
            let cwd = first.cwd.ok_or("the directory is not reported")?;
            let changes = first.exports.ok_or("exports are not reported")?.changes;
            let second = self.run(backend, "pwd; echo $HERMES_CHECK", PATIENCE, &cwd, changes).await?;
            match second.text.as_str() {
                "/\na b\n" => Ok("kept between commands".to_owned()),
                text => Err(format!("expected `/` and `a b`, got {text:?}")),
            }
        };
        Checked { name: "directory and exports", result: result.await }
    }

    async fn input(&self, backend: &dyn Backend) -> Checked {
        let ran = self.run(backend, "cat; echo end", PATIENCE, &self.directory, EnvChanges::default());
        let result = ran.await.and_then(|output| match output.text.as_str() {
            "end\n" => Ok("empty".to_owned()),
            text => Err(format!("expected `end`, got {text:?}")),
        });
        Checked { name: "standard input", result }
    }

    /// A command that times out must leave no process at the far end.
    async fn timeout(&self, backend: &dyn Backend) -> Checked {
        let result = async {
            let number = 600_000 + std::process::id() % 100_000;
            let script = format!("sleep {number} & echo $!; sleep {number}");
            let ran = self.run(backend, &script, SHORT, &self.directory, EnvChanges::default()).await?;
            if (ran.ended, ran.exit_code) != (Ended::TimedOut, 124) {
                return Err(format!("expected a timeout, got exit code {}", ran.exit_code));
            }
            let Some(process) = ran.text.lines().next().and_then(|line| line.parse::<u32>().ok()) else {
                return Err(format!("no output before the timeout: {:?}", ran.text));
            };
            // A process that nobody has collected yet is a zombie.
            let look = format!(
                "for i in 1 2 3 4 5 6 7 8 9 10; do case $(cat /proc/{process}/stat 2>/dev/null) in ''|*') Z '*) echo gone; exit;; \
                 esac; sleep 0.2; done; echo alive"
            );
            let looked = self.run(backend, &look, PATIENCE, &self.directory, EnvChanges::default()).await?;
            match looked.text.as_str() {
                "gone\n" => Ok("ends every process, exit code 124".to_owned()),
                _ => Err(format!("process {process} still runs")),
            }
        };
        Checked { name: "timeout", result: result.await }
    }
}

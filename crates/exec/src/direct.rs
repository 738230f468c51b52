//! Runs a program without a shell: arguments, standard input, captured standard output.
//!
//! Like a command of a [`Backend`](crate::Backend), it leads its own session and no process of it remains: not
//! after its end, not after a timeout, not when the future is dropped.

use crate::backend::ExecError;
use crate::confine::{self, Confined};
use crate::exports::EnvChanges;
use crate::local::Guard;
use crate::shell::{SpawnOptions, lead_session};
use crate::{Ended, Group};
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};
use tokio::time::{Instant, sleep, timeout};

/// Time for output after the program has exited.
const AFTER_EXIT: Duration = Duration::from_millis(100);
/// Time for killed processes to disappear.
const KILL_PATIENCE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(5);

/// A program with its arguments, input and environment.
#[derive(Debug, Clone)]
pub struct Direct {
    /// The program and its arguments. A program without `/` is searched for in the `PATH` of `env`.
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    pub input: Vec<u8>,
    pub timeout: Duration,
    /// Bytes of each stream that are kept; the rest is read and dropped.
    pub most_output: usize,
    /// The sandbox; without it, the program is not confined.
    pub sandbox: Option<hermes_sandbox::Policy>,
}

/// The result of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectOutput {
    pub stdout: String,
    pub stderr: String,
    /// 124 after a timeout, 128 + signal after a signal.
    pub exit_code: i32,
    /// Never [`Ended::Cancelled`]: dropping the future cancels the run.
    pub ended: Ended,
}

/// Runs a program to its end. An error means that it did not run.
///
/// The program itself is also killed when the thread that first polls this future ends, so that it does not
/// survive a kill of this process. That thread must live as long as the future.
pub async fn run_direct(program: Direct) -> Result<DirectOutput, ExecError> {
    if !confine::is_directory(program.sandbox.as_ref(), &program.cwd) {
        return Err(ExecError::NoDirectory { path: program.cwd });
    }
    let (mut child, mut guard, confined) =
        spawn(&program.argv, &program.cwd, program.env, program.sandbox.as_ref())?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = {
        let transfer = async {
            tokio::join!(
                write_input(stdin, &program.input),
                keep(stdout, &mut out, program.most_output),
                keep(stderr, &mut err, program.most_output)
            );
        };
        tokio::pin!(transfer);
        let mut is_done = false;
        let exited = async {
            loop {
                tokio::select! {
                    biased;
                    status = child.wait() => return (status.ok(), is_done),
                    () = &mut transfer, if !is_done => is_done = true,
                }
            }
        };
        match timeout(program.timeout, exited).await {
            Err(_) => None,
            Ok((status, is_done)) => {
                if !is_done {
                    // A process that it started may hold its output open.
                    let _ = timeout(AFTER_EXIT, &mut transfer).await;
                }
                Some(status)
            }
        }
    };
    end(&mut child, &mut guard).await;
    let note = confined.as_ref().and_then(Confined::finish);
    err.extend(note.unwrap_or_default().into_bytes());
    Ok(DirectOutput {
        stdout: String::from_utf8_lossy(&out).into_owned(),
        stderr: String::from_utf8_lossy(&err).into_owned(),
        exit_code: status.map_or(124, |status| status.map_or(-1, crate::local::exit_code)),
        ended: if status.is_some() { Ended::Exited } else { Ended::TimedOut },
    })
}

/// Starts a program that is killed with the calling thread, with pipes to its three streams.
pub(crate) fn spawn(
    argv: &[String],
    cwd: &Path,
    mut env: Vec<(String, String)>,
    sandbox: Option<&hermes_sandbox::Policy>,
) -> Result<(Child, Guard, Option<Confined>), ExecError> {
    let failed = |source| ExecError::Io { doing: "start the program", source };
    let Some((name, arguments)) = argv.split_first() else {
        return Err(failed(std::io::ErrorKind::InvalidInput.into()));
    };
    let confined = Confined::new(sandbox, cwd, &mut env, &EnvChanges::default())?;
    let mut command = std::process::Command::new(name);
    command.args(arguments).current_dir(confine::start_directory(sandbox, cwd)).env_clear().envs(env);
    let ties = SpawnOptions { dies_with_parent: true, ..SpawnOptions::DETACHED };
    lead_session(&mut command, ties, confined.clone());
    let mut command = tokio::process::Command::from(command);
    command.kill_on_drop(true).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(failed)?;
    let id = child.id().ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
    let guard = Guard::new(Group::led_by(id).map_err(failed)?);
    Ok((child, guard, confined))
}

/// Writes the input. A program need not read it.
async fn write_input(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input).await;
    }
}

async fn keep(stream: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>, most: usize) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(count) = stream.read(&mut buffer).await
        && count > 0
    {
        let room = most.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(&buffer[..room]);
    }
}

/// Sends KILL until no process is left.
pub(crate) async fn end(child: &mut Child, guard: &mut Guard) {
    let deadline = Instant::now() + KILL_PATIENCE;
    loop {
        let is_collected = child.try_wait().is_ok_and(|status: Option<ExitStatus>| status.is_some());
        if is_collected && guard.group.members().is_empty() {
            guard.armed = false;
            return;
        }
        guard.group.signal(Signal::KILL);
        if Instant::now() >= deadline {
            return;
        }
        sleep(POLL).await;
    }
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;

//! A long-running program that exchanges lines on its standard streams.
//!
//! As with [`crate::run_direct`], the program leads its own session, inherits nothing, and no process of it
//! remains: not after [`LineProgram::end`], not after a drop; and the program itself does not survive a kill of
//! this process.

use crate::backend::ExecError;
use crate::confine::{self, Confined};
use crate::direct::{end, spawn};
use crate::local::Guard;
use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Bytes of one line of standard error that are passed on.
const MAX_STDERR_LINE: usize = 2_000;
/// Bytes of standard error that are passed on in total; the rest is read and dropped.
const MAX_STDERR: usize = 64 * 1024;

/// A program with its arguments and environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineProgramSpec {
    /// The program and its arguments. A program without `/` is searched for in the `PATH` of `env`.
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    /// The maximum length of a line that it writes, in bytes.
    pub most_line: usize,
    /// The sandbox; without it, the program is not confined.
    pub sandbox: Option<hermes_sandbox::Policy>,
}

/// A running program.
pub struct LineProgram {
    child: Child,
    guard: Guard,
    confined: Option<Confined>,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr_task: JoinHandle<()>,
    most_line: usize,
    /// Releases the thread that keeps the program alive.
    _keeper: mpsc::Sender<()>,
}

impl LineProgram {
    /// Starts a program; `on_stderr` receives its standard error, line by line.
    pub async fn start(
        program: &LineProgramSpec,
        on_stderr: impl Fn(&str) + Send + 'static,
    ) -> Result<Self, ExecError> {
        if !confine::is_directory(program.sandbox.as_ref(), &program.cwd) {
            return Err(ExecError::NoDirectory { path: program.cwd.clone() });
        }
        let (mut child, guard, confined, keeper) = spawn_kept(program.clone()).await?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (stdin, Some(stdout), Some(stderr)) = streams else {
            return Err(failed(ErrorKind::BrokenPipe.into()));
        };
        let stderr_task = tokio::spawn(pass_on(stderr, on_stderr));
        let (stdout, most_line) = (BufReader::new(stdout), program.most_line);
        Ok(Self { child, guard, confined, stdin, stdout, stderr_task, most_line, _keeper: keeper })
    }

    /// Writes a line to its standard input.
    pub async fn write_line(&mut self, line: &str) -> Result<(), Error> {
        write_line(self.stdin.as_mut(), line).await
    }

    /// Writes a line and reads one, concurrently: the program may answer before it has read the whole line.
    pub async fn exchange(&mut self, line: &str) -> Result<Vec<u8>, Error> {
        let writing = write_line(self.stdin.as_mut(), line);
        let reading = read_line(&mut self.stdout, self.most_line);
        tokio::try_join!(writing, reading).map(|((), line)| line)
    }

    /// Reads one line of its standard output.
    pub async fn read_line(&mut self) -> Result<Vec<u8>, Error> {
        read_line(&mut self.stdout, self.most_line).await
    }

    /// The exit code, if the program exits within `patience`.
    pub async fn exit_code(&mut self, patience: Duration) -> Option<i32> {
        let status = timeout(patience, self.child.wait()).await.ok()?.ok()?;
        Some(crate::local::exit_code(status))
    }

    /// Closes its standard input, waits for its exit, and kills what is left.
    pub async fn end(mut self, patience: Duration) {
        drop(self.stdin.take());
        let _ = timeout(patience, self.child.wait()).await;
        end(&mut self.child, &mut self.guard).await;
    }
}

impl Drop for LineProgram {
    fn drop(&mut self) {
        // A process that it started may hold the stream open.
        self.stderr_task.abort();
        if let Some(note) = self.confined.as_ref().and_then(Confined::finish) {
            tracing::warn!("{}", note.trim());
        }
    }
}

fn failed(source: Error) -> ExecError {
    ExecError::Io { doing: "start the program", source }
}

/// Starts the program from a dedicated thread: the program is killed when that thread ends, and any other
/// thread may end too early.
async fn spawn_kept(
    program: LineProgramSpec,
) -> Result<(Child, Guard, Option<Confined>, mpsc::Sender<()>), ExecError> {
    let (keeper, kept) = mpsc::channel::<()>();
    let (report, reported) = oneshot::channel();
    let handle = Handle::current();
    let keep = move || {
        let spawned = {
            let _inside = handle.enter();
            spawn(&program.argv, &program.cwd, program.env, program.sandbox.as_ref())
        };
        if report.send(spawned).is_ok() {
            // Blocks until the other end is dropped.
            let _ = kept.recv();
        }
    };
    std::thread::Builder::new().name("companion".to_owned()).spawn(keep).map_err(failed)?;
    let (child, guard, confined) = reported.await.map_err(|_| failed(ErrorKind::Other.into()))??;
    Ok((child, guard, confined, keeper))
}

async fn write_line(stdin: Option<&mut ChildStdin>, line: &str) -> Result<(), Error> {
    let stdin = stdin.ok_or(ErrorKind::BrokenPipe)?;
    stdin.write_all(line.as_bytes()).await?;
    stdin.write_all(b"\n").await?;
    stdin.flush().await
}

/// A line without its line break. A stream that ends, even within a line, is an error.
async fn read_line(stdout: &mut BufReader<ChildStdout>, most: usize) -> Result<Vec<u8>, Error> {
    let mut line = Vec::new();
    loop {
        let heard = stdout.fill_buf().await?;
        if heard.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let end = heard.iter().position(|byte| *byte == b'\n');
        line.extend_from_slice(&heard[..end.unwrap_or(heard.len())]);
        let used = end.map_or(heard.len(), |end| end + 1);
        stdout.consume(used);
        if line.len() > most {
            return Err(Error::new(ErrorKind::InvalidData, "the line is too long"));
        }
        if end.is_some() {
            return Ok(line);
        }
    }
}

async fn pass_on(mut stderr: ChildStderr, on_stderr: impl Fn(&str) + Send + 'static) {
    let (mut buffer, mut line, mut left) = (vec![0; 4096], Vec::new(), MAX_STDERR);
    while let Ok(count) = stderr.read(&mut buffer).await
        && count > 0
    {
        let room = left.min(count);
        left -= room;
        for byte in &buffer[..room] {
            match byte {
                b'\n' => report_line(&mut line, &on_stderr),
                _ if line.len() < MAX_STDERR_LINE => line.push(*byte),
                _ => {}
            }
        }
    }
    report_line(&mut line, &on_stderr);
}

fn report_line(line: &mut Vec<u8>, on_stderr: &impl Fn(&str)) {
    let text = String::from_utf8_lossy(line);
    if !text.trim().is_empty() {
        on_stderr(text.trim_end());
    }
    line.clear();
}

#[cfg(test)]
#[path = "line_program_tests.rs"]
mod tests;

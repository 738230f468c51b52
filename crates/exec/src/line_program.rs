//! A program that runs beside us for a while and is spoken with in lines.
//!
//! Like a program that is run to its end ([`crate::run_direct`]) it leads a session of its own, inherits
//! nothing, and nothing of it is left behind: not when it is ended, not when the value is dropped, and the
//! program itself not when this process is killed.

use crate::backend::ExecError;
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

/// Bytes of one line of its complaints that are passed on.
const MOST_COMPLAINT: usize = 2_000;
/// Bytes of all its complaints that are passed on; the rest is read and dropped.
const MOST_COMPLAINTS: usize = 64 * 1024;

/// A program and the circumstances in which it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanionProgram {
    /// The program and its arguments. A program without `/` is looked for in the `PATH` of `env`.
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    /// Bytes of one line that it may say.
    pub most_line: usize,
}

/// A program that runs.
pub struct Companion {
    child: Child,
    guard: Guard,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    complaints: JoinHandle<()>,
    most_line: usize,
    /// Lets go of the thread whose end would be the program's.
    _keeper: mpsc::Sender<()>,
}

impl Companion {
    /// Starts a program; `complain` is given what it says on standard error, line by line.
    pub async fn start(
        program: &CompanionProgram,
        complain: impl Fn(&str) + Send + 'static,
    ) -> Result<Self, ExecError> {
        if !program.cwd.is_dir() {
            return Err(ExecError::NoDirectory { path: program.cwd.clone() });
        }
        let (mut child, guard, keeper) = spawn_kept(program.clone()).await?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (stdin, Some(stdout), Some(stderr)) = streams else {
            return Err(failed(ErrorKind::BrokenPipe.into()));
        };
        let complaints = tokio::spawn(pass_on(stderr, complain));
        let (stdout, most_line) = (BufReader::new(stdout), program.most_line);
        Ok(Self { child, guard, stdin, stdout, complaints, most_line, _keeper: keeper })
    }

    /// Says a line.
    pub async fn tell(&mut self, line: &str) -> Result<(), Error> {
        tell(self.stdin.as_mut(), line).await
    }

    /// Says a line and hears one; both at the same time, for whoever answers before the end was said.
    pub async fn exchange(&mut self, line: &str) -> Result<Vec<u8>, Error> {
        let telling = tell(self.stdin.as_mut(), line);
        let hearing = hear(&mut self.stdout, self.most_line);
        tokio::try_join!(telling, hearing).map(|((), heard)| heard)
    }

    /// Hears one more line.
    pub async fn hear(&mut self) -> Result<Vec<u8>, Error> {
        hear(&mut self.stdout, self.most_line).await
    }

    /// How it ended, if it does within a moment.
    pub async fn exit_code(&mut self, patience: Duration) -> Option<i32> {
        let status = timeout(patience, self.child.wait()).await.ok()?.ok()?;
        Some(crate::local::exit_code(status))
    }

    /// Says that nothing more will come, waits a while for its end, and kills what is left.
    pub async fn end(mut self, patience: Duration) {
        drop(self.stdin.take());
        let _ = timeout(patience, self.child.wait()).await;
        end(&mut self.child, &mut self.guard).await;
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        // Something that it started may hold the stream open for good.
        self.complaints.abort();
    }
}

fn failed(source: Error) -> ExecError {
    ExecError::Io { doing: "start the program", source }
}

/// Starts it from a thread that does nothing else: the program is killed when that thread ends, and any
/// other may end before the program is wanted no more.
async fn spawn_kept(program: CompanionProgram) -> Result<(Child, Guard, mpsc::Sender<()>), ExecError> {
    let (keeper, kept) = mpsc::channel::<()>();
    let (tell, told) = oneshot::channel();
    let handle = Handle::current();
    let keep = move || {
        let spawned = {
            let _inside = handle.enter();
            spawn(&program.argv, &program.cwd, &program.env)
        };
        if tell.send(spawned).is_ok() {
            // Nobody says anything; the other end is dropped.
            let _ = kept.recv();
        }
    };
    std::thread::Builder::new().name("companion".to_owned()).spawn(keep).map_err(failed)?;
    let (child, guard) = told.await.map_err(|_| failed(ErrorKind::Other.into()))??;
    Ok((child, guard, keeper))
}

async fn tell(stdin: Option<&mut ChildStdin>, line: &str) -> Result<(), Error> {
    let stdin = stdin.ok_or(ErrorKind::BrokenPipe)?;
    stdin.write_all(line.as_bytes()).await?;
    stdin.write_all(b"\n").await?;
    stdin.flush().await
}

/// A line without its end. A stream that ends, also in the middle of one, has none.
async fn hear(stdout: &mut BufReader<ChildStdout>, most: usize) -> Result<Vec<u8>, Error> {
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

async fn pass_on(mut stderr: ChildStderr, complain: impl Fn(&str) + Send + 'static) {
    let (mut buffer, mut line, mut left) = (vec![0; 4096], Vec::new(), MOST_COMPLAINTS);
    while let Ok(count) = stderr.read(&mut buffer).await
        && count > 0
    {
        let room = left.min(count);
        left -= room;
        for byte in &buffer[..room] {
            match byte {
                b'\n' => complain_of(&mut line, &complain),
                _ if line.len() < MOST_COMPLAINT => line.push(*byte),
                _ => {}
            }
        }
    }
    complain_of(&mut line, &complain);
}

fn complain_of(line: &mut Vec<u8>, complain: &impl Fn(&str)) {
    let text = String::from_utf8_lossy(line);
    if !text.trim().is_empty() {
        complain(text.trim_end());
    }
    line.clear();
}

#[cfg(test)]
#[path = "companion_tests.rs"]
mod tests;

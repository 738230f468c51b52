//! Runs commands on this machine.
//!
//! A run: spawn a shell that waits at its gate, report the group to the watcher, open the gate, collect output
//! until the shell exits or times out, end the rest of the group. A guard kills the group if the future is
//! dropped.

use crate::backend::{Backend, BoxFuture, Command, Ended, ExecError, Link, Output, Watch};
use crate::capture::{Capture, Captured};
use crate::confine::{self, Confined};
use crate::report_file::{ExpectedReport, ReportFile, Reported};
use crate::shell::{self, SpawnOptions};
use crate::{Group, live_groups, shell_wrapper};
use rustix::process::Signal;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStdin};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// Time for output after the shell has exited.
const AFTER_EXIT: Duration = Duration::from_millis(100);
/// Time between TERM and KILL.
pub(crate) const TERM_GRACE: Duration = Duration::from_secs(2);
/// Time between two TERM signals. A child that a shell has just forked may handle the first one with the
/// shell's own handler and lose it.
pub(crate) const TERM_AGAIN: Duration = Duration::from_millis(150);
/// Time between TERM and KILL for a client program.
pub(crate) const FAR_GRACE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// The age below which process ids cannot have wrapped around.
const YOUNG: Duration = Duration::from_secs(2);
const CHUNK: usize = 64 * 1024;

/// Runs commands with `bash`, or with `sh` if there is no `bash`.
#[derive(Debug, Default, Clone, Copy)]
pub struct Local;

impl Backend for Local {
    fn run<'a>(&'a self, command: Command, watch: Watch<'a>) -> BoxFuture<'a, Result<Output, ExecError>> {
        Box::pin(run(command, watch))
    }
}

async fn run(command: Command, watch: Watch<'_>) -> Result<Output, ExecError> {
    shell_wrapper::check(&command.script)?;
    let mut command = command.on_this_machine();
    if !confine::is_directory(command.sandbox.as_ref(), &command.cwd) {
        return Err(ExecError::NoDirectory { path: command.cwd });
    }
    command.report = confine::report(command.sandbox.as_ref(), command.report);
    let mut running = Running::spawn(&mut command)?;
    let group = running.guard.group.clone();
    if let Err(cause) = watch.started.started(&group).await {
        running.end_now().await;
        return Err(ExecError::NotRecorded { cause });
    }
    if watch.cancel.is_cancelled() {
        running.end_now().await;
        return Ok(running.into_output(Ended::Cancelled, Reported::default()).await);
    }
    let Command { report, sandbox, env, timeout, client, .. } = command;
    let mark = client.as_ref().map(|client| client.link.mark.clone());
    let report = report.map(|report| ExpectedReport { report, sandbox, env, mark }.create());
    running.open_gate(client.map(|client| client.link)).await?;
    let ended = running.attend(Instant::now() + timeout, watch).await;
    running.clean_up(ended).await;
    Ok(running.into_output(ended, report.map(ReportFile::read).unwrap_or_default()).await)
}

/// A running shell and its output so far.
struct Running {
    child: Child,
    guard: Guard,
    /// `None` once every writer has closed it.
    pipe: Option<pipe::Receiver>,
    buffer: Vec<u8>,
    capture: Capture,
    status: Option<ExitStatus>,
    spawned: Instant,
    confined: Option<Confined>,
    /// Holds the input of a client program open.
    link: Option<oneshot::Sender<()>>,
}

impl Running {
    fn spawn(command: &mut Command) -> Result<Self, ExecError> {
        let failed = |doing| move |source| ExecError::Io { doing, source };
        let confined =
            Confined::new(command.sandbox.as_ref(), &command.cwd, &mut command.env, &command.changes)?;
        let (read, write) = std::io::pipe().map_err(failed("make a pipe"))?;
        // Both streams share one pipe, so that their order is the order of writing.
        let errors = write.try_clone().map_err(failed("make a pipe"))?;
        let mut shell =
            tokio::process::Command::from(shell::waiting(command, SpawnOptions::DETACHED, confined.clone()));
        shell.kill_on_drop(true).stdin(Stdio::piped()).stdout(Stdio::from(write)).stderr(Stdio::from(errors));
        let child = shell.spawn().map_err(failed("start a shell"))?;
        let id = child.id().ok_or_else(|| failed("start a shell")(std::io::ErrorKind::NotFound.into()))?;
        let group = Group::led_by(id).map_err(failed("read /proc"))?;
        let guard = Guard::new(group);
        let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(read)).map_err(failed("watch a pipe"))?;
        Ok(Self {
            child,
            guard,
            pipe: Some(pipe),
            buffer: vec![0; CHUNK],
            capture: Capture::new(command.output.clone()),
            status: None,
            spawned: Instant::now(),
            confined,
            link: None,
        })
    }

    async fn open_gate(&mut self, link: Option<Link>) -> Result<(), ExecError> {
        let opened = match self.child.stdin.take() {
            Some(mut gate) => gate.write_all(b"\n").await.map(|()| gate),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        match opened {
            Ok(gate) => {
                self.link = link.map(|link| hold(gate, link.payload));
                Ok(())
            }
            Err(source) => {
                self.end_now().await;
                Err(ExecError::Io { doing: "start the command", source })
            }
        }
    }

    /// Collects output until the leader exits, time is up or the run is cancelled.
    async fn attend(&mut self, deadline: Instant, watch: Watch<'_>) -> Ended {
        loop {
            // In this order, so that endless output cannot hide the exit.
            tokio::select! {
                biased;
                () = watch.cancel.cancelled() => return Ended::Cancelled,
                () = sleep_until(deadline) => return Ended::TimedOut,
                status = self.child.wait() => {
                    self.status = status.ok();
                    return Ended::Exited;
                }
                count = read(&mut self.pipe, &mut self.buffer) => {
                    self.capture.feed(&self.buffer[..count]);
                }
            }
        }
    }

    /// Leaves no process and no unread output behind.
    async fn clean_up(&mut self, ended: Ended) {
        if ended == Ended::Exited {
            self.drain(Instant::now() + AFTER_EXIT).await;
        }
        if self.status.is_none() || self.has_remnants() {
            self.terminate().await;
            self.drain(Instant::now() + AFTER_EXIT).await;
        }
        if let Some(note) = self.confined.as_ref().and_then(Confined::finish) {
            self.capture.feed(note.as_bytes());
        }
        self.guard.armed = false;
    }

    /// Sends TERM twice, reads output during the grace period, then sends KILL. A client program gets one TERM and more
    /// time, because it ends the far end.
    async fn terminate(&mut self) {
        self.guard.group.signal(Signal::TERM);
        let begun = Instant::now();
        let (deadline, mut again) = match self.link {
            Some(_) => (begun + FAR_GRACE, None),
            None => (begun + TERM_GRACE, Some(begun + TERM_AGAIN)),
        };
        while Instant::now() < deadline && !self.is_gone() {
            if again.take_if(|at| Instant::now() >= *at).is_some() {
                self.guard.group.signal(Signal::TERM);
            }
            tokio::select! {
                biased;
                () = sleep(POLL) => {}
                count = read(&mut self.pipe, &mut self.buffer) => {
                    self.capture.feed(&self.buffer[..count]);
                }
            }
        }
        if !self.is_gone() {
            self.end_now().await;
        }
    }

    /// Sends KILL until no process is left.
    async fn end_now(&mut self) {
        let deadline = Instant::now() + TERM_GRACE;
        while !self.is_gone() && Instant::now() < deadline {
            self.guard.group.signal(Signal::KILL);
            sleep(POLL).await;
        }
        self.guard.armed = !self.is_gone();
    }

    fn is_gone(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status.is_some() && self.guard.group.members().is_empty()
    }

    fn has_remnants(&self) -> bool {
        if self.spawned.elapsed() < YOUNG {
            return self.guard.group.is_alive_when_young();
        }
        !self.guard.group.members().is_empty()
    }

    async fn drain(&mut self, deadline: Instant) {
        while self.pipe.is_some() {
            match timeout_at(deadline, read(&mut self.pipe, &mut self.buffer)).await {
                Ok(count) => self.capture.feed(&self.buffer[..count]),
                Err(_) => return,
            }
        }
    }

    async fn into_output(self, ended: Ended, reported: Reported) -> Output {
        let exit_code = match (ended, self.status) {
            (Ended::TimedOut, _) => 124,
            (Ended::Cancelled, _) => 130,
            (Ended::Exited, Some(status)) => exit_code(status),
            (Ended::Exited, None) => -1,
        };
        let captured = finished(self.capture).await;
        Output {
            text: captured.text,
            exit_code,
            ended,
            cwd: reported.cwd,
            exports: reported.exports,
            omitted: captured.omitted,
            spill: captured.spill,
        }
    }
}

/// Writes the payload of a client program and keeps its input open until the sender is dropped.
fn hold(mut input: ChildStdin, payload: String) -> oneshot::Sender<()> {
    let (held, released) = oneshot::channel::<()>();
    tokio::spawn(async move {
        let write = async {
            // A client that is gone does not read; its exit says so.
            let _ = input.write_all(payload.as_bytes()).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = released => {}
            () = write => {}
        }
    });
    held
}

/// Reads the next output. Pends for ever once the pipe is closed, so that a `select!` uses its other branches.
pub(crate) async fn read(pipe: &mut Option<pipe::Receiver>, buffer: &mut [u8]) -> usize {
    let Some(open) = pipe else {
        return std::future::pending().await;
    };
    match open.read(buffer).await {
        Ok(count) if count > 0 => count,
        Ok(_) | Err(_) => {
            *pipe = None;
            0
        }
    }
}

/// Finishes the capture on a blocking thread, if it has to wait for the disk.
pub(crate) async fn finished(capture: Capture) -> Captured {
    if !capture.has_spilled() {
        return capture.finish();
    }
    let done = tokio::task::spawn_blocking(move || capture.finish()).await;
    done.unwrap_or_else(|error| Captured {
        text: format!("[the output was lost: {error}]"),
        omitted: 0,
        spill: None,
    })
}

pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

/// Registers a group as live, and kills it if its run is dropped. A normal end disarms the guard.
pub(crate) struct Guard {
    pub(crate) group: Group,
    pub(crate) armed: bool,
}

impl Guard {
    pub(crate) fn new(group: Group) -> Self {
        live_groups::add(group.clone());
        Self { group, armed: true }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.armed {
            self.group.signal(Signal::KILL);
        }
        live_groups::remove(&self.group);
    }
}

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;

//! One supervised command, from its preparation to its record.
//!
//! As in `Local`: spawn a shell that waits at its gate, record it, open the gate on request, spool the output
//! until the shell exits or must end, end the remaining processes, and record the end.

use super::command_processes::{CommandIdentity, MARK};
use super::gate::Shell;
use super::input::{self, InputPipe};
use super::limits::Limits;
use super::owner_exit::{gone, watched};
use super::protocol::{Stop, VERSION};
use super::pty::{self, OutputPipe};
use super::record::{End, EndReason, Prepared, write_end};
use super::spec::{Key, Lifetime, MOST_LOOKED_AT, Owner, Spec};
use super::spool::Spool;
use super::table::{Ending, Phase, Progress, Table};
use crate::backend::{BoxFuture, Input, Link};
use crate::confine::{self, Confined};
use crate::exports::Exports;
use crate::local::{FAR_GRACE, TERM_AGAIN, TERM_GRACE};
use crate::report_file::{ExpectedReport, ReportFile};
use crate::{ExecError, shell_wrapper};
use rustix::process::{Signal, WaitStatus};
use std::io::{PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// Time for output after the shell has exited.
const AFTER_EXIT: Duration = Duration::from_millis(100);
/// The time limit for killed processes to disappear.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(10);

/// An instruction to a running command.
#[derive(Debug)]
pub(crate) enum Control {
    Go,
    Adopt(Owner),
    End(EndReason, Stop),
    /// Text for the standard input, and whether that is the end of it.
    Write(String, bool, oneshot::Sender<Result<(), String>>),
    Look(oneshot::Sender<Looked>),
}

/// The end of the output of a running command.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) total: u64,
    pub(crate) bytes: Vec<u8>,
}

/// A requested command.
pub(crate) struct Run {
    pub(crate) table: Arc<Table>,
    pub(crate) key: Key,
    pub(crate) digest: String,
    pub(crate) spec: Spec,
    pub(crate) owner: Owner,
    pub(crate) orders: mpsc::UnboundedReceiver<Control>,
    pub(crate) reports: watch::Sender<Progress>,
}

impl Run {
    /// Runs the command. Returns true if its end is on disk, or if there is nothing to record.
    pub(crate) async fn carry_out(self) -> bool {
        let reports = self.reports.clone();
        let mut running = match self.prepare().await {
            Ok(running) => running,
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
                let reason = format!("{error}{}", cause.unwrap_or_default());
                reports.send_modify(|progress| progress.phase = Phase::Failed(reason));
                return true;
            }
        };
        let (how, stop) = running.attend().await;
        running.clean_up(how, stop).await;
        let (end, exports, recorded) = running.into_end(how).await;
        if let Err(error) = &recorded {
            tracing::error!(%error, "the end of a command could not be written down");
        }
        let finished = Ending { end, exports };
        reports.send_modify(|progress| progress.phase = Phase::Finished(Arc::new(finished)));
        recorded.is_ok()
    }

    async fn prepare(self) -> Result<Running, ExecError> {
        let Self { table, key, digest, mut spec, owner, orders, reports } = self;
        shell_wrapper::check(&spec.script)?;
        if !confine::is_directory(spec.sandbox.as_ref(), &spec.cwd) {
            return Err(ExecError::NoDirectory { path: spec.cwd });
        }
        if let Some(policy) = &mut spec.sandbox {
            policy.hidden.push(table.paths.folder());
        }
        let report = confine::report(spec.sandbox.as_ref(), spec.report());
        let mark = format!("{}:{}", table.paths.tag(), key.as_str());
        spec.env.push((MARK.to_owned(), mark.clone()));
        let Shell { group, gate, pipe, terminal, confined, env } = Shell::spawn(&spec, report.as_ref())?;
        let name = CommandIdentity { group: group.clone(), mark };
        let exit = table.processes.add(name.clone());
        let prepared = Prepared { version: VERSION, digest, group: group.clone() };
        let file = table.file(&key);
        let created = blocking(move || file.create(&prepared)).await;
        let output = match created {
            Ok(Ok(output)) => output,
            failed => {
                // The shell has run nothing, and without its gate it never will.
                table.processes.signal(&name, Signal::KILL);
                table.processes.remove(&name);
                return match failed {
                    Ok(Err(error)) => Err(error.into()),
                    Err(source) => Err(ExecError::Io { doing: "write the record of a command", source }),
                    Ok(Ok(_)) => unreachable!("handled above"),
                };
            }
        };
        reports.send_modify(|progress| progress.phase = Phase::Held(group));
        let limits = Limits {
            since: Instant::now(),
            timeout: spec.timeout,
            orphaned: None,
            grace: table.settings.orphan_grace,
        };
        Ok(Running {
            // Also a detached command needs its owner to open the gate.
            owner_gone: Some(Box::pin(gone(owner))),
            input: spec.input,
            terminal,
            writing: None,
            spool: Spool::new(output, spec.head, spec.tail),
            lifetime: spec.lifetime,
            expected: report.map(|report| {
                let mark = spec.link.as_ref().map(|link| link.mark.clone());
                ExpectedReport { report, sandbox: spec.sandbox, env, mark }
            }),
            link: spec.link,
            confined,
            report_file: None,
            gate: Some(gate),
            pipe: Some(pipe),
            status: None,
            buffer: vec![0; super::frame::CHUNK],
            table,
            name,
            orders,
            reports,
            exit,
            limits,
        })
    }
}

/// A running command.
struct Running {
    table: Arc<Table>,
    name: CommandIdentity,
    lifetime: Lifetime,
    orders: mpsc::UnboundedReceiver<Control>,
    reports: watch::Sender<Progress>,
    owner_gone: Option<BoxFuture<'static, ()>>,
    limits: Limits,
    /// Present until it is opened.
    gate: Option<PipeWriter>,
    exit: oneshot::Receiver<WaitStatus>,
    status: Option<WaitStatus>,
    /// `None` once every writer has closed it.
    pipe: Option<OutputPipe>,
    input: Input,
    /// Our end of its terminal, until the gate is opened.
    terminal: Option<OwnedFd>,
    /// Its standard input, if it can be written to.
    writing: Option<InputPipe>,
    buffer: Vec<u8>,
    spool: Spool,
    /// Present until the gate is opened.
    expected: Option<ExpectedReport>,
    confined: Option<Confined>,
    report_file: Option<ReportFile>,
    /// Set if the shell runs a client program.
    link: Option<Link>,
}

impl Running {
    /// Spools output until the shell exits or the command must end.
    async fn attend(&mut self) -> (EndReason, Stop) {
        loop {
            let end = self.limits.end();
            // In this order, so that endless output cannot hide the exit.
            tokio::select! {
                biased;
                order = self.orders.recv() => match order {
                    Some(Control::Go) => self.open_gate(),
                    Some(Control::Adopt(owner)) => self.adopt(owner),
                    Some(Control::End(how, stop)) => return (how, stop),
                    Some(other) => self.serve(other),
                    None => return (EndReason::Stopped, Stop::Politely),
                },
                how = reached(end) => return (how, Stop::Politely),
                status = &mut self.exit => {
                    self.status = status.ok();
                    return (EndReason::Exited, Stop::Politely);
                }
                () = ended(&mut self.owner_gone) => {
                    // A command whose gate cannot be opened any more never ran.
                    if self.gate.is_some() {
                        return (EndReason::NeverStarted, Stop::AtOnce);
                    }
                    self.limits.orphaned = Some(Instant::now());
                }
                () = input::write(&mut self.writing) => {}
                count = pty::read(&mut self.pipe, &mut self.buffer) => self.take(count),
            }
        }
    }

    /// Serves a request that does not change the course of the command.
    fn serve(&mut self, request: Control) {
        match request {
            Control::Write(text, closes, answer) => {
                let closed = || Err("its input is closed".to_owned());
                let queued = self.writing.as_mut().map_or_else(closed, |input| input.queue(&text, closes));
                let _ = answer.send(queued);
            }
            Control::Look(answer) => {
                let most = usize::try_from(MOST_LOOKED_AT).unwrap_or(usize::MAX);
                let looked = Looked { total: self.spool.total(), bytes: self.spool.last(most) };
                let _ = answer.send(looked);
            }
            Control::Go | Control::Adopt(_) | Control::End(..) => {}
        }
    }

    fn open_gate(&mut self) {
        let Some(mut gate) = self.gate.take() else {
            return;
        };
        self.limits.since = Instant::now();
        self.report_file = self.expected.take().map(ExpectedReport::create);
        // One byte into an empty pipe does not block. If the shell is gone, its exit says so.
        if let Err(error) = gate.write_all(b"\n") {
            tracing::warn!(%error, "a command's shell went away before it was started");
        }
        if self.lifetime == Lifetime::Detached {
            self.owner_gone = None;
        }
        let writing = match (self.input, self.terminal.take()) {
            (Input::Terminal(_), Some(terminal)) => Some(InputPipe::of_terminal(terminal)),
            (Input::Pipe, _) => Some(InputPipe::of_gate(gate)),
            (Input::Closed, _) if self.link.is_some() => Some(InputPipe::of_gate(gate)),
            _ => None,
        };
        self.writing = writing.transpose().unwrap_or_else(|error| {
            tracing::warn!(%error, "the input of a command cannot be written to");
            None
        });
        if let (Some(link), Some(input)) = (&mut self.link, &mut self.writing)
            && let Err(error) = input.queue(&std::mem::take(&mut link.payload), false)
        {
            tracing::warn!(%error, "a command cannot be sent to the far end");
        }
        let group = self.name.group.clone();
        self.reports.send_modify(|progress| progress.phase = Phase::Running(group));
    }

    fn adopt(&mut self, owner: Owner) {
        self.limits.orphaned = None;
        self.owner_gone = watched(self.lifetime, owner);
    }

    fn take(&mut self, count: usize) {
        if count > 0 {
            self.spool.feed(&self.buffer[..count]);
            let head = self.spool.head();
            self.reports.send_modify(|progress| progress.head = head);
        }
    }

    /// Leaves no process and no unread output behind.
    async fn clean_up(&mut self, how: EndReason, stop: Stop) {
        if how == EndReason::Exited {
            self.drain(Instant::now() + AFTER_EXIT).await;
        }
        if self.status.is_none() || self.table.processes.has_remnants(&self.name) {
            // A client program needs time to end the far end, even at once.
            if stop == Stop::Politely || self.link.is_some() {
                self.terminate().await;
            }
            self.kill().await;
            self.drain(Instant::now() + AFTER_EXIT).await;
        }
        self.table.processes.remove(&self.name);
        if let Some(note) = self.confined.as_ref().and_then(Confined::finish) {
            self.spool.feed(note.as_bytes());
            let head = self.spool.head();
            self.reports.send_modify(|progress| progress.head = head);
        }
    }

    /// Sends TERM twice and waits for a grace period, in which output is read and only a KILL is accepted. A client
    /// program gets one TERM and more time, because it ends the far end.
    async fn terminate(&mut self) {
        self.table.processes.signal(&self.name, Signal::TERM);
        let begun = Instant::now();
        let (deadline, mut again) = match self.link {
            Some(_) => (begun + FAR_GRACE, None),
            None => (begun + TERM_GRACE, Some(begun + TERM_AGAIN)),
        };
        while Instant::now() < deadline && !self.is_gone() {
            if again.take_if(|at| Instant::now() >= *at).is_some() {
                self.table.processes.signal(&self.name, Signal::TERM);
            }
            tokio::select! {
                biased;
                Some(order) = self.orders.recv() => {
                    match order {
                        Control::End(_, Stop::AtOnce) if self.link.is_none() => return,
                        order => self.serve(order),
                    }
                }
                () = sleep(POLL) => {}
                count = pty::read(&mut self.pipe, &mut self.buffer) => self.take(count),
            }
        }
    }

    /// Sends KILL until no process is left.
    async fn kill(&mut self) {
        let deadline = Instant::now() + KILL_PATIENCE;
        while !self.is_gone() {
            if Instant::now() >= deadline {
                tracing::error!(command = self.name.mark, "processes of a command cannot be killed");
                return;
            }
            self.table.processes.signal(&self.name, Signal::KILL);
            sleep(POLL).await;
        }
    }

    fn is_gone(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.exit.try_recv().ok();
        }
        self.status.is_some() && self.table.processes.remnants(&self.name).is_empty()
    }

    async fn drain(&mut self, deadline: Instant) {
        while self.pipe.is_some() {
            match timeout_at(deadline, pty::read(&mut self.pipe, &mut self.buffer)).await {
                Ok(count) => self.take(count),
                Err(_) => return,
            }
        }
    }

    /// Records the end, but not the variables, whose values must not be on disk. On failure, returns the error as well.
    async fn into_end(self, how: EndReason) -> (End, Option<Exports>, std::io::Result<()>) {
        let how = if self.gate.is_some() { EndReason::NeverStarted } else { how };
        let reported = self.report_file.map(ReportFile::read).unwrap_or_default();
        let cwd = reported.cwd.filter(|path| path.to_str().is_some());
        let exit_code = exit_code(how, self.status);
        let spool = self.spool;
        // A living owner records the result itself; without that, nothing of it survives a reboot.
        let unsynced = self.lifetime != Lifetime::Detached && self.limits.orphaned.is_none();
        let written = blocking(move || {
            let (done, file) = spool.finish(!unsynced);
            let (head, tail, total, reason) = (done.head, done.tail, done.total, None);
            let end = End { how, exit_code, cwd, head, tail, total, reason, unsynced };
            let recorded = write_end(&file, &end);
            (end, recorded)
        })
        .await;
        match written {
            Ok((end, recorded)) => (end, reported.exports, recorded.map_err(std::io::Error::other)),
            Err(error) => (End::unknown(0, "its end could not be written down"), None, Err(error)),
        }
    }
}

fn exit_code(how: EndReason, status: Option<WaitStatus>) -> i32 {
    match how {
        EndReason::Exited => status
            .and_then(|status| {
                status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal))
            })
            .unwrap_or(-1),
        EndReason::TimedOut => 124,
        EndReason::Stopped | EndReason::Orphaned | EndReason::OwnerLeft => 130,
        EndReason::NeverStarted => shell_wrapper::NEVER_STARTED,
        EndReason::Unknown => -1,
    }
}

/// Waits for a point in time, if there is one.
async fn reached(end: Option<(Instant, EndReason)>) -> EndReason {
    match end {
        Some((at, how)) => {
            sleep_until(at).await;
            how
        }
        None => std::future::pending().await,
    }
}

/// Waits for a future once, and pends for ever after that.
async fn ended(future: &mut Option<BoxFuture<'static, ()>>) {
    match future {
        Some(waiting) => {
            waiting.await;
            *future = None;
        }
        None => std::future::pending().await,
    }
}

/// Runs disk work on a blocking thread.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> std::io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)
}

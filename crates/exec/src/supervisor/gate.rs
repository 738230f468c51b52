//! A shell that waits at its gate.

use super::pty::{self, OutputPipe};
use super::spec::Spec;
use crate::backend::{Command, Input, OutputLimits, ShellReport};
use crate::confine::Confined;
use crate::exports::EnvChanges;
use crate::shell::{self, SpawnOptions};
use crate::vfork::Image;
use crate::{ExecError, Group};
use std::io::PipeWriter;
use std::os::fd::{AsFd, OwnedFd};
use tokio::net::unix::pipe;

/// A started shell that has not run its command yet.
pub(crate) struct Shell {
    pub(crate) group: Group,
    /// Writing a line here opens the gate; closing it makes the shell exit.
    pub(crate) gate: PipeWriter,
    /// Its output, of both streams.
    pub(crate) pipe: OutputPipe,
    /// The other end of its terminal, if it has one.
    pub(crate) terminal: Option<OwnedFd>,
    /// Must live as long as the command: it may hold its proxy.
    pub(crate) confined: Option<Confined>,
    /// The environment that the command starts with.
    pub(crate) env: Vec<(String, String)>,
}

impl Shell {
    pub(crate) fn spawn(spec: &Spec, report: Option<&ShellReport>) -> Result<Self, ExecError> {
        let failed = |doing| move |source| ExecError::Io { doing, source };
        let mut command = Command {
            key: None,
            script: spec.script.clone(),
            cwd: spec.cwd.clone(),
            env: spec.env.clone(),
            changes: EnvChanges::default(),
            timeout: spec.timeout,
            // A client program writes the report itself.
            report: report.filter(|_| spec.link.is_none()).cloned(),
            output: OutputLimits::default(),
            sandbox: spec.sandbox.clone(),
            client: None,
        };
        let confined = Confined::new(spec.sandbox.as_ref(), &spec.cwd, &mut command.env, &spec.changes)?;
        let (pipe, write, terminal) = output_of(spec.input)?;
        let (input, gate) = std::io::pipe().map_err(failed("make a pipe"))?;
        let ties = SpawnOptions { dies_with_parent: true, umask: spec.umask };
        let input_kind = match (&spec.link, spec.input) {
            (Some(_), Input::Closed) => Input::Pipe,
            (_, input) => input,
        };
        let image = Image::of(&shell::unprepared(&command, input_kind)).map_err(failed("start a shell"))?;
        let streams = [input.as_fd(), write.as_fd(), write.as_fd()];
        let own_terminal = || if terminal.is_some() { pty::control(write.as_fd()) } else { Ok(()) };
        let prepare = || {
            shell::prepare(ties).and_then(|()| own_terminal()).and_then(|()| shell::enter(confined.as_ref()))
        };
        let shell = image.start(streams, &prepare).map_err(failed("start a shell"))?;
        // The shell is collected with all other children.
        let group = Group::led_by(shell).map_err(failed("read /proc"))?;
        Ok(Self { group, gate, pipe, terminal, confined, env: command.env })
    }
}

/// The two ends of the output of a shell, and its terminal if it has one.
fn output_of(input: Input) -> Result<(OutputPipe, OwnedFd, Option<OwnedFd>), ExecError> {
    let failed = |doing| move |source| ExecError::Io { doing, source };
    if let Input::Terminal(size) = input {
        let (ours, theirs) = pty::open(size).map_err(failed("open a pseudo-terminal"))?;
        let writing = ours.try_clone().map_err(failed("open a pseudo-terminal"))?;
        let reading = OutputPipe::terminal(ours).map_err(failed("watch a pseudo-terminal"))?;
        return Ok((reading, theirs, Some(writing)));
    }
    let (read, write) = std::io::pipe().map_err(failed("make a pipe"))?;
    let read = pipe::Receiver::from_owned_fd(OwnedFd::from(read)).map_err(failed("watch a pipe"))?;
    Ok((OutputPipe::Pipe(read), OwnedFd::from(write), None))
}

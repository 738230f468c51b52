//! A shell that waits at its gate.

use super::spec::Spec;
use crate::backend::{Command, OutputLimits};
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
    pub(crate) pipe: pipe::Receiver,
}

impl Shell {
    pub(crate) fn spawn(spec: &Spec) -> Result<Self, ExecError> {
        let failed = |doing| move |source| ExecError::Io { doing, source };
        let command = Command {
            key: None,
            script: spec.script.clone(),
            cwd: spec.cwd.clone(),
            env: spec.env.clone(),
            timeout: spec.timeout,
            cwd_file: spec.cwd_file.clone(),
            output: OutputLimits::default(),
        };
        let (read, write) = std::io::pipe().map_err(failed("make a pipe"))?;
        let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(read)).map_err(failed("watch a pipe"))?;
        let (input, gate) = std::io::pipe().map_err(failed("make a pipe"))?;
        let ties = SpawnOptions { dies_with_parent: true, umask: spec.umask };
        let image = Image::of(&shell::unprepared(&command)).map_err(failed("start a shell"))?;
        let streams = [input.as_fd(), write.as_fd(), write.as_fd()];
        let shell = image.start(streams, &|| shell::prepare(ties)).map_err(failed("start a shell"))?;
        // The shell is collected with all other children.
        let group = Group::led_by(shell).map_err(failed("read /proc"))?;
        Ok(Self { group, gate, pipe })
    }
}

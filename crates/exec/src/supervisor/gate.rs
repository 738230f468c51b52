//! A shell that waits at its gate.

use super::spec::Spec;
use crate::backend::{Command, OutputLimits};
use crate::shell::{self, SpawnOptions};
use crate::{ExecError, Group};
use std::os::fd::OwnedFd;
use std::process::{ChildStdin, Stdio};
use tokio::net::unix::pipe;

/// A started shell that has not run its command yet.
pub(crate) struct Shell {
    pub(crate) group: Group,
    /// Writing a line here opens the gate; closing it makes the shell exit.
    pub(crate) gate: ChildStdin,
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
        let errors = write.try_clone().map_err(failed("make a pipe"))?;
        let mut shell = shell::waiting(&command, SpawnOptions { dies_with_parent: true, umask: spec.umask });
        shell.stdin(Stdio::piped()).stdout(Stdio::from(write)).stderr(Stdio::from(errors));
        let mut child = shell.spawn().map_err(failed("start a shell"))?;
        let gone = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let gate = child.stdin.take().ok_or_else(gone).map_err(failed("start a shell"))?;
        // The shell is collected with all other children; dropping the handle does not affect it.
        let group = Group::led_by(child.id()).map_err(failed("read /proc"))?;
        Ok(Self { group, gate, pipe })
    }
}

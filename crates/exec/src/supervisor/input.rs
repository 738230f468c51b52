//! The standard input of a running command: written at the pace of the command, without blocking the supervisor.

use super::pty::watched;
use std::collections::VecDeque;
use std::io::{ErrorKind, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Bytes that may wait for a command that does not read.
const MOST_PENDING: usize = 1 << 20;
/// Ends the input of a terminal, at the start of a line.
const END_OF_TRANSMISSION: u8 = 4;

/// The writing end of a command's input.
#[derive(Debug)]
pub(crate) struct InputPipe {
    fd: AsyncFd<OwnedFd>,
    is_terminal: bool,
    pending: VecDeque<u8>,
    closes: bool,
}

impl InputPipe {
    pub(crate) fn of_gate(gate: PipeWriter) -> std::io::Result<Self> {
        Self::new(OwnedFd::from(gate), false)
    }

    pub(crate) fn of_terminal(fd: OwnedFd) -> std::io::Result<Self> {
        Self::new(fd, true)
    }

    fn new(fd: OwnedFd, is_terminal: bool) -> std::io::Result<Self> {
        let fd = watched(fd, Interest::WRITABLE)?;
        Ok(Self { fd, is_terminal, pending: VecDeque::new(), closes: false })
    }

    /// Queues text, and the end of the input if `closes`.
    pub(crate) fn queue(&mut self, text: &str, closes: bool) -> Result<(), String> {
        if self.closes {
            return Err("its input is closed".to_owned());
        }
        let waiting = self.pending.len();
        if waiting + text.len() > MOST_PENDING {
            return Err(format!("it does not read its input; {waiting} bytes wait already"));
        }
        self.pending.extend(text.bytes());
        if closes && self.is_terminal {
            // A terminal stays open for output.
            self.pending.push_back(END_OF_TRANSMISSION);
        } else {
            self.closes = closes;
        }
        Ok(())
    }

    /// Writes what waits, once the command can take it. Returns false if the input is over.
    async fn write(&mut self) -> bool {
        if self.pending.is_empty() {
            return if self.closes { false } else { std::future::pending().await };
        }
        let Ok(mut ready) = self.fd.writable().await else { return false };
        let (front, _) = self.pending.as_slices();
        let written = ready.try_io(|fd| Ok(rustix::io::write(fd.get_ref().as_fd(), front)?));
        match written {
            Ok(Ok(count)) => drop(self.pending.drain(..count)),
            Ok(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
            Ok(Err(_)) => return false,
            // Not ready after all.
            Err(_) => {}
        }
        true
    }
}

/// Writes a piece of the input, and removes the input when it is over. Pends for ever without one.
pub(crate) async fn write(input: &mut Option<InputPipe>) {
    let Some(open) = input else {
        return std::future::pending().await;
    };
    if !open.write().await {
        *input = None;
    }
}

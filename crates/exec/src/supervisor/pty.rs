//! Pseudo-terminals, and the output of a command from a pipe or from its terminal.

use crate::backend::TerminalSize;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::ioctl_tiocsctty;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::io::Result;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::unix::pipe;

/// Opens a pseudo-terminal: our end and that of the command.
pub(crate) fn open(size: TerminalSize) -> Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let theirs = ioctl_tiocgptpeer(&ours, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size)?;
    Ok((ours, theirs))
}

/// Makes a terminal the one of this session. Makes one system call, so that a child can call it between fork and exec.
pub(crate) fn control(terminal: BorrowedFd<'_>) -> Result<()> {
    Ok(ioctl_tiocsctty(terminal)?)
}

/// Returns a descriptor that can be waited for.
pub(crate) fn watched(fd: OwnedFd, interest: Interest) -> Result<AsyncFd<OwnedFd>> {
    let flags = fcntl_getfl(&fd)?;
    fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?;
    as_async(fd, interest)
}

#[expect(deprecated, reason = "sound for a descriptor we own; the newer way would need an unsafe block")]
fn as_async(fd: OwnedFd, interest: Interest) -> Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, interest)
}

/// The end of a command's output that is read.
#[derive(Debug)]
pub(crate) enum OutputPipe {
    Pipe(pipe::Receiver),
    Terminal(AsyncFd<OwnedFd>),
}

impl OutputPipe {
    pub(crate) fn terminal(fd: OwnedFd) -> Result<Self> {
        watched(fd, Interest::READABLE).map(Self::Terminal)
    }

    /// Reads once. Nothing or an error means that every writer has closed it.
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.read(buffer).await,
            Self::Terminal(terminal) => loop {
                let mut ready = terminal.readable().await?;
                let read = |fd: &AsyncFd<OwnedFd>| Ok(rustix::io::read(fd.get_ref().as_fd(), &mut *buffer)?);
                if let Ok(done) = ready.try_io(read) {
                    return done;
                }
            },
        }
    }
}

/// Reads output; pends for ever once it is closed.
pub(crate) async fn read(pipe: &mut Option<OutputPipe>, buffer: &mut [u8]) -> usize {
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

//! Follows a command to its end.

use super::client::{Connection, Supervised, unexpected};
use super::error::SuperviseError;
use super::frame::{Frame, Frames};
use super::protocol::Reply;
use super::record::{End, EndReason};
use super::spec::Key;
use crate::capture::Capture;
use crate::exports::Exports;
use crate::{Ended, Output, OutputLimits};
use tokio::net::unix::OwnedReadHalf;

/// The outcome of a command.
#[derive(Debug)]
pub enum Outcome {
    /// It still runs, and belongs to this process now.
    Running(Attached),
    Finished(Finished),
    /// Its gate was never opened, so it had no effect.
    NeverStarted,
    /// The supervisor that ran it was lost; it may have had any effect, and does not run any more.
    Unknown {
        reason: String,
    },
    /// The spool has no record of it. Unless the record was removed, it never ran.
    NoRecord,
}

/// A finished command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub how: EndReason,
    pub output: Output,
}

/// A running command that is followed. Dropping it does not affect the command, which belongs to this process
/// and can be stopped with [`Supervised::stop`].
#[derive(Debug)]
pub struct Attached {
    pub(crate) supervised: Supervised,
    pub(crate) connection: Connection,
    pub(crate) key: Key,
    pub(crate) limits: OutputLimits,
}

impl Attached {
    /// Waits for the end of the command and returns its whole output. The outcome is never `Running`.
    pub async fn finished(mut self) -> Result<Outcome, SuperviseError> {
        loop {
            if let Some(done) = follow(&mut self.connection.frames, self.limits.clone()).await? {
                return Ok(done.into());
            }
            // The supervisor exited. If it exited normally, the result is in the spool.
            match self.supervised.reattach(&self.key, self.limits.clone()).await? {
                Outcome::Running(again) => self = again,
                outcome => return Ok(outcome),
            }
        }
    }

    pub fn key(&self) -> &Key {
        &self.key
    }
}

impl From<(End, Output)> for Outcome {
    fn from((end, output): (End, Output)) -> Self {
        match end.how {
            EndReason::NeverStarted => Self::NeverStarted,
            EndReason::Unknown => Self::Unknown { reason: end.reason.unwrap_or_default() },
            how => Self::Finished(Finished { how, output }),
        }
    }
}

/// Reads output until the command ends; `None` if the supervisor exits before that. The future may be dropped,
/// but then the connection must not be used again.
pub(crate) async fn follow(
    frames: &mut Frames<OwnedReadHalf>,
    limits: OutputLimits,
) -> Result<Option<(End, Output)>, SuperviseError> {
    let mut capture = Capture::new(limits);
    loop {
        let Some(frame) = frames.next().await? else {
            return Ok(None);
        };
        if let Frame::Output(bytes) = &frame {
            capture.feed(bytes);
            continue;
        }
        match frame.message()? {
            Reply::Gap { bytes } => capture.skip(bytes),
            Reply::Finished { end, exports } => {
                return Ok(Some((end.clone(), output(end, exports, capture).await)));
            }
            // The answer to a concurrent request.
            Reply::Done => {}
            other => return Err(unexpected(&other)),
        }
    }
}

async fn output(end: End, exports: Option<Exports>, capture: Capture) -> Output {
    let captured = crate::local::finished(capture).await;
    let ended = match end.how {
        EndReason::Exited | EndReason::NeverStarted | EndReason::Unknown => Ended::Exited,
        EndReason::TimedOut => Ended::TimedOut,
        EndReason::Stopped | EndReason::Orphaned | EndReason::OwnerLeft => Ended::Cancelled,
    };
    Output {
        text: captured.text,
        exit_code: end.exit_code,
        ended,
        cwd: end.cwd,
        exports,
        omitted: captured.omitted,
        spill: captured.spill,
    }
}

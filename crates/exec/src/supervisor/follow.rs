//! Following a command to its end, and what is known then.

use super::client::{Connection, Supervised, unexpected};
use super::error::SuperviseError;
use super::frame::{Frame, Frames};
use super::protocol::Reply;
use super::record::{End, How};
use super::spec::Key;
use crate::capture::Capture;
use crate::{Ended, Output, OutputLimits};
use tokio::net::unix::OwnedReadHalf;

/// What became of a command.
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
    /// The spool knows nothing of it. Unless it was forgotten or kept too long, it never ran.
    NoRecord,
}

/// A command that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub how: How,
    pub output: Output,
}

/// A running command that is followed. Dropping it leaves the command alone; it belongs to this
/// process and can be stopped with [`Supervised::stop`].
#[derive(Debug)]
pub struct Attached {
    pub(crate) supervised: Supervised,
    pub(crate) connection: Connection,
    pub(crate) key: Key,
    pub(crate) limits: OutputLimits,
}

impl Attached {
    /// Waits for the end of the command and takes its whole output. The outcome is never `Running`.
    pub async fn finished(mut self) -> Result<Outcome, SuperviseError> {
        loop {
            if let Some(done) = follow(&mut self.connection.frames, self.limits.clone()).await? {
                return Ok(done.into());
            }
            // The supervisor went away. If that was in order, the result is in the spool.
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
            How::NeverStarted => Self::NeverStarted,
            How::Unknown => Self::Unknown { reason: end.reason.unwrap_or_default() },
            how => Self::Finished(Finished { how, output }),
        }
    }
}

/// Takes output until the command is over; `None` if the supervisor went away before that. Waiting
/// may be given up, but then the connection is of no more use.
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
            Reply::Finished { end } => return Ok(Some((end.clone(), output(end, capture).await))),
            // The answer to a request that was made meanwhile.
            Reply::Done => {}
            other => return Err(unexpected(&other)),
        }
    }
}

async fn output(end: End, capture: Capture) -> Output {
    let captured = crate::local::finished(capture).await;
    let ended = match end.how {
        How::Exited | How::NeverStarted | How::Unknown => Ended::Exited,
        How::TimedOut => Ended::TimedOut,
        How::Stopped | How::Orphaned | How::OwnerLeft => Ended::Cancelled,
    };
    Output {
        text: captured.text,
        exit_code: end.exit_code,
        ended,
        cwd: end.cwd,
        omitted: captured.omitted,
        spill: captured.spill,
    }
}

//! Commands that run in the background and outlive the process that started them.

use super::client::{Connection, Supervised, unexpected};
use super::error::SuperviseError;
use super::frame::{Frame, send};
use super::protocol::{Reply, Request, State, Stop};
use super::record::End;
use super::spec::{Key, Spec};
use crate::backend::{Command, ExecError, Input, Started};
use crate::{Group, confine, shell_wrapper};

/// Attempts to follow a command across supervisors.
const ATTEMPTS: usize = 5;

/// The state of a command and the end of its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peeked {
    /// Its processes, if known.
    pub group: Option<Group>,
    /// `None` while it runs.
    pub end: Option<End>,
    /// Bytes of the whole output so far.
    pub total: u64,
    /// The last bytes of it, at most [`MOST_LOOKED_AT`](super::MOST_LOOKED_AT).
    pub bytes: Vec<u8>,
}

impl Supervised {
    /// Starts a command that runs until it ends by itself, its timeout passes or it is stopped. `started` is called
    /// before its first instruction.
    pub async fn start_detached(
        &self,
        key: &Key,
        session: &str,
        command: &Command,
        input: Input,
        started: &dyn Started,
    ) -> Result<Group, ExecError> {
        shell_wrapper::check(&command.script)?;
        let command = command.clone().on_this_machine();
        if !confine::is_directory(command.sandbox.as_ref(), &command.cwd) {
            return Err(ExecError::NoDirectory { path: command.cwd });
        }
        let spec = Box::new(Spec::detached(&command, session, input));
        let start = Request::Start { key: key.clone(), spec, owner: self.owner().clone() };
        let (mut connection, reply) = self.ask(&start).await?;
        let group = match reply {
            Reply::Command { state: State::Held, group: Some(group) } => group,
            other => return Err(unexpected(&other).into()),
        };
        if let Err(cause) = started.started(&group).await {
            let stop = Request::Signal { key: key.clone(), how: Stop::AtOnce };
            send(&mut connection.writer, &stop).await?;
            return Err(ExecError::NotRecorded { cause });
        }
        send(&mut connection.writer, &Request::Go { key: key.clone() }).await?;
        connection.answered().await?;
        Ok(group)
    }

    /// The state of a command and the end of its output; `None` if there is no record of it.
    pub async fn peek(&self, key: &Key) -> Result<Option<Peeked>, SuperviseError> {
        let (mut connection, reply) = self.ask(&Request::Look { key: key.clone() }).await?;
        let (group, end, total, expected) = match reply {
            Reply::NoRecord => return Ok(None),
            Reply::Looked { group, end, total, bytes } => (group, end, total, bytes),
            other => return Err(unexpected(&other)),
        };
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < expected {
            match connection.frames.next().await? {
                Some(Frame::Output(piece)) => bytes.extend(piece),
                Some(Frame::Message(_)) => return Err(SuperviseError::protocol("a message within output")),
                None => return Err(SuperviseError::KeepsLeaving),
            }
        }
        Ok(Some(Peeked { group, end, total, bytes }))
    }

    /// Writes to the standard input of a running command, and closes it after that if `closes`. Does not wait until the
    /// command has read it.
    pub async fn write(&self, key: &Key, text: &str, closes: bool) -> Result<(), SuperviseError> {
        let ask = Request::Write { key: key.clone(), text: text.to_owned(), closes };
        match self.ask(&ask).await? {
            (_, Reply::Done) => Ok(()),
            (_, other) => Err(unexpected(&other)),
        }
    }

    /// Waits for the end of a command; `None` if there is no record of it. Does not take it over.
    pub async fn end_of(&self, key: &Key) -> Result<Option<End>, SuperviseError> {
        for _ in 0..ATTEMPTS {
            // No output is that long, so none is sent.
            let Some(mut stream) = self.output_of(key, u64::MAX).await? else { return Ok(None) };
            while let Some(part) = stream.next().await? {
                if let StreamPart::End(end) = part {
                    return Ok(Some(end));
                }
            }
        }
        Err(SuperviseError::KeepsLeaving)
    }

    /// Follows the output of a command from an offset; `None` if there is no record of it.
    pub async fn output_of(&self, key: &Key, from: u64) -> Result<Option<OutputStream>, SuperviseError> {
        let ask = Request::Attach { key: key.clone(), from, owner: None };
        match self.ask(&ask).await? {
            (_, Reply::NoRecord) => Ok(None),
            (connection, Reply::Command { .. }) => Ok(Some(OutputStream { connection })),
            (_, other) => Err(unexpected(&other)),
        }
    }
}

/// The output of a command, as it is written.
#[derive(Debug)]
pub struct OutputStream {
    connection: Connection,
}

/// A part of the output of a command.
#[derive(Debug)]
pub enum StreamPart {
    Output(Vec<u8>),
    /// The number of bytes that were not kept.
    Gap(u64),
    End(End),
}

impl OutputStream {
    /// The next part; `None` if the supervisor exited before the end of the command.
    pub async fn next(&mut self) -> Result<Option<StreamPart>, SuperviseError> {
        let Some(frame) = self.connection.frames.next().await? else {
            return Ok(None);
        };
        if let Frame::Output(bytes) = frame {
            return Ok(Some(StreamPart::Output(bytes)));
        }
        match frame.message()? {
            Reply::Gap { bytes } => Ok(Some(StreamPart::Gap(bytes))),
            Reply::Finished { end, .. } => Ok(Some(StreamPart::End(end))),
            other => Err(unexpected(&other)),
        }
    }
}

impl Connection {
    /// Waits for the answer to a request, which may come after output.
    async fn answered(&mut self) -> Result<(), SuperviseError> {
        loop {
            match self.frames.next().await? {
                Some(Frame::Output(_)) => {}
                Some(frame) => match frame.message()? {
                    Reply::Gap { .. } => {}
                    // A short command may be over before the answer is read.
                    Reply::Done | Reply::Finished { .. } => return Ok(()),
                    Reply::Refused { reason } => return Err(SuperviseError::Refused { reason }),
                    other => return Err(unexpected(&other)),
                },
                None => return Err(SuperviseError::KeepsLeaving),
            }
        }
    }
}

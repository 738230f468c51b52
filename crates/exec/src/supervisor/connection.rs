//! One client connection of the supervisor.

use super::error::SuperviseError;
use super::frame::{CHUNK, Frame, Frames, send, send_output};
use super::paths::check_peer;
use super::protocol::{Reply, Request, VERSION};
use super::record::{End, EndReason};
use super::run::Control;
use super::spool::read_at;
use super::table::{Ending, Follow, Look, Phase, Progress, Table};
use std::fs::File;
use std::sync::Arc;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

/// The end of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    Ordinary,
    /// The client has another version and will be served by another supervisor.
    OtherVersion,
}

/// Serves a client until it disconnects.
pub(crate) async fn serve(stream: UnixStream, table: Arc<Table>) -> Result<ConnectionEnd, SuperviseError> {
    let peer = stream.peer_cred().map_err(SuperviseError::io("ask who connected"))?;
    check_peer(peer.uid())?;
    let (reader, writer) = stream.into_split();
    let mut connection = Connection { frames: Frames::new(reader), writer, table, pump: None };
    match connection.hello().await? {
        true => connection.attend().await.map(|()| ConnectionEnd::Ordinary),
        false => Ok(ConnectionEnd::OtherVersion),
    }
}

struct Connection {
    frames: Frames<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    table: Arc<Table>,
    pump: Option<Pump>,
}

impl Connection {
    /// Returns true if both sides have the same version. The client receives the version of the supervisor in
    /// any case.
    async fn hello(&mut self) -> Result<bool, SuperviseError> {
        let Some(frame) = self.frames.next().await? else {
            return Ok(true);
        };
        let Request::Hello { version } = frame.message()? else {
            return Err(SuperviseError::protocol("a connection must begin with hello"));
        };
        send(&mut self.writer, &Reply::Hello { version: VERSION }).await?;
        Ok(version == VERSION)
    }

    async fn attend(&mut self) -> Result<(), SuperviseError> {
        loop {
            // Requests first, so that endless output does not delay a stop.
            tokio::select! {
                biased;
                frame = self.frames.next() => match frame? {
                    Some(frame) => self.answer(&frame).await?,
                    None => return Ok(()),
                },
                () = ready(&mut self.pump) => {
                    if let Some(pump) = &mut self.pump
                        && pump.push(&mut self.writer).await?
                    {
                        self.pump = None;
                    }
                }
            }
        }
    }

    async fn answer(&mut self, frame: &Frame) -> Result<(), SuperviseError> {
        let (reply, sequel) = match self.carry_out(frame.message()?).await {
            Ok(answer) => answer,
            Err(SuperviseError::Refused { reason }) => (Reply::Refused { reason }, Sequel::Nothing),
            Err(error) => (Reply::Refused { reason: error.to_string() }, Sequel::Nothing),
        };
        send(&mut self.writer, &reply).await?;
        match sequel {
            Sequel::Nothing => {}
            Sequel::Output(bytes) => send_output(&mut self.writer, &bytes).await?,
            Sequel::Follow(pump) => self.pump = Some(pump),
        }
        Ok(())
    }

    async fn carry_out(&mut self, request: Request) -> Result<(Reply, Sequel), SuperviseError> {
        let plain = |reply| Ok((reply, Sequel::Nothing));
        match request {
            Request::Hello { .. } => Err(SuperviseError::protocol("a second hello")),
            Request::Start { key, spec, owner } => {
                let follow = self.table.start(key, *spec, owner).await?;
                Ok(following(follow, 0))
            }
            Request::Go { key } => {
                // A command that is over by now never ran, and its end says so.
                self.table.order(&key, Control::Go);
                plain(Reply::Done)
            }
            Request::Attach { key, from, owner } => match self.table.attach(&key, owner).await? {
                Some(follow) => Ok(following(follow, from)),
                None => plain(Reply::NoRecord),
            },
            Request::Signal { key, how } => {
                self.table.order(&key, Control::End(EndReason::Stopped, how));
                plain(Reply::Done)
            }
            Request::Write { key, text, closes } => {
                self.table.write(&key, text, closes).await?;
                plain(Reply::Done)
            }
            Request::Look { key } => match self.table.look(&key).await? {
                Some(Look { group, end, total, bytes }) => {
                    let reply = Reply::Looked { group, end, total, bytes: bytes.len() as u64 };
                    Ok((reply, Sequel::Output(bytes)))
                }
                None => plain(Reply::NoRecord),
            },
            Request::Status => plain(Reply::Status { commands: self.table.status() }),
            Request::Forget { key } => {
                self.table.forget(&key)?;
                plain(Reply::Done)
            }
            Request::Leave { owner, session, leaving } => {
                let commands = self.table.leave(&owner, session.as_deref(), leaving);
                plain(Reply::Left { commands })
            }
        }
    }
}

/// Parts that follow a reply.
enum Sequel {
    Nothing,
    Output(Vec<u8>),
    /// The output of a command, as it is written.
    Follow(Pump),
}

/// The answer about a command, and the pump for its output.
fn following(follow: Follow, from: u64) -> (Reply, Sequel) {
    let (state, group) = follow.state();
    (Reply::Command { state, group }, Sequel::Follow(Pump::new(follow, from)))
}

async fn ready(pump: &mut Option<Pump>) {
    match pump {
        Some(pump) => pump.ready().await,
        None => std::future::pending().await,
    }
}

/// Sends the output of a command from its file, at the pace of the client.
struct Pump {
    /// `None` if the output is lost; it counts as omitted.
    file: Option<File>,
    progress: watch::Receiver<Progress>,
    sent: u64,
    /// The task of the command failed and will never report its end.
    is_lost: bool,
}

impl Pump {
    fn new(follow: Follow, from: u64) -> Self {
        let file = File::open(&follow.file.path).ok();
        Self { file, progress: follow.progress, sent: from, is_lost: false }
    }

    /// Waits until there is something to send.
    async fn ready(&mut self) {
        let sent = self.sent;
        let is_due = |now: &Progress| matches!(now.phase, Phase::Finished(_)) || now.head > sent;
        self.is_lost = self.progress.wait_for(is_due).await.is_err();
    }

    /// Sends the next piece. Returns true if that was the last one.
    async fn push(&mut self, writer: &mut OwnedWriteHalf) -> Result<bool, SuperviseError> {
        let now = self.progress.borrow().clone();
        let end = match now.phase {
            Phase::Finished(end) => Some(end),
            _ if self.is_lost => {
                Some(Arc::new(End::unknown(now.head, "the supervisor failed while it ran").into()))
            }
            _ => None,
        };
        let head = end.as_ref().map_or(now.head, |ending| ending.end.head);
        if self.send_piece(head, writer).await? {
            return Ok(false);
        }
        let Some(end) = end else {
            return Ok(false);
        };
        self.finish(&end, writer).await?;
        Ok(true)
    }

    /// Sends a piece of the output before `until`. Returns false if there was none.
    async fn send_piece(&mut self, until: u64, writer: &mut OwnedWriteHalf) -> Result<bool, SuperviseError> {
        let most = usize::try_from(until.saturating_sub(self.sent)).unwrap_or(usize::MAX).min(CHUNK);
        let Some(file) = self.file.as_ref().filter(|_| most > 0) else {
            return Ok(false);
        };
        let piece =
            read_at(file, self.sent, most).map_err(SuperviseError::io("read the output of a command"))?;
        if piece.is_empty() {
            self.file = None;
            return Ok(false);
        }
        send_output(writer, &piece).await?;
        self.sent += piece.len() as u64;
        Ok(true)
    }

    async fn finish(&mut self, ending: &Ending, writer: &mut OwnedWriteHalf) -> Result<(), SuperviseError> {
        let Ending { end, exports } = ending;
        let kept = if self.file.is_some() { end.head + end.tail } else { self.sent };
        if end.total > kept {
            send(writer, &Reply::Gap { bytes: end.total - kept }).await?;
        }
        while self.send_piece(end.head + end.tail, writer).await? {}
        send(writer, &Reply::Finished { end: end.clone(), exports: exports.clone() }).await
    }
}

//! The client of the supervisor.

use super::call::SupervisedCall;
use super::error::SuperviseError;
use super::follow::{Attached, Outcome, follow};
use super::frame::{Frames, encoded, is_hangup};
use super::launch::{Program, launch};
use super::paths::{Folder, SupervisorPaths, check_peer};
use super::protocol::{CommandStatus, Leaving, Reply, Request, State, Stop, VERSION};
use super::spec::{Key, Lifetime, Owner, SupervisorSettings};
use crate::{OutputLimits, live_groups};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// Attempts to connect to a supervisor that exits just then.
const ATTEMPTS: usize = 5;
/// The time limit for the supervisor's hello, on a very busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A handle to the supervisor of a home directory, which is started on first use.
#[derive(Debug, Clone)]
pub struct Supervised {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    paths: SupervisorPaths,
    program: Program,
    settings: SupervisorSettings,
    owner: Owner,
}

impl Supervised {
    /// A handle for commands of this process. Creates the spool, and starts nothing yet.
    pub fn new(
        paths: &SupervisorPaths,
        program: Program,
        settings: SupervisorSettings,
    ) -> Result<Self, SuperviseError> {
        let paths = paths.prepared()?;
        let owner = Owner::this_process().map_err(SuperviseError::io("read /proc"))?;
        let supervised = Self { shared: Arc::new(Shared { paths, program, settings, owner }) };
        live_groups::add_supervised(&supervised);
        Ok(supervised)
    }

    /// A backend for one command, whose result can be requested again by its key.
    pub fn call(&self, key: Key, session: &str, lifetime: Lifetime) -> SupervisedCall {
        SupervisedCall { supervised: self.clone(), key, session: session.to_owned(), lifetime }
    }

    /// Finds a command again after a crash. A running one is taken over.
    pub async fn reattach(&self, key: &Key, limits: OutputLimits) -> Result<Outcome, SuperviseError> {
        for _ in 0..ATTEMPTS {
            let ask = Request::Attach { key: key.clone(), from: 0, owner: Some(self.owner().clone()) };
            let (mut connection, reply) = self.ask(&ask).await?;
            match reply {
                Reply::NoRecord => return Ok(Outcome::NoRecord),
                Reply::Command { state: State::Running, .. } => {
                    let (supervised, key) = (self.clone(), key.clone());
                    return Ok(Outcome::Running(Attached { supervised, connection, key, limits }));
                }
                // A command at its gate waits for its owner, which opens it or dies; both happen soon.
                Reply::Command { .. } => {
                    if let Some(done) = follow(&mut connection.frames, limits.clone()).await? {
                        return Ok(done.into());
                    }
                }
                other => return Err(unexpected(&other)),
            }
        }
        Err(SuperviseError::KeepsLeaving)
    }

    /// Stops a command, if it runs. Returns when the stop was requested.
    pub async fn stop(&self, key: &Key, how: Stop) -> Result<(), SuperviseError> {
        self.ask(&Request::Signal { key: key.clone(), how }).await.and_then(|(_, reply)| done(&reply))
    }

    /// All unfinished commands.
    pub async fn status(&self) -> Result<Vec<CommandStatus>, SuperviseError> {
        match self.ask(&Request::Status).await? {
            (_, Reply::Status { commands }) => Ok(commands),
            (_, other) => Err(unexpected(&other)),
        }
    }

    /// Removes the record of a finished command, once its result is stored elsewhere.
    pub async fn forget(&self, key: &Key) -> Result<(), SuperviseError> {
        self.ask(&Request::Forget { key: key.clone() }).await.and_then(|(_, reply)| done(&reply))
    }

    /// As [`forget`](Self::forget) for several keys, if a supervisor runs: the next one removes old records
    /// when it starts.
    pub async fn forget_all(&self, keys: &[Key]) -> Result<(), SuperviseError> {
        let mut requests = keys.iter().map(|key| Request::Forget { key: key.clone() });
        let Some(first) = requests.next() else {
            return Ok(());
        };
        let Some((mut connection, mut reply)) = self.connect(&first).await? else {
            return Ok(());
        };
        for request in requests {
            let Some(forgotten) = reply else { return Ok(()) };
            done(&forgotten)?;
            reply = connection.ask(&request).await?;
        }
        reply.map_or(Ok(()), |forgotten| done(&forgotten))
    }

    /// Ends the commands whose lifetime ends now, of one session or of all sessions of this process, and
    /// returns their number.
    pub async fn leave(&self, session: Option<&str>, leaving: Leaving) -> Result<usize, SuperviseError> {
        // A process without commands does not start a supervisor in order to leave it.
        let ask =
            Request::Leave { owner: self.owner().clone(), session: session.map(str::to_owned), leaving };
        match self.connect(&ask).await? {
            Some((_, Some(Reply::Left { commands }))) => Ok(commands),
            Some((_, Some(other))) => Err(unexpected(&other)),
            Some((_, None)) | None => Ok(0),
        }
    }

    /// As [`leave`](Self::leave) for all sessions, without an async runtime, for use right before the process
    /// exits. Waits for at most a second; on failure the commands end like those of a process that died.
    pub fn leave_now(&self) {
        if let Err(error) = super::leave_now::leave_now(&self.shared.paths, &self.shared.owner) {
            tracing::warn!(%error, "the supervisor could not be informed of the exit");
        }
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.shared.owner
    }

    /// A weak handle, which does not keep the supervisor connection alive.
    pub(crate) fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.shared)
    }

    pub(crate) fn upgrade(shared: &Weak<Shared>) -> Option<Self> {
        shared.upgrade().map(|shared| Self { shared })
    }

    /// Sends one request, to a supervisor that is started if there is none. Repeating a request after the
    /// supervisor exited is safe: commands are identified by their keys.
    pub(crate) async fn ask(&self, request: &Request) -> Result<(Connection, Reply), SuperviseError> {
        for _ in 0..ATTEMPTS {
            match self.connect(request).await? {
                None => self.start_supervisor().await?,
                Some((_, Some(Reply::Refused { reason }))) => return Err(SuperviseError::Refused { reason }),
                Some((connection, Some(reply))) => return Ok((connection, reply)),
                Some((_, None)) => {}
            }
        }
        Err(SuperviseError::KeepsLeaving)
    }

    /// Connects and sends the first request right behind the hello, so that the supervisor wakes up once for both. A
    /// supervisor of another version does not read it. `None` if no supervisor runs; its answer is `None` if it left.
    async fn connect(&self, first: &Request) -> Result<Option<(Connection, Option<Reply>)>, SuperviseError> {
        let Some(stream) = reach(&self.shared.paths).await? else {
            return Ok(None);
        };
        let (reader, writer) = stream.into_split();
        let mut connection = Connection { frames: Frames::new(reader), writer };
        let mut opening = encoded(&Request::Hello { version: VERSION })?;
        opening.extend(encoded(first)?);
        let answer = tokio::time::timeout(PATIENCE, connection.exchange(&opening)).await;
        match answer.map_err(|_| SuperviseError::Silent)?? {
            None => Ok(None),
            Some(Reply::Hello { version: VERSION }) => {
                let reply = connection.reply().await?;
                Ok(Some((connection, reply)))
            }
            Some(Reply::Hello { version: theirs }) => {
                Err(SuperviseError::OtherVersion { ours: VERSION, theirs })
            }
            Some(other) => Err(unexpected(&other)),
        }
    }

    /// Of several clients that find no supervisor, one starts it; the others wait for it.
    async fn start_supervisor(&self) -> Result<(), SuperviseError> {
        let shared = self.shared.clone();
        let paths = shared.paths.clone();
        let locked = blocking(move || paths.lock_starting()).await?;
        if reach(&self.shared.paths).await?.is_some() {
            return Ok(());
        }
        blocking(move || {
            let _locked = locked;
            launch(&shared.program, &shared.paths, shared.settings)
        })
        .await
    }
}

/// Connects to the socket, if a process of the same user listens on it.
async fn reach(paths: &SupervisorPaths) -> Result<Option<UnixStream>, SuperviseError> {
    let Some(folder) = open_folder(paths)? else {
        return Ok(None);
    };
    match UnixStream::connect(folder.socket()).await {
        Ok(stream) => {
            let peer = stream.peer_cred().map_err(SuperviseError::io("ask who listens"))?;
            check_peer(peer.uid())?;
            Ok(Some(stream))
        }
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(SuperviseError::io("connect to the supervisor")(error)),
    }
}

/// The socket directory, if there is one.
pub(crate) fn open_folder(paths: &SupervisorPaths) -> Result<Option<Folder>, SuperviseError> {
    match paths.address()?.map(|path| Folder::open(&path)) {
        None => Ok(None),
        Some(Err(SuperviseError::Io { source, .. })) if is_absent(&source) => Ok(None),
        Some(opened) => opened.map(Some),
    }
}

/// Returns true if no process listens, or the listener exited during the connection.
pub(crate) fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused)
        || is_hangup(error)
}

/// A connection after its hello.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) frames: Frames<OwnedReadHalf>,
    pub(crate) writer: OwnedWriteHalf,
}

impl Connection {
    /// Sends a request and returns the answer; `None` if the supervisor is gone.
    pub(crate) async fn ask(&mut self, request: &Request) -> Result<Option<Reply>, SuperviseError> {
        self.exchange(&encoded(request)?).await
    }

    /// Sends frames and returns the first answer; `None` if the supervisor is gone.
    async fn exchange(&mut self, frames: &[u8]) -> Result<Option<Reply>, SuperviseError> {
        match self.writer.write_all(frames).await {
            Err(error) if is_hangup(&error) => return Ok(None),
            sent => sent.map_err(SuperviseError::io("write to the supervisor's socket"))?,
        }
        self.reply().await
    }

    async fn reply(&mut self) -> Result<Option<Reply>, SuperviseError> {
        self.frames.next().await?.map(|frame| frame.message()).transpose()
    }
}

fn done(reply: &Reply) -> Result<(), SuperviseError> {
    match reply {
        Reply::Done => Ok(()),
        other => Err(unexpected(other)),
    }
}

pub(crate) fn unexpected(reply: &Reply) -> SuperviseError {
    SuperviseError::protocol(format!("an unexpected answer: {reply:?}"))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SuperviseError> + Send + 'static,
) -> Result<T, SuperviseError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| SuperviseError::io("wait for the supervisor")(std::io::Error::other(error)))?
}

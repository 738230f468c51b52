//! Asking the supervisor.

use super::call::SupervisedCall;
use super::error::SuperviseError;
use super::follow::{Attached, Outcome, follow};
use super::frame::{Frames, is_hangup, send};
use super::launch::{Program, launch};
use super::place::{Folder, Place, check_peer};
use super::protocol::{CommandStatus, Leaving, Reply, Request, State, Stop, VERSION};
use super::spec::{Key, Lifetime, Owner, SupervisorSettings};
use crate::{OutputLimits, live};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// How often a supervisor is tried that leaves just as we come.
const ATTEMPTS: usize = 5;
/// How long a supervisor may take to say hello, on a machine that is very busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// The way to the supervisor of a home, which is started when it is first needed.
#[derive(Debug, Clone)]
pub struct Supervised {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    place: Place,
    program: Program,
    settings: SupervisorSettings,
    owner: Owner,
}

impl Supervised {
    /// For commands of this process. Makes the spool, and starts nothing yet.
    pub fn new(
        place: &Place,
        program: Program,
        settings: SupervisorSettings,
    ) -> Result<Self, SuperviseError> {
        let place = place.prepared()?;
        let owner = Owner::this_process().map_err(SuperviseError::io("read /proc"))?;
        let supervised = Self { shared: Arc::new(Shared { place, program, settings, owner }) };
        live::add_supervised(&supervised);
        Ok(supervised)
    }

    /// A place to run one command, which can be asked for again by its key.
    pub fn call(&self, key: Key, session: &str, lifetime: Lifetime) -> SupervisedCall {
        SupervisedCall { supervised: self.clone(), key, session: session.to_owned(), lifetime }
    }

    /// Finds a command again, after a crash. If it runs, it is taken over.
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
                // One at its gate waits for its owner, who goes through it or dies; both are told soon.
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

    /// Stops a command, if it runs. Returns when it was told to.
    pub async fn stop(&self, key: &Key, how: Stop) -> Result<(), SuperviseError> {
        self.ask(&Request::Signal { key: key.clone(), how }).await.and_then(|(_, reply)| done(&reply))
    }

    /// All commands that are not over.
    pub async fn status(&self) -> Result<Vec<CommandStatus>, SuperviseError> {
        match self.ask(&Request::Status).await? {
            (_, Reply::Status { commands }) => Ok(commands),
            (_, other) => Err(unexpected(&other)),
        }
    }

    /// Removes the record of a command that is over, once its result is kept elsewhere.
    pub async fn forget(&self, key: &Key) -> Result<(), SuperviseError> {
        self.ask(&Request::Forget { key: key.clone() }).await.and_then(|(_, reply)| done(&reply))
    }

    /// As [`forget`](Self::forget) of many, if there is a supervisor: one that is not there removes old
    /// records when it comes.
    pub async fn forget_all(&self, keys: &[Key]) -> Result<(), SuperviseError> {
        let Some(mut connection) = self.connect().await? else {
            return Ok(());
        };
        for key in keys {
            match connection.ask(&Request::Forget { key: key.clone() }).await? {
                Some(reply) => done(&reply)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Ends the commands that were declared to end now, of one session or of all sessions of this
    /// process, and says how many.
    pub async fn leave(&self, session: Option<&str>, leaving: Leaving) -> Result<usize, SuperviseError> {
        // Who never started anything does not start a supervisor to say goodbye.
        let Some(mut connection) = self.connect().await? else {
            return Ok(0);
        };
        let ask =
            Request::Leave { owner: self.owner().clone(), session: session.map(str::to_owned), leaving };
        match connection.ask(&ask).await? {
            Some(Reply::Left { commands }) => Ok(commands),
            Some(other) => Err(unexpected(&other)),
            None => Ok(0),
        }
    }

    /// As [`leave`](Self::leave) of all sessions, without a runtime: for the moment before the process
    /// exits. Waits a second at most, and what cannot be said is not: the commands then end as
    /// those of a process that died.
    pub fn leave_now(&self) {
        if let Err(error) = super::goodbye::say(&self.shared.place, &self.shared.owner) {
            tracing::warn!(%error, "the supervisor was not told that we leave");
        }
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.shared.owner
    }

    /// For whoever must not keep it alive.
    pub(crate) fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.shared)
    }

    pub(crate) fn upgrade(shared: &Weak<Shared>) -> Option<Self> {
        shared.upgrade().map(|shared| Self { shared })
    }

    /// Asks one thing, of a supervisor that is started if there is none. Asking again after a
    /// supervisor went away is safe: what was started is known by its key.
    pub(crate) async fn ask(&self, request: &Request) -> Result<(Connection, Reply), SuperviseError> {
        for _ in 0..ATTEMPTS {
            let Some(mut connection) = self.connect().await? else {
                self.start_supervisor().await?;
                continue;
            };
            match connection.ask(request).await? {
                Some(Reply::Refused { reason }) => return Err(SuperviseError::Refused { reason }),
                Some(reply) => return Ok((connection, reply)),
                None => {}
            }
        }
        Err(SuperviseError::KeepsLeaving)
    }

    async fn connect(&self) -> Result<Option<Connection>, SuperviseError> {
        let Some(stream) = reach(&self.shared.place).await? else {
            return Ok(None);
        };
        let (reader, writer) = stream.into_split();
        let mut connection = Connection { frames: Frames::new(reader), writer };
        let hello = Request::Hello { version: VERSION };
        let answer = tokio::time::timeout(PATIENCE, connection.ask(&hello)).await;
        match answer.map_err(|_| SuperviseError::Silent)?? {
            None => Ok(None),
            Some(Reply::Hello { version: VERSION }) => Ok(Some(connection)),
            Some(Reply::Hello { version: theirs }) => {
                Err(SuperviseError::OtherVersion { ours: VERSION, theirs })
            }
            Some(other) => Err(unexpected(&other)),
        }
    }

    /// One of all clients that find no supervisor starts it; the others wait and find it.
    async fn start_supervisor(&self) -> Result<(), SuperviseError> {
        let shared = self.shared.clone();
        let place = shared.place.clone();
        let locked = blocking(move || place.lock_starting()).await?;
        if reach(&self.shared.place).await?.is_some() {
            return Ok(());
        }
        blocking(move || {
            let _locked = locked;
            launch(&shared.program, &shared.place, shared.settings)
        })
        .await
    }
}

/// Connects to the socket, if somebody of our own user listens there.
async fn reach(place: &Place) -> Result<Option<UnixStream>, SuperviseError> {
    let Some(folder) = open_folder(place)? else {
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

/// The folder with the socket, if there is one.
pub(crate) fn open_folder(place: &Place) -> Result<Option<Folder>, SuperviseError> {
    match place.address()?.map(|path| Folder::open(&path)) {
        None => Ok(None),
        Some(Err(SuperviseError::Io { source, .. })) if is_absent(&source) => Ok(None),
        Some(opened) => opened.map(Some),
    }
}

/// Nobody listens, or whoever listened left while we knocked.
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
    /// The answer to a request; `None` if the supervisor is gone.
    pub(crate) async fn ask(&mut self, request: &Request) -> Result<Option<Reply>, SuperviseError> {
        match send(&mut self.writer, request).await {
            Err(SuperviseError::Io { source, .. }) if is_hangup(&source) => return Ok(None),
            sent => sent?,
        }
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

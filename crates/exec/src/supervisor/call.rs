//! One command under the supervisor, as a [`Backend`].
//!
//! The trait knows neither keys nor lifetimes, so they are given to a value per command. It also
//! has no word for a command of which nobody knows how it went; such a one gets exit code -1 and
//! a last line that says so.

use super::client::{Connection, Supervised, unexpected};
use super::error::SuperviseError;
use super::follow::follow;
use super::frame::{encoded, is_hangup, send};
use super::protocol::{Reply, Request, State, Stop};
use super::record::{End, How};
use super::spec::{Key, Lifetime, Spec};
use crate::backend::{Backend, BoxFuture, Command, ExecError, Output, Watch};
use crate::{Ended, Group, OutputLimits, script};
use tokio_util::sync::CancellationToken;

/// Runs the command of one key. Running it again gives the result of the first time.
#[derive(Debug, Clone)]
pub struct SupervisedCall {
    pub(crate) supervised: Supervised,
    pub(crate) key: Key,
    pub(crate) session: String,
    pub(crate) lifetime: Lifetime,
}

impl Backend for SupervisedCall {
    fn run<'a>(&'a self, command: Command, watch: Watch<'a>) -> BoxFuture<'a, Result<Output, ExecError>> {
        Box::pin(self.run_watched(command, watch))
    }
}

impl SupervisedCall {
    async fn run_watched(&self, command: Command, watch: Watch<'_>) -> Result<Output, ExecError> {
        script::check(&command.script)?;
        if !command.cwd.is_dir() {
            return Err(ExecError::NoDirectory { path: command.cwd });
        }
        let spec = Box::new(Spec::new(&command, &self.session, self.lifetime));
        let owner = self.supervised.owner().clone();
        let start = Request::Start { key: self.key.clone(), spec, owner };
        let (connection, reply) = self.supervised.ask(&start).await?;
        let mut follower = Follower { connection, key: &self.key, armed: true };
        match reply {
            Reply::Command { state: State::Held, group: Some(group) } => {
                if let Some(output) = follower.pass_gate(&group, watch).await? {
                    return Ok(output);
                }
            }
            Reply::Command { state: State::Running | State::Finished, .. } => {}
            other => return Err(unexpected(&other).into()),
        }
        // From here on it may have run, so whatever fails is no reason to say that it did not.
        let done = match follower.await_end(&command.output, watch.cancel).await {
            Ok(Some(done)) => Ok(done),
            Ok(None) => self.recovered(command.output).await,
            Err(error) => Err(error),
        };
        follower.armed = done.is_err();
        match done {
            Ok(done) => told(done),
            Err(error) => Ok(unknown(String::new(), &error.to_string())),
        }
    }

    /// The supervisor was killed while the command ran. The next one says what it knows.
    async fn recovered(&self, limits: OutputLimits) -> Result<(End, Output), SuperviseError> {
        let ask = Request::Attach { key: self.key.clone(), from: 0, owner: None };
        let (mut connection, reply) = self.supervised.ask(&ask).await?;
        match reply {
            Reply::Command { .. } => {
                follow(&mut connection.frames, limits).await?.ok_or(SuperviseError::KeepsLeaving)
            }
            other => Err(unexpected(&other)),
        }
    }
}

fn told((end, output): (End, Output)) -> Result<Output, ExecError> {
    match end.how {
        How::NeverStarted => Err(ExecError::NotRecorded { cause: "nobody opened its gate".to_owned() }),
        How::Unknown => Ok(unknown(output.text, &end.reason.unwrap_or_default())),
        _ => Ok(output),
    }
}

/// For a command that may have had any effect.
fn unknown(said: String, reason: &str) -> Output {
    let text = format!("{said}\n[how the command went is not known: {reason}]");
    Output { text, exit_code: -1, ended: Ended::Exited, cwd: None, omitted: 0, spill: None }
}

/// Follows a command, and stops it if that is given up.
struct Follower<'a> {
    connection: Connection,
    key: &'a Key,
    armed: bool,
}

impl Follower<'_> {
    /// Has the start written down and opens the gate. An output means that the command was
    /// cancelled before.
    async fn pass_gate(&mut self, group: &Group, watch: Watch<'_>) -> Result<Option<Output>, ExecError> {
        if let Err(cause) = watch.started.started(group).await {
            self.give_up().await?;
            return Err(ExecError::NotRecorded { cause });
        }
        if watch.cancel.is_cancelled() {
            self.give_up().await?;
            return Ok(Some(cancelled()));
        }
        // The answer comes among the output, and so does the news that the supervisor is gone. Whatever
        // becomes of this message, it may have arrived: from here on nobody may say that nothing ran.
        if let Err(error) = self.say(&Request::Go { key: self.key.clone() }).await {
            tracing::warn!(%error, "the supervisor may not have been told to begin");
        }
        Ok(None)
    }

    /// Waits for the end; a cancellation stops the command.
    async fn await_end(
        &mut self,
        limits: &OutputLimits,
        cancel: &CancellationToken,
    ) -> Result<Option<(End, Output)>, SuperviseError> {
        let stop = Request::Signal { key: self.key.clone(), how: Stop::Politely };
        let Connection { frames, writer } = &mut self.connection;
        let following = follow(frames, limits.clone());
        tokio::pin!(following);
        tokio::select! {
            biased;
            done = &mut following => return done,
            () = cancel.cancelled() => {}
        }
        unless_gone(send(writer, &stop).await)?;
        following.await
    }

    /// Ends what waits at the gate, and waits until it is gone.
    async fn give_up(&mut self) -> Result<(), SuperviseError> {
        self.say(&Request::Signal { key: self.key.clone(), how: Stop::AtOnce }).await?;
        follow(&mut self.connection.frames, OutputLimits::default()).await?;
        self.armed = false;
        Ok(())
    }

    async fn say(&mut self, request: &Request) -> Result<(), SuperviseError> {
        unless_gone(send(&mut self.connection.writer, request).await)
    }
}

impl Drop for Follower<'_> {
    fn drop(&mut self) {
        // Nothing can be waited for here. The message is short and there is room for it, unless
        // the supervisor is gone; then the command is too.
        let stop = Request::Signal { key: self.key.clone(), how: Stop::AtOnce };
        if let (true, Ok(bytes)) = (self.armed, encoded(&stop)) {
            let _ = self.connection.writer.try_write(&bytes);
        }
    }
}

/// A supervisor that hung up is noticed by whoever reads.
fn unless_gone(sent: Result<(), SuperviseError>) -> Result<(), SuperviseError> {
    match sent {
        Err(SuperviseError::Io { source, .. }) if is_hangup(&source) => Ok(()),
        sent => sent,
    }
}

fn cancelled() -> Output {
    let (text, exit_code, ended) = (String::new(), 130, Ended::Cancelled);
    Output { text, exit_code, ended, cwd: None, omitted: 0, spill: None }
}

//! One supervised command as a [`Backend`].
//!
//! The trait has no keys and lifetimes, so a value is created per command. It has no outcome "unknown" either;
//! such a command gets exit code -1 and a last line that says so.

use super::client::{Connection, Supervised, unexpected};
use super::error::SuperviseError;
use super::follow::follow;
use super::frame::{encoded, is_hangup, send};
use super::protocol::{Reply, Request, State, Stop};
use super::record::{End, EndReason};
use super::spec::{Key, Lifetime, Spec};
use crate::backend::{Backend, BoxFuture, Command, ExecError, Output, Watch};
use crate::confine;
use crate::{Ended, Group, OutputLimits, shell_wrapper};
use tokio_util::sync::CancellationToken;

/// Runs the command of one key. A second run returns the result of the first.
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
        shell_wrapper::check(&command.script)?;
        let command = command.on_this_machine();
        if !confine::is_directory(command.sandbox.as_ref(), &command.cwd) {
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
        // From here on the command may have run, so a failure must not be reported as "did not run".
        let done = match follower.await_end(&command.output, watch.cancel).await {
            Ok(Some(done)) => Ok(done),
            Ok(None) => self.recovered(command.output).await,
            Err(error) => Err(error),
        };
        follower.armed = done.is_err();
        match done {
            Ok(done) => into_output(done),
            Err(error) => Ok(unknown(String::new(), &error.to_string())),
        }
    }

    /// Asks the next supervisor about the command, after the one that ran it was killed.
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

fn into_output((end, output): (End, Output)) -> Result<Output, ExecError> {
    match end.how {
        EndReason::NeverStarted => {
            Err(ExecError::NotRecorded { cause: "its gate was never opened".to_owned() })
        }
        EndReason::Unknown => Ok(unknown(output.text, &end.reason.unwrap_or_default())),
        _ => Ok(output),
    }
}

/// The output of a command that may have had any effect.
fn unknown(said: String, reason: &str) -> Output {
    let text = format!("{said}\n[how the command went is not known: {reason}]");
    Output { text, exit_code: -1, ended: Ended::Exited, cwd: None, exports: None, omitted: 0, spill: None }
}

/// Follows a command, and stops it on drop.
struct Follower<'a> {
    connection: Connection,
    key: &'a Key,
    armed: bool,
}

impl Follower<'_> {
    /// Has the start recorded and opens the gate. Returns an output if the command was cancelled before.
    async fn pass_gate(&mut self, group: &Group, watch: Watch<'_>) -> Result<Option<Output>, ExecError> {
        if let Err(cause) = watch.started.started(group).await {
            self.give_up().await?;
            return Err(ExecError::NotRecorded { cause });
        }
        if watch.cancel.is_cancelled() {
            self.give_up().await?;
            return Ok(Some(cancelled()));
        }
        // The answer arrives among the output, and so does the loss of the supervisor. Even if sending fails,
        // the request may have arrived: from here on the command must not be reported as not run.
        if let Err(error) = self.say(&Request::Go { key: self.key.clone() }).await {
            tracing::warn!(%error, "the supervisor may not have received the start request");
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

    /// Ends a command at its gate, and waits until it is gone.
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
        // Drop cannot wait. The message is short and fits into the socket buffer, unless the supervisor is
        // gone; then the command is, too.
        let stop = Request::Signal { key: self.key.clone(), how: Stop::AtOnce };
        if let (true, Ok(bytes)) = (self.armed, encoded(&stop)) {
            let _ = self.connection.writer.try_write(&bytes);
        }
    }
}

/// Ignores a closed connection: the reading side notices it.
fn unless_gone(sent: Result<(), SuperviseError>) -> Result<(), SuperviseError> {
    match sent {
        Err(SuperviseError::Io { source, .. }) if is_hangup(&source) => Ok(()),
        sent => sent,
    }
}

fn cancelled() -> Output {
    let (text, exit_code, ended) = (String::new(), 130, Ended::Cancelled);
    Output { text, exit_code, ended, cwd: None, exports: None, omitted: 0, spill: None }
}

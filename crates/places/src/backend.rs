//! Runs commands at a place, by client programs that another backend runs here.

use crate::client_script::ClientScript;
use crate::error::PlaceError;
use crate::exchange;
use crate::far_script::{self, BOOT};
use crate::place::{Place, words};
use hermes_exec::supervisor::Key;
use hermes_exec::{
    Backend, BoxFuture, Client, Command, Ended, Exchange, Exchanged, ExecError, Input, LONGEST, Link, Output,
    Watch,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Bytes that a far end is sent, at most.
const MOST_PAYLOAD: usize = 1 << 20;
/// Variables that a client program needs itself.
const RESERVED: [&str; 5] = ["PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK"];
const RESERVED_PREFIXES: [&str; 4] = ["DOCKER_", "CONTAINER", "LD_", "BASH_"];

/// A backend for one place.
pub struct FarBackend {
    place: Arc<Place>,
    inner: Arc<dyn Backend>,
    /// Pauses before a place that cannot be used is tried again.
    pauses: &'static [Duration],
    /// The time of the last exchange, after which the place counts as ready for a while.
    used: Mutex<Option<Instant>>,
}

/// The time for which a place counts as ready after an exchange. One that is not after all starts no script.
const STAYS_READY: Duration = Duration::from_secs(20);

/// Two seconds, doubled each time.
const PAUSES: [Duration; 3] = [Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(8)];

impl FarBackend {
    /// Runs the client programs of `place` with `inner`.
    pub fn new(place: Arc<Place>, inner: Arc<dyn Backend>) -> Self {
        Self { place, inner, pauses: &PAUSES, used: Mutex::default() }
    }

    /// The same, which reports the first failure.
    pub fn without_retries(self) -> Self {
        Self { pauses: &[], ..self }
    }

    async fn prepared(&self, mut command: Command, input: Input) -> Result<Command, ExecError> {
        if command.script.len() > LONGEST {
            return Err(ExecError::TooLong { bytes: command.script.len(), most: LONGEST });
        }
        if command.script.contains('\0') {
            return Err(ExecError::Nul);
        }
        if let Some(why) = self.place.refused(input) {
            return Err(ExecError::Unreachable(why.to_owned()));
        }
        self.make_ready().await?;
        let mark = mark();
        let client = client(&self.place, &command, input, mark)?;
        command.client = Some(client);
        Ok(command)
    }

    fn used(&self) -> MutexGuard<'_, Option<Instant>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects, and tries again if that fails for a reason that may pass.
    async fn make_ready(&self) -> Result<(), ExecError> {
        let mut pauses = self.pauses.iter();
        loop {
            let error = match self.place.make_ready().await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let pause = pauses.next().filter(|_| may_pass(&error));
            let Some(pause) = pause else { return Err(ExecError::Unreachable(error.to_string())) };
            tracing::warn!(%error, "a place for commands cannot be used; trying again");
            tokio::time::sleep(*pause).await;
        }
    }

    async fn run_far(&self, command: Command, watch: Watch<'_>) -> Result<Output, ExecError> {
        let prepared = watch.cancel.run_until_cancelled(self.prepared(command, Input::Closed)).await;
        match prepared {
            Some(command) => self.inner.run(command?, watch).await,
            None => Ok(Output {
                text: String::new(),
                exit_code: 130,
                ended: Ended::Cancelled,
                cwd: None,
                exports: None,
                omitted: 0,
                spill: None,
            }),
        }
    }
}

/// Parts of messages of failures that may pass: of networks, of servers, and of containers that another process is
/// making or removing at the same time.
const PASSING: [&str; 8] = [
    "timed out",
    "timeout",
    "reset by peer",
    "temporarily",
    "try again",
    "no answer within",
    "unable to determine if",
    "is being removed",
];

/// Returns true for failures of networks and servers, not for those of settings.
fn may_pass(error: &PlaceError) -> bool {
    let PlaceError::Failed { said, .. } = error else { return false };
    let said = said.to_ascii_lowercase();
    PASSING.iter().any(|word| said.contains(word))
}

impl Backend for FarBackend {
    fn run<'a>(&'a self, command: Command, watch: Watch<'a>) -> BoxFuture<'a, Result<Output, ExecError>> {
        Box::pin(self.run_far(command, watch))
    }

    fn prepare(&self, command: Command, input: Input) -> BoxFuture<'_, Result<Command, ExecError>> {
        Box::pin(self.prepared(command, input))
    }

    fn exchange<'a>(
        &'a self,
        exchange: Exchange,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Exchanged, ExecError>> {
        Box::pin(async move {
            let is_recent = |used: &Instant| used.elapsed() < STAYS_READY;
            if self.used().as_ref().is_some_and(is_recent) {
                let first = exchange::run(&self.place, exchange.clone(), mark(), cancel).await?;
                if !matches!(first, Exchanged::NotStarted(_)) || cancel.is_cancelled() {
                    return Ok(first);
                }
            }
            match cancel.run_until_cancelled(self.make_ready()).await {
                Some(ready) => ready?,
                None => return Ok(Exchanged::NotStarted("it was interrupted".to_owned())),
            }
            let exchanged = exchange::run(&self.place, exchange, mark(), cancel).await?;
            *self.used() = Some(Instant::now());
            Ok(exchanged)
        })
    }

    fn forget(&self, keys: Vec<Key>) {
        self.inner.forget(keys);
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        self.inner.leave()
    }
}

/// A new mark, by which the processes of a command are found.
fn mark() -> String {
    format!("hx{:024x}", rand::random::<u128>() >> 32)
}

/// The client program of a command.
fn client(place: &Place, command: &Command, input: Input, mark: String) -> Result<Client, ExecError> {
    let program = far_script::program(command, input, &mark, place.trace());
    let mut env = place.env().to_vec();
    let boot = words(&["bash", "-c", BOOT]);
    let (argv, payload) = match input {
        Input::Closed | Input::Pipe => (place.client(input, &boot, &[]), program + "\0"),
        Input::Terminal(_) => {
            let passed: Vec<&(String, String)> =
                command.env.iter().filter(|(name, _)| !is_reserved(name)).collect();
            env.retain(|(name, _)| passed.iter().all(|(other, _)| other != name));
            env.extend(passed.iter().map(|&pair| pair.clone()));
            let names: Vec<&str> = passed.iter().map(|(name, _)| name.as_str()).collect();
            let program = vec!["bash".to_owned(), "-c".to_owned(), program];
            (place.client(input, &program, &names), String::new())
        }
    };
    if payload.len() > MOST_PAYLOAD {
        return Err(ExecError::TooLong { bytes: payload.len(), most: MOST_PAYLOAD });
    }
    let second = place.client(Input::Closed, &boot, &[]);
    let has_report = |report: &&hermes_exec::ShellReport| report.cwd || report.exports.is_some();
    let script = ClientScript {
        client: &argv,
        second: &second,
        ending: &far_script::ending(&mark),
        report: command.report.as_ref().filter(has_report).map(|report| report.file.as_path()),
        mark: &mark,
        place: &place.label(),
        advice: &place.advice(),
    };
    Ok(Client { script: script.text(), env, link: Link { payload, mark } })
}

fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

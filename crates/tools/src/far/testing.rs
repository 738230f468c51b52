//! A place for tests of this crate: scripts run on this machine, in bash without anything around them.

use hermes_exec::{Backend, BoxFuture, Command, Ended, Exchange, Exchanged, ExecError, Local, Output, Watch};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command as Program, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// The way in which the next exchange fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The place is not reached.
    Refused,
    /// The connection is lost when half of the input was sent.
    HalfOfInput,
    /// The connection is lost before the script has reported its end.
    NoEnd,
    /// The call is interrupted before the script has reported its end.
    Interrupted,
}

/// A change of the files between two scripts.
pub(crate) type Act = Box<dyn FnOnce() + Send>;

/// The backend of the place.
pub(crate) struct Loopback {
    pub(crate) home: PathBuf,
    /// Directories of programs that hide those of the system.
    pub(crate) path: String,
    /// Applies to the next script that has input.
    pub(crate) fault: Mutex<Option<Fault>>,
    /// Runs before the next script that has this text in it.
    pub(crate) before: Mutex<Option<(&'static str, Act)>>,
    /// Run scripts as the system user `nobody`.
    pub(crate) is_other_user: AtomicBool,
    /// Bytes of output that were sent so far.
    pub(crate) sent: Mutex<usize>,
}

impl Loopback {
    pub(crate) fn new(home: PathBuf) -> Self {
        let path = "/usr/local/bin:/usr/bin:/bin".to_owned();
        Self {
            home,
            path,
            fault: Mutex::default(),
            before: Mutex::default(),
            is_other_user: AtomicBool::new(false),
            sent: Mutex::default(),
        }
    }

    fn exchanged(&self, exchange: &Exchange) -> Exchanged {
        let mut before = self.before.lock().unwrap();
        if let Some((_, act)) = before.take_if(|(text, _)| exchange.script.contains(*text)) {
            act();
        }
        let mut fault = self.fault.lock().unwrap();
        let fault = if exchange.input.is_empty() { None } else { fault.take() };
        if fault == Some(Fault::Refused) {
            return Exchanged::NotStarted("Connection refused".to_owned());
        }
        let sent =
            if fault == Some(Fault::HalfOfInput) { exchange.input.len() / 2 } else { exchange.input.len() };
        let text = self.run(exchange, &exchange.input[..sent], fault != Some(Fault::HalfOfInput));
        match fault {
            Some(Fault::HalfOfInput | Fault::NoEnd) => Exchanged::Lost(Ended::Exited),
            Some(Fault::Interrupted) => Exchanged::Lost(Ended::Cancelled),
            Some(Fault::Refused) | None => Exchanged::Done(text),
        }
    }

    /// Runs the script; its input stays open until it has ended, unless the connection is lost.
    fn run(&self, exchange: &Exchange, input: &str, stays_open: bool) -> String {
        let line = format!("bash -c \"$SCRIPT\" bash {}", exchange.arguments);
        let mut program = Program::new("bash");
        if self.is_other_user.load(Ordering::Relaxed) {
            program.uid(65_534);
        }
        let mut child = program
            .args(["-c", &line])
            .env_clear()
            .envs([("SCRIPT", exchange.script.as_str()), ("PATH", &self.path)])
            .env("HOME", &self.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(input.as_bytes());
        let held = stays_open.then_some(stdin);
        let output = child.wait_with_output().unwrap();
        drop(held);
        *self.sent.lock().unwrap() += output.stdout.len();
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Backend for Loopback {
    fn run<'a>(&'a self, command: Command, watch: Watch<'a>) -> BoxFuture<'a, Result<Output, ExecError>> {
        Local.run(command, watch)
    }

    fn exchange<'a>(
        &'a self,
        exchange: Exchange,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Exchanged, ExecError>> {
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Ok(Exchanged::NotStarted("it was interrupted".to_owned()));
            }
            Ok(self.exchanged(&exchange))
        })
    }
}

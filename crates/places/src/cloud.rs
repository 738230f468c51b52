//! A sandbox of a cloud service.
//!
//! Its client program is Hermes itself: it talks to the service, reads the key there, and finds or makes the sandbox. So
//! nothing here knows an address or a key.

use crate::error::PlaceError;
use crate::isolation::Isolation;
use crate::place::{Place, words};
use hermes_exec::Input;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time in which an image is fetched and a sandbox starts.
const PATIENCE: Duration = Duration::from_secs(600);
/// The time for which a sandbox that was found is used without another look. The client makes one that is gone again.
const FRESH: Duration = Duration::from_secs(60);

/// The settings of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudSettings {
    /// The client program and its first arguments. `ready SETTINGS` prints a line about the sandbox, `run SETTINGS LINE
    /// PROGRAM...` runs a program in it, `stop SETTINGS` stops it.
    pub program: Vec<String>,
    /// The settings, as the client program takes them.
    pub settings: String,
    /// The place, for messages.
    pub label: String,
    /// The next step if the client program fails.
    pub advice: String,
    /// The directory of the first command; empty for the home directory there.
    pub directory: String,
}

#[derive(Debug)]
pub(crate) struct Cloud {
    settings: CloudSettings,
    making: tokio::sync::Mutex<()>,
    found: Mutex<Option<Found>>,
}

/// A sandbox that was ready.
#[derive(Debug, Clone)]
struct Found {
    line: String,
    since: Instant,
}

impl Cloud {
    pub(crate) fn new(settings: CloudSettings) -> Self {
        Self { settings, making: tokio::sync::Mutex::default(), found: Mutex::default() }
    }

    pub(crate) fn directory(&self) -> PathBuf {
        match self.settings.directory.as_str() {
            "" => PathBuf::from("~"),
            directory => PathBuf::from(directory),
        }
    }

    pub(crate) fn label(&self) -> String {
        self.settings.label.clone()
    }

    pub(crate) fn isolation(&self) -> Isolation {
        Isolation::Isolated
    }

    pub(crate) fn advice(&self) -> String {
        self.settings.advice.clone()
    }

    pub(crate) fn client(&self, program: &[String]) -> Vec<String> {
        let line = self.found().map(|found| found.line).unwrap_or_default();
        let mut argv = self.call("run");
        argv.push(line);
        argv.extend_from_slice(program);
        argv
    }

    pub(crate) fn refused(input: Input) -> Option<&'static str> {
        matches!(input, Input::Terminal(_))
            .then_some("a cloud sandbox gives a command no terminal; run it without pty")
    }

    pub(crate) async fn make_ready(&self, place: &Place) -> Result<(), PlaceError> {
        let _making = self.making.lock().await;
        if self.found().is_some_and(|found| found.since.elapsed() < FRESH) {
            return Ok(());
        }
        let ready = self.call("ready");
        let output = place.run_within(&ready, PATIENCE).await?;
        if output.exit_code != 0 {
            return Err(place.failed(&ready, &output, self.advice()));
        }
        let found = Found { line: output.stdout.trim().to_owned(), since: Instant::now() };
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        Ok(())
    }

    pub(crate) async fn stop(&self, place: &Place) -> Result<String, PlaceError> {
        let _making = self.making.lock().await;
        let stop = self.call("stop");
        let output = place.run_within(&stop, PATIENCE).await?;
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = None;
        match output.exit_code {
            0 => Ok(output.stdout.trim().to_owned()),
            _ => Err(place.failed(&stop, &output, self.advice())),
        }
    }

    fn found(&self) -> Option<Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn call(&self, call: &str) -> Vec<String> {
        let mut argv = self.settings.program.clone();
        argv.extend(words(&[call, &self.settings.settings]));
        argv
    }
}

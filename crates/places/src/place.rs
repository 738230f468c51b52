//! A place where commands run, and the programs that reach it.

use crate::cloud::{Cloud, CloudSettings};
use crate::container::{Container, ContainerSettings};
use crate::error::PlaceError;
use crate::far_script::Trace;
use crate::isolation::Isolation;
use crate::singularity::{Instance, SingularitySettings};
use crate::ssh::{Ssh, SshSettings};
use hermes_exec::{Direct, DirectOutput, Ended, Input, run_direct};
use std::path::PathBuf;
use std::time::Duration;

/// The time limit of a client program that sets up a place.
const PATIENCE: Duration = Duration::from_secs(60);
const MOST_OUTPUT: usize = 64 * 1024;

/// The settings of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceSettings {
    Ssh(SshSettings),
    Container(ContainerSettings),
    Singularity(SingularitySettings),
    Cloud(CloudSettings),
}

/// A place where commands run.
#[derive(Debug)]
pub struct Place {
    kind: Kind,
    /// The environment of client programs.
    env: Vec<(String, String)>,
}

#[derive(Debug)]
enum Kind {
    Ssh(Ssh),
    Container(Container),
    Singularity(Instance),
    Cloud(Cloud),
}

impl Place {
    /// Checks the settings. `env` is the environment of client programs.
    pub fn new(settings: PlaceSettings, env: Vec<(String, String)>) -> Result<Self, PlaceError> {
        let kind = match settings {
            PlaceSettings::Ssh(settings) => Kind::Ssh(Ssh::new(settings)?),
            PlaceSettings::Container(settings) => Kind::Container(Container::new(settings)),
            PlaceSettings::Singularity(settings) => Kind::Singularity(Instance::new(settings)),
            PlaceSettings::Cloud(settings) => Kind::Cloud(Cloud::new(settings)),
        };
        Ok(Self { kind, env })
    }

    /// The directory of the first command; `~` is that of the user there.
    pub fn directory(&self) -> PathBuf {
        match &self.kind {
            Kind::Ssh(ssh) => ssh.directory(),
            Kind::Container(container) => container.directory(),
            Kind::Singularity(instance) => instance.directory(),
            Kind::Cloud(cloud) => cloud.directory(),
        }
    }

    /// The name for messages.
    pub fn label(&self) -> String {
        match &self.kind {
            Kind::Ssh(ssh) => ssh.label(),
            Kind::Container(container) => container.label(),
            Kind::Singularity(instance) => instance.label(),
            Kind::Cloud(cloud) => cloud.label(),
        }
    }

    /// The reach of commands.
    pub fn isolation(&self) -> Isolation {
        match &self.kind {
            Kind::Ssh(ssh) => Isolation::Reaches(format!("the machine {}", ssh.label())),
            Kind::Container(container) => container.isolation(),
            Kind::Singularity(instance) => instance.isolation(),
            Kind::Cloud(cloud) => cloud.isolation(),
        }
    }

    pub(crate) fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// The client that runs a program at the far end; `names` are variables that it passes on.
    pub(crate) fn client(&self, input: Input, program: &[String], names: &[&str]) -> Vec<String> {
        match &self.kind {
            Kind::Ssh(ssh) => ssh.client(input, program),
            Kind::Container(container) => container.client(input, program, names),
            Kind::Singularity(instance) => instance.client(program),
            Kind::Cloud(cloud) => cloud.client(program),
        }
    }

    /// The reason why a kind of input does not work at this place.
    pub(crate) fn refused(&self, input: Input) -> Option<&'static str> {
        match (&self.kind, input) {
            (Kind::Singularity(_), Input::Terminal(_)) => {
                Some("singularity gives a command no terminal; run it without pty")
            }
            (Kind::Cloud(_), input) => Cloud::refused(input),
            _ => None,
        }
    }

    /// The next step if a client program fails.
    pub(crate) fn advice(&self) -> String {
        match &self.kind {
            Kind::Ssh(ssh) => ssh.advice(),
            Kind::Container(container) => container.advice(""),
            Kind::Singularity(instance) => instance.advice(),
            Kind::Cloud(cloud) => cloud.advice(),
        }
    }

    pub(crate) fn trace(&self) -> Trace {
        match &self.kind {
            Kind::Container(_) => Trace::Time,
            Kind::Ssh(_) | Kind::Singularity(_) | Kind::Cloud(_) => Trace::None,
        }
    }

    /// Connects, or starts what is not running. Called before every command.
    pub async fn make_ready(&self) -> Result<(), PlaceError> {
        match &self.kind {
            Kind::Ssh(ssh) => ssh.make_ready(self).await,
            Kind::Container(container) => container.make_ready(self).await,
            Kind::Singularity(instance) => instance.make_ready(self).await,
            Kind::Cloud(cloud) => cloud.make_ready(self).await,
        }
    }

    /// Stops a sandbox that costs money while it runs. `None` for other places, else what happened.
    pub async fn stop(&self) -> Option<Result<String, PlaceError>> {
        match &self.kind {
            Kind::Cloud(cloud) => Some(cloud.stop(self).await),
            Kind::Ssh(_) | Kind::Container(_) | Kind::Singularity(_) => None,
        }
    }

    /// Runs a client program.
    pub(crate) async fn run(&self, argv: &[String]) -> Result<DirectOutput, PlaceError> {
        self.run_within(argv, PATIENCE).await
    }

    /// Runs a client program with a time limit.
    pub(crate) async fn run_within(
        &self,
        argv: &[String],
        timeout: Duration,
    ) -> Result<DirectOutput, PlaceError> {
        let program = Direct {
            argv: argv.to_vec(),
            cwd: PathBuf::from("/"),
            env: self.env.clone(),
            input: Vec::new(),
            timeout,
            most_output: MOST_OUTPUT,
            sandbox: None,
        };
        let name = argv.first().cloned().unwrap_or_default();
        run_direct(program).await.map_err(|error| {
            let cause = std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string);
            PlaceError::NoProgram { program: name, cause }
        })
    }

    /// The error of a client program that failed.
    pub(crate) fn failed(&self, argv: &[String], output: &DirectOutput, advice: String) -> PlaceError {
        let said = [output.stderr.trim(), output.stdout.trim()].into_iter().find(|text| !text.is_empty());
        let said = match (output.ended, said) {
            (Ended::TimedOut, _) => "no answer within the time limit".to_owned(),
            (_, Some(said)) => said.lines().last().unwrap_or_default().to_owned(),
            (_, None) => format!("exit code {}", output.exit_code),
        };
        PlaceError::Failed {
            program: argv.first().cloned().unwrap_or_default(),
            place: self.label(),
            said,
            advice,
        }
    }
}

/// The first 16 or fewer hex digits of a checksum over some texts.
pub(crate) fn digest<'a>(texts: impl IntoIterator<Item = &'a str>, digits: usize) -> String {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    let hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    hex[..digits].to_owned()
}

/// Owned arguments.
pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

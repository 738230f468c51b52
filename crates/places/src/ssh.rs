//! Another machine, over the ssh program.
//!
//! One connection is kept open for five minutes (`ControlMaster`), so that a command costs a round trip. It is opened
//! before a command, never by one: it must not end with the command.

use crate::error::PlaceError;
use crate::line;
use crate::place::{Place, digest, words};
use crate::private;
use hermes_exec::Input;
use std::path::{Path, PathBuf};

/// Seconds that an unused connection stays open.
const PERSIST: &str = "ControlPersist=300";
/// The longest path of a socket; ssh appends 17 characters to it while it creates one.
const LONGEST_SOCKET: usize = 104 - 17;

/// The settings of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshSettings {
    pub host: String,
    pub user: String,
    pub port: u64,
    /// The private key; empty for those that ssh finds itself.
    pub key: String,
    /// Values of `-o`, which win over those of this crate.
    pub options: Vec<String>,
    /// The directory of the first command; empty for the home directory.
    pub directory: String,
    /// The system's directory for temporary files.
    pub temporary: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Ssh {
    settings: SshSettings,
    /// The socket of the shared connection, if there can be one.
    socket: Option<PathBuf>,
}

impl Ssh {
    pub(crate) fn new(settings: SshSettings) -> Result<Self, PlaceError> {
        check(&settings)?;
        let socket = private::directory(&settings.temporary, "hermes-ssh")
            .map(|dir| socket(&dir, &settings))
            .filter(|socket| socket.as_os_str().len() <= LONGEST_SOCKET);
        Ok(Self { settings, socket })
    }

    pub(crate) fn directory(&self) -> PathBuf {
        match self.settings.directory.as_str() {
            "" => PathBuf::from("~"),
            directory => PathBuf::from(directory),
        }
    }

    pub(crate) fn label(&self) -> String {
        let SshSettings { user, host, port, .. } = &self.settings;
        format!("{user}@{host} (port {port})")
    }

    pub(crate) fn advice(&self) -> String {
        let SshSettings { user, host, port, key, .. } = &self.settings;
        let key = if key.is_empty() { String::new() } else { format!(" -i {key}") };
        format!(
            "try `ssh -o BatchMode=yes -p {port}{key} {user}@{host} true`, then check terminal.ssh_host, ssh_user, ssh_port \
             and ssh_key (passwords are not supported)"
        )
    }

    pub(crate) fn client(&self, input: Input, program: &[String]) -> Vec<String> {
        let terminal = if matches!(input, Input::Terminal(_)) { "-tt" } else { "-T" };
        let mut argv = self.base(terminal, "ControlMaster=no");
        argv.extend(["--".to_owned(), self.settings.host.clone(), format!("exec {}", line(program))]);
        argv
    }

    pub(crate) async fn make_ready(&self, place: &Place) -> Result<(), PlaceError> {
        if self.socket.is_some() {
            let mut check = self.base("-T", "ControlMaster=no");
            check.extend(words(&["-O", "check", "--"]));
            check.push(self.settings.host.clone());
            if place.run(&check).await?.exit_code == 0 {
                return Ok(());
            }
        }
        let mut open = self.base("-T", "ControlMaster=auto");
        open.extend(words(&["-o", PERSIST, "--"]));
        open.extend([self.settings.host.clone(), "exec bash -c true".to_owned()]);
        let output = place.run(&open).await?;
        match output.exit_code {
            0 => Ok(()),
            127 => Err(place.failed(&open, &output, "install bash on that machine".to_owned())),
            _ => Err(place.failed(&open, &output, self.advice())),
        }
    }

    /// The program and its options. The first value of an option wins, so those of the user come first.
    fn base(&self, terminal: &str, master: &str) -> Vec<String> {
        let SshSettings { user, port, key, options, .. } = &self.settings;
        let mut argv = words(&["ssh", terminal]);
        for option in options {
            argv.extend(["-o".to_owned(), option.clone()]);
        }
        for option in OPTIONS.into_iter().chain([master]) {
            argv.extend(words(&["-o", option]));
        }
        let socket = self.socket.as_ref().map_or("none".to_owned(), |path| path.display().to_string());
        argv.extend(["-o".to_owned(), format!("ControlPath={socket}")]);
        argv.extend(["-p".to_owned(), port.to_string(), "-l".to_owned(), user.clone()]);
        if !key.is_empty() {
            argv.extend(words(&["-o", "IdentitiesOnly=yes", "-i", key]));
        }
        argv
    }
}

/// Nothing of this machine is offered to the other one.
const OPTIONS: [&str; 9] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=accept-new",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=4",
    "ForwardAgent=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "LogLevel=ERROR",
];

fn check(settings: &SshSettings) -> Result<(), PlaceError> {
    let host = ("terminal.ssh_host", "TERMINAL_SSH_HOST", &settings.host);
    let user = ("terminal.ssh_user", "TERMINAL_SSH_USER", &settings.user);
    for (key, variable, value) in [host, user] {
        if value.is_empty() {
            return Err(PlaceError::Missing { key, variable });
        }
        let is_plain = |char: char| char.is_alphanumeric() || "._-:[]%@".contains(char);
        if value.starts_with('-') || !value.chars().all(is_plain) {
            let why = "it has characters that a name cannot have";
            return Err(PlaceError::Invalid { key, value: value.clone(), why });
        }
    }
    if settings.port == 0 || settings.port > 65_535 {
        let (key, value) = ("terminal.ssh_port", settings.port.to_string());
        return Err(PlaceError::Invalid { key, value, why: "a port is from 1 to 65535" });
    }
    Ok(())
}

fn socket(directory: &Path, settings: &SshSettings) -> PathBuf {
    let SshSettings { user, host, port, key, options, .. } = settings;
    let own = match (key.is_empty(), options.is_empty()) {
        (true, true) => String::new(),
        _ => format!("\n{key}\n{}", options.join("\n")),
    };
    directory.join(format!("{}.sock", socket_digest(&format!("{user}@{host}:{port}{own}"))))
}

fn socket_digest(text: &str) -> String {
    digest([text], 16)
}

#[cfg(test)]
#[path = "ssh_tests.rs"]
mod tests;

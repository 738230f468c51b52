//! The specification of a command: key, owner, lifetime and limits.

use super::error::SuperviseError;
use crate::backend::{Command, Input, Link, ShellReport};
use crate::exports::EnvChanges;
use crate::group::{Stat, this_boot};
use crate::spill::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::time::Duration;

const LONGEST_KEY: usize = 64;

/// The key of one command: the same key always means the same command. Part of a file name, so few characters
/// are allowed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(String);

impl Key {
    pub fn new(text: impl Into<String>) -> Result<Self, SuperviseError> {
        let text = text.into();
        let fits = (1..=LONGEST_KEY).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if fits { Ok(Self(text)) } else { Err(SuperviseError::BadKey { key: text }) }
    }

    /// The key of the command with this number in a group of commands, for instance a session. Any text can
    /// name a group; the same number in another group is another command.
    pub fn of(group: &str, number: i64) -> Self {
        let digest = Sha256::digest(group.as_bytes());
        Self(format!("{number}-{}", hex(&digest[..12])))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Key {
    type Error = SuperviseError;

    fn try_from(text: String) -> Result<Self, SuperviseError> {
        Self::new(text)
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.0
    }
}

/// The maximum lifetime of a command; its timeout applies as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// Until its turn ends.
    Turn,
    /// Until its session ends.
    Session,
    /// Until it ends by itself or is stopped. Independent of its owner.
    Detached,
}

/// The process that owns a command, identified so that a reused id is not mistaken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub pid: u32,
    /// Its start time in clock ticks since boot.
    pub started: u64,
    pub boot: String,
}

impl Owner {
    pub fn this_process() -> std::io::Result<Self> {
        let pid = std::process::id();
        Ok(Self { pid, started: Stat::of(pid)?.started, boot: this_boot().to_owned() })
    }

    pub(crate) fn is_alive(&self) -> bool {
        let same = |stat: Stat| stat.started == self.started && stat.is_alive();
        self.boot == this_boot() && Stat::of(self.pid).is_ok_and(same)
    }
}

/// The settings of a supervisor, passed to it at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisorSettings {
    /// The time for which a command may run after its owner died.
    pub orphan_grace: Duration,
    /// The time after which an idle supervisor exits.
    pub idle: Duration,
    /// The time for which unclaimed results are kept.
    pub keep: Duration,
}

impl Default for SupervisorSettings {
    fn default() -> Self {
        Self {
            orphan_grace: Duration::from_secs(600),
            idle: Duration::from_secs(20),
            keep: Duration::from_secs(7 * 24 * 60 * 60),
        }
    }
}

/// A command as sent over the socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) script: String,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "EnvChanges::is_empty")]
    pub(crate) changes: EnvChanges,
    pub(crate) timeout: Duration,
    /// The file for the last working directory, if that is reported.
    pub(crate) cwd_file: Option<PathBuf>,
    /// The file for changes of exported variables, if they are reported, and the variables that are withheld. It is
    /// the same file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) exports: Option<(PathBuf, Vec<String>)>,
    pub(crate) lifetime: Lifetime,
    /// A label for ending commands together.
    pub(crate) session: String,
    /// Bytes of output spooled from the start, and from the end if that is not all.
    pub(crate) head: u64,
    pub(crate) tail: u64,
    /// The umask of the client; the supervisor may have been started by another process.
    pub(crate) umask: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<hermes_sandbox::Policy>,
    #[serde(default, skip_serializing_if = "Input::is_closed")]
    pub(crate) input: Input,
    /// Set if the script is a client program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<Link>,
}

/// Bytes of output that are kept of a detached command, from its start.
pub const LONGEST_OUTPUT: u64 = 16 << 20;
/// Bytes at the end of the output of a command that can be looked at while it runs.
pub const MOST_LOOKED_AT: u64 = 200_000;

/// The maximum length of a character in bytes.
const WIDEST: u64 = 4;

impl Spec {
    pub(crate) fn new(command: &Command, session: &str, lifetime: Lifetime) -> Self {
        let tail = command.output.chars as u64 * WIDEST;
        // Both kept ends must come from the spool, even if nothing is spilled.
        let report = command.report.as_ref();
        let spilled = command.output.spill.as_ref().map_or(0, |_| command.output.spill_limits.per_file());
        Self {
            script: command.script.clone(),
            cwd: command.cwd.clone(),
            env: command.env.clone(),
            changes: command.changes.clone(),
            timeout: command.timeout,
            cwd_file: report.filter(|report| report.cwd).map(|report| report.file.clone()),
            exports: report.and_then(|report| Some((report.file.clone(), report.exports.clone()?))),
            lifetime,
            session: session.to_owned(),
            head: spilled.max(tail),
            tail,
            umask: own_umask(),
            sandbox: command.sandbox.clone(),
            input: Input::Closed,
            link: command.client.as_ref().map(|client| client.link.clone()),
        }
    }

    /// A command that outlives its owner, whose output is kept in full up to a limit.
    pub(crate) fn detached(command: &Command, session: &str, input: Input) -> Self {
        let (head, tail) = (LONGEST_OUTPUT, MOST_LOOKED_AT);
        Self { input, head, tail, ..Self::new(command, session, Lifetime::Detached) }
    }

    /// The state that the shell reports at its exit.
    pub(crate) fn report(&self) -> Option<ShellReport> {
        let file = self.cwd_file.as_ref().or(self.exports.as_ref().map(|(file, _)| file))?;
        Some(ShellReport {
            file: file.clone(),
            cwd: self.cwd_file.is_some(),
            exports: self.exports.as_ref().map(|(_, withheld)| withheld.clone()),
        })
    }

    /// A digest of the command, so that a key is not used for two different commands. The environment may hold
    /// secrets, so only the digest is recorded.
    pub(crate) fn digest(&self) -> Result<String, SuperviseError> {
        let text = serde_json::to_vec(self).map_err(|error| SuperviseError::Refused {
            reason: format!("the command cannot be written down ({error})"),
        })?;
        Ok(hex(&Sha256::digest(&text)))
    }
}

/// The umask of this process, if `/proc` has it. The system call would change it.
fn own_umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(mask.trim(), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_valid_file_names() {
        let long = "x".repeat(65);
        for (text, fits) in [
            ("intent-17", true),
            ("A_b", true),
            ("", false),
            (".", false),
            ("a/b", false),
            ("a.cmd", false),
            (long.as_str(), false),
            ("ä", false),
        ] {
            assert_eq!(Key::new(text).is_ok(), fits, "{text}");
        }
        assert!(serde_json::from_str::<Key>("\"../x\"").is_err());
        let made = Key::of("any / text", i64::MIN);
        assert_eq!(Key::new(made.as_str()).unwrap(), made);
        assert!(made != Key::of("other", i64::MIN) && made != Key::of("any / text", 1));
    }

    #[test]
    fn command_without_sandbox_is_written_as_before() {
        let text = r#"{"script":"true","cwd":"/","env":[],"timeout":{"secs":1,"nanos":0},"cwd_file":null,"lifetime":"turn","session":"s","head":1,"tail":1,"umask":null}"#;
        let spec: Spec = serde_json::from_str(text).unwrap();
        assert_eq!(spec.sandbox, None);
        assert_eq!(serde_json::to_string(&spec).unwrap(), text);
        let confined = Spec { sandbox: Some(hermes_sandbox::Policy::default()), ..spec };
        let text = serde_json::to_string(&confined).unwrap();
        assert_eq!(serde_json::from_str::<Spec>(&text).unwrap(), confined);
    }

    #[test]
    fn directory_and_exports_are_reported_to_the_same_file() {
        let report = |cwd, exports| ShellReport { file: "/f".into(), cwd, exports };
        for (cwd, exports) in [(true, None), (false, Some(vec!["KEY".to_owned()])), (true, Some(Vec::new()))]
        {
            let spec = Spec {
                cwd_file: cwd.then(|| "/f".into()),
                exports: exports.clone().map(|withheld| ("/f".into(), withheld)),
                ..serde_json::from_str(r#"{"script":"","cwd":"/","env":[],"timeout":{"secs":1,"nanos":0},"cwd_file":null,"lifetime":"turn","session":"s","head":1,"tail":1,"umask":null}"#).unwrap()
            };
            assert_eq!(spec.report(), Some(report(cwd, exports)));
        }
    }

    #[test]
    fn owner_is_one_process_of_one_boot() {
        let own = Owner::this_process().unwrap();
        assert!(own.is_alive());
        assert!(!Owner { started: own.started + 1, ..own.clone() }.is_alive());
        assert!(!Owner { boot: "another".into(), ..own }.is_alive());
    }
}

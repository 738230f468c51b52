//! A policy as plain data.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The named sets of rules, `sandbox.profile`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Reads the system and ordinary files, writes the project, the temporary directory and language caches.
    #[default]
    Workspace,
    /// Writes nothing but the temporary directory.
    ReadOnly,
    /// No confinement.
    Full,
}

/// The network of a command, `sandbox.network`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    #[default]
    On,
    Off,
    /// Only these hosts, through a local proxy.
    Allow(Vec<String>),
}

/// The directories of a session. All paths are absolute, with links resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The git root of the working directory, or the working directory itself.
    pub project: PathBuf,
    /// The temporary directory of the session, `TMPDIR` of its commands.
    pub temporary: PathBuf,
    pub user_home: Option<PathBuf>,
    /// Hermes' own directory, never readable.
    pub hermes_home: PathBuf,
}

/// The rules for one command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    pub profile: Profile,
    pub network: Network,
    pub places: Places,
    /// Paths that an approval made writable for this command.
    pub extra_write: Vec<PathBuf>,
    /// Paths that an approval made readable for this command, although a rule hides them.
    pub extra_read: Vec<PathBuf>,
    /// Whether the settings and hooks of the project's git repository are writable.
    pub git_settings: bool,
    /// Whether a layer that the kernel does not offer is a refusal (`sandbox.require`).
    pub require: bool,
    /// Processes of the user at most (`sandbox.max_processes`); 0 is no limit.
    pub max_processes: u64,
}

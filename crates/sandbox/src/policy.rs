//! A policy as plain data.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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
    /// Parts of Hermes' own directory that are readable: long results, skills.
    #[serde(default)]
    pub shared: Vec<PathBuf>,
    /// The settings and hooks of the project's git repository are writable if true.
    pub git_settings: bool,
    /// If true, a layer that the kernel does not offer is a refusal (`sandbox.require`).
    pub require: bool,
    /// Processes of the user at most (`sandbox.max_processes`); 0 means unlimited.
    pub max_processes: u64,
    /// Further paths that are never readable, for instance the directory of the supervisor's socket.
    #[serde(default)]
    pub hidden: Vec<PathBuf>,
    /// Further paths that are never writable outside of the project, for instance the directories of `PATH`.
    #[serde(default)]
    pub read_only: Vec<PathBuf>,
    /// Landlock and seccomp only, even where the kernel offers namespaces.
    #[serde(default)]
    pub without_namespaces: bool,
}

/// Directories that each session has for itself where namespaces work, and their names in its temporary directory.
pub(crate) const PRIVATE: [(&str, &str); 3] = [("/tmp", "tmp"), ("/var/tmp", "var-tmp"), ("/dev/shm", "shm")];

impl Policy {
    /// Returns true if commands of this policy see directories of their own in place of `/tmp`, `/var/tmp` and
    /// `/dev/shm`.
    pub fn has_private_tmp(&self, support: &crate::Support) -> bool {
        self.profile != Profile::Full && !self.without_namespaces && support.mounts.is_ok()
    }

    /// The path outside of the sandbox of a file that a command knows as `path`.
    ///
    /// A command that writes `/tmp/log` writes a file in the temporary directory of its session.
    pub fn host_path(&self, path: &Path, support: &crate::Support) -> PathBuf {
        if !self.has_private_tmp(support) || self.keeps_place(path) {
            return path.to_owned();
        }
        let moved = PRIVATE.iter().find_map(|(seen, name)| {
            let rest = path.strip_prefix(seen).ok()?;
            Some(self.places.temporary.join(name).join(rest))
        });
        moved.unwrap_or_else(|| path.to_owned())
    }

    /// Returns true for paths that stay visible below a private directory.
    fn keeps_place(&self, path: &Path) -> bool {
        let places =
            [Some(&self.places.project), Some(&self.places.temporary), self.places.user_home.as_ref()];
        let extra = self.extra_read.iter().chain(&self.extra_write).chain(&self.shared);
        places.into_iter().flatten().chain(extra).any(|kept| path.starts_with(kept))
    }
}

//! The directory everything of one Hermes lives in, and how files in it are written.
//!
//! [`Home`] only knows names and modes. The contents of the files belong to the crates
//! that own them.

mod atomic;
pub mod fence_key;
mod modes;

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

pub use atomic::write_atomically;
pub use modes::{LooseMode, WantedModes, modes_notice};

/// Mode of files that may hold secrets.
pub const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_DIR: u32 = 0o700;

/// An error of the home directory or a file in it.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("no home directory: set HERMES_HOME or HOME")]
    NoHome,
    #[error("HERMES_HOME is `{path}`, which a shell would have replaced; write the path itself")]
    Unexpanded { path: String },
    #[error("{} is not a directory; move it away or set HERMES_HOME", path.display())]
    NotADirectory { path: PathBuf },
    #[error("could not {doing} {}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl HomeError {
    pub(crate) fn io<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}

/// The home directory, with configuration, sessions and caches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// `HERMES_HOME`, else `~/.hermes`.
    pub fn locate(env: impl Fn(&str) -> Option<String>) -> Result<Self, HomeError> {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let user = set("HOME").map(PathBuf::from);
        let path = match (set("HERMES_HOME"), user) {
            (Some(chosen), user) => {
                let (first, rest) = chosen.split_once('/').unwrap_or((&chosen, ""));
                match (first, user) {
                    ("~" | "$HOME" | "${HOME}", Some(user)) => user.join(rest),
                    // A shell would have replaced it; a directory of that name is not intended.
                    (first, _) if first.starts_with(['~', '$']) => {
                        return Err(HomeError::Unexpanded { path: chosen });
                    }
                    _ => PathBuf::from(chosen),
                }
            }
            (None, Some(user)) => user.join(".hermes"),
            (None, None) => return Err(HomeError::NoHome),
        };
        let path = std::path::absolute(&path).map_err(HomeError::io("locate", &path))?;
        Ok(Self(path))
    }

    /// Creates the directory when it is missing.
    pub fn ensure(&self) -> Result<(), HomeError> {
        ensure_private_dir(&self.0)
    }

    /// Holds off other processes that change files of this home, until the answer is dropped.
    pub fn lock(&self) -> Result<HomeLock, HomeError> {
        let dir = File::open(&self.0).map_err(HomeError::io("open", &self.0))?;
        rustix::fs::flock(&dir, rustix::fs::FlockOperation::LockExclusive)
            .map_err(|error| HomeError::io("lock", &self.0)(error.into()))?;
        Ok(HomeLock { _dir: dir })
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn config_file(&self) -> PathBuf {
        self.0.join("config.yaml")
    }

    pub fn env_file(&self) -> PathBuf {
        self.0.join(".env")
    }

    pub fn auth_file(&self) -> PathBuf {
        self.0.join("auth.json")
    }

    /// The key from which the fences of untrusted text are derived.
    pub fn fence_key_file(&self) -> PathBuf {
        self.0.join("fence.key")
    }

    pub fn state_db(&self) -> PathBuf {
        self.0.join("state.db")
    }

    pub fn history_file(&self) -> PathBuf {
        self.0.join(".hermes_history")
    }

    pub fn soul_file(&self) -> PathBuf {
        self.0.join("SOUL.md")
    }

    pub fn logs_dir(&self) -> PathBuf {
        self.0.join("logs")
    }

    pub fn cache_dir(&self) -> PathBuf {
        self.0.join("cache")
    }

    /// Working files of commands.
    pub fn scratch_dir(&self) -> PathBuf {
        self.cache_dir().join("terminal")
    }

    /// Long tool results, which messages name by their place in here.
    pub fn results_dir(&self) -> PathBuf {
        self.scratch_dir().join("hermes-results")
    }

    /// The directory of the supervisor's records of commands.
    pub fn commands_dir(&self) -> PathBuf {
        self.0.join("commands")
    }

    pub fn memories_dir(&self) -> PathBuf {
        self.0.join("memories")
    }

    pub fn skills_dir(&self) -> PathBuf {
        self.0.join("skills")
    }

    /// The directory of context engine plugins, one subdirectory each.
    pub fn context_engines_dir(&self) -> PathBuf {
        self.0.join("plugins").join("context_engine")
    }

    pub fn sessions_dir(&self) -> PathBuf {
        self.0.join("sessions")
    }

    pub fn checkpoints_dir(&self) -> PathBuf {
        self.0.join("checkpoints")
    }
}

/// The right to change files of a home; given back on drop.
#[derive(Debug)]
pub struct HomeLock {
    _dir: File,
}

/// Creates `path` and missing parents, readable by the owner only; an existing one is left as it is.
pub fn ensure_private_dir(path: &Path) -> Result<(), HomeError> {
    match DirBuilder::new().recursive(true).mode(PRIVATE_DIR).create(path) {
        Ok(()) => Ok(()),
        Err(_) if path.exists() && !path.is_dir() => Err(HomeError::NotADirectory { path: path.to_owned() }),
        Err(error) => Err(HomeError::io("create", path)(error)),
    }
}

#[cfg(test)]
#[path = "home_tests.rs"]
mod tests;

//! The directories and facts that give a command its meaning.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The surroundings of a command. All paths are absolute, with links resolved by the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scene {
    pub cwd: PathBuf,
    /// The git root of the working directory, or the working directory itself.
    pub project: PathBuf,
    /// Directories that count as inside the project: the temporary directory of the session.
    pub temporary: Vec<PathBuf>,
    /// The user's home directory.
    pub user_home: Option<PathBuf>,
    /// Hermes' own directory.
    pub hermes_home: PathBuf,
    /// The directories in `PATH`.
    pub path_dirs: Vec<PathBuf>,
    /// Variables that earlier commands of the session exported, or unset.
    pub variables: BTreeMap<String, Option<String>>,
    /// A kernel sandbox confines the command to the project, so that a program that no rule names may run.
    pub is_sandboxed: bool,
}

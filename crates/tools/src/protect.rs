//! Files that tools leave alone: keys, system files, and Hermes' own settings.
//!
//! The table of these files is the gate's (`hermes-gate`). Paths come in resolved, so a link to a protected file is
//! protected too.

use crate::{paths, user_home};
use hermes_gate::{Assessment, Scene, Verdict, assess_read, assess_write, credential_files};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directories that give a path its meaning.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Hermes' own directory.
    pub(crate) home: PathBuf,
    /// The user's home directory.
    pub(crate) user_home: Option<PathBuf>,
}

impl Places {
    /// The directories with links followed; a missing home of the user is looked up in the system's list.
    pub fn new(home: &Path, user_home: Option<&Path>) -> Self {
        let user_home = user_home.map(Path::to_owned).or_else(user_home::from_system);
        Self { home: paths::real(home), user_home: user_home.as_deref().map(paths::real) }
    }

    /// The user's home directory.
    pub fn user_home(&self) -> Option<&Path> {
        self.user_home.as_deref()
    }

    /// The facts by which the gate judges reading.
    fn scene(&self) -> Scene {
        Scene { user_home: self.user_home.clone(), hermes_home: self.home.clone(), ..Scene::default() }
    }
}

/// The reason why `path` must not be read, if any.
pub(crate) fn unreadable(path: &Path, places: &Places) -> Option<String> {
    denied(&assess_read(path, &places.scene()))
}

/// The reason why `path` must not be read at another place, if any.
pub(crate) fn denied_read(path: &Path, scene: &Scene) -> Option<String> {
    denied(&assess_read(path, scene))
}

/// The reason why `path` must not be written, if any. Writing elsewhere may still need approval.
pub(crate) fn unwritable(path: &Path, scene: &Scene) -> Option<String> {
    denied(&assess_write(path, scene))
}

fn denied(assessment: &Assessment) -> Option<String> {
    let worst = assessment.worst().filter(|finding| finding.verdict == Verdict::Deny);
    worst.map(|finding| finding.reason.clone())
}

/// Returns true if `path` has the device and inode of a hidden file of Hermes: a hard link or a mount has
/// another path.
pub(crate) fn is_hidden_file(metadata: &Metadata, places: &Places) -> bool {
    if places.home.as_os_str().is_empty() {
        return false;
    }
    let named = [".env", "auth.json", "fence.key", "state.db"].map(|name| places.home.join(name));
    // A file with one name can only be mounted, which users do not do by accident.
    let linked = (metadata.nlink() > 1)
        .then(|| places.user_home.as_deref().map(|home| credential_files(home).collect::<Vec<_>>()))
        .flatten();
    let same = |path: &PathBuf| {
        path.metadata().is_ok_and(|other| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino()))
    };
    named.iter().chain(linked.iter().flatten()).any(same)
}

#[cfg(test)]
#[path = "protect_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "protect_write_targets_tests.rs"]
mod write_targets_tests;

//! Keeps other users out of a home that an older version, another program or a copy left open to them.

use super::{Home, PRIVATE_DIR, PRIVATE_FILE};
use std::fmt;
use std::fs::{Permissions, symlink_metadata};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The modes that a home should have, as the environment wants them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedModes {
    /// Nothing is changed or reported: another program manages the modes.
    skip: bool,
    directory: u32,
}

impl Default for WantedModes {
    fn default() -> Self {
        Self { skip: false, directory: PRIVATE_DIR }
    }
}

impl WantedModes {
    /// Reads `HERMES_SKIP_CHMOD`, `HERMES_CONTAINER` and `HERMES_HOME_MODE`, as the Python release does.
    pub fn read<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.trim().is_empty());
        let directory =
            variable("HERMES_HOME_MODE").and_then(|mode| u32::from_str_radix(mode.trim(), 8).ok());
        Self {
            skip: is_set("HERMES_SKIP_CHMOD") || is_set("HERMES_CONTAINER"),
            directory: directory.map_or(PRIVATE_DIR, |mode| mode & 0o777),
        }
    }
}

/// A file or directory that others could read or change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LooseMode {
    pub path: PathBuf,
    pub mode: u32,
    pub wanted: u32,
    /// The reason why it could not be tightened.
    pub left: Option<String>,
}

impl fmt::Display for LooseMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, mode, wanted) = (self.path.display(), self.mode, self.wanted);
        match &self.left {
            None => write!(f, "{path} from mode {mode:03o} to {wanted:03o}"),
            Some(why) => {
                write!(
                    f,
                    "{path} is open to others (mode {mode:03o}): {why}; run `chmod {wanted:03o} {path}`"
                )
            }
        }
    }
}

/// One line about everything that was tightened or could not be; `None` for a home that was private.
pub fn modes_notice(loose: &[LooseMode]) -> Option<String> {
    let (left, tightened): (Vec<_>, Vec<_>) = loose.iter().partition(|one| one.left.is_some());
    let listed = |all: &[&LooseMode]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let changed = format!("closed to other users: {}", listed(&tightened));
    match (tightened.is_empty(), left.is_empty()) {
        (true, true) => None,
        (false, true) => Some(changed),
        (true, false) => Some(listed(&left)),
        (false, false) => Some(format!("{changed}; {}", listed(&left))),
    }
}

impl Home {
    /// Takes access by other users away from the directory and from the files that hold secrets or
    /// conversations, and tells what had it.
    pub fn tighten(&self, wanted: WantedModes) -> Vec<LooseMode> {
        if wanted.skip {
            return Vec::new();
        }
        let mut loose: Vec<_> = tightened(&self.0, wanted.directory).into_iter().collect();
        let files = [self.config_file(), self.env_file(), self.auth_file(), self.state_db()];
        loose.extend(files.iter().filter_map(|path| tightened(path, PRIVATE_FILE)));
        // SQLite gives its log the mode of the database, so that one alone tells.
        if loose.iter().any(|one| one.path == self.state_db()) {
            let beside = ["state.db-wal", "state.db-shm"].map(|name| self.0.join(name));
            loose.extend(beside.iter().filter_map(|path| tightened(path, PRIVATE_FILE)));
        }
        loose
    }
}

fn tightened(path: &Path, wanted: u32) -> Option<LooseMode> {
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    if mode & 0o077 & !wanted == 0 {
        return None;
    }
    let is_linked_file = wanted == PRIVATE_FILE && symlink_metadata(path).is_ok_and(|file| file.is_symlink());
    let left = if is_linked_file {
        Some("it is a link, and its target is not changed".to_owned())
    } else {
        // Only what is too much goes; an owner may have taken rights from himself.
        let tight = Permissions::from_mode(mode & (wanted | 0o700));
        std::fs::set_permissions(path, tight).err().map(|error| error.to_string())
    };
    Some(LooseMode { path: path.to_owned(), mode, wanted, left })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn loose_home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        for path in [home.env_file(), home.state_db(), dir.path().join("state.db-wal")] {
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        }
        fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
        (dir, home)
    }

    #[test]
    fn loose_modes_are_tightened_once() {
        let (dir, home) = loose_home();
        let loose = home.tighten(WantedModes::default());
        assert_eq!(loose.iter().map(|one| one.mode).collect::<Vec<_>>(), [0o755, 0o644, 0o644, 0o644]);
        let wal = dir.path().join("state.db-wal");
        let now = [home.path(), &home.env_file(), &home.state_db(), &wal].map(mode);
        assert_eq!(now, [0o700, 0o600, 0o600, 0o600]);
        let notice = modes_notice(&loose).unwrap();
        assert!(
            notice.starts_with("closed to other users: ") && notice.contains(".env from mode 644 to 600"),
            "{notice}"
        );
        assert_eq!(home.tighten(WantedModes::default()), []);
        assert_eq!(modes_notice(&[]), None);
    }

    #[test]
    fn a_linked_file_is_reported_and_left() {
        let (dir, home) = loose_home();
        let target = dir.path().join("elsewhere");
        fs::write(&target, "").unwrap();
        fs::set_permissions(&target, Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&target, home.config_file()).unwrap();
        let loose = home.tighten(WantedModes::default());
        let notice = modes_notice(&loose).unwrap();
        assert!(notice.contains("config.yaml is open to others (mode 644): it is a link"), "{notice}");
        assert_eq!(mode(&target), 0o644);
    }

    #[test]
    fn the_environment_can_ask_for_other_modes() {
        for (set, want) in [
            (&[][..], 0o700),
            (&[("HERMES_HOME_MODE", "0701")], 0o701),
            (&[("HERMES_HOME_MODE", "nonsense")], 0o700),
            (&[("HERMES_SKIP_CHMOD", "1")], 0o755),
            (&[("HERMES_CONTAINER", "1")], 0o755),
        ] {
            let (_dir, home) = loose_home();
            home.tighten(WantedModes::read(|name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
            }));
            assert_eq!(mode(home.path()), want, "{set:?}");
        }
    }
}

//! A temporary home directory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An empty temporary directory to be used as `HERMES_HOME`.
#[derive(Debug)]
pub struct TempHome(TempDir);

impl TempHome {
    pub fn new() -> Self {
        let private = fs::Permissions::from_mode(0o700);
        Self(tempfile::Builder::new().prefix("hermes-home-").permissions(private).tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes `config.yaml`.
    pub fn write_config(&self, text: &str) -> PathBuf {
        self.write("config.yaml", text)
    }

    /// Writes `.env`.
    pub fn write_env(&self, text: &str) -> PathBuf {
        self.write(".env", text)
    }

    /// Writes any file below the home directory and creates its parent directories.
    pub fn write(&self, name: impl AsRef<Path>, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        // With the permissions that Hermes uses: a home directory that is open to others causes a notice.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// The text of a file below the home directory.
    pub fn read(&self, name: impl AsRef<Path>) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }
}

impl Default for TempHome {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_removed_with_the_home_directory() {
        let home = TempHome::new();
        let env = home.write_env("A=b\n");
        home.write_config("model: m\n");
        home.write("skills/one/SKILL.md", "# one");
        assert_eq!(home.read(".env"), "A=b\n");
        assert_eq!(home.read("config.yaml"), "model: m\n");
        assert_eq!(home.read("skills/one/SKILL.md"), "# one");
        drop(home);
        assert!(!env.exists());
    }
}

//! A temporary environment for hermes, independent of the settings of the machine.

use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A home directory for hermes, one for the shell, and a working directory.
pub(crate) struct Home(TempDir);

const PARTS: [&str; 3] = ["hermes", "user", "work"];

impl Home {
    /// An empty home directory with settings for the model at `base_url`.
    pub(crate) fn new(base_url: &str) -> Result<Self> {
        let home = Self::empty()?;
        home.lead_to(base_url)?;
        Ok(home)
    }

    /// Points the settings to another model.
    pub(crate) fn lead_to(&self, base_url: &str) -> Result<()> {
        let config = format!(
            "model:\n  provider: custom\n  base_url: {base_url}\n  default: scripted\n  context_length: 1000000\napprovals:\n  mode: \"off\"\n"
        );
        let file = self.hermes().join("config.yaml");
        fs::write(&file, config)?;
        Ok(fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?)
    }

    /// A copy with the same files.
    pub(crate) fn copy(&self) -> Result<Self> {
        let copy = Self::empty()?;
        copy_files(self.0.path(), copy.0.path())?;
        Ok(copy)
    }

    /// `HERMES_HOME`.
    pub(crate) fn hermes(&self) -> PathBuf {
        self.0.path().join("hermes")
    }

    /// The working directory of commands.
    pub(crate) fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    /// A command in this environment, without other variables.
    pub(crate) fn command<A: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.0.path().join("user"))
            .env("HERMES_HOME", self.hermes())
            .current_dir(self.work())
            .stdin(Stdio::null());
        command
    }

    /// Keeps the directory and returns its path.
    pub(crate) fn keep(self) -> PathBuf {
        self.0.keep()
    }

    fn empty() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("hermes-xtask-").tempdir();
        let folder = folder.context("no temporary folder could be made")?;
        for part in PARTS {
            // With the permissions that Hermes uses: a home directory that is open to others causes a notice.
            fs::DirBuilder::new().mode(0o700).create(folder.path().join(part))?;
        }
        Ok(Self(folder))
    }
}

/// Copies regular files and directories; skips sockets and other types.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir_all(&target)?;
            // The supervisor rejects a directory that is open to others, and its CPU time would be missing.
            fs::set_permissions(&target, entry.metadata()?.permissions())?;
            copy_files(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

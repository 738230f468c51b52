//! A temporary place to run hermes in, with nothing of the machine's own settings in sight.

use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A home for hermes, a home for the shell, and a folder to work in.
pub(crate) struct Home(TempDir);

const PARTS: [&str; 3] = ["hermes", "user", "work"];

impl Home {
    /// An empty home whose settings lead to the model at `base_url`.
    pub(crate) fn new(base_url: &str) -> Result<Self> {
        let home = Self::empty()?;
        home.lead_to(base_url)?;
        Ok(home)
    }

    /// Makes the settings lead to another model.
    pub(crate) fn lead_to(&self, base_url: &str) -> Result<()> {
        let config = format!(
            "model:\n  provider: custom\n  base_url: {base_url}\n  default: scripted\n  context_length: 1000000\napprovals:\n  mode: \"off\"\n"
        );
        let file = self.hermes().join("config.yaml");
        fs::write(&file, config)?;
        Ok(fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?)
    }

    /// A second home with the same files.
    pub(crate) fn copy(&self) -> Result<Self> {
        let copy = Self::empty()?;
        copy_files(self.0.path(), copy.0.path())?;
        Ok(copy)
    }

    /// `HERMES_HOME`.
    pub(crate) fn hermes(&self) -> PathBuf {
        self.0.path().join("hermes")
    }

    /// The folder commands start in.
    pub(crate) fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    /// A command inside this home, with an otherwise empty environment.
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

    /// Keeps the folder and says where it is.
    pub(crate) fn keep(self) -> PathBuf {
        self.0.keep()
    }

    fn empty() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("hermes-xtask-").tempdir();
        let folder = folder.context("no temporary folder could be made")?;
        for part in PARTS {
            // As Hermes makes them: a home that is open to others gets a notice.
            fs::DirBuilder::new().mode(0o700).create(folder.path().join(part))?;
        }
        Ok(Self(folder))
    }
}

/// Copies plain files and folders; sockets and the like are left behind.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir_all(&target)?;
            // The supervisor does not use a folder that is open to others, and its share would be missing.
            fs::set_permissions(&target, entry.metadata()?.permissions())?;
            copy_files(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

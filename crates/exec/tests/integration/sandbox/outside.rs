//! Processes and files outside of the sandbox.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The id of the user without rights.
pub(crate) const NOBODY: u32 = 65534;

/// The directories of a test, made by root for another user.
pub(crate) struct Ground {
    pub(crate) base: TempDir,
    pub(crate) run: TempDir,
}

impl Ground {
    /// Directories outside of `/tmp`, which every command may write without namespaces. `None` if this user may not
    /// create them.
    pub(crate) fn new(owner: u32) -> Option<Self> {
        let make = |parent: &str| tempfile::Builder::new().prefix("hermes-sandbox-").tempdir_in(parent).ok();
        let (base, run) = (make("/srv")?, make("/run")?);
        for dir in [&base, &run] {
            std::fs::set_permissions(dir, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let suid = base.path().join("suid-id");
        copy_program(Path::new("/usr/bin/id"), &suid);
        std::fs::set_permissions(&suid, PermissionsExt::from_mode(0o4755)).unwrap();
        for dir in [&base, &run] {
            std::os::unix::fs::chown(dir, Some(owner), Some(owner)).unwrap();
        }
        Some(Self { base, run })
    }
}

/// Copies a program with another process: a child that another test starts meanwhile would keep our copy open for
/// writing, and then it cannot run.
pub(crate) fn copy_program(from: &Path, to: &Path) {
    assert!(Command::new("cp").args([from, to]).status().unwrap().success());
}

/// A process with secrets and servers.
pub(crate) struct Outside {
    child: Child,
    pub(crate) facts: BTreeMap<String, String>,
}

impl Outside {
    pub(crate) fn start(base: &Path, run: &Path) -> Self {
        let mut child = Command::new("python3")
            .args([Path::new("-c"), Path::new(include_str!("outside.py")), base, run])
            .env("SECRET_KEY", "SECRET")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let facts: BTreeMap<String, serde_json::Value> = serde_json::from_str(&line).unwrap();
        let text = |value: serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let facts = facts.into_iter().map(|(name, value)| (name, text(value))).collect();
        Self { child, facts }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(&self.facts[name])
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.child.stdin.take().map(|mut stdin| stdin.flush());
        let _ = self.child.wait();
    }
}

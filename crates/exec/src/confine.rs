//! Runs a child in the sandbox of its policy.

use crate::backend::{ExecError, ShellReport};
use crate::exports::EnvChanges;
use hermes_sandbox::{Policy, Prepared, support};
use std::ffi::CString;
use std::io::Result;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The sandbox of one command.
#[derive(Clone)]
pub(crate) struct Confined {
    prepared: Arc<Prepared>,
    directory: CString,
}

impl Confined {
    /// Prepares the environment of a command and its sandbox, if it has one. Directories of the `PATH` before
    /// `changes` become read-only; later ones belong to the session. Variables for a proxy are added.
    pub(crate) fn new(
        policy: Option<&Policy>,
        cwd: &Path,
        env: &mut Vec<(String, String)>,
        changes: &EnvChanges,
    ) -> std::result::Result<Option<Self>, ExecError> {
        let Some(policy) = policy else {
            changes.apply_to(env);
            return Ok(None);
        };
        let mut policy = policy.clone();
        policy.read_only.extend(programs(env));
        changes.apply_to(env);
        let prepared = Prepared::cached(&policy, support())?;
        env.extend(prepared.environment());
        let directory = CString::new(cwd.as_os_str().as_bytes()).map_err(|_| ExecError::Nul)?;
        Ok(Some(Self { prepared, directory }))
    }

    /// Confines this process. Makes system calls only.
    pub(crate) fn enter(&self) -> Result<()> {
        self.prepared.apply()?;
        rustix::process::chdir(&*self.directory).map_err(std::io::Error::from)
    }

    /// Removes what the command must not leave behind, and says so.
    pub(crate) fn finish(&self) -> Option<String> {
        let removed = self.prepared.clean_up();
        if removed.is_empty() {
            return None;
        }
        let names: Vec<String> = removed.iter().map(|path| path.display().to_string()).collect();
        Some(format!("\n[the sandbox removed {}: git would obey another directory]\n", names.join(", ")))
    }
}

/// The directories of `PATH`.
fn programs(env: &[(String, String)]) -> impl Iterator<Item = PathBuf> {
    let path = env.iter().rfind(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    let mut all: Vec<PathBuf> = std::env::split_paths(path).filter(|path| path.is_absolute()).collect();
    all.sort();
    all.dedup();
    all.into_iter()
}

/// Returns true if a command can start in a directory. Its `/tmp` may be another one than ours.
pub(crate) fn is_directory(policy: Option<&Policy>, path: &Path) -> bool {
    match policy {
        Some(policy) => policy.host_path(path, support()).is_dir(),
        None => path.is_dir(),
    }
}

/// The directory from which the child starts; a sandbox changes it once more.
pub(crate) fn start_directory<'a>(policy: Option<&Policy>, cwd: &'a Path) -> &'a Path {
    if policy.is_some() { Path::new("/") } else { cwd }
}

/// The report with a file that the command can write: the sandbox hides the one that was asked for.
pub(crate) fn report(policy: Option<&Policy>, asked: Option<ShellReport>) -> Option<ShellReport> {
    let (Some(policy), Some(asked)) = (policy, &asked) else { return asked };
    let name = asked.file.file_name()?.to_str()?;
    Some(ShellReport { file: policy.places.temporary.join(format!(".{name}")), ..asked.clone() })
}

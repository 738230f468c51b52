//! Explains denials of the sandbox to the model.
//!
//! Programs report a denial as "Permission denied" or "Read-only file system" with a path. The view of the policy
//! tells if the sandbox is the cause, and which path would have to be granted.

use crate::denied_lines::{self, Cause};
use crate::policy::{Network, Policy};
use crate::support::support;
use crate::view::{Level, Place, View};
use rustix::fs::{Access, access};
use std::path::{Path, PathBuf};

/// The operation that was denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Read,
    Write,
    Network,
    /// Becoming another user.
    Privilege,
    /// A system call that the filter refuses.
    SystemCall,
}

/// The grant that would permit the operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// `Policy::extra_write`.
    Write(PathBuf),
    /// `Policy::extra_read`.
    Read(PathBuf),
    /// `Policy::git_settings`.
    GitSettings,
    /// `Policy::network`.
    Network,
}

/// A denial by the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    pub operation: Operation,
    pub path: Option<PathBuf>,
    /// A sentence for the model.
    pub sentence: String,
    /// `None` if no approval permits it.
    pub grant: Option<Grant>,
}

/// Finds the first denial by the sandbox in the output of a command that failed.
pub fn explain(output: &str, exit_code: i32, policy: &Policy) -> Option<Denial> {
    if exit_code == 0 || policy.profile == crate::Profile::Full {
        return None;
    }
    let judge = Judge::new(policy);
    for line in denied_lines::lines(output) {
        let denial = match line.cause {
            Cause::Path { is_read_only } => {
                line.paths.iter().find_map(|path| judge.path(&policy.places.project.join(path), is_read_only))
            }
            Cause::Missing => {
                line.paths.iter().find_map(|path| judge.missing(&policy.places.project.join(path)))
            }
            Cause::Network => judge.network(),
            Cause::Docker => judge.docker(),
            Cause::Privilege => Some(privilege()),
        };
        if denial.is_some() {
            return denial;
        }
    }
    (exit_code == 128 + libc::SIGSYS).then(system_call)
}

/// Decides if the sandbox of a policy is the cause of a denial.
pub struct Judge<'a> {
    policy: &'a Policy,
    view: View,
}

impl<'a> Judge<'a> {
    pub fn new(policy: &'a Policy) -> Self {
        let has_mounts = policy.has_private_tmp(support());
        Self { policy, view: View::new(policy, has_mounts) }
    }

    /// The denial behind an error on a path; `None` if the policy permits it, or if ordinary permissions explain it.
    /// `is_write` is true if the operation was certainly a change.
    pub fn path(&self, path: &Path, is_write: bool) -> Option<Denial> {
        let path = &resolved(path);
        let (listed, entry) = self.view.nearest(path)?;
        match entry.level {
            Level::Hidden => Some(self.hidden(path, listed)),
            Level::Read if !is_write && self.has_hidden_entries(path) => Some(self.unlistable(path)),
            Level::Read if is_write || is_allowed_otherwise(path) => {
                Some(self.unwritable(path, &entry.place))
            }
            Level::Read | Level::Device | Level::Write => None,
        }
    }

    /// The denial behind a file that a program did not find although it exists.
    pub fn missing(&self, path: &Path) -> Option<Denial> {
        let path = &resolved(path);
        let (listed, entry) = self.view.nearest(path)?;
        (entry.level == Level::Hidden && path.symlink_metadata().is_ok()).then(|| self.hidden(path, listed))
    }

    /// The denial behind a failed connection to Docker, which is as good as being root.
    fn docker(&self) -> Option<Denial> {
        let path = Path::new("/run/docker.sock");
        let is_hidden = self.policy.has_private_tmp(support()) && self.view.level(path) < Level::Write;
        (is_hidden && path.exists()).then(|| Denial {
            operation: Operation::Write,
            path: Some(path.to_owned()),
            sentence: "the sandbox hides the socket of Docker; ask the user if the command needs it"
                .to_owned(),
            grant: Some(Grant::Write(path.to_owned())),
        })
    }

    /// The denial behind a failed connection.
    pub fn network(&self) -> Option<Denial> {
        let (sentence, operation) = match &self.policy.network {
            Network::On => return None,
            Network::Off => {
                ("the sandbox has no network (sandbox.network is off)".to_owned(), Operation::Network)
            }
            Network::Allow(hosts) => (
                format!("the sandbox permits connections to listed hosts only ({})", hosts.join(", ")),
                Operation::Network,
            ),
        };
        let sentence = format!("{sentence}; ask the user if the command needs the network");
        Some(Denial { operation, path: None, sentence, grant: Some(Grant::Network) })
    }

    fn hidden(&self, path: &Path, listed: &Path) -> Denial {
        let own = [&self.policy.places.hermes_home];
        let is_own = own.into_iter().chain(&self.policy.hidden).any(|own| path.starts_with(own));
        let shown = self.shown(path);
        let (sentence, grant) = if is_own {
            (format!("the sandbox hides {shown} from all commands: it belongs to Hermes"), None)
        } else {
            let sentence = format!(
                "the sandbox does not permit reading {shown}, which may hold credentials; ask the user if the command needs it"
            );
            (sentence, Some(Grant::Read(if path.exists() { path.to_owned() } else { listed.to_owned() })))
        };
        Denial { operation: Operation::Read, path: Some(path.to_owned()), sentence, grant }
    }

    /// Returns true for a directory that cannot be listed: without mounts the right to list it would extend to its
    /// hidden parts.
    fn has_hidden_entries(&self, path: &Path) -> bool {
        let has_mounts = self.policy.has_private_tmp(support());
        !has_mounts && self.view.below(path).any(|(_, entry)| entry.level == Level::Hidden)
    }

    fn unlistable(&self, path: &Path) -> Denial {
        let sentence = format!(
            "the sandbox does not permit listing {}, because it has hidden entries; name the entry that is needed",
            self.shown(path)
        );
        Denial { operation: Operation::Read, path: Some(path.to_owned()), sentence, grant: None }
    }

    fn unwritable(&self, path: &Path, place: &Place) -> Denial {
        let shown = self.shown(path);
        let (sentence, grant) = if *place == Place::Part {
            let sentence = format!(
                "the sandbox does not permit changing {shown}, because git runs or obeys it; ask the user if git settings may be changed"
            );
            (sentence, Some(Grant::GitSettings))
        } else if let Some(grant) = self.writable_root(path) {
            let sentence = format!(
                "the sandbox does not permit writing to {}; ask the user if the command needs it, or write inside the project or $TMPDIR",
                self.shown(&grant)
            );
            (sentence, Some(Grant::Write(grant)))
        } else {
            (
                format!(
                    "the sandbox does not permit writing to {shown}; write inside the project or $TMPDIR"
                ),
                None,
            )
        };
        Denial { operation: Operation::Write, path: Some(path.to_owned()), sentence, grant }
    }

    /// The path to grant for a write: the repository around it, else its directory, else the file. Never the home
    /// directory or a directory of the system.
    fn writable_root(&self, path: &Path) -> Option<PathBuf> {
        let home = self.policy.places.user_home.as_deref();
        let is_too_much =
            |path: &Path| path.components().count() <= 2 || home.is_some_and(|home| home.starts_with(path));
        let repository = path.ancestors().skip(1).take_while(|parent| !is_too_much(parent));
        let repository = repository.filter(|parent| parent.join(".git").exists()).last();
        let directory = path.parent().filter(|parent| parent.is_dir() && !is_too_much(parent));
        let file = path.exists().then_some(path);
        repository.or(directory).or(file).map(Path::to_owned)
    }

    /// A path as the user writes it.
    fn shown(&self, path: &Path) -> String {
        let home = self.policy.places.user_home.as_deref();
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }
}

/// Returns true if the permissions of files do not explain the error: the file is readable, or it is missing and its
/// directory is writable.
fn is_allowed_otherwise(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => access(path, Access::READ_OK).is_ok(),
        Err(_) => {
            let parent = path.ancestors().skip(1).find(|parent| parent.exists());
            parent.is_some_and(|parent| access(parent, Access::WRITE_OK).is_ok())
        }
    }
}

/// The path without `..` and links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let Some(existing) = path.ancestors().find_map(|parent| Some((parent, parent.canonicalize().ok()?)))
    else {
        return path.to_owned();
    };
    let rest = path.strip_prefix(existing.0).unwrap_or(Path::new(""));
    if rest.as_os_str().is_empty() { existing.1 } else { existing.1.join(rest) }
}

fn privilege() -> Denial {
    Denial {
        operation: Operation::Privilege,
        path: None,
        sentence: "the sandbox does not permit programs to become another user (sudo, su); do it without, or ask the \
                   user to run the command"
            .to_owned(),
        grant: None,
    }
}

fn system_call() -> Denial {
    Denial {
        operation: Operation::SystemCall,
        path: None,
        sentence: "the sandbox ended the program because it made system calls of another processor (a 32-bit program?)"
            .to_owned(),
        grant: None,
    }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;

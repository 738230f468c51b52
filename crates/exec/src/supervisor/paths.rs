//! The paths of the supervisor of a home directory.
//!
//! The spool is in the home directory. The socket is not: its path must be short, and the home directory may be
//! on a filesystem without sockets. It is in a private directory, whose path the supervisor writes into the
//! spool, so that clients with different environments find the same one. That directory is opened first and
//! checked then, and the socket is reached through the open directory, so that it cannot be exchanged in
//! between.

use super::error::SuperviseError;
use crate::spill::hex;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const SOCKET: &str = "s";

/// The spool of a home directory, and the possible location of its socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisorPaths {
    /// A directory in the home directory, for the supervisor alone; created if missing.
    pub spool: PathBuf,
    /// The directory for runtime files (`XDG_RUNTIME_DIR`); `/tmp` by default.
    pub runtime: Option<PathBuf>,
}

impl SupervisorPaths {
    /// Creates the spool and checks that it is private. The path of the result has no links.
    pub(crate) fn prepared(&self) -> Result<Self, SuperviseError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.spool);
        made.map_err(SuperviseError::io("make the directory for the records of commands"))?;
        let spool = self.spool.canonicalize().map_err(SuperviseError::io("find the records of commands"))?;
        Folder::open(&spool)?;
        Ok(Self { spool, runtime: self.runtime.clone() })
    }

    /// A short id of this home directory, the same for all clients.
    pub(crate) fn tag(&self) -> String {
        hex(&Sha256::digest(self.spool.as_os_str().as_bytes())[..8])
    }

    /// The socket directory of a new supervisor.
    pub(crate) fn folder(&self) -> PathBuf {
        match &self.runtime {
            Some(dir) if dir.is_dir() => dir.join(format!("hermes-{}", self.tag())),
            _ => PathBuf::from(format!("/tmp/hermes-{}-{}", own_uid(), self.tag())),
        }
    }

    /// The socket directory of the supervisor that was started last, if any.
    pub(crate) fn address(&self) -> Result<Option<PathBuf>, SuperviseError> {
        match std::fs::read_to_string(self.spool.join("address")) {
            Ok(text) => Ok(Some(PathBuf::from(text.trim_end()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SuperviseError::io("read the address of the supervisor")(error)),
        }
    }

    /// Publishes the socket directory in the spool.
    pub(crate) fn publish(&self, folder: &Path) -> Result<(), SuperviseError> {
        let new = self.spool.join("address.new");
        std::fs::write(&new, folder.as_os_str().as_bytes())
            .and_then(|()| std::fs::rename(&new, self.spool.join("address")))
            .map_err(SuperviseError::io("write the address of the supervisor"))
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.spool.join("supervisor.log")
    }

    /// Takes the lock for starting a supervisor. Blocks.
    pub(crate) fn lock_starting(&self) -> Result<File, SuperviseError> {
        let file = self.lock_file("start.lock")?;
        flock(&file, FlockOperation::LockExclusive)
            .map_err(|error| SuperviseError::io("lock the start of the supervisor")(error.into()))?;
        Ok(file)
    }

    /// Takes the lock that a supervisor holds while it lives; `None` if another one holds it.
    pub(crate) fn try_lock_serving(&self) -> Result<Option<File>, SuperviseError> {
        let file = self.lock_file("supervisor.lock")?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(SuperviseError::io("lock the records of commands")(error.into())),
        }
    }

    fn lock_file(&self, name: &str) -> Result<File, SuperviseError> {
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.spool.join(name));
        opened.map_err(SuperviseError::io("open a lock file of the supervisor"))
    }
}

/// An open private directory.
#[derive(Debug)]
pub(crate) struct Folder {
    handle: File,
    pub(crate) path: PathBuf,
}

impl Folder {
    /// Creates the directory if it is missing.
    pub(crate) fn create(path: &Path) -> Result<Self, SuperviseError> {
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(SuperviseError::io("make the folder for the supervisor's socket")(error))
            }
            _ => Self::open(path),
        }
    }

    /// Opens a directory that belongs to this user alone.
    pub(crate) fn open(path: &Path) -> Result<Self, SuperviseError> {
        let unsafe_folder = |problem: &str| SuperviseError::UnsafeFolder {
            path: path.to_owned(),
            problem: problem.to_owned(),
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let handle = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(handle) => File::from(handle),
            Err(rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP) => {
                return Err(unsafe_folder("is in the way: it is not a directory"));
            }
            Err(error) => return Err(SuperviseError::io("open a folder of the supervisor")(error.into())),
        };
        let found = handle.metadata().map_err(SuperviseError::io("look at a folder of the supervisor"))?;
        match objection(found.uid(), found.mode(), own_uid()) {
            Some(problem) => Err(unsafe_folder(&problem)),
            None => Ok(Self { handle, path: path.to_owned() }),
        }
    }

    /// The path of the socket, short and through the open directory.
    pub(crate) fn socket(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", self.handle.as_raw_fd()))
    }
}

/// The reason for which a directory is not safe, if any.
fn objection(owner: u32, mode: u32, own: u32) -> Option<String> {
    if owner != own {
        return Some(format!("belongs to user {owner}, not to user {own}"));
    }
    (mode & 0o077 != 0).then(|| format!("is open to others (mode {:03o})", mode & 0o777))
}

pub(crate) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Accepts only peers of the same user.
pub(crate) fn check_peer(uid: u32) -> Result<(), SuperviseError> {
    let own = own_uid();
    if uid == own { Ok(()) } else { Err(SuperviseError::ForeignPeer { uid, own }) }
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;

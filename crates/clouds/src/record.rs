//! The lock of a sandbox, and the record of one that its service does not find by name.

use crate::error::CloudError;
use crate::settings::CloudSettings;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Held by one process at a time while it looks for a sandbox and makes it.
pub(crate) struct Lock(#[expect(dead_code, reason = "the lock ends with its file")] File);

/// The directory of the records of a home directory.
fn directory(home: &Path, settings: &CloudSettings) -> PathBuf {
    home.join("sandboxes").join(settings.service.backend())
}

fn failed(file: &Path, error: &std::io::Error) -> CloudError {
    CloudError::Record { file: file.display().to_string(), cause: error.to_string() }
}

/// Waits for the lock of a sandbox.
pub(crate) async fn lock(home: &Path, settings: &CloudSettings) -> Result<Lock, CloudError> {
    let directory = directory(home, settings);
    let path = directory.join(format!("{}.lock", settings.task));
    let wait = {
        let path = path.clone();
        move || {
            DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
            flock(&file, FlockOperation::LockExclusive)?;
            Ok(Lock(file))
        }
    };
    let crashed = |error: tokio::task::JoinError| std::io::Error::other(error);
    let locked = tokio::task::spawn_blocking(wait).await.map_err(crashed).and_then(|locked| locked);
    locked.map_err(|error| failed(&path, &error))
}

/// A sandbox that was made, or is being made if it has no id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: Option<String>,
    /// The key of the request that makes it: the service gives the same sandbox for the same key.
    pub(crate) request: String,
    /// A checksum of the settings.
    pub(crate) settings: String,
}

impl Record {
    /// The record of a sandbox that is about to be made.
    pub(crate) fn begin(settings: &CloudSettings) -> Self {
        let request = format!("{:032x}", rand::random::<u128>());
        Self { id: None, request, settings: checksum(settings) }
    }

    /// The record, if there is one that can be read.
    pub(crate) fn load(home: &Path, settings: &CloudSettings) -> Option<Self> {
        let text = std::fs::read(path(home, settings)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub(crate) fn save(&self, home: &Path, settings: &CloudSettings) -> Result<(), CloudError> {
        let path = path(home, settings);
        let new = path.with_extension("new");
        let write = || {
            let mut file =
                OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&new)?;
            file.write_all(serde_json::json!(self).to_string().as_bytes())?;
            std::fs::rename(&new, &path)
        };
        write().map_err(|error| failed(&path, &error))
    }

    pub(crate) fn is_of(&self, settings: &CloudSettings) -> bool {
        self.settings == checksum(settings)
    }
}

pub(crate) fn remove(home: &Path, settings: &CloudSettings) {
    // It may not exist.
    let _ = std::fs::remove_file(path(home, settings));
}

fn path(home: &Path, settings: &CloudSettings) -> PathBuf {
    directory(home, settings).join(format!("{}.json", settings.task))
}

/// A checksum of what a sandbox is made from.
fn checksum(settings: &CloudSettings) -> String {
    let hash = Sha256::digest(settings.argument().as_bytes());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

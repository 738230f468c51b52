//! Locks between processes. A lock ends with the process that holds it.

use crate::CheckpointError;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const POLL: Duration = Duration::from_millis(10);

/// A lock that is held until it is dropped.
pub(crate) struct Held(#[expect(dead_code, reason = "closing the file releases the lock")] File);

/// Waits for a lock. `project` names what is locked in the error.
pub(crate) async fn lock(path: &Path, project: &Path, patience: Duration) -> Result<Held, CheckpointError> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(CheckpointError::io("create", directory))?;
    }
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path);
    let file = file.map_err(CheckpointError::io("open", path))?;
    let deadline = Instant::now() + patience;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Held(file)),
            Err(_) if Instant::now() < deadline => sleep(POLL).await,
            Err(_) => return Err(CheckpointError::Busy { project: project.to_owned(), after: patience }),
        }
    }
}

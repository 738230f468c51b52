//! Who may write to a session.

use crate::SessionId;
use serde::{Deserialize, Serialize};

/// The right to run a turn in one session.
///
/// Every commit names its lease; a commit under an older generation is refused, so a process
/// that was taken for dead can never write into a session that has moved on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub session: SessionId,
    pub owner: Owner,
    pub generation: i64,
}

/// A process, named so that a reused process id is not mistaken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub pid: u32,
    /// Start time in clock ticks since boot, as in `/proc/<pid>/stat`.
    pub started: u64,
    /// Which boot that was.
    pub boot: String,
}

//! The lease: the right to write to a session.

use crate::SessionId;
use serde::{Deserialize, Serialize};

/// The right to run a turn in one session.
///
/// Every commit carries its lease, and a commit under an older generation is rejected. A process that was
/// wrongly considered dead can therefore not write to a session that another process has taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub session: SessionId,
    pub owner: Owner,
    pub generation: i64,
}

/// A process, identified so that a reused process id is not mistaken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub pid: u32,
    /// Start time in clock ticks since boot, as in `/proc/<pid>/stat`.
    pub started: u64,
    /// The id of that boot.
    pub boot: String,
}

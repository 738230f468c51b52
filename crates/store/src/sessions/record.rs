//! Writes to a session: leases, turns and their messages, mail, crash recovery.

pub(super) mod append;
pub(super) mod create;
pub(super) mod delegations;
pub(super) mod inner_calls;
pub(super) mod lease;
pub(super) mod mailbox;
pub(super) mod observations;
pub(super) mod process;
pub(super) mod processes;
pub(super) mod prompt_outline;
pub(super) mod recovery;
pub(super) mod rewind;
pub(super) mod rewrite;
pub(super) mod session_end;
pub(super) mod transcript;

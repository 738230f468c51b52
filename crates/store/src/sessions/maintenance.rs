//! Maintenance of the store: delete, prune, back up, check, compact the file.

pub(super) mod auto_prune;
pub(super) mod backup;
pub(super) mod delete;
pub(super) mod health;
pub(super) mod optimize;
pub(super) mod prune;
pub(super) mod verify;

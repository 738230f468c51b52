//! Connections to the database file: one writer thread, reader connections, locks and checkpoints.

pub(super) mod begin_write;
pub(super) mod checkpoint;
pub(super) mod connect;
pub(super) mod lock_holder;
pub(super) mod lock_wait;
pub(super) mod readers;
pub(super) mod write_queue;
pub(super) mod writer;

//! Checkpoints: the files of a project before the agent changes them, and their restoration.
//!
//! All projects share one bare git store, in the layout of the Python release (`refs/hermes/<hash>`, one index and one
//! JSON file per project). [`CheckpointStore`] takes, lists, compares and restores checkpoints; [`SessionCheckpoints`]
//! is what the tools of a session call. A journal beside the store records which changes the agent made, so that a
//! restore keeps edits made by hand, or refuses to overwrite them.
//!
//! `git` runs without any settings of the user or of the project: see the module `git`.

#![forbid(unsafe_code)]

mod apply;
mod error;
mod git;
mod journal;
mod layout;
mod lock;
mod maintenance;
mod project;
mod restore;
mod session;
mod snapshot;
mod store;
mod tree;
mod walk;

pub use error::CheckpointError;
pub use restore::{Conflict, Restore, Restored};
pub use session::{Notify, SessionCheckpoints};
pub use store::{Checkpoint, CheckpointStore, Difference, Enabled, StoreOptions};

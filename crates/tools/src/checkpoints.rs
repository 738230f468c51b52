//! Checkpoints of the files that a call is about to change.
//!
//! The tool states what a call may change ([`Touches`]); the code that assembles a session passes in who saves it.

use hermes_conversation::BoxFuture;
use std::path::PathBuf;

/// The files that a call may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touches {
    /// These files.
    Files(Vec<PathBuf>),
    /// Anything in the project of a directory, as a command does.
    Anything {
        directory: PathBuf,
        /// It looks as if it replaced or removed files.
        is_destructive: bool,
    },
}

/// A call that is about to change files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedChange {
    pub touches: Touches,
    /// The reason of a checkpoint in one line, without secrets.
    pub reason: String,
}

/// The state before a change, for [`Checkpoints::after_change`].
pub type BeforeChange = Box<dyn std::any::Any + Send + Sync>;

/// Saves the files of projects before the agent changes them.
///
/// Implementations never fail a call: they report their errors elsewhere, and return within a limited time.
pub trait Checkpoints: Send + Sync {
    /// A turn begins: the next change of a project is saved again.
    fn begin_turn(&self);

    /// Takes a checkpoint, unless the turn has one of that project.
    fn before_change<'a>(&'a self, change: &'a PlannedChange) -> BoxFuture<'a, Option<BeforeChange>>;

    /// The change is over: what the agent changed is noted. `before` is the value that `before_change` returned.
    fn after_change<'a>(&'a self, before: BeforeChange) -> BoxFuture<'a, ()>;
}

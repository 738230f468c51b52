//! Memory: facts that are kept for later sessions.
//!
//! The files are not written from here: the code that assembles a session passes in a [`Memory`], which
//! knows where they are and keeps their history.

use crate::ToolError;
use hermes_conversation::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryTarget {
    Memory,
    User,
}

/// One change of what is remembered. `old_text` is a part of an entry that no other entry has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryChange {
    Add { content: String },
    Replace { old_text: String, content: String },
    Remove { old_text: String },
}

/// The result of accepted changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The used part of the memory, as `0% — 19/2,200 chars`.
    pub usage: String,
    pub entry_count: usize,
    /// False when everything was so already.
    pub is_changed: bool,
    /// The id under which the changes wait for the user's approval, where they do.
    pub pending: Option<String>,
}

/// Keeps what is remembered across sessions.
pub trait Memory: Send + Sync {
    /// Returns true if a change needs approval.
    fn asks_first(&self) -> bool {
        false
    }

    /// Carries out all changes, or none. What is refused comes with all that is needed to do better:
    /// the entries as they are, or those that matched.
    fn change(
        &self,
        target: MemoryTarget,
        changes: Vec<MemoryChange>,
    ) -> BoxFuture<'_, Result<Remembered, ToolError>>;
}

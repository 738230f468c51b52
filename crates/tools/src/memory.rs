//! Keeping facts for later sessions.
//!
//! The files are not written from here: whoever assembles a session hands in a [`Memory`], which knows
//! where they are and keeps their history.

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

/// What came of changes that went through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// How full the memory is, as `0% — 19/2,200 chars`.
    pub usage: String,
    pub entry_count: usize,
    /// False when everything was so already.
    pub is_changed: bool,
    /// The id under which the changes wait for the user's approval, where they do.
    pub pending: Option<String>,
}

/// Keeps what is remembered across sessions.
pub trait Memory: Send + Sync {
    /// Whether the user is asked before a change.
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

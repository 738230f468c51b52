//! Giving a part of the work to another session.
//!
//! A session cannot be run from here: that is the agent's work, and the agent is above. So whoever
//! assembles a session hands in a [`Delegate`].

use crate::CallScope;
use hermes_conversation::{BoxFuture, Cost, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A task for another session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperTask {
    pub goal: String,
    /// What it must know; it sees nothing of this conversation.
    pub context: Option<String>,
    pub role: Role,
}

/// Whether a helper may have helpers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    #[default]
    Leaf,
    Orchestrator,
}

/// What came of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct HelperReport {
    pub session: SessionId,
    /// `completed`, `failed`, `error`, `interrupted` or `timeout`.
    pub status: &'static str,
    /// Its last words, or what there is of them.
    pub summary: Option<String>,
    /// Everything else that is told, by name.
    pub details: serde_json::Map<String, Value>,
    pub cost: Option<Cost>,
}

/// Runs helpers.
pub trait Delegate: Send + Sync {
    /// How many tasks one call may have.
    fn most(&self) -> usize;

    /// Characters of a summary that are told.
    fn summary_chars(&self) -> usize;

    /// Carries the tasks out, side by side, and reports in their order. Ends them when the call is
    /// cancelled.
    fn run<'a>(&'a self, tasks: Vec<HelperTask>, scope: &'a CallScope) -> BoxFuture<'a, Vec<HelperReport>>;
}

//! Delegation of a part of the task to a sub-agent.
//!
//! A session cannot be run from here: that is the agent's work, and the agent is above. So the code that
//! assembles a session passes in a [`Delegate`].

use crate::{CallScope, Inherited};
use hermes_conversation::{BoxFuture, Cost, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A task for another session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperTask {
    pub goal: String,
    /// The context of the task; the sub-agent sees nothing of this conversation.
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

/// The result of a delegated task.
#[derive(Debug, Clone, PartialEq)]
pub struct HelperReport {
    pub session: SessionId,
    /// `completed`, `failed`, `error`, `interrupted` or `timeout`.
    pub status: &'static str,
    /// Its final reply, or the part of it that exists.
    pub summary: Option<String>,
    /// Further fields of the result, by name.
    pub details: serde_json::Map<String, Value>,
    pub cost: Option<Cost>,
}

/// A task that a sub-agent works on in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunTask {
    /// By which the user stops it.
    pub number: u32,
    pub id: String,
    pub session: SessionId,
}

/// Runs helpers.
pub trait Delegate: Send + Sync {
    /// The maximum number of tasks per call.
    fn most(&self) -> usize;

    /// The maximum number of characters of a summary.
    fn summary_chars(&self) -> usize;

    /// Returns true if tasks may go on after the turn: a message brings their reports.
    fn has_background(&self) -> bool {
        false
    }

    /// Carries the tasks out, side by side, and reports in their order. Ends them when the call is
    /// cancelled.
    fn run<'a>(
        &'a self,
        tasks: Vec<HelperTask>,
        inherited: Inherited,
        scope: &'a CallScope,
    ) -> BoxFuture<'a, Vec<HelperReport>>;

    /// Starts the tasks in the background. The error is a sentence for the model.
    fn begin<'a>(
        &'a self,
        tasks: Vec<HelperTask>,
        inherited: Inherited,
        scope: &'a CallScope,
    ) -> BoxFuture<'a, Result<Vec<BegunTask>, String>>;
}

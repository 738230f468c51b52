//! The result of a turn, with the field names that programs read.

use hermes_conversation::{Cost, Usage};
use hermes_wire::FaultClass;

/// The outcome of a turn and its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnReport {
    pub final_response: Option<String>,
    pub exit_reason: String,
    pub completed: bool,
    pub failed: bool,
    pub partial: bool,
    pub interrupted: bool,
    /// One line for the user, if the turn failed.
    pub error: Option<String>,
    pub fault: Option<FaultClass>,
    /// Set where the conversation was too long for the model and stayed so.
    pub not_compacted: Option<NotCompacted>,
    /// The record could not be written; nothing after this turn may be trusted to be stored.
    pub store_failed: bool,
    pub api_calls: u32,
    /// Of this turn.
    pub usage: Usage,
    /// Of this turn; `None` when no call was answered.
    pub cost: Option<Cost>,
    pub last_prompt_tokens: Option<u64>,
    /// The newest reasoning since the user's message, for people to read.
    pub last_reasoning: Option<String>,
    /// A steering message that met no tool result; it is queued.
    pub pending_steer: Option<String>,
    /// The model that was asked last, where that is not the session's own.
    pub stand_in: Option<StandIn>,
}

/// A model that stepped in for the session's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandIn {
    pub model: String,
    pub provider: String,
    pub base_url: String,
}

/// The reason why a conversation that was too long was not made shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotCompacted {
    /// Compaction did not help.
    Exhausted,
    /// `compression.enabled` is false.
    Disabled,
}

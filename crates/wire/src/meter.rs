//! What a call may cost, and what it did cost.

use crate::Failure;
use hermes_conversation::{BoxFuture, Money, SpentCall};
use std::sync::Arc;

/// The most that a call may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    AtMost(Money),
    /// The price of the model is not known.
    Unknown,
}

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCall {
    pub session: Option<Arc<str>>,
    pub provider: String,
    pub model: String,
    pub base_url: String,
    /// What a side task is for; empty for the conversation itself.
    pub task: String,
    pub bound: Bound,
}

/// Leave to make one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ticket {
    /// What was put aside, if there is a limit to keep.
    pub reservation: Option<(i64, Money)>,
}

/// Counts every call and keeps budgets.
pub trait Meter: Send + Sync {
    /// Whether there is a limit to keep, so that prices are worth asking for.
    fn has_limits(&self) -> bool;

    /// Puts aside what a call may cost at most, in one transaction across all processes. Refused
    /// with [`Failure::OverBudget`] when a limit would be passed; nothing may be sent then.
    fn reserve(&self, call: PlannedCall) -> BoxFuture<'_, Result<Ticket, Failure>>;

    /// Counts a call that is not recorded with a message, and gives back what was put aside for
    /// it. Queued at once: it may be called where nobody can wait.
    fn settle(&self, session: Option<&str>, spent: SpentCall);
}

/// Counts nothing and keeps no budget.
#[derive(Debug, Default)]
pub struct NoMeter;

impl Meter for NoMeter {
    fn has_limits(&self) -> bool {
        false
    }

    fn reserve(&self, _: PlannedCall) -> BoxFuture<'_, Result<Ticket, Failure>> {
        Box::pin(async { Ok(Ticket::default()) })
    }

    fn settle(&self, _: Option<&str>, _: SpentCall) {}
}

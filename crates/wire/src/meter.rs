//! Budgets and costs of model calls.

use crate::Failure;
use hermes_conversation::{BoxFuture, Money, SpentCall};
use std::sync::Arc;

/// The maximum cost of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    AtMost(Money),
    /// The price of the model is unknown.
    Unknown,
}

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCall {
    pub session: Option<Arc<str>>,
    pub provider: String,
    pub model: String,
    pub base_url: String,
    /// The name of an auxiliary task; empty for the conversation itself.
    pub task: String,
    pub bound: Bound,
}

/// The permission to make one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ticket {
    /// The reservation, if there is a budget.
    pub reservation: Option<(i64, Money)>,
}

/// Counts every call and enforces budgets.
pub trait Meter: Send + Sync {
    /// Returns true if there is a budget, so that prices are needed.
    fn has_limits(&self) -> bool;

    /// Reserves the maximum cost of a call, in one transaction across all processes. Fails with
    /// [`Failure::OverBudget`] if a budget would be exceeded; nothing may be sent then.
    fn reserve(&self, call: PlannedCall) -> BoxFuture<'_, Result<Ticket, Failure>>;

    /// Counts a call that is not recorded with a message, and releases its reservation. Queues the work without
    /// waiting.
    fn settle(&self, session: Option<&str>, spent: SpentCall);
}

/// Counts nothing and has no budget.
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

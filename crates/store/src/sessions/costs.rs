//! Costs of model calls: counters, the ledger by day, and budgets.

pub(super) mod budget;
pub(super) mod call_costs;

//! Numbers about sessions: totals of the store, and insights into a period.

pub(super) mod insights;
pub(super) mod totals;

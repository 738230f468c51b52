//! Known costs of sessions.

use crate::sessions::rows::decode;
use rusqlite::Row;

/// Costs of many sessions. Totals leave out unknown costs; `unknown_sessions` counts the sessions with such.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CostSummary {
    /// Estimate by price list; `None` if no session has one.
    pub estimated_usd: Option<f64>,
    /// Billed cost; `None` if no session has one.
    pub actual_usd: Option<f64>,
    /// Sessions included in a subscription.
    pub included_sessions: u64,
    /// Sessions with a model of unknown price.
    pub unknown_sessions: u64,
}

/// Costs of one session.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SessionCost {
    estimated: Option<f64>,
    actual: Option<f64>,
    is_included: bool,
    is_unknown: bool,
}

impl SessionCost {
    /// Adds the columns estimate, actual cost and status that begin at `first`.
    ///
    /// A zero without a status is only the default of the column and is ignored.
    pub(super) fn add(&mut self, row: &Row<'_>, first: usize, was_used: bool) -> rusqlite::Result<()> {
        let amount = |place: usize| -> rusqlite::Result<f64> {
            let stored = row.get_ref(place)?.as_f64_or_null().unwrap_or_default();
            Ok(stored.filter(|cost| cost.is_finite()).unwrap_or_default())
        };
        let (estimated, actual) = (amount(first)?, amount(first + 1)?);
        let status = decode::text(row, first + 2)?.unwrap_or_default();
        let is_estimated = estimated > 0.0 || status == "estimated";
        let is_actual = actual > 0.0 || status == "actual";
        let is_included = status == "included";
        if is_estimated {
            *self.estimated.get_or_insert_default() += estimated;
        }
        if is_actual {
            *self.actual.get_or_insert_default() += actual;
        }
        self.is_included |= is_included;
        self.is_unknown |= was_used && !is_estimated && !is_actual && !is_included;
        Ok(())
    }
}

pub(super) fn summary<'a>(sessions: impl Iterator<Item = &'a SessionCost>) -> CostSummary {
    sessions.fold(CostSummary::default(), |mut all, session| {
        for (sum, cost) in
            [(&mut all.estimated_usd, session.estimated), (&mut all.actual_usd, session.actual)]
        {
            if let Some(cost) = cost {
                *sum.get_or_insert_default() += cost;
            }
        }
        all.included_sessions += u64::from(session.is_included);
        all.unknown_sessions += u64::from(session.is_unknown);
        all
    })
}

//! The meter of a home: counts every model call of every process in the session database, and enforces budgets.

use crate::RuntimeError;
use hermes_config::Config;
use hermes_config::settings::{BudgetSettings, UnknownPrice};
use hermes_conversation::{BoxFuture, Money, SpentCall};
use hermes_store::{LimitExceeded, Reservation, Reserved, SessionDb, SpendLimit, SpendLimits};
use hermes_wire::{Bound, Failure, Meter, PlannedCall, Ticket};
use std::sync::{Arc, OnceLock};

/// The budgets, and the rule for models without a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    pub limits: SpendLimits,
    pub allows_unknown: bool,
}

impl Budget {
    pub fn read(config: &Config) -> Result<Self, RuntimeError> {
        let budget = &config.settings.budget;
        let limits = SpendLimits { session: budget.session_usd.value()?, day: budget.day_usd.value()? };
        let allows_unknown = budget.unknown_price.value()? == UnknownPrice::Allow;
        Ok(Self { limits, allows_unknown })
    }

    fn is_limited(&self) -> bool {
        self.limits != SpendLimits::default()
    }
}

/// Counts calls in the session database of a home.
pub struct StoredMeter {
    /// Opened with the first message of the first session.
    pub store: Arc<OnceLock<SessionDb>>,
    pub budget: Budget,
}

impl StoredMeter {
    async fn reserve_amount(&self, call: PlannedCall) -> Result<Ticket, Failure> {
        if !self.budget.is_limited() {
            return Ok(Ticket::default());
        }
        let amount = match call.bound {
            Bound::AtMost(amount) => amount,
            Bound::Unknown if self.budget.allows_unknown => return Ok(Ticket::default()),
            Bound::Unknown => return Err(Failure::OverBudget { why: unknown_price(&call) }),
        };
        let failed = |why: String| Failure::OverBudget { why: format!("cannot check the budget: {why}") };
        let store = self.store.get().ok_or_else(|| failed("no session is stored".to_owned()))?;
        let session = call.session.as_deref().unwrap_or_default().to_owned();
        let PlannedCall { provider, model, task, .. } = call;
        let wish = Reservation { session, provider, model, task, amount };
        match store.reserve(wish, self.budget.limits).await {
            Ok(Reserved::Granted(id)) => Ok(Ticket { reservation: Some((id, amount)) }),
            Ok(Reserved::Refused(refused)) => {
                let why = refusal(&refused, amount);
                tracing::warn!(why, "the budget allows no further call");
                Err(Failure::OverBudget { why })
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

impl Meter for StoredMeter {
    fn has_limits(&self) -> bool {
        self.budget.is_limited()
    }

    fn reserve(&self, call: PlannedCall) -> BoxFuture<'_, Result<Ticket, Failure>> {
        Box::pin(self.reserve_amount(call))
    }

    fn settle(&self, session: Option<&str>, spent: SpentCall) {
        if let Some(store) = self.store.get() {
            drop(store.count_call(session.unwrap_or_default(), spent));
        }
    }
}

fn unknown_price(call: &PlannedCall) -> String {
    format!(
        "a budget is set and the price of {} at {} is unknown: set model.pricing.input and \
         model.pricing.output, or allow it with `hermes config set budget.unknown_price allow`",
        call.model, call.provider
    )
}

fn refusal(refused: &LimitExceeded, amount: Money) -> String {
    let LimitExceeded { by, limit, spent, reserved } = *refused;
    let (what, key) = match by {
        SpendLimit::Session => ("this session", BudgetSettings::session_usd.name),
        SpendLimit::Day => ("today", BudgetSettings::day_usd.name),
    };
    let under_way = match reserved {
        Money::ZERO => String::new(),
        reserved => format!(" and {reserved} reserved for running calls"),
    };
    format!(
        "the next call may cost up to {amount}, and of the {limit} for {what} {spent} are spent{under_way}: \
         raise {key}, or lower model.max_tokens"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_names_the_limit_and_the_setting() {
        let dollars = |text| Money::parse(text).unwrap();
        let refused = LimitExceeded {
            by: SpendLimit::Day,
            limit: dollars("5"),
            spent: dollars("4.9"),
            reserved: dollars("0.05"),
        };
        assert_eq!(
            refusal(&refused, dollars("0.2")),
            "the next call may cost up to $0.20, and of the $5.00 for today $4.90 are spent and $0.0500 reserved for running calls: raise budget.day_usd, or lower model.max_tokens"
        );
        let refused = LimitExceeded { by: SpendLimit::Session, reserved: Money::ZERO, ..refused };
        assert_eq!(
            refusal(&refused, dollars("0.2")),
            "the next call may cost up to $0.20, and of the $5.00 for this session $4.90 are spent: raise budget.session_usd, or lower model.max_tokens"
        );
    }
}

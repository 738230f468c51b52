//! Exact amounts of money, and the cost of model calls.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// An amount in US dollars, in units of 10^-12 dollars: the price of one token is a whole number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Money(u64);

/// Units of [`Money`] in one dollar.
const DOLLAR: u64 = 1_000_000_000_000;

impl Money {
    pub const ZERO: Self = Self(0);
    /// The largest integer of the database.
    pub const MAX: Self = Self(i64::MAX as u64);

    pub fn from_units(units: u64) -> Self {
        Self(units.min(Self::MAX.0))
    }

    pub fn units(self) -> u64 {
        self.0
    }

    /// The amount as a float, for reports and for database columns shared with the Python release.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / DOLLAR as f64
    }

    /// Parses a decimal number of dollars, such as `5`, `0.25` or `3.75e-7`. Digits beyond the smallest unit are
    /// rounded up: an estimate must not be lower than the bill.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = || whole.bytes().chain(fraction.bytes());
        if all().next().is_none() || !all().all(|byte| byte.is_ascii_digit()) || digits.len() > 40 {
            return None;
        }
        // The first `kept` digits are whole units.
        let kept = i32::try_from(whole.len()).ok()?.checked_add(exponent)?.checked_add(12)?;
        let mut units: u64 = 0;
        let mut rest = 0;
        for (at, digit) in (0..).zip(all().map(|byte| u64::from(byte - b'0'))) {
            if at < kept {
                units = units.saturating_mul(10).saturating_add(digit);
            } else {
                rest |= digit;
            }
        }
        for _ in (whole.len() + fraction.len())..usize::try_from(kept).unwrap_or(0).min(64) {
            units = units.saturating_mul(10);
        }
        Some(Self::from_units(units.saturating_add(u64::from(rest > 0))))
    }

    /// Multiplies the amount.
    pub fn times(self, count: u64) -> Self {
        Self::from_units(self.0.saturating_mul(count))
    }

    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::from_units(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

/// Formats with two decimals, or with more for small amounts.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.dollars() {
            amount if self.0 == 0 || amount >= 0.1 => format!("${amount:.2}"),
            amount if amount >= 0.0001 => format!("${amount:.4}"),
            amount => format!("${amount:.8}"),
        };
        f.pad(&text)
    }
}

/// The certainty of a cost. Ordered: a sum has the highest status of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum CostStatus {
    /// Covered by a subscription or a free endpoint.
    Included,
    /// Stated by the provider.
    Actual,
    /// Computed from token counts and prices.
    Estimated,
    #[default]
    Unknown,
}

impl CostStatus {
    /// The spelling used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Included => "included",
            Self::Actual => "actual",
            Self::Estimated => "estimated",
            Self::Unknown => "unknown",
        }
    }
}

/// The cost of one or more model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Computed from prices.
    pub estimated: Option<Money>,
    /// Stated by the provider.
    pub actual: Option<Money>,
    pub status: CostStatus,
    /// The source of the prices, as spelled in the database.
    pub source: &'static str,
}

impl Cost {
    /// The actual cost, else the estimated one.
    pub fn known(&self) -> Option<Money> {
        self.actual.or(self.estimated)
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        let sum = |a: Option<Money>, b: Option<Money>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or_default() + b.unwrap_or_default()),
        };
        *self = Self {
            estimated: sum(self.estimated, other.estimated),
            actual: sum(self.actual, other.actual),
            status: self.status.max(other.status),
            source: if other.source.is_empty() { self.source } else { other.source },
        };
    }
}

/// The cost of a call and the reservations that it releases. Both are recorded in one commit, so that every
/// amount is counted once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bill {
    pub cost: Cost,
    /// The amount charged to budgets; never less than the cost.
    pub charged: Money,
    /// The part of `charged` that may not have been spent.
    pub uncertain: Money,
    /// The row ids of the released reservations.
    pub reservations: Vec<i64>,
}

impl AddAssign for Bill {
    fn add_assign(&mut self, other: Self) {
        self.cost += other.cost;
        self.charged += other.charged;
        self.uncertain += other.uncertain;
        self.reservations.extend(other.reservations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_parse_exactly_and_round_up() {
        for (text, want) in [
            ("5", Some(5 * DOLLAR)),
            (" 0.25 ", Some(DOLLAR / 4)),
            (".5", Some(DOLLAR / 2)),
            ("3.", Some(3 * DOLLAR)),
            ("0.000003", Some(3_000_000)),
            ("0.0000000375", Some(37_500)),
            ("3.75e-8", Some(37_500)),
            ("3E-6", Some(3_000_000)),
            ("1.5e2", Some(150 * DOLLAR)),
            ("0.0000000000001", Some(1)),
            ("1e-40", Some(1)),
            ("0", Some(0)),
            ("0e-99", Some(0)),
            ("99999999999", Some(Money::MAX.0)),
            ("1e40", Some(Money::MAX.0)),
            ("", None),
            (".", None),
            ("-1", None),
            ("1,5", None),
            ("1e", None),
            ("1e99999999999", None),
            ("NaN", None),
            ("two", None),
        ] {
            assert_eq!(Money::parse(text).map(Money::units), want, "{text:?}");
        }
    }

    #[test]
    fn small_amounts_have_more_decimals() {
        for (units, want) in [
            (0, "$0.00"),
            (12_345_000_000_000, "$12.35"),
            (DOLLAR / 10, "$0.10"),
            (12_300_000_000, "$0.0123"),
            (37_500, "$0.00000004"),
        ] {
            assert_eq!(Money::from_units(units).to_string(), want);
        }
    }

    #[test]
    fn sum_has_least_certain_status_of_its_parts() {
        use CostStatus::*;
        let cost = |status, units: Option<u64>| Cost {
            estimated: units.map(Money::from_units),
            actual: None,
            status,
            source: "",
        };
        for (parts, status, estimated) in [
            (vec![cost(Estimated, Some(1)), cost(Estimated, Some(2))], Estimated, Some(3)),
            (vec![cost(Estimated, Some(1)), cost(Unknown, None)], Unknown, Some(1)),
            (vec![cost(Included, None), cost(Included, None)], Included, None),
            (vec![cost(Included, None), cost(Estimated, Some(1))], Estimated, Some(1)),
        ] {
            let mut parts = parts.into_iter();
            let mut sum = parts.next().unwrap();
            parts.for_each(|part| sum += part);
            assert_eq!((sum.status, sum.estimated.map(Money::units)), (status, estimated));
        }
    }
}

//! Prices of tokens.

use super::FactSource;
use hermes_conversation::{Cost, CostStatus, Money, Usage};
use hermes_wire::Bound;

/// The price of one token of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prices {
    pub input: Money,
    pub output: Money,
    pub cache_read: Option<Money>,
    pub cache_write: Option<Money>,
}

impl Prices {
    /// Returns the cost of a usage; `None` if a price is missing.
    fn of(&self, usage: &Usage) -> Option<Money> {
        let kind = |price: Option<Money>, count: u64| match count {
            0 => Some(Money::ZERO),
            count => Some(price?.times(count)),
        };
        let cached = kind(self.cache_read, usage.cache_read)? + kind(self.cache_write, usage.cache_write)?;
        Some(self.input.times(usage.input) + self.output.times(usage.output) + cached)
    }

    /// Returns the cost of a usage at the highest reading of these prices.
    fn at_most(&self, usage: &Usage) -> Money {
        let dearest = self.highest_input_price();
        self.input.times(usage.input)
            + self.output.times(usage.output)
            + self.cache_read.unwrap_or(dearest).times(usage.cache_read)
            + self.cache_write.unwrap_or(dearest).times(usage.cache_write)
    }

    /// Returns the highest price of a token of the request.
    fn highest_input_price(&self) -> Money {
        [Some(self.input), self.cache_read, self.cache_write].into_iter().flatten().max().unwrap_or_default()
    }

    /// Returns the prices with a cache of one hour, where writing costs twice the input.
    pub fn for_long_cache(self) -> Self {
        Self { cache_write: self.cache_write.map(|price| price.max(self.input.times(2))), ..self }
    }
}

/// The way calls of a model are paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tariff {
    /// By a subscription.
    Included,
    Prices(Prices, FactSource),
    Unknown,
}

impl Tariff {
    /// Returns the most that a call with so many tokens can cost.
    pub fn bound(&self, input: u64, output: u64) -> Bound {
        match self {
            Self::Included => Bound::AtMost(Money::ZERO),
            Self::Prices(prices, _) => {
                Bound::AtMost(prices.highest_input_price().times(input) + prices.output.times(output))
            }
            Self::Unknown => Bound::Unknown,
        }
    }

    /// Returns the cost of a call, as far as it is known. `billed` is the provider's own amount.
    pub fn cost(&self, usage: Option<&Usage>, billed: Option<Money>) -> Cost {
        let (estimated, source) = match (self, usage) {
            (Self::Included, _) => {
                return Cost { status: CostStatus::Included, source: "none", ..Cost::default() };
            }
            (Self::Prices(prices, source), Some(usage)) => (prices.of(usage), source.cost_source()),
            (Self::Prices(..), None) | (Self::Unknown, _) => (None, "none"),
        };
        let (status, source) = match (billed, estimated) {
            (Some(_), _) => (CostStatus::Actual, "provider_cost_api"),
            (None, Some(_)) => (CostStatus::Estimated, source),
            (None, None) => (CostStatus::Unknown, "none"),
        };
        Cost { estimated, actual: billed, status, source }
    }

    /// Returns the amount of a call that counts against budgets.
    pub fn charged(&self, usage: Option<&Usage>, cost: &Cost) -> Money {
        let guessed = || match (self, usage) {
            (Self::Prices(prices, _), Some(usage)) => prices.at_most(usage),
            _ => Money::ZERO,
        };
        cost.known().unwrap_or_else(guessed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::per_million;
    use super::*;

    fn prices(cache_read: Option<&str>, cache_write: Option<&str>) -> Prices {
        let price = |text: &str| per_million(text).unwrap();
        Prices {
            input: price("3"),
            output: price("15"),
            cache_read: cache_read.map(price),
            cache_write: cache_write.map(price),
        }
    }

    fn usage(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
        Usage { input, output, cache_read, cache_write, reasoning: 0 }
    }

    #[test]
    fn costs_are_exact_or_unknown() {
        let (full, bare) = (prices(Some("0.30"), Some("3.75")), prices(None, None));
        for (prices, usage, want, charged) in [
            (full, usage(1_000, 100, 0, 0), Some("0.0045"), "0.0045"),
            (full, usage(10, 1, 100_000, 7), Some("0.03007125"), "0.03007125"),
            (bare, usage(1_000, 100, 0, 0), Some("0.0045"), "0.0045"),
            // A price is missing: unknown, and for budgets the highest possible amount.
            (bare, usage(0, 0, 1_000, 0), None, "0.003"),
        ] {
            let tariff = Tariff::Prices(prices, FactSource::BuiltIn);
            let cost = tariff.cost(Some(&usage), None);
            assert_eq!(cost.estimated, want.and_then(Money::parse), "{usage:?}");
            assert_eq!(tariff.charged(Some(&usage), &cost), Money::parse(charged).unwrap(), "{usage:?}");
            let status = if want.is_some() { CostStatus::Estimated } else { CostStatus::Unknown };
            assert_eq!(cost.status, status);
        }
    }

    #[test]
    fn cost_stated_by_the_provider_takes_precedence() {
        let tariff = Tariff::Prices(prices(None, None), FactSource::Config);
        let used = usage(1_000, 0, 0, 0);
        let cost = tariff.cost(Some(&used), Money::parse("0.5"));
        assert_eq!((cost.status, cost.source), (CostStatus::Actual, "provider_cost_api"));
        assert_eq!(tariff.charged(Some(&used), &cost), Money::parse("0.5").unwrap());
        let included = Tariff::Included.cost(Some(&used), None);
        assert_eq!((included.status, included.known()), (CostStatus::Included, None));
        assert_eq!(Tariff::Unknown.cost(None, None).status, CostStatus::Unknown);
    }

    #[test]
    fn no_call_costs_more_than_its_bound() {
        for prices in [prices(Some("0.30"), Some("3.75")), prices(None, None), prices(Some("5"), None)] {
            let tariff = Tariff::Prices(prices, FactSource::BuiltIn);
            let Bound::AtMost(bound) = tariff.bound(1_000, 50) else { panic!("there are prices") };
            for used in [
                usage(1_000, 50, 0, 0),
                usage(0, 50, 1_000, 0),
                usage(0, 50, 0, 1_000),
                usage(300, 9, 300, 400),
            ] {
                let cost = tariff.cost(Some(&used), None);
                assert!(tariff.charged(Some(&used), &cost) <= bound, "{prices:?} {used:?}");
            }
        }
        assert_eq!(Tariff::Unknown.bound(1, 1), Bound::Unknown);
        assert_eq!(Tariff::Included.bound(9, 9), Bound::AtMost(Money::ZERO));
    }

    #[test]
    fn an_hour_in_the_cache_costs_twice_the_input() {
        let long = prices(Some("0.30"), Some("3.75")).for_long_cache();
        assert_eq!(long.cache_write, per_million("6"));
        assert_eq!(prices(None, None).for_long_cache().cache_write, None);
    }
}

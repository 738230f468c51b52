//! Facts about a model: context window, output limit, abilities and prices.
//!
//! The sources are the user's settings, the endpoint's own list of models (fetched now or stored), and tables of
//! this build. Each value is taken from the first source that states it, and names that source.

mod cache;
mod listed;
mod prices;

pub use cache::{StoredModels, models_file};
pub use prices::{Prices, Tariff};

use crate::catalogue::{self, model_table};
use hermes_conversation::Money;
use std::fmt;

/// The window of an unknown model.
const DEFAULT_WINDOW: u64 = 256_000;

/// The facts of one source about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stated {
    pub window: Option<u64>,
    pub max_output: Option<u64>,
    pub sees_images: Option<bool>,
    pub uses_tools: Option<bool>,
    pub reasons: Option<bool>,
    pub prices: Option<Prices>,
}

/// The source of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactSource {
    Config,
    /// The endpoint, just now.
    Endpoint,
    /// The endpoint, some time ago.
    Remembered,
    BuiltIn,
    /// No source; a default.
    Default,
}

impl FactSource {
    /// The value of `source` in `--json` output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config.yaml",
            Self::Endpoint => "the endpoint says so",
            Self::Remembered => "the endpoint said so earlier",
            Self::BuiltIn => "built-in table",
            Self::Default => "nobody knows; a default",
        }
    }

    /// The value for the source of a price in the shared columns.
    pub(crate) fn cost_source(self) -> &'static str {
        match self {
            Self::Config => "user_override",
            Self::Endpoint | Self::Remembered => "provider_models_api",
            Self::BuiltIn => "official_docs_snapshot",
            Self::Default => "none",
        }
    }
}

/// The source for display.
impl fmt::Display for FactSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Config => "config.yaml",
            Self::Endpoint => "stated by the endpoint",
            Self::Remembered => "stated by the endpoint earlier",
            Self::BuiltIn => "built-in table",
            Self::Default => "unknown; default",
        })
    }
}

/// A value and its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact<T> {
    pub value: T,
    pub source: FactSource,
}

/// The facts about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelFacts {
    pub window: Fact<u64>,
    pub max_output: Option<Fact<u64>>,
    pub sees_images: Option<Fact<bool>>,
    pub uses_tools: Option<Fact<bool>>,
    pub reasons: Option<Fact<bool>>,
    pub prices: Option<Fact<Prices>>,
}

/// The facts that an endpoint states, and their source.
pub type EndpointFacts = (Stated, FactSource);

/// Combines the facts of all sources. `provider` is a row of the catalogue: prices depend on who serves a model.
pub fn facts(provider: &str, model: &str, config: Stated, heard: Option<EndpointFacts>) -> ModelFacts {
    let sources = [
        Some((config, FactSource::Config)),
        heard,
        Some((model_table::stated(provider, model), FactSource::BuiltIn)),
    ];
    fn first<T>(sources: &[Option<EndpointFacts>], get: impl Fn(&Stated) -> Option<T>) -> Option<Fact<T>> {
        let mut stated = sources.iter().flatten();
        stated.find_map(|(stated, source)| Some(Fact { value: get(stated)?, source: *source }))
    }
    let unknown = Fact { value: DEFAULT_WINDOW, source: FactSource::Default };
    ModelFacts {
        window: first(&sources, |stated| stated.window).unwrap_or(unknown),
        max_output: first(&sources, |stated| stated.max_output),
        sees_images: first(&sources, |stated| stated.sees_images),
        uses_tools: first(&sources, |stated| stated.uses_tools),
        reasons: first(&sources, |stated| stated.reasons),
        prices: first(&sources, |stated| stated.prices),
    }
}

impl ModelFacts {
    /// Returns how its calls are paid for.
    pub fn tariff(&self, provider: &str) -> Tariff {
        let row = catalogue::find(provider);
        match self.prices {
            _ if row.is_some_and(|row| row.quirks.is_subscription) => Tariff::Included,
            Some(Fact { value, source }) => Tariff::Prices(value, source),
            None => Tariff::Unknown,
        }
    }

    /// Returns the largest reply in tokens if the request sets no limit: it must fit the window.
    pub fn longest_reply(&self) -> u64 {
        self.max_output.map_or(self.window.value, |most| most.value)
    }
}

/// Returns the price of a token, from dollars for a million of them.
pub fn per_million(text: &str) -> Option<Money> {
    Money::parse(text).map(per_token)
}

/// Returns the price of a token, from that of a million.
pub fn per_token(million: Money) -> Money {
    Money::from_units(million.units().div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_comes_from_the_first_source_that_states_it() {
        let config = Stated { window: Some(9_000), ..Stated::default() };
        let said = Stated { window: Some(8_000), max_output: Some(500), ..Stated::default() };
        let heard = Some((said, FactSource::Remembered));
        let known = facts("anthropic", "claude-opus-4-8", config, heard);
        assert_eq!(known.window, Fact { value: 9_000, source: FactSource::Config });
        assert_eq!(known.max_output, Some(Fact { value: 500, source: FactSource::Remembered }));
        assert_eq!(known.prices.unwrap().source, FactSource::BuiltIn);
        let unknown = facts("custom", "nobody-knows-it", Stated::default(), None);
        assert_eq!(unknown.window, Fact { value: 256_000, source: FactSource::Default });
        assert_eq!((unknown.prices, unknown.tariff("custom")), (None, Tariff::Unknown));
        assert_eq!(unknown.longest_reply(), 256_000);
    }

    #[test]
    fn a_subscription_pays_whatever_the_price() {
        let known = facts("openai-codex", "gpt-4.1", Stated::default(), None);
        assert_eq!(known.tariff("openai-codex"), Tariff::Included);
    }
}

//! The models that endpoints listed, stored in one file per endpoint.

use super::{Prices, Stated};
use crate::ListedModel;
use hermes_conversation::Money;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The models that one endpoint listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredModels {
    /// The origin; a file with another one is ignored.
    pub origin: String,
    /// Seconds since 1970.
    pub fetched_at: f64,
    models: BTreeMap<String, StoredModel>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct StoredModel {
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sees_images: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uses_tools: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<bool>,
    /// Input, output, cache read, cache write: for one token, in units of 1e-12 dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    prices: Option<(u64, u64, Option<u64>, Option<u64>)>,
}

impl StoredModels {
    pub fn of(origin: String, fetched_at: f64, models: &[ListedModel]) -> Self {
        let models =
            models.iter().map(|model| (model.id.clone(), StoredModel::from(&model.stated))).collect();
        Self { origin, fetched_at, models }
    }

    /// Parses the file of an endpoint; `None` if it is another's or invalid.
    pub fn read(bytes: &[u8], origin: &str) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(|kept: &Self| kept.origin == origin)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // Writing these types into memory cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn find(&self, model: &str) -> Option<Stated> {
        self.models.get(model).map(Stated::from)
    }
}

/// The name of an endpoint's file.
pub fn models_file(origin: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    format!("{}.json", origin.replace("://", "_").chars().map(plain).collect::<String>())
}

impl From<&Stated> for StoredModel {
    fn from(stated: &Stated) -> Self {
        let units = |price: Option<Money>| price.map(Money::units);
        Self {
            window: stated.window,
            max_output: stated.max_output,
            sees_images: stated.sees_images,
            uses_tools: stated.uses_tools,
            reasons: stated.reasons,
            prices: stated.prices.map(|prices| {
                let Prices { input, output, cache_read, cache_write } = prices;
                (input.units(), output.units(), units(cache_read), units(cache_write))
            }),
        }
    }
}

impl From<&StoredModel> for Stated {
    fn from(kept: &StoredModel) -> Self {
        Self {
            window: kept.window,
            max_output: kept.max_output,
            sees_images: kept.sees_images,
            uses_tools: kept.uses_tools,
            reasons: kept.reasons,
            prices: kept.prices.map(|(input, output, cache_read, cache_write)| Prices {
                input: Money::from_units(input),
                output: Money::from_units(output),
                cache_read: cache_read.map(Money::from_units),
                cache_write: cache_write.map(Money::from_units),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::per_million;

    #[test]
    fn stored_models_are_found_under_their_origin_only() {
        let price = |text| per_million(text).unwrap();
        let prices = Prices {
            input: price("3"),
            output: price("15"),
            cache_read: Some(price("0.3")),
            cache_write: None,
        };
        let stated = Stated {
            window: Some(200_000),
            sees_images: Some(false),
            prices: Some(prices),
            ..Stated::default()
        };
        let origin = "https://openrouter.ai";
        let kept = StoredModels::of(origin.into(), 7.5, &[ListedModel { id: "a/b".into(), stated }]);
        let bytes = kept.to_bytes();
        let again = StoredModels::read(&bytes, origin).unwrap();
        assert_eq!((again.find("a/b"), again.find("b"), again.fetched_at), (Some(stated), None, 7.5));
        assert_eq!(StoredModels::read(&bytes, "https://elsewhere.example"), None);
        assert_eq!(StoredModels::read(b"{", origin), None);
    }

    #[test]
    fn files_are_named_after_their_endpoint() {
        assert_eq!(models_file("https://openrouter.ai"), "https_openrouter.ai.json");
        assert_eq!(models_file("http://127.0.0.1:8080"), "http_127.0.0.1_8080.json");
        assert_eq!(models_file("http://[::1]:8080"), "http____1__8080.json");
    }
}

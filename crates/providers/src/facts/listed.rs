//! Parsing of a row in an endpoint's list of models. Endpoints use different names for the same values.

use super::{Prices, Stated, per_million};
use hermes_conversation::Money;
use serde_json::Value;

/// Names of the window in the lists of different servers.
const WINDOW: [&str; 12] = [
    "context_length",
    "context_window",
    "context_size",
    "max_context_length",
    "max_position_embeddings",
    "max_model_len",
    "max_input_tokens",
    "max_sequence_length",
    "max_seq_len",
    "n_ctx_train",
    "n_ctx",
    "ctx_size",
];

const MAX_OUTPUT: [&str; 4] = ["max_completion_tokens", "max_output_tokens", "max_output", "max_tokens"];

impl Stated {
    /// Returns the facts of a row, without implausible values.
    pub fn in_row(row: &Value) -> Self {
        let nested = row.get("top_provider");
        let number = |names: &[&str]| {
            let places = [Some(row), nested];
            let mut found =
                places.into_iter().flatten().flat_map(|place| names.iter().map(move |name| &place[*name]));
            found.find_map(Value::as_u64)
        };
        Self {
            window: number(&WINDOW).filter(|tokens| (1_024..=10_000_000).contains(tokens)),
            max_output: number(&MAX_OUTPUT).filter(|tokens| (1..=10_000_000).contains(tokens)),
            sees_images: lists(&row["architecture"]["input_modalities"], "image")
                .or_else(|| lists(&row["input_modalities"], "image")),
            uses_tools: lists(&row["supported_parameters"], "tools")
                .or_else(|| lists(&row["tags"], "tool-use")),
            reasons: lists(&row["supported_parameters"], "reasoning"),
            prices: prices(row),
        }
    }
}

/// Returns true if a list has an element; `None` without a list.
fn lists(list: &Value, word: &str) -> Option<bool> {
    Some(list.as_array()?.iter().any(|entry| entry == word))
}

fn prices(row: &Value) -> Option<Prices> {
    by_token(&row["pricing"])
        .or_else(|| by_million(&row["metadata"]["pricing"]))
        .or_else(|| by_ten_thousandth(row))
}

/// Dollars for one token, usually as text: `{"prompt": "0.000003", "completion": "0.000015"}`.
fn by_token(pricing: &Value) -> Option<Prices> {
    let price = |names: &[&str]| names.iter().find_map(|name| Money::parse(&digits(&pricing[*name])?));
    Some(Prices {
        input: price(&["prompt", "input"])?,
        output: price(&["completion", "output"])?,
        cache_read: price(&["input_cache_read", "cached_prompt", "cache_read"]),
        cache_write: price(&["input_cache_write", "cache_creation", "cache_write"]),
    })
}

/// Dollars for a million tokens.
fn by_million(pricing: &Value) -> Option<Prices> {
    let price = |name: &str| per_million(&digits(&pricing[name])?);
    Some(Prices {
        input: price("input_tokens")?,
        output: price("output_tokens")?,
        cache_read: price("cache_read_tokens"),
        cache_write: price("cache_write_tokens"),
    })
}

/// Ten-thousandths of a dollar for a million tokens, as whole numbers.
fn by_ten_thousandth(row: &Value) -> Option<Prices> {
    let price = |name: &str| Some(Money::from_units(row[name].as_u64()?.saturating_mul(100)));
    Some(Prices {
        input: price("input_token_price_per_m")?,
        output: price("output_token_price_per_m")?,
        cache_read: None,
        cache_write: None,
    })
}

fn digits(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn windows_have_many_names_and_must_be_believable() {
        for (row, want) in [
            (json!({"context_length": 4096}), Some(4096)),
            (json!({"max_model_len": 32_768}), Some(32_768)),
            (json!({"context_window": 0}), None),
            (json!({"context_window": 99_000_000}), None),
            (json!({"context_length": "big"}), None),
            (json!({"top_provider": {"context_length": 8192}}), Some(8192)),
        ] {
            assert_eq!(Stated::in_row(&row).window, want, "{row}");
        }
    }

    #[test]
    fn prices_are_read_in_every_spelling() {
        // Units of one token: dollars for a million tokens are units of a million.
        for (row, want) in [
            (
                json!({"pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003",
                    "input_cache_write": "0.00000375"}}),
                Some((3_000_000, 15_000_000, Some(300_000), Some(3_750_000))),
            ),
            (json!({"pricing": {"input": 1e-6, "output": 2e-6}}), Some((1_000_000, 2_000_000, None, None))),
            (json!({"pricing": {"prompt": "0", "completion": "0"}}), Some((0, 0, None, None))),
            (json!({"pricing": {"prompt": "-1", "completion": "-1"}}), None),
            (json!({"pricing": {"prompt": "0.1"}}), None),
            (
                json!({"metadata": {"pricing": {"input_tokens": 0.14, "output_tokens": 0.28, "cache_read_tokens": 0.0028}}}),
                Some((140_000, 280_000, Some(2_800), None)),
            ),
            (
                json!({"input_token_price_per_m": 2700, "output_token_price_per_m": 11_000}),
                Some((270_000, 1_100_000, None, None)),
            ),
            (json!({"id": "m"}), None),
        ] {
            let got = Stated::in_row(&row).prices.map(|prices| {
                let units = |price: Option<Money>| price.map(Money::units);
                (
                    prices.input.units(),
                    prices.output.units(),
                    units(prices.cache_read),
                    units(prices.cache_write),
                )
            });
            assert_eq!(got, want, "{row}");
        }
    }

    #[test]
    fn abilities_are_known_only_where_they_are_listed() {
        let row = json!({"architecture": {"input_modalities": ["text", "image"]},
            "supported_parameters": ["tools", "temperature"], "top_provider": {"max_completion_tokens": 4096}});
        let stated = Stated::in_row(&row);
        assert_eq!(
            (stated.sees_images, stated.uses_tools, stated.reasons),
            (Some(true), Some(true), Some(false))
        );
        assert_eq!(stated.max_output, Some(4096));
        assert_eq!(Stated::in_row(&json!({"id": "m"})), Stated::default());
    }
}

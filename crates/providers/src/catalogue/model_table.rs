//! Facts about models by their names. Prices are those of the makers' own price lists; resellers have their own
//! prices.

use super::find;
use crate::facts::{Prices, Stated, per_million};
use hermes_conversation::{ModelName, max_output};

/// Parts of model names, dots as dashes, and the windows of such models. The longest match is used.
const WINDOWS: &[(&str, u64)] = &[
    ("claude", 200_000),
    ("claude-fable", 1_000_000),
    ("claude-sonnet-5", 1_000_000),
    ("claude-opus-4-8", 1_000_000),
    ("claude-opus-4-7", 1_000_000),
    ("claude-opus-4-6", 1_000_000),
    ("claude-sonnet-4-6", 1_000_000),
    ("gpt-4", 128_000),
    ("gpt-4-1", 1_047_576),
    ("gpt-5", 400_000),
    ("gpt-5-1-chat", 128_000),
    ("gpt-5-3-codex-spark", 128_000),
    ("gpt-5-4", 1_050_000),
    ("gpt-5-4-mini", 400_000),
    ("gpt-5-4-nano", 400_000),
    ("gpt-5-5", 1_050_000),
    ("gpt-5-6", 1_050_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    ("gemini", 1_048_576),
    ("gemma", 8_192),
    ("gemma-3", 131_072),
    ("gemma-4", 256_000),
    ("gemma4", 256_000),
    ("deepseek", 128_000),
    ("deepseek-chat", 1_000_000),
    ("deepseek-reasoner", 1_000_000),
    ("deepseek-v4", 1_000_000),
    ("deepseek-v3-2", 65_536),
    ("qwen", 131_072),
    ("qwen3-coder", 262_144),
    ("qwen3-coder-plus", 1_000_000),
    ("qwen3-max", 262_144),
    ("qwen3-6-plus", 1_048_576),
    ("qwen3-7-plus", 1_048_576),
    ("glm", 202_752),
    ("glm-5-2", 1_048_576),
    ("kimi", 262_144),
    ("kimi-k3", 1_048_576),
    ("minimax", 204_800),
    ("minimax-m3", 1_000_000),
    ("grok", 131_072),
    ("grok-2-vision", 8_192),
    ("grok-4", 256_000),
    ("grok-4-fast", 2_000_000),
    ("grok-4-20", 2_000_000),
    ("grok-4-3", 1_000_000),
    ("grok-4-5", 500_000),
    ("grok-code-fast", 256_000),
    ("llama", 131_072),
    ("nemotron", 131_072),
    ("trinity", 262_144),
    ("mimo-v2-5", 1_048_576),
    ("mimo-v2-pro", 1_048_576),
    ("mimo-v2-flash", 262_144),
    ("mimo-v2-omni", 262_144),
];

/// A row of a price list: provider, model, and dollars for a million tokens in, out, read from the
/// cache and written to it.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

/// Price lists of the makers, as they were in the middle of 2026.
const PRICES: &[Row] = &[
    ("anthropic", "claude-opus-4-8", "5", "25", "0.50", "6.25"),
    ("anthropic", "claude-opus-4-8-fast", "10", "50", "1", "12.50"),
    ("anthropic", "claude-opus-4-7", "5", "25", "0.50", "6.25"),
    ("anthropic", "claude-opus-4-6", "5", "25", "0.50", "6.25"),
    ("anthropic", "claude-opus-4-5", "5", "25", "0.50", "6.25"),
    ("anthropic", "claude-opus-4", "15", "75", "1.50", "18.75"),
    ("anthropic", "claude-sonnet-5", "2", "10", "0.20", "2.50"),
    ("anthropic", "claude-sonnet-4", "3", "15", "0.30", "3.75"),
    ("anthropic", "claude-haiku-4-5", "1", "5", "0.10", "1.25"),
    ("anthropic", "claude-3-7-sonnet", "3", "15", "0.30", "3.75"),
    ("anthropic", "claude-3-5-sonnet", "3", "15", "0.30", "3.75"),
    ("anthropic", "claude-3-5-haiku", "0.80", "4", "0.08", "1"),
    ("anthropic", "claude-3-opus", "15", "75", "1.50", "18.75"),
    ("anthropic", "claude-3-haiku", "0.25", "1.25", "0.03", "0.30"),
    ("openai-api", "gpt-5-6-sol", "5", "30", "0.50", "6.25"),
    ("openai-api", "gpt-5-6-terra", "2.50", "15", "0.25", "3.125"),
    ("openai-api", "gpt-5-6-luna", "1", "6", "0.10", "1.25"),
    ("openai-api", "gpt-4o", "2.50", "10", "1.25", ""),
    ("openai-api", "gpt-4o-mini", "0.15", "0.60", "0.075", ""),
    ("openai-api", "gpt-4-1", "2", "8", "0.50", ""),
    ("openai-api", "gpt-4-1-mini", "0.40", "1.60", "0.10", ""),
    ("openai-api", "gpt-4-1-nano", "0.10", "0.40", "0.025", ""),
    ("openai-api", "o3", "10", "40", "2.50", ""),
    ("openai-api", "o3-mini", "1.10", "4.40", "0.55", ""),
    ("deepseek", "deepseek-chat", "0.14", "0.28", "0.0028", ""),
    ("deepseek", "deepseek-reasoner", "0.14", "0.28", "0.0028", ""),
    ("deepseek", "deepseek-v4-flash", "0.14", "0.28", "0.0028", ""),
    ("deepseek", "deepseek-v4-pro", "0.435", "0.87", "0.003625", ""),
    ("gemini", "gemini-2-5-pro", "1.25", "10", "", ""),
    ("gemini", "gemini-2-5-flash", "0.15", "0.60", "", ""),
    ("gemini", "gemini-2-0-flash", "0.10", "0.40", "", ""),
    ("minimax", "minimax-m2-7", "0.30", "1.20", "", ""),
    ("minimax-cn", "minimax-m2-7", "0.30", "1.20", "", ""),
    ("fireworks", "kimi-k2p6", "0.95", "4", "0.16", ""),
    ("fireworks", "kimi-k2p6-fast", "2", "8", "0.30", ""),
    ("fireworks", "kimi-k2p6-turbo", "2", "8", "0.30", ""),
    ("fireworks", "kimi-k2p7-code", "0.95", "4", "0.19", ""),
    ("fireworks", "kimi-k2p7-code-fast", "1.90", "8", "0.38", ""),
    ("fireworks", "glm-5p1", "1.40", "4.40", "0.26", ""),
    ("fireworks", "glm-5p1-fast", "2.80", "8.80", "0.52", ""),
    ("fireworks", "glm-5p2", "1.40", "4.40", "0.14", ""),
    ("fireworks", "glm-5p2-fast", "2.10", "6.60", "0.21", ""),
    ("fireworks", "deepseek-v4-pro", "1.74", "3.48", "0.145", ""),
    ("fireworks", "deepseek-v4-flash", "0.14", "0.28", "0.028", ""),
    ("fireworks", "qwen3p7-plus", "0.40", "1.60", "0.08", ""),
    ("fireworks", "minimax-m2p7", "0.30", "1.20", "0.06", ""),
    ("fireworks", "minimax-m3", "0.30", "1.20", "0.06", ""),
    ("fireworks", "gpt-oss-120b", "0.15", "0.60", "0.015", ""),
    ("fireworks", "gpt-oss-20b", "0.07", "0.30", "0.035", ""),
];

/// The entries of both tables for a model.
pub(crate) fn stated(provider: &str, model: &str) -> Stated {
    let name = model.to_ascii_lowercase().replace('.', "-");
    let window = longest(WINDOWS.iter(), |(part, _)| name.contains(part).then_some(part.len()));
    let window = window.map(|(_, window)| *window);
    let cap = find(provider).and_then(|row| row.quirks.window_cap);
    let is_claude = ModelName::of(model).is_claude();
    Stated {
        window: window.map(|window| window.min(cap.unwrap_or(u64::MAX))),
        max_output: is_claude.then(|| max_output(&name)),
        sees_images: is_claude.then_some(true),
        prices: prices(provider, &name),
        ..Stated::default()
    }
}

/// Returns true if a name is a model's name, alone or followed by a date.
fn prices(provider: &str, name: &str) -> Option<Prices> {
    let name = name.rsplit('/').next().unwrap_or_default();
    let rows = PRICES.iter().filter(|row| row.0 == provider);
    let (_, _, input, output, read, write) = longest(rows, |row| {
        let rest = name.strip_prefix(row.1)?;
        let is_it = rest.is_empty() || is_version(rest);
        is_it.then_some(row.1.len())
    })?;
    Some(Prices {
        input: per_million(input)?,
        output: per_million(output)?,
        cache_read: per_million(read),
        cache_write: per_million(write),
    })
}

/// Returns true for `-20251101`, `-latest`, `-5`, `-2024-08-06`: another date or number, not another model.
fn is_version(rest: &str) -> bool {
    let words = rest.strip_prefix('-').or_else(|| rest.strip_prefix('@')).unwrap_or("x").split('-');
    words
        .into_iter()
        .all(|word| word == "latest" || (!word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())))
}

fn longest<'a, T>(rows: impl Iterator<Item = &'a T>, fit: impl Fn(&T) -> Option<usize>) -> Option<&'a T> {
    rows.filter_map(|row| Some((fit(row)?, row))).max_by_key(|(length, _)| *length).map(|(_, row)| row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_readable_and_listed_once() {
        for (at, row) in PRICES.iter().enumerate() {
            assert!(per_million(row.2).is_some() && per_million(row.3).is_some(), "{row:?}");
            assert!(PRICES[..at].iter().all(|other| (other.0, other.1) != (row.0, row.1)), "{row:?} twice");
            for price in [row.4, row.5] {
                assert!(price.is_empty() || per_million(price).is_some(), "{row:?}");
            }
            assert!(crate::find_provider(row.0).is_some_and(|found| found.id == row.0), "{row:?}");
        }
    }

    #[test]
    fn prices_belong_to_one_provider_and_one_model() {
        for (provider, model, input) in [
            ("anthropic", "claude-opus-4-8", Some("5")),
            ("anthropic", "claude-opus-4.8", Some("5")),
            ("anthropic", "claude-opus-4-8-fast", Some("10")),
            ("anthropic", "claude-opus-4-5-20251101", Some("5")),
            ("anthropic", "claude-opus-4-1-20250805", Some("15")),
            ("anthropic", "claude-sonnet-4-5", Some("3")),
            ("anthropic", "claude-3-5-haiku-latest", Some("0.80")),
            ("anthropic", "claude-unheard-of", None),
            ("openrouter", "anthropic/claude-opus-4.8", None),
            ("openai-api", "gpt-4o-mini", Some("0.15")),
            ("openai-api", "gpt-4o-2024-08-06", Some("2.50")),
            ("openai-api", "gpt-4o-audio-preview", None),
            ("fireworks", "accounts/fireworks/models/glm-5p2", Some("1.40")),
        ] {
            let got = stated(provider, model).prices.map(|prices| prices.input);
            assert_eq!(got, input.and_then(per_million), "{provider} {model}");
        }
    }

    #[test]
    fn windows_go_by_the_longest_part_that_fits() {
        for (provider, model, want) in [
            ("anthropic", "claude-haiku-4-5", Some(200_000)),
            ("openrouter", "anthropic/claude-opus-4.8", Some(1_000_000)),
            ("openai-api", "gpt-5.4-mini", Some(400_000)),
            ("openai-api", "gpt-5.4", Some(1_050_000)),
            ("openai-codex", "gpt-5.6-sol", Some(272_000)),
            ("openai-codex", "gpt-5.3-codex-spark", Some(128_000)),
            ("custom", "gemma3:27b", Some(8_192)),
            ("custom", "my-own", None),
        ] {
            assert_eq!(stated(provider, model).window, want, "{provider} {model}");
        }
    }
}

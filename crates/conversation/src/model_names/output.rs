//! Output limits of models; the Messages format requires a number.

/// The limit of models without a row.
const DEFAULT: u64 = 128_000;

/// Parts of model names, with dashes for dots, and the output limits in tokens.
const LIMITS: &[(&str, u64)] = &[
    ("fable", 128_000),
    ("sonnet-5", 128_000),
    ("opus-4-8", 128_000),
    ("opus-4-7", 128_000),
    ("opus-4-6", 128_000),
    ("opus-4-5", 64_000),
    ("opus-4", 32_000),
    ("sonnet-4", 64_000),
    ("haiku-4-5", 64_000),
    ("claude-3-7-sonnet", 128_000),
    ("claude-3-5", 8_192),
    ("claude-3", 4_096),
    ("minimax", 131_072),
    ("qwen3", 65_536),
];

/// The output limit of a model, by the longest known part of its name.
pub fn max_output(model: &str) -> u64 {
    limit(&plain(model)).unwrap_or(DEFAULT)
}

/// The output limits of model families that routers serve in another format, if known: without a number such a
/// server uses a default of a few thousand tokens.
pub fn listed_output(model: &str) -> Option<u64> {
    let model = plain(model);
    let is_family = ["claude", "minimax", "qwen3"].iter().any(|family| model.contains(family));
    limit(&model).filter(|_| is_family)
}

fn plain(model: &str) -> String {
    model.to_ascii_lowercase().replace('.', "-")
}

fn limit(model: &str) -> Option<u64> {
    let known = LIMITS.iter().filter(|(part, _)| model.contains(part));
    known.max_by_key(|(part, _)| part.len()).map(|(_, limit)| *limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_known_part_decides() {
        for (model, want) in [
            ("claude-opus-4-8", 128_000),
            ("anthropic/claude-opus-4.6", 128_000),
            ("claude-opus-4-5-20251101", 64_000),
            ("claude-opus-4-1", 32_000),
            ("claude-sonnet-4-5", 64_000),
            ("claude-sonnet-5", 128_000),
            ("claude-haiku-4-5", 64_000),
            ("claude-3-7-sonnet-20250219", 128_000),
            ("claude-3-5-haiku-20241022", 8_192),
            ("claude-3-opus-20240229", 4_096),
            ("MiniMax-M2", 131_072),
            ("qwen3-coder", 65_536),
            ("something-else", 128_000),
        ] {
            assert_eq!(max_output(model), want, "{model}");
        }
    }
}

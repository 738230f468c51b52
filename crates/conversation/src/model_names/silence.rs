//! Models that think for a long time before their first output.

/// Parts of model names, with dashes for dots, and the seconds for which such a model may be silent.
const THINKERS: &[(&str, u64)] = &[
    ("nemotron-3-ultra", 600),
    ("nemotron-3-super", 600),
    ("nemotron-3-nano", 300),
    ("deepseek-r1", 600),
    ("deepseek-reasoner", 600),
    ("deepseek-v4-flash", 600),
    ("deepseek-v4-pro", 600),
    ("qwq-32b", 300),
    ("qwen3", 180),
    ("o1", 600),
    ("o3", 600),
    ("o3-mini", 300),
    ("o4-mini", 300),
    ("claude-opus-4", 240),
    ("claude-sonnet-5", 180),
    ("claude-sonnet-4-5", 180),
    ("claude-sonnet-4-6", 180),
    ("grok-4-fast-reasoning", 300),
    ("grok-4-20-reasoning", 300),
    ("grok-4-5", 300),
    ("grok-4-fast-non-reasoning", 180),
];

/// The seconds for which a model may be silent; `None` for all other models.
pub fn silent_thinking(model: &str) -> Option<u64> {
    let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase().replace('.', "-");
    let fits = THINKERS.iter().filter(|(part, _)| begins_with_word(&name, part));
    fits.max_by_key(|(part, _)| part.len()).map(|(_, seconds)| *seconds)
}

/// Matches whole parts of a name: `o1` matches `o1-mini` but not `o100`, and `qwen3` matches `qwen3:8b` and
/// `qwen3-coder`.
fn begins_with_word(name: &str, part: &str) -> bool {
    let rest = name.strip_prefix(part);
    rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_models_are_recognised_by_the_start_of_their_name() {
        for (model, want) in [
            ("nvidia/nemotron-3-ultra-550b-a55b", Some(600)),
            ("openai/o3-mini", Some(300)),
            ("o3", Some(600)),
            ("o1-preview", Some(600)),
            ("o100", None),
            ("olmo-1", None),
            ("deepseek/deepseek-r1", Some(600)),
            ("anthropic/claude-opus-4.6", Some(240)),
            ("claude-sonnet-4-5-20250929", Some(180)),
            ("qwen3:8b", Some(180)),
            ("x-ai/grok-4-fast-reasoning", Some(300)),
            ("x-ai/grok-4-fast-non-reasoning", Some(180)),
            ("gpt-4o", None),
            ("", None),
        ] {
            assert_eq!(silent_thinking(model), want, "{model}");
        }
    }
}

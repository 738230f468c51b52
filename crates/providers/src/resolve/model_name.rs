//! `provider:model`: a model's name with its provider as a prefix.

use crate::catalogue::{self, Provider, custom, custom_label, is_custom_id};
use crate::custom::CustomProvider;

/// The names that a prefix is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefixes {
    /// Ids and aliases of providers.
    All,
    /// No aliases: at a server whose models have tags, `solar:10.7b` is a model and not one of Upstage, whose alias is
    /// `solar`.
    Ids,
}

impl Prefixes {
    /// Returns the names for a session that uses this provider.
    pub fn beside(provider: Option<&Provider>) -> Self {
        match provider.is_some_and(|provider| provider.quirks.tags_models) {
            true => Self::Ids,
            false => Self::All,
        }
    }
}

/// Splits `provider:model`, `NAME:model` and `custom:NAME:model`; `None` if no provider is named.
///
/// The provider is returned as it is written in settings: an id, or `custom:NAME` for an endpoint.
pub fn split_provider(
    text: &str,
    entries: &[CustomProvider],
    prefixes: Prefixes,
) -> Option<(String, String)> {
    let (prefix, model) = text.trim().split_once(':')?;
    let (prefix, model) = (prefix.trim(), model.trim());
    if prefix.is_empty() || model.is_empty() {
        return None;
    }
    let entry = |name: &str| {
        let plain = CustomProvider::plain_name(name);
        entries.iter().find(|entry| entry.name == plain).map(|entry| custom_label(&entry.name))
    };
    if is_custom_id(prefix) {
        let named = model.split_once(':').filter(|(_, model)| !model.trim().is_empty());
        return match named.and_then(|(name, model)| Some((entry(name)?, model.trim().to_owned()))) {
            Some(found) => Some(found),
            None => entry(model).is_none().then(|| (custom().id.to_owned(), model.to_owned())),
        };
    }
    let provider = catalogue::find(prefix).filter(|provider| {
        // Names such as `ollama` or `vllm` stand for custom servers only.
        prefixes == Prefixes::All || provider.is_custom() || prefix.eq_ignore_ascii_case(provider.id)
    });
    let label = match provider {
        Some(provider) if provider.is_custom() => entry(prefix).unwrap_or_else(|| provider.id.to_owned()),
        Some(provider) => provider.id.to_owned(),
        None => entry(prefix)?,
    };
    Some((label, model.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_provider_prefix_is_split_off() {
        let entries = [CustomProvider { name: "box".into(), ..CustomProvider::default() }];
        for (text, all, ids) in [
            ("openrouter:anthropic/claude-x", Some(("openrouter", "anthropic/claude-x")), true),
            ("OR:vendor/m", Some(("openrouter", "vendor/m")), false),
            ("solar:10.7b", Some(("upstage", "10.7b")), false),
            ("deepseek: deepseek-chat", Some(("deepseek", "deepseek-chat")), true),
            ("ollama:qwen3:7b", Some(("custom", "qwen3:7b")), true),
            ("custom:qwen3:7b", Some(("custom", "qwen3:7b")), true),
            ("custom:box:qwen3:7b", Some(("custom:box", "qwen3:7b")), true),
            ("Box:m", Some(("custom:box", "m")), true),
            ("custom:box", None, true),
            ("qwen3:7b", None, true),
            ("anthropic/claude-3.5-sonnet:beta", None, true),
            ("plain", None, true),
            (":m", None, true),
            ("openrouter:", None, true),
        ] {
            let want = all.map(|(provider, model): (&str, &str)| (provider.to_owned(), model.to_owned()));
            assert_eq!(split_provider(text, &entries, Prefixes::All), want, "{text}");
            let want = want.filter(|_| ids);
            assert_eq!(split_provider(text, &entries, Prefixes::Ids), want, "{text} beside tags");
        }
    }
}

//! Fallback models: from `fallback_providers` to endpoints.

use crate::ModelsError;
use crate::model_choice::with_lookups;
use hermes_config::{Config, FallbackEntry};
use hermes_providers::{Endpoint, GivenKey, ResolveError, SettingSources, Wanted, resolve_with};

/// The fallback models in order, and a warning for each entry that cannot be used.
#[derive(Default)]
pub struct Fallbacks {
    pub stops: Vec<Endpoint>,
    pub warnings: Vec<String>,
}

/// Returns the fallbacks of `own`. Each is resolved by itself, so that a key goes only to its own origin.
pub fn fallbacks(config: &Config, own: &Endpoint) -> Result<Fallbacks, ModelsError> {
    let read = config.settings.fallbacks.clone();
    let mut all = Fallbacks { stops: Vec::new(), warnings: read.warnings };
    if read.entries.is_empty() {
        return Ok(all);
    }
    let common = common(config)?;
    for entry in read.entries {
        match resolve_entry(config, &entry, &common) {
            Ok(found) if std::iter::once(own).chain(&all.stops).any(|known| is_same(known, &found)) => {}
            Ok(found) => all.stops.push(found),
            Err(warning) => all.warnings.push(warning),
        }
    }
    Ok(all)
}

/// Returns the endpoint of an entry, or a warning about why it has none.
pub fn resolve_entry(config: &Config, entry: &FallbackEntry, common: &Wanted) -> Result<Endpoint, String> {
    let found = with_lookups(config, |lookups| resolve_with(&wanted(entry, common), lookups));
    found.map_err(|error| skipped(entry, &error))
}

/// The settings that fallbacks share with the session's own model.
pub fn common(config: &Config) -> Result<Wanted, ModelsError> {
    let named = config.settings.providers.get()?.clone();
    Ok(Wanted {
        custom: named.entries,
        disabled: named.disabled,
        max_tokens: config.settings.model.max_tokens.value()?,
        router: config.router_settings()?,
        ..Wanted::default()
    })
}

fn wanted(entry: &FallbackEntry, common: &Wanted) -> Wanted {
    let by = || entry.key.clone();
    let of_variable = |name: &String| GivenKey::Variable { name: name.clone(), by: by() };
    let given = match &entry.api_key {
        Some(key) => Some(GivenKey::Key { key: key.clone(), by: by() }),
        None => entry.key_env.as_ref().map(of_variable),
    };
    Wanted {
        provider: Some(entry.provider.clone()),
        model: Some(entry.model.clone()),
        base_url: entry.base_url.clone(),
        given,
        sources: SettingSources { provider: Some(by()), model: Some(by()), base_url: Some(by()) },
        ..common.clone()
    }
}

/// Returns true for the same model at the same place, which would fail in the same way. An unnamed `custom`
/// endpoint is compared by its address.
pub(crate) fn is_same(one: &Endpoint, other: &Endpoint) -> bool {
    let label = one.label();
    let is_unnamed = one.is_custom() && one.entry.is_none();
    let is_same_place = one.base_url == other.base_url || (!is_unnamed && label == other.label());
    one.model == other.model && is_same_place
}

fn skipped(entry: &FallbackEntry, error: &ResolveError) -> String {
    let why = match error {
        ResolveError::NoBaseUrl { provider } => format!("provider {provider} needs a base_url beside it"),
        other => other.to_string(),
    };
    format!("{} in config.yaml cannot be used and is skipped: {why}", entry.key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_choice::endpoint;
    use hermes_config::{ConfigFile, Layers};
    use std::path::Path;

    const OWN: &str = "model: {provider: openrouter, default: x}\n";

    /// The stops and the warnings for these entries.
    fn found(entries: &str) -> (Vec<String>, Vec<String>) {
        let text = format!(
            "{OWN}custom_providers: [{{name: box, base_url: 'http://127.0.0.1:9/v1'}}]\nfallback_providers: [{entries}]\n"
        );
        let file = ConfigFile::parse(Path::new("/h/config.yaml"), text).unwrap();
        let env = [("OPENROUTER_API_KEY", "or-key"), ("DEEPSEEK_API_KEY", "ds-key"), ("SPARE", "spare-key")];
        let shell = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let config = Config::new(Layers { file, shell, ..Layers::default() });
        let all = fallbacks(&config, &endpoint(&config).unwrap()).unwrap();
        let shown = |stop: &Endpoint| {
            format!("{}/{} {} {}", stop.label(), stop.model, stop.origin(), stop.key_source)
        };
        (all.stops.iter().map(shown).collect(), all.warnings)
    }

    #[test]
    fn each_entry_is_resolved_by_itself() {
        for (entry, want) in [
            (
                "{provider: deepseek, model: m}",
                "deepseek/m https://api.deepseek.com key from DEEPSEEK_API_KEY",
            ),
            (
                "{provider: deepseek, model: m, api_key: own-key}",
                "deepseek/m https://api.deepseek.com key from `fallback_providers[1]` in config.yaml",
            ),
            (
                "{provider: deepseek, model: m, key_env: SPARE}",
                "deepseek/m https://api.deepseek.com key from SPARE",
            ),
            // A key is sent to its own origin only.
            (
                "{provider: deepseek, model: m, base_url: 'http://127.0.0.1:5/v1'}",
                "deepseek/m http://127.0.0.1:5 no key",
            ),
            ("{provider: box, model: m}", "custom:box/m http://127.0.0.1:9 no key"),
            (
                "{provider: openrouter, model: z}",
                "openrouter/z https://openrouter.ai key from OPENROUTER_API_KEY",
            ),
        ] {
            assert_eq!(found(entry), (vec![want.to_owned()], vec![]), "{entry}");
        }
    }

    #[test]
    fn unusable_entries_are_named_and_skipped() {
        let good = "{provider: deepseek, model: m}";
        for (entry, want) in [
            ("{provider: nowhere, model: m}", "unknown provider `nowhere`"),
            ("{provider: custom, model: m}", "provider custom needs a base_url beside it"),
            ("{provider: custom, model: m, base_url: 'ftp://x'}", "not an http or https address"),
            ("{provider: deepseek, model: m, key_env: UNSET}", "takes its key from UNSET, which is not set"),
            (
                "{provider: custom, model: m, base_url: 'http://127.0.0.1:5/v1', key_env: OPENROUTER_API_KEY}",
                "OPENROUTER_API_KEY is a key of openrouter and is not sent to http://127.0.0.1:5",
            ),
        ] {
            let (stops, warnings) = found(&format!("{entry}, {good}"));
            assert_eq!((stops.len(), warnings.len()), (1, 1), "{entry} {warnings:?}");
            assert!(
                warnings[0]
                    .starts_with("fallback_providers[1] in config.yaml cannot be used and is skipped: ")
            );
            assert!(warnings[0].contains(want), "{entry}: {}", warnings[0]);
        }
    }

    #[test]
    fn the_same_model_is_used_once() {
        for (entries, want) in [
            ("{provider: openrouter, model: x}", 0),
            ("{provider: or, model: x}", 0),
            ("{provider: custom, model: x, base_url: 'https://openrouter.ai/api/v1', api_key: k}", 0),
            ("{provider: deepseek, model: x}, {provider: deepseek, model: x}", 1),
            ("{provider: box, model: x}, {provider: custom, model: x, base_url: 'http://127.0.0.1:9/v1'}", 1),
            (
                "{provider: custom, model: x, base_url: 'http://127.0.0.1:1/v1'}, {provider: custom, model: x, base_url: 'http://127.0.0.1:2/v1'}",
                2,
            ),
        ] {
            let (stops, warnings) = found(entries);
            assert_eq!((stops.len(), warnings.len()), (want, 0), "{entries}: {stops:?}");
        }
    }
}

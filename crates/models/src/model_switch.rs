//! `/model NAME [--provider PROVIDER] [--force]`: changes the model of an open session, also to another provider.

use crate::model_choice::{endpoint_of, fetcher};
use crate::{ModelsError, UnlistedModel};
use hermes_config::Config;
use hermes_config::distance;
use hermes_providers::{Endpoint, ListedModel, Prefixes, find_provider, list_models, split_provider};
use std::time::Duration;

/// The time limit of listing a provider's models. Without a list the name is not checked.
const LISTING: Duration = Duration::from_secs(5);
/// The number of close matches in an error.
const MOST_MATCHES: usize = 5;

/// A requested change of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSwitch {
    pub model: String,
    pub provider: Option<String>,
    /// Uses the name even if the provider does not list it.
    pub force: bool,
}

impl ModelSwitch {
    /// Parses the arguments of `/model`.
    pub fn parse(words: &str) -> Result<Self, String> {
        const USAGE: &str = "usage: /model NAME [--provider PROVIDER] [--force]";
        let (mut model, mut provider, mut force) = (None, None, false);
        let mut words = words.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "--force" => force = true,
                "--provider" => provider = Some(words.next().ok_or(USAGE)?.to_owned()),
                _ => match word.strip_prefix("--provider=") {
                    Some(name) if !name.is_empty() => provider = Some(name.to_owned()),
                    None if !word.starts_with("--") && model.is_none() => model = Some(word.to_owned()),
                    Some(_) | None => return Err(USAGE.to_owned()),
                },
            }
        }
        let model = model.ok_or(USAGE)?;
        Ok(Self { model, provider, force })
    }

    /// Returns the endpoint of the model, after a check against the list of its provider if there is one.
    pub async fn resolve(
        &self,
        config: &Config,
        current: &Endpoint,
    ) -> Result<(Endpoint, Checked), ModelsError> {
        let endpoint = target(config, current, self)?;
        let listed = match self.force {
            true => None,
            false => list_models(&endpoint.place(), &fetcher(config, LISTING)?).await.ok(),
        };
        match listed.filter(|models| !models.is_empty()) {
            Some(models) => {
                check(&endpoint, &models)?;
                Ok((endpoint, Checked::Listed))
            }
            None => Ok((endpoint, Checked::Unchecked)),
        }
    }
}

/// The result of comparing the name with the provider's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    Listed,
    /// The user asked for no check, or the provider gave no list.
    Unchecked,
}

/// The requested endpoint: the current one with another model, or that of another provider.
fn target(config: &Config, current: &Endpoint, wanted: &ModelSwitch) -> Result<Endpoint, ModelsError> {
    let named = config.settings.providers.get()?;
    let prefixes = Prefixes::beside(find_provider(current.provider));
    let split = || split_provider(&wanted.model, &named.entries, prefixes);
    let choice = match &wanted.provider {
        Some(provider) => Some((provider.clone(), wanted.model.clone())),
        None => split(),
    };
    match choice {
        Some((provider, model)) if provider != current.label() => endpoint_of(config, &provider, &model),
        Some((_, model)) => Ok(current.with_model(&model)),
        None => Ok(current.with_model(&wanted.model)),
    }
}

/// Rejects a name that is not in the list. Ollama lists `NAME:latest` for `NAME`.
fn check(endpoint: &Endpoint, models: &[ListedModel]) -> Result<(), UnlistedModel> {
    let name = endpoint.model.as_str();
    let is_it = |id: &str| id == name || id.strip_suffix(":latest") == Some(name);
    // Some lists have a path before each name.
    if models.iter().any(|model| is_it(&model.id) || is_it(model.id.trim_start_matches("models/"))) {
        return Ok(());
    }
    Err(UnlistedModel {
        model: name.to_owned(),
        provider: endpoint.label(),
        close: close_matches(name, models.iter().map(|model| model.id.as_str())),
    })
}

/// Names that the user may have meant, the closest first.
fn close_matches<'a>(name: &str, listed: impl Iterator<Item = &'a str>) -> Vec<String> {
    let plain = |text: &str| text.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let wanted = plain(name);
    let most = (wanted.len() / 3).clamp(2, 6);
    let mut rated: Vec<(usize, &str)> = listed
        .filter_map(|id| {
            let own = plain(id);
            let far = distance(&wanted, &own);
            let contains = wanted.len() > 2 && (own.contains(&wanted) || wanted.contains(&own));
            (far <= most || contains).then_some((far, id))
        })
        .collect();
    rated.sort();
    rated.into_iter().take(MOST_MATCHES).map(|(_, id)| id.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_parsed() {
        let want = |model: &str, provider: Option<&str>, force| {
            Ok(ModelSwitch { model: model.to_owned(), provider: provider.map(str::to_owned), force })
        };
        for (words, want) in [
            ("gpt-5", want("gpt-5", None, false)),
            ("openrouter:a/b", want("openrouter:a/b", None, false)),
            ("m --provider deepseek", want("m", Some("deepseek"), false)),
            ("--provider=deepseek m --force", want("m", Some("deepseek"), true)),
            ("", Err(())),
            ("--force", Err(())),
            ("m --provider", Err(())),
            ("m --provider=", Err(())),
            ("a b", Err(())),
            ("m --loud", Err(())),
        ] {
            assert_eq!(ModelSwitch::parse(words).map_err(|_| ()), want, "{words}");
        }
    }

    #[test]
    fn close_matches_come_closest_first() {
        let listed = [
            "anthropic/claude-opus-4.8",
            "anthropic/claude-opus-4.6",
            "openai/gpt-5.4",
            "openai/gpt-5.4-mini",
        ];
        for (name, want) in [
            ("gpt-5.5", vec!["openai/gpt-5.4"]),
            ("gpt-5.4", vec!["openai/gpt-5.4", "openai/gpt-5.4-mini"]),
            ("anthropic/claude-opus-4.7", vec!["anthropic/claude-opus-4.6", "anthropic/claude-opus-4.8"]),
            ("something-else-entirely", vec![]),
        ] {
            assert_eq!(close_matches(name, listed.into_iter()), want, "{name}");
        }
    }
}

//! From settings to the stored credentials of an endpoint.
//!
//! `providers::credentials` stores credentials and chooses among them; this module supplies the variables and
//! endpoints of the settings.

use crate::ModelsError;
use crate::model_choice::{vendor_places, with_lookups};
use hermes_config::home::Home;
use hermes_config::{Config, ConfigError, clock};
use hermes_providers::credentials::{
    Binding, ClockAndRandom, Credentials, Keys, Pool, PooledKeys, Seed, Strategy,
};
use hermes_providers::login::{
    CopilotTokens, EXCHANGE_URL, LoginRefresh, NoKeys, TokenKeys, VendorTokens, VendorTool,
};
use hermes_providers::{
    Auth, Endpoint, Fetcher, KeySource, custom_name, find_provider, is_own_address, parse_base_url,
};
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The clock and the random source of this machine.
pub(crate) fn outside() -> ClockAndRandom {
    ClockAndRandom { now: Arc::new(clock::now), random: Arc::new(rand::random::<f64>) }
}

/// Reads the settings and credentials of a home.
pub fn load_config(
    home: &Home,
    flags: Vec<(String, String)>,
    shell: BTreeMap<String, String>,
) -> Result<Config, ConfigError> {
    Config::load(home, flags, shell, outside())
}

/// Returns the keys of a provider outside of `auth.json`: those in its variables, or with its endpoint in
/// `config.yaml`.
pub(crate) fn seeds(config: &Config, label: &str) -> Vec<Seed> {
    let of_variable = |name: &&str| {
        let key = SecretString::from(config.variable(name)?);
        Some(Seed { source: format!("env:{name}"), label: (*name).to_owned(), key, base_url: None })
    };
    if let Some(provider) = find_provider(label) {
        return provider.key_env.iter().filter_map(of_variable).collect();
    }
    let entries = config.settings.providers.get().map_or(&[][..], |named| &named.entries);
    let entry = entries.iter().find(|entry| custom_name(label) == Some(&entry.name));
    let seed = entry.and_then(|entry| {
        let (source, label) = (format!("config:{}", entry.name), entry.name.clone());
        Some(Seed { source, label, key: entry.api_key.clone()?, base_url: Some(entry.base_url.clone()) })
    });
    seed.into_iter().collect()
}

/// Returns the strategy for the credentials of a provider; an unknown name gives the default.
pub(crate) fn strategy(config: &Config, label: &str) -> Strategy {
    config.settings.pool_strategies.of(label)
}

/// Returns warnings about the stored credentials.
pub fn credential_warnings(config: &Config) -> Vec<String> {
    let problem = config.layers().credentials.problem().map(|error| {
        let cause = std::error::Error::source(&**error).map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{error}{cause}. Keys from variables and config.yaml are used meanwhile")
    });
    problem.into_iter().chain(config.settings.pool_strategies.warnings.iter().cloned()).collect()
}

/// Returns the keys of an endpoint if they can change: those of a login, or of a pool. A key that the settings
/// name for exactly this endpoint is used as it is.
pub(crate) fn keys_of(
    config: &Config,
    endpoint: &Endpoint,
    fetcher: &Fetcher,
) -> Result<Option<Arc<dyn Keys>>, ModelsError> {
    if let (Some(provider), Some(token)) = (find_provider(endpoint.provider), &endpoint.key)
        && provider.auth == Auth::TokenExchange
    {
        return Ok(Some(exchanged(config, endpoint, token, fetcher)?));
    }
    if let KeySource::VendorFile { .. } = endpoint.key_source
        && let Some(tool) = VendorTool::of_provider(endpoint.provider)
    {
        let tokens = VendorTokens::new(tool, vendor_places(config));
        return Ok(Some(Arc::new(TokenKeys::new(Arc::new(tokens)))));
    }
    pool_of(config, endpoint, fetcher)
}

/// Short-lived tokens, obtained with the configured one.
fn exchanged(
    config: &Config,
    endpoint: &Endpoint,
    token: &SecretString,
    fetcher: &Fetcher,
) -> Result<Arc<dyn Keys>, ModelsError> {
    let own = config.login_overrides(endpoint.provider)?.exchange_url;
    let exchange = parse_base_url(own.as_deref().unwrap_or(EXCHANGE_URL))?;
    Ok(match CopilotTokens::new(fetcher.clone(), exchange, token.clone(), &endpoint.base_url) {
        Ok(tokens) => Arc::new(TokenKeys::new(Arc::new(tokens))),
        Err(failure) => Arc::new(NoKeys(failure)),
    })
}

/// The pool that an endpoint takes its key from, if any.
fn pool_of(
    config: &Config,
    endpoint: &Endpoint,
    fetcher: &Fetcher,
) -> Result<Option<Arc<dyn Keys>>, ModelsError> {
    let credentials = &config.layers().credentials;
    let label = endpoint.label();
    let may_rotate = match &endpoint.key_source {
        KeySource::Pool(_) | KeySource::Variable(_) => true,
        KeySource::Entry(name) => endpoint.entry.as_ref() == Some(name),
        KeySource::None | KeySource::Config | KeySource::EntryVariable(_) | KeySource::VendorFile { .. } => {
            false
        }
    };
    let Some(key) = endpoint.key.as_ref().filter(|_| may_rotate && credentials.has(&label)) else {
        return Ok(None);
    };
    let binding = Binding {
        is_own: with_lookups(config, |lookups| is_own_address(&label, &endpoint.base_url, lookups)),
        origin: endpoint.origin(),
        strategy: strategy(config, &label),
        seeds: seeds(config, &label),
        provider: label,
    };
    if !is_member(credentials, &binding, key) {
        return Ok(None);
    }
    let own = config.login_overrides(&binding.provider)?;
    let refresh = LoginRefresh::new(&binding.provider, &own, fetcher.clone());
    Ok(Some(Arc::new(PooledKeys::new(credentials.clone(), binding, Arc::new(refresh)))))
}

/// Returns true if the resolved key is one of the pool's.
fn is_member(credentials: &Credentials, binding: &Binding, key: &SecretString) -> bool {
    let pool = Pool::of(credentials.at_start(), &binding.provider, &binding.seeds);
    let pool = pool.at(&binding.origin, binding.is_own);
    pool.entries.iter().any(|entry| entry.key.expose_secret() == key.expose_secret())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_choice::endpoint;
    use hermes_config::{ConfigFile, Layers};
    use hermes_testkit::TempHome;
    use serde_json::json;
    use std::path::Path;

    /// Settings, with two stored keys for `custom:box` and one for `deepseek`.
    fn config(text: &str) -> Config {
        let home = TempHome::new();
        let entry = |key: &str, base_url: &str| json!({"id": key, "label": key, "access_token": key, "base_url": base_url});
        let pool = json!({
            "custom:box": [entry("one", "http://127.0.0.1:9/v1"), entry("far", "http://127.0.0.1:8/v1")],
            "deepseek": [entry("deep", "https://api.deepseek.com/v1")],
        });
        let path = home.write("auth.json", &json!({ "credential_pool": pool }).to_string());
        let file = ConfigFile::parse(Path::new("/h/config.yaml"), text.into()).unwrap();
        let shell = [("DEEPSEEK_API_KEY", "deep-env"), ("BOX_CRED", "box-env")];
        let shell = shell.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let credentials = Arc::new(Credentials::load(path, outside()));
        Config::new(Layers { file, shell, credentials, ..Layers::default() })
    }

    #[test]
    fn a_pool_is_used_if_it_has_the_key() {
        let entry = |more: &str| {
            format!("custom_providers: [{{name: Box, base_url: 'http://127.0.0.1:9/v1'{more}}}]\n")
        };
        let model = |provider: &str| format!("model: {{provider: {provider}, default: m}}\n");
        for (text, source, pooled) in [
            (model("deepseek"), "stored credential deep", true),
            (model("box") + &entry(""), "stored credential one", true),
            // The key of an entry is part of the pool.
            (model("box") + &entry(", api_key: own-key"), "key from `box` in config.yaml", true),
            // A key for exactly this endpoint is used as it is.
            (model("box") + &entry(", key_env: BOX_CRED"), "key from BOX_CRED", false),
            (
                "model: {provider: deepseek, default: m, base_url: 'http://127.0.0.1:7/v1', api_key: k}\n"
                    .to_owned(),
                "key from model.api_key",
                false,
            ),
            (
                "model: {provider: deepseek, default: m, base_url: 'http://127.0.0.1:7/v1'}\n".to_owned(),
                "no key",
                false,
            ),
        ] {
            let config = config(&text);
            let found = endpoint(&config).unwrap();
            let got = (
                found.key_source.to_string(),
                keys_of(&config, &found, &Fetcher::default()).unwrap().is_some(),
            );
            assert_eq!(got, (source.to_owned(), pooled), "{text}");
        }
    }

    #[test]
    fn strategies_are_read_by_provider_with_warnings_for_unknown_ones() {
        let text = "credential_pool_strategies: {deepseek: random, 'custom:box': round_robin, xai: fastest, zai: 5}\n";
        let config = config(text);
        let got =
            ["deepseek", "custom:box", "xai", "openrouter"].map(|name| strategy(&config, name).as_str());
        assert_eq!(got, ["random", "round_robin", "fill_first", "fill_first"]);
        let warnings = credential_warnings(&config);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(
            warnings[0].starts_with("`credential_pool_strategies.xai` in config.yaml is none of fill_first,")
        );
        assert!(config.unused_keys().is_empty(), "{:?}", config.unused_keys());
    }

    #[test]
    fn stored_keys_are_known_to_redaction() {
        let home = TempHome::new();
        let tokens = json!({"access_token": "login-token-123456", "refresh_token": "login-refresh-123456"});
        let root = json!({
            "providers": {"nous": {"tokens": tokens}},
            "credential_pool": {"p": [{"access_token": "stored-key-123456", "token_type": "Bearer-type"}]},
        });
        let path = home.write("auth.json", &root.to_string());
        let credentials = Arc::new(Credentials::load(path, outside()));
        let config = Config::new(Layers { credentials, ..Layers::default() });
        let text = "login-token-123456 login-refresh-123456 stored-key-123456 Bearer-type";
        let clean = hermes_guard::redact(&config.secrets(), text).into_owned();
        assert!(!clean.contains("123456") && clean.ends_with("Bearer-type"), "{clean}");
    }
}

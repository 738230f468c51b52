//! From settings to an endpoint: the inputs of `providers::resolve`.
//!
//! Everything here needs settings only, so that reading them creates no home and opens no store.

use crate::ModelsError;
use crate::credentials::seeds;
use hermes_config::settings::{ModelSettings, Secret, Text};
use hermes_config::{Config, Key, Setting, Source};
use hermes_conversation::Money;
use hermes_providers::login::{VendorPlaces, VendorState, VendorTool, read_vendor_file};
use hermes_providers::{
    Endpoint, Fetcher, HttpClients, HttpSettings, Lookups, Place, Prefixes, Prices, SettingSources,
    TimeLimits, Wanted, custom_provider, find_provider, is_loopback, locate, per_token, resolve_with,
    split_provider,
};
use secrecy::{ExposeSecret, SecretString};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Returns the endpoint and model that requests go to.
pub fn endpoint(config: &Config) -> Result<Endpoint, ModelsError> {
    let wanted = wanted(config)?;
    Ok(with_lookups(config, |lookups| resolve_with(&wanted, lookups))?)
}

/// Calls `ask` with the variables and the stored credentials.
pub(crate) fn with_lookups<T>(config: &Config, ask: impl FnOnce(Lookups<'_>) -> T) -> T {
    let credentials = &config.layers().credentials;
    let variable = |name: &str| config.variable(name).map(SecretString::from);
    let pooled = |id: &str| match credentials.has(id) {
        true => credentials.pooled(id, &seeds(config, id)),
        false => Vec::new(),
    };
    let vendor = vendor_logins(config);
    ask(Lookups { variable: &variable, pooled: &pooled, vendor: &vendor })
}

/// Returns the address and the key of a provider for any model; of the configured provider for `None`.
pub fn place(config: &Config, provider: Option<&str>) -> Result<Place, ModelsError> {
    let wanted = match provider {
        Some(name) => wanted_from(config, name)?,
        None => wanted(config)?,
    };
    Ok(with_lookups(config, |lookups| locate(&wanted, lookups))?)
}

/// The logins that vendors' own programs stored here. A file is read on demand.
pub(crate) fn vendor_logins(config: &Config) -> impl Fn(&str) -> VendorState {
    |provider| match VendorTool::of_provider(provider) {
        Some(tool) => read_vendor_file(tool, &vendor_places(config), SystemTime::now()),
        None => VendorState::Absent,
    }
}

/// Returns the directories in which vendors' own programs store their logins.
pub fn vendor_places(config: &Config) -> VendorPlaces {
    let path = |name: &str| config.variable(name).map(PathBuf::from);
    VendorPlaces {
        home: config.layers().shell.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
        claude_dir: path("CLAUDE_CONFIG_DIR"),
        codex_dir: path("CODEX_HOME"),
    }
}

/// Returns a client for questions to endpoints. It connects on demand.
pub fn fetcher(config: &Config, limit: Duration) -> Result<Fetcher, ModelsError> {
    Ok(Fetcher { clients: http_clients(config)?, secrets: config.secrets(), limit })
}

pub fn http_clients(config: &Config) -> Result<HttpClients, ModelsError> {
    Ok(HttpClients::new(HttpSettings {
        proxy: config.settings.network.proxy.get()?.as_deref().map(str::to_owned),
        no_proxy: config.settings.network.no_proxy.get()?.as_deref().map(str::to_owned),
        time_limits: time_limits(config)?,
        guard: None,
    }))
}

/// Returns the endpoint of a model at a provider, as if both were given on the command line.
pub(crate) fn endpoint_of(config: &Config, provider: &str, model: &str) -> Result<Endpoint, ModelsError> {
    let wanted = wanted_from(config, provider)?;
    let is_written = wanted.model.as_deref() == Some(model);
    let wanted = Wanted {
        model: Some(model.to_owned()),
        context_length: wanted.context_length.filter(|_| is_written),
        ollama_num_ctx: wanted.ollama_num_ctx.filter(|_| is_written),
        prices: wanted.prices.filter(|_| is_written),
        sources: SettingSources::default(),
        ..wanted
    };
    Ok(with_lookups(config, |lookups| resolve_with(&wanted, lookups))?)
}

/// The provider written before the model, as in `openrouter:vendor/model`.
///
/// `-m` may name any provider; in settings `model.provider` takes precedence, and the text is a model's name.
fn prefixed(config: &Config) -> Result<Option<(String, String)>, ModelsError> {
    let model = &config.settings.model;
    let Some(text) = model.default.get()?.as_deref().filter(|text| text.contains(':')) else {
        return Ok(None);
    };
    let is_flag = model.default.source() == Source::Flag;
    let provider = Some(&**model.provider.get()?).filter(|name| !name.is_empty() && *name != "auto");
    if provider.is_some() && !is_flag {
        return Ok(None);
    }
    let has_address = model.base_url.get()?.as_deref().is_some_and(|url| !url.is_empty());
    let entries = &config.settings.providers.get()?.entries;
    let known = match provider {
        Some(name) => find_provider(name).or(Some(custom_provider())),
        None => has_address.then(custom_provider),
    };
    Ok(split_provider(text, entries, Prefixes::beside(known)))
}

fn wanted(config: &Config) -> Result<Wanted, ModelsError> {
    let own = &config.settings.model;
    let name = own.provider.get()?;
    let source = own.provider.source();
    if source != Source::Flag
        && let Some((provider, model)) = prefixed(config)?
    {
        // Numbers beside a model in the file belong to that model, unless an address is set there as well.
        let is_alone = own.base_url.get()?.as_deref().is_none_or(str::is_empty);
        let is_written = own.default.source() != Source::Flag;
        let keeps = keeps_address(config, &provider)? || (is_alone && is_written);
        let by = sources(config, &own.default)?;
        let wanted = read(config, Some(provider), by, keeps)?;
        return Ok(Wanted { model: Some(model), ..wanted });
    }
    match source {
        // An address and a key in config.yaml belong to the provider beside them, not to one from a flag.
        Source::Flag => {
            let wanted = wanted_from(config, name)?;
            let sources = SettingSources { provider: Some("--provider".to_owned()), ..wanted.sources };
            Ok(Wanted { sources, ..wanted })
        }
        _ => read(config, Some(name.to_string()), sources(config, &own.provider)?, true),
    }
}

/// The source of a setting, for messages; `None` for a default.
fn sources<T>(config: &Config, setting: &Setting<T>) -> Result<Option<String>, ModelsError> {
    setting.get()?;
    Ok(match setting.source() {
        Source::Default => None,
        Source::File => Some(format!("{} in {}", setting.key().name, config.origin(setting))),
        Source::Flag | Source::DotEnv | Source::Shell => Some(config.origin(setting).to_string()),
    })
}

/// The wanted endpoint as if this provider was given on the command line.
fn wanted_from(config: &Config, name: &str) -> Result<Wanted, ModelsError> {
    let keeps = keeps_address(config, name)?;
    read(config, Some(name.to_owned()), None, keeps)
}

fn read(
    config: &Config,
    provider: Option<String>,
    said: Option<String>,
    keeps_address: bool,
) -> Result<Wanted, ModelsError> {
    let model = &config.settings.model;
    let named = config.settings.providers.get()?.clone();
    let name = model.default.get()?.as_deref();
    // The window belongs to the model beside it.
    let is_flag = model.default.source() == Source::Flag;
    let is_other_model = is_flag && name != written(config, ModelSettings::default);
    let own = |setting: &Setting<Option<Text>>| -> Result<Option<String>, ModelsError> {
        Ok(setting.get()?.as_deref().filter(|_| keeps_address).map(str::to_owned))
    };
    let has_key = |key: &&Secret| keeps_address && !key.expose_secret().is_empty();
    Ok(Wanted {
        provider,
        model: name.map(str::to_owned),
        base_url: own(&model.base_url)?,
        api_key: model.api_key.get()?.as_ref().filter(has_key).cloned(),
        api_mode: own(&model.api_mode)?,
        given: None,
        context_length: model.context_length.value()?.filter(|_| keeps_address && !is_other_model),
        ollama_num_ctx: model.ollama_num_ctx.value()?.filter(|_| keeps_address && !is_other_model),
        max_tokens: model.max_tokens.value()?,
        prices: prices(config)?.filter(|_| keeps_address && !is_other_model),
        router: config.router_settings()?,
        custom: named.entries,
        disabled: named.disabled,
        sources: SettingSources {
            provider: said,
            model: sources(config, &model.default)?,
            base_url: sources(config, &model.base_url)?,
        },
    })
}

/// The text of a key in `config.yaml`, whatever other layers have.
fn written(config: &Config, key: Key) -> Option<&str> {
    config.layers().file.get(key.name).and_then(|value| value.as_str()).map(str::trim)
}

/// `model.pricing`; `None` unless it has an input and an output price.
fn prices(config: &Config) -> Result<Option<Prices>, ModelsError> {
    let pricing = &config.settings.model.pricing;
    let price = |setting: &Setting<Option<Money>>| -> Result<Option<Money>, ModelsError> {
        Ok(setting.value()?.map(per_token))
    };
    let (input, output) = (price(&pricing.input)?, price(&pricing.output)?);
    let (cache_read, cache_write) = (price(&pricing.cache_read)?, price(&pricing.cache_write)?);
    Ok(match (input, output) {
        (Some(input), Some(output)) => Some(Prices { input, output, cache_read, cache_write }),
        _ => None,
    })
}

/// Returns true if `model.base_url` may be used for a provider from the command line: if it is the configured
/// one, or if it is `custom` and the address has no provider beside it or is on this machine.
fn keeps_address(config: &Config, name: &str) -> Result<bool, ModelsError> {
    let id = |name: &str| find_provider(name).map(|provider| provider.id);
    let is_custom = |name: &str| find_provider(name).is_some_and(|provider| provider.is_custom());
    let written = written(config, ModelSettings::provider);
    let written = written.filter(|name| !name.is_empty() && *name != "auto");
    let is_local = || {
        let url = config.settings.model.base_url.or_default();
        let url = url.as_deref().and_then(|text| text.parse().ok());
        url.is_some_and(|url| is_loopback(&url))
    };
    Ok(match (id(name), written) {
        (Some(_), None) if is_custom(name) => true,
        (Some(_), Some(written)) if is_custom(name) => is_custom(written) || is_local(),
        (Some(asked), Some(written)) => id(written) == Some(asked),
        (_, _) => false,
    })
}

fn time_limits(config: &Config) -> Result<TimeLimits, ModelsError> {
    let agent = &config.settings.agent;
    let seconds = |setting: &Setting<Option<u64>>| -> Result<Option<Duration>, ModelsError> {
        Ok(setting.value()?.map(Duration::from_secs))
    };
    Ok(TimeLimits {
        first_byte: seconds(&agent.first_byte_timeout)?,
        gap: seconds(&agent.stream_stale_timeout)?,
        local_gap: seconds(&agent.local_stream_stale_timeout)?,
        whole_reply: seconds(&agent.api_call_stale_timeout)?,
        total: seconds(&agent.request_timeout_seconds)?,
    })
}

#[cfg(test)]
#[path = "model_choice_tests.rs"]
mod tests;

//! Decides which endpoint a session uses. Pure: all inputs are arguments.
//!
//! First the provider (`choice`), then the address, then the key that belongs to that address (`keys`), then the
//! model and its format. Each step has its reason.

mod choice;
mod endpoint;
mod error;
mod keys;
mod model_name;
mod vendor;

use crate::address::parse_base_url;
use crate::catalogue::{self, Provider, vendor_quirks};
use crate::custom::CustomProvider;
use crate::facts::Prices;
use crate::login::VendorState;
use crate::mode::{self, ModeName};
use crate::request_extras::RouterSettings;
use choice::Chosen;
use endpoint::chosen_mode;
pub use endpoint::{Endpoint, Place, Reason};
pub use error::ResolveError;
pub(crate) use keys::is_usable_key;
pub use keys::{GivenKey, KeySource, PooledKey, is_own_address, own_address};
pub use model_name::{Prefixes, split_provider};
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use url::Url;

/// The wanted endpoint, after settings were merged.
#[derive(Clone, Default)]
pub struct Wanted {
    pub provider: Option<String>,
    pub model: Option<String>,
    pub base_url: Option<String>,
    /// `model.api_key`, which belongs to `base_url` only.
    pub api_key: Option<SecretString>,
    /// `model.api_mode`, as it is written.
    pub api_mode: Option<String>,
    /// A key for exactly this choice, before any other.
    pub given: Option<GivenKey>,
    pub context_length: Option<u64>,
    /// `model.ollama_num_ctx`, for the model beside it.
    pub ollama_num_ctx: Option<u64>,
    pub max_tokens: Option<u64>,
    /// `model.pricing`, for the model beside it.
    pub prices: Option<Prices>,
    pub router: RouterSettings,
    /// Named endpoints, from `custom_providers` and `providers`.
    pub custom: Vec<CustomProvider>,
    /// Built-in providers that are switched off.
    pub disabled: Vec<String>,
    /// The sources of the above, for the reasons.
    pub sources: SettingSources,
}

/// The sources of settings, for display.
#[derive(Debug, Clone, Default)]
pub struct SettingSources {
    pub provider: Option<String>,
    pub model: Option<String>,
    pub base_url: Option<String>,
}

/// The inputs beside the settings, as functions.
#[derive(Clone, Copy)]
pub struct Lookups<'a> {
    /// Looks a name up in `.env` and the shell.
    pub variable: &'a dyn Fn(&str) -> Option<SecretString>,
    /// The stored credentials of a provider's id, or of `custom:NAME`, in order.
    pub pooled: &'a dyn Fn(&str) -> Vec<PooledKey>,
    /// The login that a vendor's own program stored for a provider's id.
    pub vendor: &'a dyn Fn(&str) -> VendorState,
}

/// Chooses the endpoint from settings and variables; see [`resolve_with`].
pub fn resolve(
    wanted: &Wanted,
    variable: &dyn Fn(&str) -> Option<SecretString>,
) -> Result<Endpoint, ResolveError> {
    resolve_with(wanted, Lookups { variable, pooled: &|_| Vec::new(), vendor: &|_| VendorState::Absent })
}

/// Chooses the endpoint.
pub fn resolve_with(wanted: &Wanted, lookups: Lookups<'_>) -> Result<Endpoint, ResolveError> {
    let place = locate(wanted, lookups)?;
    let entry = place.entry.as_ref();
    let configured = wanted.model.clone().filter(|model| !model.trim().is_empty());
    let of_entry = || entry.and_then(|entry| entry.default_model.clone());
    let from = match (&configured, &wanted.sources.model) {
        (Some(_), Some(source)) => source.clone(),
        (Some(_), None) => "asked for".to_owned(),
        (None, _) => "the endpoint's default".to_owned(),
    };
    let model = configured.or_else(of_entry).ok_or(ResolveError::NoModel)?;
    let model = without_prefix(model, place.provider);
    let explicit = explicit_mode(wanted, entry)?;
    let chosen = chosen_mode(explicit, entry.is_some(), place.provider, &place.base_url, &model);
    let mut reasons = place.reasons;
    reasons.push(Reason { what: "model", why: from });
    reasons.push(Reason { what: "api_mode", why: mode_words(chosen, explicit) });
    Ok(Endpoint {
        provider: place.provider.id,
        context_length: wanted.context_length.or_else(|| entry?.context_length(&model)),
        ollama_num_ctx: wanted.ollama_num_ctx,
        max_tokens: wanted.max_tokens.or_else(|| entry?.max_tokens),
        prices: wanted.prices.or_else(|| entry?.prices(&model)),
        entry: place.entry.as_ref().map(|entry| entry.name.clone()),
        stated: place.entry,
        router: Arc::new(wanted.router.clone()),
        efforts: Vec::new(),
        base_url: place.base_url,
        model,
        key: place.key,
        key_source: place.key_source,
        account: place.account,
        key_advice: place.key_advice,
        mode: chosen.mode,
        api_mode: chosen.mode.into(),
        reasons,
        explicit_mode: explicit,
    })
}

/// Chooses the provider, the address and the key.
pub fn locate(wanted: &Wanted, lookups: Lookups<'_>) -> Result<Place, ResolveError> {
    let (chosen, why) = choice::choose(wanted, lookups)?;
    let mut reasons = vec![Reason { what: "provider", why }];
    let address = base_url(&chosen, wanted, lookups)?;
    reasons.push(Reason { what: "base_url", why: address.why });
    let found = keys::find(&chosen, &address.url, address.is_configured, wanted, lookups)?;
    reasons.push(Reason { what: "key", why: found.why });
    Ok(Place {
        provider: chosen.provider(),
        entry: chosen.entry().cloned(),
        base_url: address.url,
        key: found.key,
        key_source: found.source,
        account: found.account,
        key_advice: found.advice,
        reasons,
    })
}

/// An address, its reason, and true if it is `model.base_url`, which may get `model.api_key`.
struct Address {
    url: Url,
    why: String,
    is_configured: bool,
}

fn base_url(chosen: &Chosen<'_>, wanted: &Wanted, lookups: Lookups<'_>) -> Result<Address, ResolveError> {
    let found =
        |text: &str, why: String| parse_base_url(text).map(|url| Address { url, why, is_configured: false });
    let provider = match chosen {
        Chosen::Entry(entry) => {
            return found(&entry.base_url, format!("the address of `{}` in config.yaml", entry.name));
        }
        Chosen::Known(provider) => *provider,
    };
    if let Some(text) = wanted.base_url.as_deref().filter(|url| !url.trim().is_empty()) {
        let why = wanted.sources.base_url.clone().unwrap_or_else(|| "model.base_url".to_owned());
        return Ok(Address { is_configured: true, ..found(text, why)? });
    }
    let pooled = (lookups.pooled)(provider.id).into_iter().next();
    if let Some(text) = pooled.and_then(|first| first.base_url) {
        return found(&text, "the address of the stored credential".to_owned());
    }
    if let Some(text) = keys::usable(lookups, provider.base_url_env) {
        return found(text.expose_secret(), provider.base_url_env.to_owned());
    }
    if let Some(special) = vendor_quirks::address_for(provider, keys::first_usable(provider, lookups)) {
        return found(special, "where keys of this kind belong".to_owned());
    }
    match provider.base_url {
        "" => Err(ResolveError::NoBaseUrl { provider: provider.id }),
        built_in => found(built_in, "the provider's own address".to_owned()),
    }
}

fn explicit_mode(wanted: &Wanted, entry: Option<&CustomProvider>) -> Result<Option<ModeName>, ResolveError> {
    if let Some(entry) = entry {
        return Ok(entry.api_mode);
    }
    match wanted.api_mode.as_deref().map(str::trim).filter(|text| !text.is_empty() && *text != "auto") {
        None => Ok(None),
        Some(text) => {
            ModeName::parse(text).map(Some).ok_or_else(|| ResolveError::UnknownMode { mode: text.to_owned() })
        }
    }
}

fn mode_words(chosen: mode::ChosenMode, explicit: Option<ModeName>) -> String {
    let mut words = chosen.why.as_str().to_owned();
    if explicit.is_some_and(|explicit| explicit != chosen.mode) {
        words.push_str("; model.api_mode does not fit this address and is left out");
    }
    words
}

/// Splits `openrouter:vendor/model`; `model:7b` has an Ollama tag and is kept.
fn without_prefix(model: String, provider: &Provider) -> String {
    match model.split_once(':') {
        Some((prefix, rest))
            if catalogue::find(prefix).is_some_and(|found| found.id == provider.id)
                && !provider.is_custom() =>
        {
            rest.to_owned()
        }
        _ => model,
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "resolve_table_tests.rs"]
mod table_tests;

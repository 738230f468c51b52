//! Decides which endpoint a session talks to. Pure: everything it knows is in its arguments.

use crate::catalogue::{self, PROVIDERS, Provider};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

/// What the user asked for, after settings were merged.
#[derive(Clone, Default)]
pub struct Wanted {
    pub provider: Option<String>,
    pub model: Option<String>,
    pub base_url: Option<String>,
    /// `model.api_key`: belongs to `base_url` and to nothing else.
    pub api_key: Option<SecretString>,
    pub context_length: Option<u64>,
    pub max_tokens: Option<u64>,
}

/// Where a request goes and with which key.
#[derive(Clone)]
pub struct Endpoint {
    pub provider: &'static str,
    pub base_url: Url,
    pub model: String,
    pub key: Option<SecretString>,
    pub key_source: KeySource,
    pub context_length: Option<u64>,
    pub max_tokens: Option<u64>,
}

/// Where a key was found, for people to see; never the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    None,
    Variable(&'static str),
    Config,
}

/// Why no endpoint could be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    #[error("no model provider is configured")]
    NothingConfigured,
    #[error("unknown provider `{name}`; this build knows {}", known())]
    UnknownProvider { name: String },
    #[error("provider {provider} has no key: set {variable} with `hermes config set {variable} ...`")]
    NoKey { provider: &'static str, variable: &'static str },
    #[error("provider {provider} needs an address: `hermes config set model.base_url http://HOST:PORT/v1`")]
    NoBaseUrl { provider: &'static str },
    #[error("no model is chosen: `hermes config set model.default NAME` or `-m NAME`")]
    NoModel,
    #[error("`{url}` is not an http or https address: {cause}")]
    BadUrl { url: String, cause: String },
}

fn known() -> String {
    let ids: Vec<_> = PROVIDERS.iter().map(|provider| provider.id).collect();
    ids.join(", ")
}

/// Chooses the endpoint. `variable` looks a name up in `.env` and the shell.
pub fn resolve(
    wanted: &Wanted,
    variable: &dyn Fn(&str) -> Option<SecretString>,
) -> Result<Endpoint, ResolveError> {
    let usable = |name: &str| variable(name).filter(|value| is_usable(value.expose_secret()));
    let provider = choose(wanted, &usable)?;
    let (base_url, is_own_url) = base_url(provider, wanted, &usable)?;
    let model = wanted.model.clone().filter(|model| !model.trim().is_empty()).ok_or(ResolveError::NoModel)?;
    let (key, key_source) = key(provider, wanted, is_own_url, &usable)?;
    Ok(Endpoint {
        provider: provider.id,
        base_url,
        model: without_prefix(model, provider),
        key,
        key_source,
        context_length: wanted.context_length,
        max_tokens: wanted.max_tokens,
    })
}

fn choose(
    wanted: &Wanted,
    usable: &dyn Fn(&str) -> Option<SecretString>,
) -> Result<&'static Provider, ResolveError> {
    if let Some(name) = named(wanted) {
        return catalogue::find(name).ok_or_else(|| ResolveError::UnknownProvider { name: name.to_owned() });
    }
    let id = if wanted.base_url.as_deref().is_some_and(|url| !url.is_empty()) {
        provider_of_url(wanted.base_url.as_deref().unwrap_or_default())
    } else if usable("OPENROUTER_API_KEY").is_some() {
        "openrouter"
    } else if usable("OPENAI_API_KEY").is_some() || usable("OPENAI_BASE_URL").is_some() {
        "openai-api"
    } else if usable("CUSTOM_BASE_URL").is_some() {
        "custom"
    } else {
        return Err(ResolveError::NothingConfigured);
    };
    catalogue::find(id).ok_or(ResolveError::NothingConfigured)
}

/// A bare base URL is a custom endpoint unless it is the very origin of a known provider.
fn provider_of_url(url: &str) -> &'static str {
    // The whole origin counts: the same host without TLS, or on another port, is another place.
    let origin = |text: &str| Url::parse(text).ok().map(|url| url.origin().ascii_serialization());
    let given = origin(url);
    let same = |provider: &&Provider| given.is_some() && origin(provider.base_url) == given;
    PROVIDERS.iter().find(same).map_or("custom", |provider| provider.id)
}

/// The address, and whether the user wrote it in the configuration (which trusts it with
/// `model.api_key`).
fn base_url(
    provider: &'static Provider,
    wanted: &Wanted,
    usable: &dyn Fn(&str) -> Option<SecretString>,
) -> Result<(Url, bool), ResolveError> {
    let configured = wanted.base_url.clone().filter(|url| !url.trim().is_empty());
    let is_own = configured.is_some();
    let from_env = || usable(provider.base_url_env).map(|value| value.expose_secret().to_owned());
    let built_in = (!provider.base_url.is_empty()).then(|| provider.base_url.to_owned());
    let text =
        configured.or_else(from_env).or(built_in).ok_or(ResolveError::NoBaseUrl { provider: provider.id })?;
    parse_base_url(&text).map(|url| (url, is_own))
}

fn parse_base_url(text: &str) -> Result<Url, ResolveError> {
    let bad = |cause: &str| ResolveError::BadUrl { url: text.to_owned(), cause: cause.to_owned() };
    let mut url = Url::parse(text.trim()).map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("the scheme is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ResolveError::BadUrl {
            url: url.host_str().unwrap_or_default().to_owned(),
            cause: "it carries a user name or password; use model.api_key".to_owned(),
        });
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

fn key(
    provider: &'static Provider,
    wanted: &Wanted,
    is_own_url: bool,
    usable: &dyn Fn(&str) -> Option<SecretString>,
) -> Result<(Option<SecretString>, KeySource), ResolveError> {
    let configured = wanted.api_key.clone().filter(|key| is_own_url && is_usable(key.expose_secret()));
    if let Some(key) = configured {
        return Ok((Some(key), KeySource::Config));
    }
    // A variable's key belongs to its provider's own host or to that provider's own URL
    // variable; an address from the configuration gets it only as an explicit custom endpoint.
    let is_foreign = match provider.id {
        "custom" => !is_named(wanted),
        _ => is_own_url && !same_origin(provider, wanted),
    };
    for name in provider.key_env.iter().filter(|_| !is_foreign) {
        if let Some(key) = usable(name) {
            return Ok((Some(key), KeySource::Variable(name)));
        }
    }
    match provider.id {
        "custom" => Ok((None, KeySource::None)),
        _ if is_foreign => Ok((None, KeySource::None)),
        id => Err(ResolveError::NoKey { provider: id, variable: provider.key_env[0] }),
    }
}

/// The provider that the user asked for by name.
fn named(wanted: &Wanted) -> Option<&str> {
    wanted.provider.as_deref().map(str::trim).filter(|name| !name.is_empty() && *name != "auto")
}

fn is_named(wanted: &Wanted) -> bool {
    named(wanted).is_some()
}

fn same_origin(provider: &Provider, wanted: &Wanted) -> bool {
    wanted.base_url.as_deref().is_some_and(|url| provider_of_url(url) == provider.id)
}

/// Values that are only placeholders are no keys.
fn is_usable(value: &str) -> bool {
    let value = value.trim();
    let lower = value.to_ascii_lowercase();
    !value.is_empty() && !lower.starts_with("your") && !lower.contains("changeme") && !value.starts_with("${")
}

/// `openrouter:vendor/model` names its provider; `model:7b` is an Ollama tag and stays.
fn without_prefix(model: String, provider: &Provider) -> String {
    match model.split_once(':') {
        Some((prefix, rest)) if catalogue::find(prefix) == Some(provider) && provider.id != "custom" => {
            rest.to_owned()
        }
        _ => model,
    }
}

impl Endpoint {
    /// Scheme, host and port: what a key is bound to.
    pub fn origin(&self) -> String {
        self.base_url.origin().ascii_serialization()
    }

    /// Whether it runs on this machine.
    pub fn is_loopback(&self) -> bool {
        match self.base_url.host() {
            Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;

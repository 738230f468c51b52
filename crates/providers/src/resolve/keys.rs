//! The key that belongs to an address.
//!
//! A key is bound to the exact origins of its provider: the built-in ones and, unless the provider is pinned, the one
//! of its own URL variable. It is sent nowhere else. Custom endpoints get the key that is written beside them, and no
//! other.

use super::choice::{self, Chosen};
use super::{Lookups, ResolveError, Wanted, vendor};
use crate::address::{origin, origin_of};
use crate::catalogue::{self, Auth, Provider, providers, vendor_quirks};
use crate::custom::CustomProvider;
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use url::Url;

/// The source of a key, for display; never the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    None,
    Variable(&'static str),
    /// `model.api_key`.
    Config,
    /// `api_key` of the entry with this name.
    Entry(String),
    /// The variable that an entry names.
    EntryVariable(String),
    /// A stored credential, by its label.
    Pool(String),
    /// The login of a vendor's own program: its name and its file.
    VendorFile {
        tool: &'static str,
        file: String,
    },
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no key"),
            Self::Variable(name) => write!(f, "key from {name}"),
            Self::Config => f.write_str("key from model.api_key"),
            Self::Entry(name) => write!(f, "key from `{name}` in config.yaml"),
            Self::EntryVariable(name) => write!(f, "key from {name}"),
            Self::Pool(label) => write!(f, "stored credential {label}"),
            Self::VendorFile { tool, file } => write!(f, "login of {tool} in {file}"),
        }
    }
}

/// A stored credential. It belongs to its own address, or else to its provider's.
#[derive(Clone)]
pub struct PooledKey {
    pub key: SecretString,
    pub base_url: Option<String>,
    pub label: String,
}

/// A key that settings have beside a provider, for the place that is chosen with it.
#[derive(Clone)]
pub enum GivenKey {
    /// `by` is the setting, for display.
    Key {
        key: SecretString,
        by: String,
    },
    Variable {
        name: String,
        by: String,
    },
}

/// The variable that programs for servers in OpenAI's format usually read.
const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// A key, or the absence of one, with the reason.
pub(super) struct ResolvedKey {
    pub(super) key: Option<SecretString>,
    pub(super) source: KeySource,
    pub(super) account: Option<String>,
    pub(super) why: String,
    /// The line of settings for a server that asks for a key, if one is set that is not sent there.
    pub(super) advice: Option<String>,
}

impl ResolvedKey {
    pub(super) fn some(key: SecretString, source: KeySource) -> Self {
        let why = source.to_string();
        Self { key: Some(key), source, account: None, why, advice: None }
    }

    fn none(why: &str) -> Self {
        Self { key: None, source: KeySource::None, account: None, why: why.to_owned(), advice: None }
    }
}

pub(super) fn find(
    chosen: &Chosen<'_>,
    url: &Url,
    is_configured: bool,
    wanted: &Wanted,
    lookups: Lookups<'_>,
) -> Result<ResolvedKey, ResolveError> {
    let is_own = match chosen {
        Chosen::Entry(_) => true,
        Chosen::Known(provider) => provider.has_no_address() || owns(provider, url, lookups),
    };
    // Without an address beside it, a key belongs to the provider's own.
    let given = wanted.given.as_ref().filter(|_| is_configured || is_own);
    if let Some(found) = of_given(given, url, lookups)? {
        return Ok(found);
    }
    let provider = match chosen {
        Chosen::Entry(entry) => return of_entry(entry, url, lookups),
        Chosen::Known(provider) => *provider,
    };
    let configured = wanted.api_key.clone().filter(|key| is_configured && is_usable_key(key.expose_secret()));
    if let Some(key) = configured {
        return Ok(ResolvedKey::some(key, KeySource::Config));
    }
    let is_named = choice::named(wanted).is_some();
    if provider.has_no_address() {
        return of_own_server(provider, url, is_named, lookups);
    }
    if let Some(found) = pooled(provider.id, url, owns(provider, url, lookups), lookups) {
        return Ok(found);
    }
    if !owns(provider, url, lookups) {
        return Ok(ResolvedKey::none("the address is not the provider's own, so its key is not sent there"));
    }
    if let Some(found) = vendor::find(provider, url, lookups)? {
        return Ok(found);
    }
    match of_provider(provider, lookups) {
        Some(found) => Ok(found),
        None => match provider.auth {
            Auth::ApiKey | Auth::TokenExchange => Err(no_key(provider)),
            Auth::DeviceLogin | Auth::BrowserLogin => Err(no_login(provider)),
            _ => Ok(ResolvedKey::none("none is set, and none may be needed")),
        },
    }
}

/// A provider without an address of its own gets the key in its variable, unless it is another provider's.
fn of_own_server(
    provider: &'static Provider,
    url: &Url,
    is_named: bool,
    lookups: Lookups<'_>,
) -> Result<ResolvedKey, ResolveError> {
    if let Some(owner) = owner_with_variables(url, lookups) {
        // A key that must be exchanged first cannot be sent as it is.
        return Ok(of_provider(owner, lookups)
            .filter(|_| owner.lacks.is_none() && matches!(owner.auth, Auth::ApiKey | Auth::OptionalKey))
            .unwrap_or_else(|| ResolvedKey::none("the address belongs to a provider whose key is not set")));
    }
    if let Some(found) = pooled(provider.id, url, is_named, lookups) {
        return Ok(found);
    }
    let is_own_variable = usable(lookups, provider.base_url_env)
        .is_some_and(|text| origin_of(text.expose_secret()) == Some(origin(url)));
    let may_have_key = is_named || (provider.needs_key() && is_own_variable);
    match of_provider(provider, lookups).filter(|_| may_have_key) {
        Some(found) => Ok(found),
        None if provider.needs_key() => Err(no_key(provider)),
        None => Ok(withheld(url, lookups)),
    }
}

/// No key, with the line of settings that would send the OpenAI key if one is set.
fn withheld(url: &Url, lookups: Lookups<'_>) -> ResolvedKey {
    if usable(lookups, OPENAI_KEY).is_none() {
        return ResolvedKey::none("none is written beside the address, and none may be needed");
    }
    let place = origin(url);
    let advice = format!(
        "{OPENAI_KEY} is sent to OpenAI only, not to {place}; if that server is meant to get it, add \
         `api_key: ${{{OPENAI_KEY}}}` beside its base_url in config.yaml"
    );
    let why = format!("none is written beside the address ({OPENAI_KEY} is sent to OpenAI only)");
    ResolvedKey { advice: Some(advice), ..ResolvedKey::none(&why) }
}

/// Returns the address that a new key of a provider belongs to.
pub fn own_address(provider: &'static Provider, key: &SecretString, lookups: Lookups<'_>) -> Option<String> {
    let variable = usable(lookups, provider.base_url_env).filter(|_| !provider.pinned);
    let built_in = Some(provider.base_url).filter(|address| !address.is_empty());
    let special = || vendor_quirks::address_for(provider, Some(key.clone()));
    let written = variable.map(|address| address.expose_secret().to_owned());
    written.or_else(|| special().or(built_in).map(str::to_owned))
}

fn of_given(
    given: Option<&GivenKey>,
    url: &Url,
    lookups: Lookups<'_>,
) -> Result<Option<ResolvedKey>, ResolveError> {
    match given {
        Some(GivenKey::Key { key, by }) if is_usable_key(key.expose_secret()) => {
            Ok(Some(ResolvedKey::some(key.clone(), KeySource::Entry(by.clone()))))
        }
        Some(GivenKey::Variable { name, by }) => {
            refuse_foreign(by, name, url, lookups)?;
            let key = usable(lookups, name);
            let missing = || ResolveError::NoEntryKey { name: by.clone(), variable: name.clone() };
            Ok(Some(ResolvedKey::some(key.ok_or_else(missing)?, KeySource::EntryVariable(name.clone()))))
        }
        Some(GivenKey::Key { key, by }) => match unset_variable(key) {
            Some(variable) => Err(ResolveError::NoEntryKey { name: by.clone(), variable }),
            None => Ok(None),
        },
        None => Ok(None),
    }
}

/// The variable of a key that is still a template, because the variable is not set.
fn unset_variable(key: &SecretString) -> Option<String> {
    let name = key.expose_secret().trim().strip_prefix("${")?.strip_suffix('}')?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn of_entry(entry: &CustomProvider, url: &Url, lookups: Lookups<'_>) -> Result<ResolvedKey, ResolveError> {
    let own = entry.api_key.clone().filter(|key| is_usable_key(key.expose_secret()));
    if let Some(key) = own {
        return Ok(ResolvedKey::some(key, KeySource::Entry(entry.name.clone())));
    }
    if let Some(variable) = &entry.key_env {
        refuse_foreign(&entry.name, variable, url, lookups)?;
        if let Some(key) = usable(lookups, variable) {
            return Ok(ResolvedKey::some(key, KeySource::EntryVariable(variable.clone())));
        }
    }
    if let Some(found) = pooled(&catalogue::custom_label(&entry.name), url, true, lookups) {
        return Ok(found);
    }
    let variable = entry.key_env.clone().or_else(|| entry.api_key.as_ref().and_then(unset_variable));
    match variable {
        Some(variable) => Err(ResolveError::NoEntryKey { name: entry.name.clone(), variable }),
        None => of_own_server(catalogue::custom(), url, true, lookups),
    }
}

/// Returns an error if a variable is some provider's key and would be sent to another address.
fn refuse_foreign(by: &str, variable: &str, url: &Url, lookups: Lookups<'_>) -> Result<(), ResolveError> {
    let holders: Vec<_> = providers().filter(|provider| provider.key_env.contains(&variable)).collect();
    let Some(holder) = holders.first() else { return Ok(()) };
    let owner = owner_with_variables(url, lookups);
    // A provider without an address keeps its variable for any address of the user. The OpenAI key may be named for
    // one, because servers in that format are often set up with it.
    let may = |provider: &&Provider| match owner {
        Some(owner) => owner.key_env.contains(&variable),
        None => variable == OPENAI_KEY || provider.has_no_address() || owns(provider, url, lookups),
    };
    if holders.iter().any(may) {
        return Ok(());
    }
    Err(ResolveError::KeyOfAnother {
        name: by.to_owned(),
        variable: variable.to_owned(),
        provider: holder.id,
        origin: origin(url),
    })
}

fn no_login(provider: &'static Provider) -> ResolveError {
    let why = format!("you are not logged in: `hermes auth login {}`", provider.id);
    ResolveError::NoLogin { provider: provider.id, why }
}

fn no_key(provider: &'static Provider) -> ResolveError {
    let variable = provider.key_env.first().copied().unwrap_or_default();
    ResolveError::NoKey { provider: provider.id, variable }
}

/// The provider that an address belongs to; the address in `OPENAI_BASE_URL` is OpenAI's as well.
fn owner_with_variables(url: &Url, lookups: Lookups<'_>) -> Option<&'static Provider> {
    let is_it = |provider: &&'static Provider| {
        provider.needs_key() && provider.quirks.chosen_by.contains(&provider.base_url_env)
    };
    choice::owner(url).or_else(|| providers().filter(is_it).find(|provider| owns(provider, url, lookups)))
}

/// Returns true if an address has one of the provider's origins.
fn owns(provider: &Provider, url: &Url, lookups: Lookups<'_>) -> bool {
    let here = Some(origin(url));
    if provider.addresses().any(|text| origin_of(text) == here) {
        return true;
    }
    let variable = usable(lookups, provider.base_url_env).filter(|_| !provider.pinned);
    variable.is_some_and(|text| origin_of(text.expose_secret()) == here)
        // The address of another provider belongs to that provider.
        && choice::owner(url).is_none()
}

fn of_provider(provider: &'static Provider, lookups: Lookups<'_>) -> Option<ResolvedKey> {
    let mut variables = provider.key_env.iter();
    variables.find_map(|name| Some(ResolvedKey::some(usable(lookups, name)?, KeySource::Variable(name))))
}

/// The first key of a provider that is set.
pub(super) fn first_usable(provider: &Provider, lookups: Lookups<'_>) -> Option<SecretString> {
    provider.key_env.iter().find_map(|name| usable(lookups, name))
}

/// The first stored key that belongs to the address.
fn pooled(id: &str, url: &Url, is_own: bool, lookups: Lookups<'_>) -> Option<ResolvedKey> {
    let fits = |stored: &PooledKey| match &stored.base_url {
        Some(own) => origin_of(own) == Some(origin(url)),
        None => is_own,
    };
    let stored = (lookups.pooled)(id);
    let first =
        stored.into_iter().find(|stored| fits(stored) && is_usable_key(stored.key.expose_secret()))?;
    Some(ResolvedKey::some(first.key, KeySource::Pool(first.label)))
}

/// Returns true if an address is that of a provider (or of `custom:NAME`, whose address is in the settings), so that
/// keys without an address may be sent there.
pub fn is_own_address(label: &str, url: &Url, lookups: Lookups<'_>) -> bool {
    match catalogue::find(label) {
        Some(provider) => owns(provider, url, lookups),
        None => catalogue::custom_name(label).is_some(),
    }
}

/// A variable with a usable value.
pub(super) fn usable(lookups: Lookups<'_>, name: &str) -> Option<SecretString> {
    if name.is_empty() {
        return None;
    }
    (lookups.variable)(name).filter(|value| is_usable_key(value.expose_secret()))
}

/// Returns true for values that are only placeholders.
pub(crate) fn is_usable_key(value: &str) -> bool {
    let value = value.trim();
    let lower = value.to_ascii_lowercase();
    !value.is_empty() && !lower.starts_with("your") && !lower.contains("changeme") && !value.starts_with("${")
}

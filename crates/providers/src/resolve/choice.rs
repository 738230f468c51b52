//! The choice of the provider.

use super::keys::usable;
use super::{Lookups, ResolveError, Wanted};
use crate::address::{origin, origin_of, parse_base_url};
use crate::catalogue::{self, Provider, custom, is_custom_id, providers};
use crate::custom::CustomProvider;
use url::Url;

/// A row of the catalogue, or a named endpoint of the user.
pub(super) enum Chosen<'a> {
    Known(&'static Provider),
    Entry(&'a CustomProvider),
}

impl Chosen<'_> {
    pub(super) fn provider(&self) -> &'static Provider {
        match self {
            Self::Known(provider) => provider,
            Self::Entry(_) => custom(),
        }
    }

    pub(super) fn entry(&self) -> Option<&CustomProvider> {
        match self {
            Self::Known(_) => None,
            Self::Entry(entry) => Some(entry),
        }
    }
}

/// Chooses the provider and its reason. One that cannot be used is an error.
pub(super) fn choose<'a>(
    wanted: &'a Wanted,
    lookups: Lookups<'_>,
) -> Result<(Chosen<'a>, String), ResolveError> {
    let (chosen, why) = match named(wanted) {
        Some(name) => {
            let why = wanted.sources.provider.clone().unwrap_or_else(|| "asked for by name".to_owned());
            (by_name(name, &wanted.custom)?, why)
        }
        None => automatic(wanted, lookups)?,
    };
    match &chosen {
        Chosen::Entry(entry) if entry.is_disabled => Err(ResolveError::Disabled { name: entry.name.clone() }),
        Chosen::Known(provider) if is_off(provider, wanted) => {
            Err(ResolveError::Disabled { name: provider.id.to_owned() })
        }
        Chosen::Known(Provider { id, lacks: Some(what), .. }) => {
            Err(ResolveError::NotYet { provider: id, why: (*what).to_owned() })
        }
        _ => Ok((chosen, why)),
    }
}

/// The provider with this name.
pub(super) fn named(wanted: &Wanted) -> Option<&str> {
    wanted.provider.as_deref().map(str::trim).filter(|name| !name.is_empty() && *name != "auto")
}

/// Built-in names take precedence over entries of the same name, except for names of local servers such as `local`.
fn by_name<'a>(name: &str, entries: &'a [CustomProvider]) -> Result<Chosen<'a>, ResolveError> {
    let unknown = || ResolveError::UnknownProvider { name: name.to_owned() };
    let entry = |name: &str| {
        let plain = CustomProvider::plain_name(name);
        entries.iter().find(|entry| entry.name == plain).map(Chosen::Entry)
    };
    if let Some((prefix, rest)) = name.split_once(':')
        && is_custom_id(prefix)
    {
        return entry(rest).ok_or_else(unknown);
    }
    match catalogue::find(name) {
        Some(provider) if provider.is_custom() && !is_custom_id(name) => {
            Ok(entry(name).unwrap_or(Chosen::Known(provider)))
        }
        Some(provider) => Ok(Chosen::Known(provider)),
        None => entry(name).ok_or_else(unknown),
    }
}

/// Without a named provider the address decides, or the first key that is set.
fn automatic<'a>(wanted: &Wanted, lookups: Lookups<'_>) -> Result<(Chosen<'a>, String), ResolveError> {
    let found = |provider: &'static Provider, why: &str| Ok((Chosen::Known(provider), why.to_owned()));
    let is_set = |name: &str| usable(lookups, name).is_some();
    if let Some(text) = wanted.base_url.as_deref().filter(|url| !url.trim().is_empty()) {
        // One that cannot be used by its name may still serve its own key at its address.
        let owner = parse_base_url(text).ok().and_then(|url| owner(&url));
        return match owner.filter(|provider| provider.lacks.is_none()) {
            Some(provider) => found(provider, "model.base_url is its address"),
            None => found(custom(), "model.base_url is the address of no known provider"),
        };
    }
    // A configured address selects the custom provider, even if it is disabled.
    let on = |provider: &&Provider| provider.is_custom() || !is_off(provider, wanted);
    for provider in providers().filter(on) {
        let variables = provider.quirks.chosen_by;
        if variables.iter().any(|name| is_set(name)) {
            return found(provider, &format!("{} is set", variables.join(" or ")));
        }
    }
    let is_stored = |provider: &&Provider| {
        provider.quirks.is_chosen_when_stored && !(lookups.pooled)(provider.id).is_empty()
    };
    if let Some(provider) = providers().filter(on).find(is_stored) {
        return found(provider, "a credential is stored for it");
    }
    first_with_key(wanted, lookups).ok_or(ResolveError::NothingConfigured)
}

/// The first provider with a key; a usable one before one that is not supported yet.
fn first_with_key<'a>(wanted: &Wanted, lookups: Lookups<'_>) -> Option<(Chosen<'a>, String)> {
    let with_key = |provider: &'static Provider| {
        let variable = provider.key_env.iter().find(|name| usable(lookups, name).is_some())?;
        (provider.needs_key() && !is_off(provider, wanted)).then_some((provider, *variable))
    };
    let all: Vec<_> = providers().filter_map(with_key).collect();
    let usable_now = all.iter().find(|(provider, _)| provider.not_yet().is_none());
    let (provider, variable) = usable_now.or(all.first())?;
    Some((Chosen::Known(provider), format!("{variable} is set")))
}

fn is_off(provider: &Provider, wanted: &Wanted) -> bool {
    wanted.disabled.iter().any(|name| catalogue::find(name).is_some_and(|found| found.id == provider.id))
}

/// The provider with the origin of this address; of several, the one with the longest matching path.
pub(super) fn owner(url: &Url) -> Option<&'static Provider> {
    let (here, host) = (origin(url), url.host_str().unwrap_or_default());
    let fit = |provider: &Provider| {
        // Parsing all addresses of the catalogue would slow down every start; few have this host.
        let named = provider.addresses().filter(|text| text.contains(host));
        let same = named.filter(|text| origin_of(text).as_ref() == Some(&here));
        let paths = same.filter_map(|text| Url::parse(text).ok()).map(|own| {
            match url.path().starts_with(own.path()) {
                true => own.path().len() + 1,
                false => 1,
            }
        });
        paths.max().unwrap_or(0)
    };
    let mut best: Option<(usize, &'static Provider)> = None;
    for provider in providers() {
        let fit = fit(provider);
        // Of two equal ones the earlier is used: the rows with logins come last.
        if fit > best.map_or(0, |(best, _)| best) {
            best = Some((fit, provider));
        }
    }
    best.map(|(_, provider)| provider)
}

//! The credentials of one provider: those in the file, and those found elsewhere.

use super::borrowed::{fingerprint, hex};
use super::entry::is_login_token;
use super::{AuthData, AuthType, Entry, LastError, Status};
use crate::address::origin_of;
use crate::catalogue;
use crate::custom::CustomProvider;
use secrecy::SecretString;
use serde_json::Value;

/// A key that was found outside of `auth.json`.
#[derive(Debug, Clone)]
pub struct Seed {
    /// `env:VARIABLE`, `config:NAME`, `model_config`, …
    pub source: String,
    pub label: String,
    pub key: SecretString,
    pub base_url: Option<String>,
}

/// The credentials of one provider, in the order in which they are used.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    pub entries: Vec<Entry>,
}

impl Pool {
    /// Combines stored and found credentials. An entry whose secret is stored elsewhere gets it from the seed of the
    /// same source; without such a seed it has none.
    pub fn of(data: &AuthData, provider: &str, seeds: &[Seed]) -> Self {
        let stored = data.entries(provider).iter().enumerate();
        let stored = stored.filter_map(|(at, value)| Some((value.as_object()?, at)));
        let mut entries: Vec<Entry> = stored.map(|(fields, at)| read(provider, fields, at, seeds)).collect();
        for seed in seeds.iter().filter(|seed| !data.is_suppressed(provider, &seed.source)) {
            if !entries.iter().any(|entry| is_same_source(&entry.source, &seed.source)) {
                let next = entries.iter().map(|entry| entry.priority).max().map_or(0, |last| last + 1);
                entries.push(seeded(provider, seed, next));
            }
        }
        entries.sort_by_key(|entry| rank(provider, entry));
        Self { entries }
    }

    /// Keeps the credentials that may be sent to an origin. `is_own` means that it is the provider's own, to which
    /// credentials without an address belong.
    pub fn at(mut self, origin: &str, is_own: bool) -> Self {
        self.entries.retain(|entry| match &entry.base_url {
            Some(address) => origin_of(address).as_deref() == Some(origin),
            None => is_own,
        });
        self
    }

    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }
}

fn read(provider: &str, fields: &serde_json::Map<String, Value>, at: usize, seeds: &[Seed]) -> Entry {
    let mut entry = Entry::read(provider, fields, at);
    if !entry.is_borrowed() {
        return entry;
    }
    let Some(seed) = seeds.iter().find(|seed| is_same_source(&seed.source, &entry.source)) else {
        entry.key = SecretString::default();
        return entry;
    };
    let known = fields.get("secret_fingerprint").and_then(Value::as_str);
    if known.is_some_and(|known| known != fingerprint(&seed.key)) {
        // The key has changed; the stored state is that of the old one.
        (entry.status, entry.last_error) = (Status::Ok, LastError::default());
    }
    entry.key = seed.key.clone();
    // The current settings decide where it belongs.
    entry.base_url = seed.base_url.clone();
    entry
}

/// Names of endpoints are written with and without capitals and spaces.
fn is_same_source(one: &str, other: &str) -> bool {
    one == other || CustomProvider::plain_name(one) == CustomProvider::plain_name(other)
}

fn seeded(provider: &str, seed: &Seed, priority: i64) -> Entry {
    let is_login = is_login_token(provider, &seed.key);
    Entry {
        provider: provider.to_owned(),
        // The same id each time, until it is stored.
        id: hex(&format!("{provider} {}", seed.source), 6),
        label: seed.label.clone(),
        auth_type: if is_login { AuthType::OAuth } else { AuthType::ApiKey },
        priority,
        source: seed.source.clone(),
        key: seed.key.clone(),
        refresh_token: None,
        base_url: seed.base_url.clone(),
        expires_at: None,
        request_count: 0,
        status: Status::Ok,
        last_error: LastError::default(),
        more: Default::default(),
    }
}

/// Sorts by priority; for one provider, keys of the user come before found ones, and those are sorted by source.
fn rank(provider: &str, entry: &Entry) -> (usize, i64) {
    let found = catalogue::find(provider).map_or(&[][..], |row| row.quirks.login.found_order);
    let place = match found.is_empty() || entry.is_manual() {
        true => 0,
        false => found.iter().position(|source| *source == entry.source).unwrap_or(found.len()) + 1,
    };
    (place, entry.priority)
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;

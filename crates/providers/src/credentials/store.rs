//! The stored credentials of one home, as a process uses them.

use super::{AuthData, AuthError, AuthFile, Availability, Entry, Leases, Pool, Seed};
use crate::resolve::PooledKey;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The clock and the random source.
#[derive(Clone)]
pub struct ClockAndRandom {
    /// Seconds since 1970.
    pub now: Arc<dyn Fn() -> f64 + Send + Sync>,
    /// From 0 up to, but not including, 1.
    pub random: Arc<dyn Fn() -> f64 + Send + Sync>,
}

impl Default for ClockAndRandom {
    fn default() -> Self {
        Self { now: Arc::new(|| 0.0), random: Arc::new(|| 0.0) }
    }
}

/// The stored credentials of one home.
#[derive(Clone, Default)]
pub struct Credentials {
    file: Option<AuthFile>,
    /// The content at the start of the process; each choice reads the file again.
    at_start: AuthData,
    problem: Option<Arc<AuthError>>,
    pub(super) leases: Leases,
    pub(super) outside: ClockAndRandom,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Credentials {
    /// Reads the file of a home. One that cannot be read is reported, and keys from elsewhere are still used.
    pub fn load(path: impl Into<PathBuf>, outside: ClockAndRandom) -> Self {
        let file = AuthFile::at(path);
        let (at_start, problem) = match file.read() {
            Ok(data) => (data, None),
            Err(error) => (AuthData::default(), Some(Arc::new(error))),
        };
        Self { file: Some(file), at_start, problem, leases: Leases::default(), outside }
    }

    /// Returns the error of reading the file, if there was one.
    pub fn problem(&self) -> Option<&Arc<AuthError>> {
        self.problem.as_ref()
    }

    /// Returns the file; `None` in a process without a home.
    pub fn file(&self) -> Option<&AuthFile> {
        self.file.as_ref()
    }

    pub fn now(&self) -> f64 {
        (self.outside.now)()
    }

    pub fn random(&self) -> f64 {
        (self.outside.random)()
    }

    /// The stored credentials at the start of the process.
    pub fn at_start(&self) -> &AuthData {
        &self.at_start
    }

    /// Returns true if a provider has stored credentials.
    pub fn has(&self, provider: &str) -> bool {
        !self.at_start.entries(provider).is_empty()
    }

    /// The stored credentials now; those of the start if the file cannot be read any more.
    pub(super) fn data(&self) -> AuthData {
        let read = self.file.as_ref().and_then(|file| file.read().ok());
        read.unwrap_or_else(|| self.at_start.clone())
    }

    /// Returns the stored keys of a provider, in order. Empty if the first one is stored elsewhere: the caller finds it
    /// there itself.
    ///
    /// One in cooldown keeps its position: the endpoint must not depend on cooldowns.
    pub fn pooled(&self, provider: &str, seeds: &[Seed]) -> Vec<PooledKey> {
        if !self.has(provider) {
            return Vec::new();
        }
        let now = self.now();
        let pool = Pool::of(&self.at_start, provider, seeds);
        let is_usable =
            |entry: &&Entry| !matches!(entry.availability(now), Availability::Dead | Availability::NoKey);
        let mut usable = pool.entries.iter().filter(is_usable).peekable();
        if usable.peek().is_none_or(|first| first.is_borrowed()) {
            return Vec::new();
        }
        let key = |entry: &Entry| PooledKey {
            key: entry.key.clone(),
            base_url: entry.base_url.clone(),
            label: entry.label.clone(),
        };
        usable.filter(|entry| !entry.is_borrowed()).map(key).collect()
    }

    /// Returns every secret in the file, also in unknown parts, with names for redacted text.
    pub fn secrets(&self) -> Vec<(String, SecretString)> {
        let mut all = Vec::new();
        for (name, value) in self.at_start.root() {
            collect(name, value, &mut all);
        }
        all
    }
}

/// Texts under names that suggest a secret.
fn collect(name: &str, value: &Value, all: &mut Vec<(String, SecretString)>) {
    const NAMES: [&str; 5] = ["token", "key", "secret", "password", "credential"];
    match value {
        Value::String(text) => {
            let lower = name.to_ascii_lowercase();
            let is_plain = ["token_type", "agent_key_id", "secret_fingerprint", "secret_source"];
            let is_secret = NAMES.iter().any(|word| lower.contains(word)) && !is_plain.contains(&&*lower);
            let is_date = super::moment::of_text(text).is_some();
            if is_secret && !is_date {
                all.push((format!("auth.json {name}"), SecretString::from(text.as_str())));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(name, item, all)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| collect(name, value, all)),
        _ => {}
    }
}

/// Returns true if two keys are the same.
pub(super) fn is_same(one: &SecretString, other: &SecretString) -> bool {
    one.expose_secret() == other.expose_secret()
}

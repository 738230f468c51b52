//! The stored credentials of one home, as a process uses them.

use super::{AuthData, AuthError, AuthFile, Availability, Entry, Leases, Pool, Seed};
use crate::resolve::PooledKey;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The clock and the dice.
#[derive(Clone)]
pub struct Outside {
    /// Seconds since 1970.
    pub now: Arc<dyn Fn() -> f64 + Send + Sync>,
    /// From 0 up to, but not including, 1.
    pub random: Arc<dyn Fn() -> f64 + Send + Sync>,
}

impl Default for Outside {
    fn default() -> Self {
        Self { now: Arc::new(|| 0.0), random: Arc::new(|| 0.0) }
    }
}

/// The stored credentials of one home.
#[derive(Clone, Default)]
pub struct Credentials {
    file: Option<AuthFile>,
    /// As it was when the process began: what is chosen from is read again each time.
    at_start: AuthData,
    problem: Option<Arc<AuthError>>,
    pub(super) leases: Leases,
    pub(super) outside: Outside,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Credentials {
    /// Reads the file of a home. One that cannot be read is a problem to tell about, and no reason to
    /// do without the keys that are elsewhere.
    pub fn load(path: impl Into<PathBuf>, outside: Outside) -> Self {
        let file = AuthFile::at(path);
        let (at_start, problem) = match file.read() {
            Ok(data) => (data, None),
            Err(error) => (AuthData::default(), Some(Arc::new(error))),
        };
        Self { file: Some(file), at_start, problem, leases: Leases::default(), outside }
    }

    /// Why nothing stored is used, if the file could not be read.
    pub fn problem(&self) -> Option<&Arc<AuthError>> {
        self.problem.as_ref()
    }

    /// The file; `None` in a process that has no home.
    pub fn file(&self) -> Option<&AuthFile> {
        self.file.as_ref()
    }

    pub fn now(&self) -> f64 {
        (self.outside.now)()
    }

    pub fn random(&self) -> f64 {
        (self.outside.random)()
    }

    /// What was stored when the process began.
    pub fn at_start(&self) -> &AuthData {
        &self.at_start
    }

    /// Whether anything is stored for a provider.
    pub fn has(&self, provider: &str) -> bool {
        !self.at_start.entries(provider).is_empty()
    }

    /// What is stored now; what was stored at the start, where the file cannot be read any more.
    pub(super) fn data(&self) -> AuthData {
        let read = self.file.as_ref().and_then(|file| file.read().ok());
        read.unwrap_or_else(|| self.at_start.clone())
    }

    /// The stored keys of a provider, in order. Empty when the first in line is one that lives
    /// elsewhere: whoever looks there finds it by itself.
    ///
    /// One that rests keeps its place: where requests go must not depend on it.
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

    /// Every secret in the file, also in parts that this version does not know, with names for
    /// redacted text.
    pub fn secrets(&self) -> Vec<(String, SecretString)> {
        let mut all = Vec::new();
        for (name, value) in self.at_start.root() {
            collect(name, value, &mut all);
        }
        all
    }
}

/// Texts under names that promise a secret.
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

/// Whether two keys are the same.
pub(super) fn is_same(one: &SecretString, other: &SecretString) -> bool {
    one.expose_secret() == other.expose_secret()
}

//! One stored credential, as a value.

use super::{borrowed, moment};
use crate::catalogue;
use crate::login::{RENEW_BEFORE, jwt};
use crate::resolve::is_usable_key;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::time::UNIX_EPOCH;

/// The cooldown of a refused key, if the provider states none.
const REST_AFTER_401: f64 = 5.0 * 60.0;
const REST: f64 = 60.0 * 60.0;

/// One stored credential. Its secrets are never printed.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The id of its provider, or `custom:NAME`.
    pub provider: String,
    pub id: String,
    pub label: String,
    pub auth_type: AuthType,
    /// Lower values are used first.
    pub priority: i64,
    /// The source: `manual`, `env:VARIABLE`, `config:NAME`, `device_code`, …
    pub source: String,
    /// The secret that is sent.
    pub key: SecretString,
    pub refresh_token: Option<SecretString>,
    /// The address that it belongs to; by default that of its provider.
    pub base_url: Option<String>,
    /// The time when `key` expires.
    pub expires_at: Option<f64>,
    pub request_count: u64,
    pub status: Status,
    pub last_error: LastError,
    /// Fields for its renewal, other than the above.
    pub more: Fields,
}

/// Further fields. They may be secret, so they are not printed.
#[derive(Clone, Default, PartialEq)]
pub struct Fields(Map<String, Value>);

impl std::fmt::Debug for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fields({})", self.0.len())
    }
}

impl Fields {
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthType {
    ApiKey,
    OAuth,
}

impl AuthType {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::OAuth => "oauth",
        }
    }
}

/// The stored state of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    #[default]
    Ok,
    Exhausted,
    /// Disabled for good; only a new login helps.
    Dead,
}

/// The last refusal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LastError {
    pub at: Option<f64>,
    pub code: Option<i64>,
    pub reason: Option<String>,
    pub message: Option<String>,
    pub reset_at: Option<f64>,
}

/// The availability of a credential at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Availability {
    Ready,
    CoolingDown {
        until: f64,
    },
    Dead,
    /// The secret is stored elsewhere and missing there.
    NoKey,
}

const TYPED: [&str; 21] = [
    "id",
    "label",
    "auth_type",
    "priority",
    "source",
    "access_token",
    "refresh_token",
    "base_url",
    "inference_base_url",
    "agent_key",
    "agent_key_expires_at",
    "expires_at",
    "expires_at_ms",
    "request_count",
    "last_status",
    "last_status_at",
    "last_error_code",
    "last_error_reason",
    "last_error_message",
    "last_error_reset_at",
    "secret_fingerprint",
];

/// The id of an entry; without one it is made from its position.
pub(super) fn id_of(fields: &Map<String, Value>, at: usize) -> String {
    match fields.get("id").and_then(Value::as_str) {
        Some(id) if !id.is_empty() => id.to_owned(),
        _ => format!("#{}", at + 1),
    }
}

impl Entry {
    /// Parses an entry at this position of its list. Values of the wrong type count as missing.
    pub(super) fn read(provider: &str, fields: &Map<String, Value>, at: usize) -> Self {
        let text = |name: &str| {
            let text = fields.get(name).and_then(Value::as_str).map(str::trim);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let number = |name: &str| fields.get(name).and_then(Value::as_i64);
        let when = |name: &str| fields.get(name).and_then(moment::of_value);
        // One provider exchanges the token of its login for an API key.
        let buys_key = catalogue::find(provider).is_some_and(|row| row.quirks.login.buys_key);
        let buys = buys_key && text("agent_key").is_some();
        let (key, expiry) = match buys {
            true => ("agent_key", when("agent_key_expires_at")),
            false => ("access_token", when("expires_at_ms").or_else(|| when("expires_at"))),
        };
        let key = SecretString::from(text(key).unwrap_or_default());
        let auth_type = auth_type(provider, &key, text("auth_type").as_deref());
        let inference = buys_key.then(|| text("inference_base_url")).flatten();
        let source = text("source").unwrap_or_else(|| "manual".to_owned());
        let more = fields.iter().filter(|(name, _)| !TYPED.contains(&name.as_str()));
        Self {
            provider: provider.to_owned(),
            id: id_of(fields, at),
            label: text("label").unwrap_or_else(|| source.clone()),
            auth_type,
            priority: number("priority").unwrap_or(0),
            expires_at: expiry.or_else(|| (auth_type == AuthType::OAuth).then(|| ends(&key)).flatten()),
            source,
            key,
            refresh_token: text("refresh_token").map(SecretString::from),
            base_url: inference.or_else(|| text("base_url")),
            request_count: number("request_count").and_then(|count| u64::try_from(count).ok()).unwrap_or(0),
            status: match text("last_status").as_deref() {
                Some("exhausted") => Status::Exhausted,
                Some("dead") => Status::Dead,
                _ => Status::Ok,
            },
            last_error: LastError {
                at: when("last_status_at"),
                code: number("last_error_code"),
                reason: text("last_error_reason"),
                message: text("last_error_message"),
                reset_at: when("last_error_reset_at"),
            },
            more: Fields(more.map(|(name, value)| (name.clone(), value.clone())).collect()),
        }
    }

    /// Returns true if the user gave it to Hermes, as opposed to one that was found or logged in.
    pub fn is_manual(&self) -> bool {
        borrowed::is_manual(&self.source)
    }

    /// Returns true if its secret is stored elsewhere.
    pub fn is_borrowed(&self) -> bool {
        borrowed::is_borrowed(&self.provider, &self.source)
    }

    /// Returns its availability at this time.
    pub fn availability(&self, now: f64) -> Availability {
        let has_key = is_usable_key(self.key.expose_secret());
        match self.status {
            _ if !has_key && self.refresh_token.is_none() => Availability::NoKey,
            Status::Dead => Availability::Dead,
            Status::Exhausted => match self.cooldown_end() {
                Some(until) if now < until => Availability::CoolingDown { until },
                _ => Availability::Ready,
            },
            Status::Ok => Availability::Ready,
        }
    }

    /// The end of a cooldown: the one that the provider stated, or one by the status of the refusal.
    pub fn cooldown_end(&self) -> Option<f64> {
        let rest = if self.last_error.code == Some(401) { REST_AFTER_401 } else { REST };
        match self.status {
            Status::Exhausted => self.last_error.reset_at.or_else(|| Some(self.last_error.at? + rest)),
            Status::Ok | Status::Dead => None,
        }
    }

    /// Returns true if it expires soon and can be renewed.
    pub fn needs_renewal(&self, now: f64) -> bool {
        let ends_soon = self.expires_at.is_some_and(|at| at <= now + RENEW_BEFORE.as_secs_f64());
        let is_empty = self.key.expose_secret().is_empty();
        self.can_be_renewed() && (ends_soon || is_empty)
    }

    pub fn can_be_renewed(&self) -> bool {
        self.auth_type == AuthType::OAuth && self.refresh_token.is_some()
    }

    /// Returns the key for display: its beginning and its end, if it is long enough.
    pub fn shown_key(&self) -> String {
        let key = self.key.expose_secret();
        let count = key.chars().count();
        if count == 0 {
            return "(not set here)".to_owned();
        }
        let tail: String = key.chars().skip(count.saturating_sub(4)).collect();
        match count {
            0..16 => "…".to_owned(),
            _ if key.starts_with("sk-") => format!("sk-…{tail}"),
            _ => format!("…{tail}"),
        }
    }
}

/// A token that states its own type takes precedence over the stored one.
fn auth_type(provider: &str, key: &SecretString, written: Option<&str>) -> AuthType {
    let is_login = is_login_token(provider, key);
    match written {
        Some("oauth") => AuthType::OAuth,
        _ if is_login => AuthType::OAuth,
        _ => AuthType::ApiKey,
    }
}

/// Returns true for a key with the prefix of a login's token.
pub(super) fn is_login_token(provider: &str, key: &SecretString) -> bool {
    let prefix = catalogue::find(provider).and_then(|row| row.quirks.login.token_prefix);
    prefix.is_some_and(|prefix| key.expose_secret().starts_with(prefix))
}

/// Returns the expiry that a token states itself.
fn ends(key: &SecretString) -> Option<f64> {
    jwt::expiry(key.expose_secret())?.duration_since(UNIX_EPOCH).ok().map(|time| time.as_secs_f64())
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;

//! Renewing a login, as seen from the pool. How it is done is the business of the login.

use super::{AuthData, Entry};
use hermes_conversation::BoxFuture;
use secrecy::SecretString;
use serde_json::{Map, Value};

/// Renews logins.
///
/// Called with the lock of `auth.json` held, so that a token that may be used once is used once. The
/// answer is written down by the caller.
pub trait Refresh: Send + Sync {
    fn refresh<'a>(&'a self, entry: &'a Entry) -> BoxFuture<'a, Result<Refreshed, RefreshError>>;

    /// Whatever else a renewal changes in the file, besides the entry itself.
    fn note(&self, _data: &mut AuthData, _entry: &Entry, _new: &Refreshed) {}
}

/// New tokens.
#[derive(Clone, Default)]
pub struct Refreshed {
    pub access_token: SecretString,
    /// The one for the next time, where it changes.
    pub refresh_token: Option<SecretString>,
    /// Seconds since 1970.
    pub expires_at: Option<f64>,
    /// Further fields of the entry, written as they are.
    pub fields: Map<String, Value>,
}

impl std::fmt::Debug for Refreshed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Refreshed(expires_at: {:?})", self.expires_at)
    }
}

/// Why a login was not renewed. Neither carries a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefreshError {
    /// It never will be; `reason` is the server's word, such as `invalid_grant`.
    #[error("the login is over ({reason})")]
    Over { reason: String },
    #[error("{cause}")]
    Failed { cause: String },
}

/// Renews nothing.
pub struct NoRefresh;

impl Refresh for NoRefresh {
    fn refresh<'a>(&'a self, _: &'a Entry) -> BoxFuture<'a, Result<Refreshed, RefreshError>> {
        let cause = "this build cannot renew the login".to_owned();
        Box::pin(async { Err(RefreshError::Failed { cause }) })
    }
}

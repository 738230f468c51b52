//! The interface for renewing logins, as the pool uses it.

use super::{AuthData, Entry};
use hermes_conversation::BoxFuture;
use secrecy::SecretString;
use serde_json::{Map, Value};

/// Renews logins.
///
/// Called with the lock of `auth.json` held, so that a single-use token is used once. The caller stores the
/// answer.
pub trait Refresh: Send + Sync {
    fn refresh<'a>(&'a self, entry: &'a Entry) -> BoxFuture<'a, Result<Refreshed, RefreshError>>;

    /// Further changes of the file by a renewal, besides the entry itself.
    fn note(&self, _data: &mut AuthData, _entry: &Entry, _new: &Refreshed) {}
}

/// New tokens.
#[derive(Clone, Default)]
pub struct Refreshed {
    pub access_token: SecretString,
    /// The next refresh token, if it changes.
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

/// An error of renewing a login. No variant has a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefreshError {
    /// Permanent; `reason` is the server's code, such as `invalid_grant`.
    #[error("the login has ended ({reason})")]
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

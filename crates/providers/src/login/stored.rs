//! Renewal of the logins in the pool.

use super::flow::{Flow, LoginOverrides, TokenEndpoint, login_flow};
use super::tokens::{RefreshToken, Tokens};
use super::{error, refresh};
use crate::credentials::{Entry, Refresh, RefreshError, Refreshed};
use crate::fetch::Fetcher;
use hermes_conversation::BoxFuture;
use serde_json::{Map, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The field of an entry with the issuer of its refresh token.
pub const ISSUED_BY: &str = "token_origin";

/// Renews the stored logins of one provider.
pub struct LoginRefresh {
    fetcher: Fetcher,
    /// The flow, or the reason why there is none.
    endpoint: Result<TokenEndpoint, String>,
    /// The issuer of entries that name none: the built-in one.
    usual: Option<String>,
}

impl LoginRefresh {
    pub fn new(provider: &str, own: &LoginOverrides, fetcher: Fetcher) -> Self {
        let usual = login_flow(provider, &LoginOverrides::default()).ok();
        let endpoint = login_flow(provider, own).map_err(|error| error.to_string());
        Self {
            fetcher,
            endpoint: endpoint.map(|flow| flow.token().clone()),
            usual: usual.as_ref().map(Flow::token).map(TokenEndpoint::origin),
        }
    }

    async fn renew(&self, entry: &Entry) -> Result<Refreshed, RefreshError> {
        let failed = |cause: String| RefreshError::Failed { cause };
        let endpoint = self.endpoint.as_ref().map_err(|why| failed(why.clone()))?;
        let issued_by = entry.more.text(ISSUED_BY).map(str::to_owned).or_else(|| self.usual.clone());
        let (Some(secret), Some(issued_by)) = (entry.refresh_token.clone(), issued_by) else {
            return Err(failed("the address for renewing this login is unknown; log in again".to_owned()));
        };
        match refresh(&self.fetcher, endpoint, &RefreshToken::new(secret, issued_by)).await {
            Ok(tokens) => Ok(tokens.into()),
            Err(error::RefreshError::Terminal { reason }) => Err(RefreshError::Over { reason }),
            Err(other) => Err(failed(other.to_string())),
        }
    }
}

impl Refresh for LoginRefresh {
    fn refresh<'a>(&'a self, entry: &'a Entry) -> BoxFuture<'a, Result<Refreshed, RefreshError>> {
        Box::pin(self.renew(entry))
    }
}

/// The tokens as the pool stores them.
impl From<Tokens> for Refreshed {
    fn from(tokens: Tokens) -> Self {
        let seconds = |at: SystemTime| at.duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        let mut fields = Map::new();
        if let Some(refresh) = &tokens.refresh {
            fields.insert(ISSUED_BY.to_owned(), json!(refresh.issued_by()));
        }
        if let Some(scope) = tokens.scope {
            fields.insert("scope".to_owned(), json!(scope));
        }
        Self {
            access_token: tokens.access,
            refresh_token: tokens.refresh.map(|refresh| refresh.secret().clone()),
            expires_at: tokens.expires_at.map(seconds),
            fields,
        }
    }
}

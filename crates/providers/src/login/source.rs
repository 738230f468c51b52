//! Where requests get tokens that do not live long.

use super::error::RefreshError;
use super::flow::TokenEndpoint;
use super::refresh::refresh;
use super::tokens::Tokens;
use crate::fetch::Asker;
use hermes_conversation::BoxFuture;
use hermes_wire::Failure;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::Mutex;

/// Gives the token of the next request.
///
/// Implementations renew what is about to expire before they give it out, and never give out one
/// that was issued for another origin than the one that they were made for.
pub trait TokenSource: Send + Sync {
    /// A token that is good now, as far as anybody can know.
    fn token(&self) -> BoxFuture<'_, Result<SecretString, Failure>>;

    /// Another token than this one, which the server refused with 401. Callers ask once per call.
    fn instead_of<'a>(&'a self, refused: &'a SecretString) -> BoxFuture<'a, Result<SecretString, Failure>>;
}

/// Where the tokens of a login are kept between runs.
pub trait KeepTokens: Send + Sync {
    /// What is kept now. Another process may have renewed it.
    fn kept(&self) -> BoxFuture<'_, Option<Tokens>>;

    /// Keeps new tokens, safe on disk before it returns. Telling the person that it failed is the
    /// implementor's work: the tokens are used all the same, for the old ones are gone, and keeping
    /// them is tried again with the next request.
    fn keep<'a>(&'a self, tokens: &'a Tokens) -> BoxFuture<'a, Result<(), Failure>>;
}

/// The tokens of one login, renewed when it is time.
pub struct LoginTokens(Arc<Login>);

struct Login {
    asker: Asker,
    endpoint: TokenEndpoint,
    keeper: Arc<dyn KeepTokens>,
    /// Held while tokens are renewed: a refresh token may be used once only.
    held: Mutex<Held>,
}

struct Held {
    tokens: Tokens,
    is_kept: bool,
    /// Why there will be no more tokens until the person logs in again.
    ended: Option<String>,
}

impl LoginTokens {
    pub fn new(asker: Asker, endpoint: TokenEndpoint, tokens: Tokens, keeper: Arc<dyn KeepTokens>) -> Self {
        let held = Mutex::new(Held { tokens, is_kept: true, ended: None });
        Self(Arc::new(Login { asker, endpoint, keeper, held }))
    }

    /// Goes on when nobody waits for it any more: the answer to a refresh token that was used up
    /// must not be lost.
    async fn next(&self, refused: Option<SecretString>) -> Result<SecretString, Failure> {
        let login = self.0.clone();
        let task = tokio::spawn(async move { login.next(refused.as_ref()).await });
        task.await.unwrap_or_else(|_| Err(no_credential("renewing the login was stopped")))
    }
}

impl Login {
    async fn next(&self, refused: Option<&SecretString>) -> Result<SecretString, Failure> {
        let mut held = self.held.lock().await;
        let is_bad = |tokens: &Tokens| {
            tokens.is_due(SystemTime::now()) || refused.is_some_and(|token| tokens.has_access(token))
        };
        if is_bad(&held.tokens) {
            // Another process, or a new login, may have been here first.
            match self.keeper.kept().await.filter(|kept| held.is_kept && !is_bad(kept)) {
                Some(kept) => *held = Held { tokens: kept, is_kept: true, ended: None },
                None => self.renew(&mut held).await?,
            }
        }
        if !held.is_kept {
            held.is_kept = self.keeper.keep(&held.tokens).await.is_ok();
        }
        Ok(held.tokens.access.clone())
    }

    async fn renew(&self, held: &mut Held) -> Result<(), Failure> {
        if let Some(why) = &held.ended {
            return Err(Failure::NoKey { why: why.clone(), rests_for: None });
        }
        let Some(token) = &held.tokens.refresh else {
            return Err(no_credential("the login has expired and cannot be renewed; log in again"));
        };
        match refresh(&self.asker, &self.endpoint, token).await {
            Ok(tokens) => {
                *held = Held { tokens, is_kept: false, ended: None };
                Ok(())
            }
            Err(RefreshError::Transient { cause, .. }) => {
                Err(Failure::Unreachable { origin: self.endpoint.origin(), cause })
            }
            Err(error) => {
                let why = error.to_string();
                if matches!(error, RefreshError::Terminal { .. }) {
                    held.ended = Some(why.clone());
                }
                Err(Failure::NoKey { why, rests_for: None })
            }
        }
    }
}

fn no_credential(why: &str) -> Failure {
    Failure::NoKey { why: why.to_owned(), rests_for: None }
}

impl TokenSource for LoginTokens {
    fn token(&self) -> BoxFuture<'_, Result<SecretString, Failure>> {
        Box::pin(self.next(None))
    }

    fn instead_of<'a>(&'a self, refused: &'a SecretString) -> BoxFuture<'a, Result<SecretString, Failure>> {
        Box::pin(self.next(Some(refused.clone())))
    }
}

//! Sources of short-lived tokens that no file of Hermes stores.

use crate::credentials::{KeyChange, Keys};
use hermes_conversation::BoxFuture;
use hermes_wire::{Failure, Fault, FaultClass};
use secrecy::SecretString;
use std::sync::{Arc, Mutex, PoisonError};

/// The token for each request.
///
/// Implementations renew a token that is about to expire, and never return one that was issued for another origin
/// than their own.
pub trait TokenSource: Send + Sync {
    /// Returns a token that is valid now, as far as known.
    fn token(&self) -> BoxFuture<'_, Result<SecretString, Failure>>;

    /// Returns another token than this one, which the server refused with 401. Called once per call.
    fn instead_of<'a>(&'a self, refused: &'a SecretString) -> BoxFuture<'a, Result<SecretString, Failure>>;
}

/// The tokens of a source as the keys of a model: a refused one is replaced once.
pub struct TokenKeys {
    source: Arc<dyn TokenSource>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sent: Option<SecretString>,
    /// Requests since the last refusal; more than one clears it.
    requests: u32,
    was_replaced: bool,
}

impl TokenKeys {
    pub fn new(source: Arc<dyn TokenSource>) -> Self {
        Self { source, state: Mutex::default() }
    }

    fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The refused token, if it may be replaced.
    fn refused(&self, fault: &Fault) -> Option<SecretString> {
        self.state(|state| {
            if std::mem::take(&mut state.requests) > 1 {
                state.was_replaced = false;
            }
            let is_about_it = fault.class == FaultClass::Auth && fault.refusal.status == Some(401);
            let may_be = is_about_it && !state.was_replaced;
            state.was_replaced |= is_about_it;
            state.sent.clone().filter(|_| may_be)
        })
    }
}

impl Keys for TokenKeys {
    fn current(&self) -> BoxFuture<'_, Result<Option<SecretString>, Failure>> {
        Box::pin(async {
            let token = self.source.token().await?;
            self.state(|state| {
                state.requests += 1;
                state.sent = Some(token.clone());
            });
            Ok(Some(token))
        })
    }

    fn after<'a>(&'a self, fault: &'a Fault) -> BoxFuture<'a, KeyChange> {
        Box::pin(async {
            let Some(refused) = self.refused(fault) else { return KeyChange::Nothing };
            match self.source.instead_of(&refused).await {
                Ok(_) => KeyChange::Another,
                Err(_) => KeyChange::Nothing,
            }
        })
    }
}

/// No keys, with the reason.
pub struct NoKeys(pub Failure);

impl Keys for NoKeys {
    fn current(&self) -> BoxFuture<'_, Result<Option<SecretString>, Failure>> {
        Box::pin(async { Err(self.0.clone()) })
    }

    fn after<'a>(&'a self, _: &'a Fault) -> BoxFuture<'a, KeyChange> {
        Box::pin(async { KeyChange::Nothing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_wire::classify;
    use secrecy::ExposeSecret;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A new token for each refusal.
    #[derive(Default)]
    struct Counting(AtomicU32);

    impl TokenSource for Counting {
        fn token(&self) -> BoxFuture<'_, Result<SecretString, Failure>> {
            Box::pin(async { Ok(SecretString::from(format!("t{}", self.0.load(Ordering::Relaxed)))) })
        }

        fn instead_of<'a>(&'a self, _: &'a SecretString) -> BoxFuture<'a, Result<SecretString, Failure>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            self.token()
        }
    }

    #[tokio::test]
    async fn refused_token_is_replaced_once_until_one_is_accepted() {
        let keys = TokenKeys::new(Arc::new(Counting::default()));
        let sent = async || keys.current().await.unwrap().unwrap().expose_secret().to_owned();
        let refusal = |status| classify(&Failure::Http { status, retry_after: None, body: "no".into() });
        assert_eq!(sent().await, "t0");
        assert_eq!(keys.after(&refusal(401)).await, KeyChange::Another);
        assert_eq!(sent().await, "t1");
        assert_eq!(keys.after(&refusal(401)).await, KeyChange::Nothing);
        // Two requests in a row: the first of them was answered.
        assert_eq!((sent().await, sent().await), ("t1".into(), "t1".into()));
        assert_eq!(keys.after(&refusal(401)).await, KeyChange::Another);
        assert_eq!((sent().await, sent().await), ("t2".into(), "t2".into()));
        for other in [403, 429, 500] {
            assert_eq!(keys.after(&refusal(other)).await, KeyChange::Nothing, "{other}");
        }
        // These do not use up the one replacement.
        assert_eq!(sent().await, "t2");
        assert_eq!(keys.after(&refusal(401)).await, KeyChange::Another);
    }
}

//! The source of a model's key for each request.

use hermes_conversation::BoxFuture;
use hermes_wire::{Failure, Fault};
use secrecy::SecretString;

/// The keys of one endpoint.
///
/// An implementation returns only keys that may be sent to that endpoint's origin.
pub trait Keys: Send + Sync {
    /// Returns the key for the next request; `None` sends none. May wait for the renewal of a login.
    fn current(&self) -> BoxFuture<'_, Result<Option<SecretString>, Failure>>;

    /// Reports that the request with the current key failed.
    fn after<'a>(&'a self, fault: &'a Fault) -> BoxFuture<'a, KeyChange>;
}

/// The next result of `current` after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyChange {
    /// Another key, or the same one renewed.
    Another,
    /// The same key, for a retry.
    Same,
    /// No key that would help.
    Nothing,
}

/// One key, or none, that never changes.
pub struct FixedKey(pub Option<SecretString>);

impl Keys for FixedKey {
    fn current(&self) -> BoxFuture<'_, Result<Option<SecretString>, Failure>> {
        Box::pin(async { Ok(self.0.clone()) })
    }

    fn after<'a>(&'a self, _: &'a Fault) -> BoxFuture<'a, KeyChange> {
        Box::pin(async { KeyChange::Nothing })
    }
}

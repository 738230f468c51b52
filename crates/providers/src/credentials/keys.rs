//! Where a model gets the key of its next request from.

use hermes_conversation::BoxFuture;
use hermes_wire::{Failure, Fault};
use secrecy::SecretString;

/// The keys of one endpoint.
///
/// An implementation hands out only what may be sent to that endpoint's origin.
pub trait Keys: Send + Sync {
    /// The key for the next request; `None` sends none. May wait for a login to be renewed.
    fn current(&self) -> BoxFuture<'_, Result<Option<SecretString>, Failure>>;

    /// The request with the current key failed like this.
    fn after<'a>(&'a self, fault: &'a Fault) -> BoxFuture<'a, KeyChange>;
}

/// What `current` gives after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyChange {
    /// Another key, or the same one renewed.
    Another,
    /// The same key, which is worth one more try.
    Same,
    /// Nothing that would help.
    Nothing,
}

/// One key, or none, whatever happens.
pub struct FixedKey(pub Option<SecretString>);

impl Keys for FixedKey {
    fn current(&self) -> BoxFuture<'_, Result<Option<SecretString>, Failure>> {
        Box::pin(async { Ok(self.0.clone()) })
    }

    fn after<'a>(&'a self, _: &'a Fault) -> BoxFuture<'a, KeyChange> {
        Box::pin(async { KeyChange::Nothing })
    }
}

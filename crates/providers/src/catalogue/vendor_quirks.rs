//! What single vendors do differently.

use super::Provider;
use secrecy::{ExposeSecret, SecretString};

/// Where Kimi's keys of coding plans belong.
pub(super) const KIMI_CODING_URL: &str = "https://api.kimi.com/coding";
pub(super) const KIMI_CODING_PREFIX: &str = "sk-kimi-";

/// The address of the kind of key that this one is, where a vendor has another one for it.
pub(crate) fn address_for(provider: &Provider, key: Option<SecretString>) -> Option<&'static str> {
    let (prefix, address) = provider.quirks.login.other_address?;
    key.is_some_and(|key| key.expose_secret().trim().starts_with(prefix)).then_some(address)
}

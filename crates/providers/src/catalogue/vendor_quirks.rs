//! Rules of single vendors.

use super::Provider;
use secrecy::{ExposeSecret, SecretString};

/// The address for Kimi's keys of coding plans.
pub(super) const KIMI_CODING_URL: &str = "https://api.kimi.com/coding";
pub(super) const KIMI_CODING_PREFIX: &str = "sk-kimi-";

/// Returns the address that a kind of key belongs to, if a vendor has several.
pub(crate) fn address_for(provider: &Provider, key: Option<SecretString>) -> Option<&'static str> {
    let (prefix, address) = provider.quirks.login.other_address?;
    key.is_some_and(|key| key.expose_secret().trim().starts_with(prefix)).then_some(address)
}

//! What single vendors do differently.

use super::Provider;
use secrecy::{ExposeSecret, SecretString};

/// Where Kimi's keys of coding plans belong.
pub(super) const KIMI_CODING_URL: &str = "https://api.kimi.com/coding";
const KIMI_CODING_PREFIX: &str = "sk-kimi-";

/// Some vendors have another address for another kind of key.
pub(crate) fn address_for(provider: &Provider, key: Option<SecretString>) -> Option<&'static str> {
    let is_coding_key = |key: SecretString| key.expose_secret().trim().starts_with(KIMI_CODING_PREFIX);
    (provider.id == "kimi-coding" && key.is_some_and(is_coding_key)).then_some(KIMI_CODING_URL)
}

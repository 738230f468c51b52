//! The variables of the provider catalogue, as settings.

use super::keys::{Env, Fallback, KEYS, Key, Kind, Order};
use hermes_providers::{Provider, providers};
use std::sync::LazyLock;

/// Key and address variables of every provider, except those that [`KEYS`] has already.
pub(crate) fn all() -> impl Iterator<Item = &'static Key> {
    static ALL: LazyLock<Vec<Key>> = LazyLock::new(build);
    ALL.iter()
}

fn build() -> Vec<Key> {
    let mut all: Vec<Key> = Vec::new();
    for provider in providers() {
        for (name, secret) in variables(provider) {
            let is_known = KEYS.iter().chain(&all).any(|key| key.name == name);
            if !is_known {
                all.push(key(name, secret, provider));
            }
        }
    }
    all
}

fn variables(provider: &Provider) -> impl Iterator<Item = (&'static str, bool)> {
    let address = (!provider.base_url_env.is_empty()).then_some((provider.base_url_env, false));
    provider.key_env.iter().map(|name| (*name, true)).chain(address)
}

/// Built once in a process, so what it refers to may stay for good.
fn key(name: &'static str, secret: bool, provider: &Provider) -> Key {
    let description = match secret {
        true => format!("key for {}", provider.name),
        false => format!("endpoint used instead of {}'s own", provider.name),
    };
    Key {
        name,
        kind: Kind::Text,
        default: Fallback::None,
        env: Box::leak(Box::new([Env::Value(name)])),
        order: Order::EnvOnly,
        secret,
        description: description.leak(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::secret_names::is_secret_variable;
    use super::*;

    #[test]
    fn every_variable_of_a_provider_is_a_setting() {
        for provider in providers() {
            for (name, secret) in variables(provider) {
                let key = Key::find(name).unwrap_or_else(|| panic!("{name} is not a setting"));
                assert_eq!((key.secret, is_secret_variable(name) || !secret), (secret, true), "{name}");
            }
        }
    }
}

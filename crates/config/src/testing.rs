//! Settings for unit tests.

use super::Config;

/// The settings of a `config.yaml` alone.
pub(crate) fn config_of(text: &str) -> Config {
    Config::parse(text).unwrap()
}

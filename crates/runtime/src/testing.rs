//! Settings for unit tests.

use hermes_config::Config;

/// The settings of a `config.yaml` alone.
pub(crate) fn config_of(text: &str) -> Config {
    Config::parse(text).unwrap()
}

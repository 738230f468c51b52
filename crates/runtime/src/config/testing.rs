//! Settings for tests.

use super::{Config, ConfigFile, Layers};
use std::path::Path;

/// Settings that only a file makes.
pub(crate) fn config_of(text: &str) -> Config {
    let file = ConfigFile::parse(Path::new("/h/config.yaml"), text.to_owned()).unwrap();
    Config::new(Layers { file, ..Layers::default() })
}

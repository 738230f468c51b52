//! The use of several credentials of one provider: `credential_pool_strategies` of `config.yaml`.

use super::layers::Layers;
use super::settings::free_form::FreeForm;
use hermes_providers::credentials::Strategy;
use serde_json::Value;

const SECTION: &str = "credential_pool_strategies";

/// The strategies by provider, and a line for each entry that is ignored.
#[derive(Debug, Clone, Default)]
pub struct PoolStrategies {
    strategies: Vec<(String, Strategy)>,
    pub warnings: Vec<String>,
}

impl PoolStrategies {
    /// The strategy of a provider.
    pub fn of(&self, label: &str) -> Strategy {
        self.strategies
            .iter()
            .find(|(name, _)| name == label)
            .map(|(_, strategy)| *strategy)
            .unwrap_or_default()
    }

    fn read_entry(&mut self, name: &str, value: &Value) {
        match value.as_str().and_then(Strategy::parse) {
            Some(strategy) => self.strategies.push((name.to_owned(), strategy)),
            None => {
                let known = Strategy::NAMES.map(|(name, _)| name).join(", ");
                self.warnings.push(format!(
                    "`{SECTION}.{name}` in config.yaml is none of {known}; fill_first is used"
                ));
            }
        }
    }
}

impl FreeForm for PoolStrategies {
    fn read(layers: &Layers) -> Self {
        let mut all = Self::default();
        match layers.file.get(SECTION) {
            None | Some(Value::Null) => {}
            Some(Value::Object(entries)) => {
                entries.iter().for_each(|(name, value)| all.read_entry(name, value));
            }
            Some(_) => {
                all.warnings.push(format!("`{SECTION}` in config.yaml is not a section; fill_first is used"));
            }
        }
        all
    }
}

//! Named endpoints of `config.yaml`.

use crate::facts::Prices;
use crate::mode::ModeName;
use crate::request_extras::RequestExtras;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One entry of `custom_providers` or `providers`.
#[derive(Debug, Clone, Default)]
pub struct CustomProvider {
    /// As [`CustomProvider::plain_name`] spells it.
    pub name: String,
    pub base_url: String,
    pub api_key: Option<SecretString>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    pub api_mode: Option<ModeName>,
    pub default_model: Option<String>,
    pub context_length: Option<u64>,
    pub max_tokens: Option<u64>,
    pub prices: Option<Prices>,
    pub models: BTreeMap<String, CustomModel>,
    /// Additions to every request.
    pub extras: Arc<RequestExtras>,
    pub is_disabled: bool,
}

/// The settings of one model of such an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CustomModel {
    pub context_length: Option<u64>,
    pub prices: Option<Prices>,
}

impl CustomProvider {
    /// Names are compared in lower case, with dashes for spaces.
    pub fn plain_name(name: &str) -> String {
        name.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase()
    }

    /// Returns the window of a model, if the entry states it.
    pub(crate) fn context_length(&self, model: &str) -> Option<u64> {
        let of_model = self.models.get(model).and_then(|model| model.context_length);
        of_model.or(self.context_length)
    }

    /// Returns the prices of a model, if the entry states them.
    pub(crate) fn prices(&self, model: &str) -> Option<Prices> {
        self.models.get(model).and_then(|model| model.prices).or(self.prices)
    }
}

//! Fallback models: `fallback_providers` of `config.yaml`, and the older `fallback_model`.
//!
//! An invalid entry is reported and ignored: the session's own model does not need it.

use super::custom_providers::Reader;
use super::error::Problem;
use super::layers::Layers;
use super::settings::free_form::FreeForm;
use secrecy::SecretString;
use serde_json::{Map, Value};

/// The two settings, in the order in which their entries are tried.
const SETTINGS: [&str; 2] = ["fallback_providers", "fallback_model"];

/// The fields of an entry that this version reads.
const FIELDS: [&str; 5] = ["provider", "model", "base_url", "api_key", "key_env"];

/// One fallback model.
#[derive(Debug, Clone)]
pub struct FallbackEntry {
    /// The name of the entry in messages: `fallback_providers[1]`.
    pub key: String,
    pub provider: String,
    pub model: String,
    pub base_url: Option<String>,
    pub api_key: Option<SecretString>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
}

/// The entries that can be read, and a line for each that cannot.
#[derive(Debug, Clone, Default)]
pub struct FallbackEntries {
    pub entries: Vec<FallbackEntry>,
    pub warnings: Vec<String>,
}

impl FreeForm for FallbackEntries {
    /// Reads the fallbacks in the order in which they are tried.
    fn read(layers: &Layers) -> Self {
        let mut all = FallbackEntries::default();
        for (key, value) in layers.raw_fallbacks() {
            match layers.fallback_entry(&key, value) {
                Ok(entry) => all.entries.push(entry),
                Err(warning) => all.warnings.push(warning),
            }
        }
        all
    }
}

impl Layers {
    /// Returns true if a key of the file belongs to these settings.
    pub(super) fn is_fallback_key(key: &str) -> bool {
        SETTINGS.iter().any(|setting| {
            key.strip_prefix(setting).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Fields of entries that are kept but not used, by their dotted keys.
    pub(super) fn unused_fallback_fields(&self) -> Vec<String> {
        let fields = |(key, value): (String, &Value)| -> Vec<String> {
            let names = value.as_object().into_iter().flat_map(Map::keys);
            names
                .filter(|name| !FIELDS.contains(&name.as_str()))
                .map(|name| format!("{key}.{name}"))
                .collect()
        };
        self.raw_fallbacks().into_iter().flat_map(fields).collect()
    }

    /// The variables that entries take their keys from.
    pub(super) fn fallback_key_variables(&self) -> Vec<String> {
        let name = |(_, value): (String, &Value)| Some(value.get("key_env")?.as_str()?.trim().to_owned());
        self.raw_fallbacks().into_iter().filter_map(name).collect()
    }

    /// The entries as they stand in the file. Both settings may be a list or a single entry.
    fn raw_fallbacks(&self) -> Vec<(String, &Value)> {
        let of_setting = |setting: &&str| match self.file.get(setting) {
            None => vec![],
            Some(value) if says_nothing(value) => vec![],
            Some(Value::Array(items)) => {
                let key = |(at, item)| (format!("{setting}[{}]", at + 1), item);
                items.iter().enumerate().map(key).collect()
            }
            Some(single) => vec![((*setting).to_owned(), single)],
        };
        SETTINGS.iter().flat_map(of_setting).collect()
    }

    pub(super) fn fallback_entry(&self, key: &str, value: &Value) -> Result<FallbackEntry, String> {
        let ignored = |error: Problem| format!("{error}; the entry is ignored");
        let fields = value
            .as_object()
            .ok_or_else(|| ignored(self.wrong(key, value, "a section with provider and model")))?;
        let reader = Reader { layers: self, key, fields };
        let text = |name: &str| reader.text(&[name]).map_err(ignored);
        let needed = |name: &str| {
            let missing =
                || format!("{key} in config.yaml has no {name} and is ignored; it needs provider and model");
            text(name)?.ok_or_else(missing)
        };
        Ok(FallbackEntry {
            key: key.to_owned(),
            provider: needed("provider")?,
            model: needed("model")?,
            base_url: text("base_url")?,
            api_key: text("api_key")?.map(SecretString::from),
            key_env: text("key_env")?,
        })
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
#[path = "fallback_providers_tests.rs"]
mod tests;

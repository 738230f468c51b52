//! Endpoints with a name: `custom_providers` and `providers` of `config.yaml`.

use super::error::{Origin, Problem};
use super::expand::expand;
use super::layers::Layers;
use super::secret_names::is_secret_key;
use super::settings::free_form::{FreeForm, Section};
use super::value::found;
use hermes_conversation::Money;
use hermes_providers::{
    CustomModel, CustomProvider, ModeName, Prices, TimeLimits, custom_name, find_provider, per_million,
};
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The fields of an entry that this version reads.
const FIELDS: [&str; 22] = [
    "name",
    "base_url",
    "url",
    "api",
    "api_key",
    "key_env",
    "api_mode",
    "transport",
    "default_model",
    "model",
    "models",
    "context_length",
    "max_output_tokens",
    "max_tokens",
    "pricing",
    "request_timeout_seconds",
    "stale_timeout_seconds",
    "enabled",
    "extra_body",
    "extra_headers",
    "ssl_ca_cert",
    "ssl_verify",
];

/// Fields that only an entry with an address of its own has; beside a built-in provider they do nothing.
const OF_ENTRIES: [&str; 4] = ["extra_body", "extra_headers", "ssl_ca_cert", "ssl_verify"];

/// The merged content of the two sections.
#[derive(Debug, Clone, Default)]
pub struct NamedProviders {
    pub entries: Vec<CustomProvider>,
    /// Built-in providers that are switched off.
    pub disabled: Vec<String>,
}

impl FreeForm for Section<NamedProviders> {
    fn read(layers: &Layers) -> Self {
        Section(NamedProviders::read(layers))
    }
}

impl NamedProviders {
    /// Reads the endpoints with a name. The first entry of a name counts.
    fn read(layers: &Layers) -> Result<Self, Problem> {
        let mut all = Self::default();
        for RawEntry { key, name, fields } in layers.raw_entries()? {
            let reader = Reader { layers, key: &key, fields };
            if find_provider(&name).is_some() && reader.text(&["base_url", "url", "api"])?.is_none() {
                // Settings of a built-in provider.
                if reader.is_disabled()? {
                    all.disabled.push(name);
                }
                continue;
            }
            let entry = reader.entry(&name)?;
            if all.entries.iter().all(|known| known.name != entry.name) {
                all.entries.push(entry);
            }
        }
        Ok(all)
    }
}

impl Layers {
    /// The timeouts of calls of a model in the entry of its provider; built-in providers may have one, too.
    /// Values of the model precede those of the provider.
    pub(crate) fn time_limits_with(&self, label: &str, model: &str) -> Result<TimeLimits, Problem> {
        let name = custom_name(label).unwrap_or(label);
        let is_it = |entry: &RawEntry<'_>| match find_provider(&entry.name) {
            Some(provider) => provider.id == name,
            None => CustomProvider::plain_name(&entry.name) == name,
        };
        let entries = self.raw_entries()?;
        let Some(RawEntry { key, fields, .. }) = entries.iter().find(|entry| is_it(entry)) else {
            return Ok(TimeLimits::default());
        };
        let of_all = Reader { layers: self, key, fields }.time_limits("request_timeout_seconds")?;
        let of_model = fields.get("models").and_then(|models| models.get(model)).and_then(Value::as_object);
        let Some(fields) = of_model else { return Ok(of_all) };
        let key = format!("{key}.models.{model}");
        Ok(Reader { layers: self, key: &key, fields }.time_limits("timeout_seconds")?.or(of_all))
    }

    /// Fields of entries that are kept but not used, by their dotted keys.
    pub(super) fn unused_entry_fields(&self) -> Vec<String> {
        let entries = self.raw_entries().unwrap_or_default();
        let unused = entries.into_iter().flat_map(|RawEntry { key, fields, .. }| {
            let is_entry = ["base_url", "url", "api"].iter().any(|name| fields.contains_key(*name));
            let is_read = |name: &str| FIELDS.contains(&name) && (is_entry || !OF_ENTRIES.contains(&name));
            let names = fields.keys().filter(|name| !is_read(name));
            names.map(|name| format!("{key}.{name}")).collect::<Vec<_>>()
        });
        unused.collect()
    }

    /// The variables that entries take their keys from. Their names need not look like secrets.
    pub(super) fn key_variables(&self) -> Vec<String> {
        let entries = self.raw_entries().unwrap_or_default();
        let name = |fields: &Map<String, Value>| Some(fields.get("key_env")?.as_str()?.trim().to_owned());
        entries.into_iter().filter_map(|entry| name(entry.fields)).collect()
    }

    fn raw_entries(&self) -> Result<Vec<RawEntry<'_>>, Problem> {
        let mut all = Vec::new();
        match self.file.get("custom_providers") {
            None | Some(Value::Null) => {}
            Some(Value::Array(items)) => {
                for (at, item) in items.iter().enumerate() {
                    let key = format!("custom_providers[{}]", at + 1);
                    let fields = item.as_object().ok_or_else(|| self.wrong(&key, item, "a section"))?;
                    let name =
                        fields.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
                    let name =
                        name.ok_or_else(|| self.wrong(&format!("{key}.name"), &Value::Null, "text"))?;
                    all.push(RawEntry { key, name: name.to_owned(), fields });
                }
            }
            Some(other) => return Err(self.wrong("custom_providers", other, "a list of sections")),
        }
        match self.file.get("providers") {
            None | Some(Value::Null) => {}
            Some(Value::Object(entries)) => {
                for (name, item) in entries {
                    let key = format!("providers.{name}");
                    let fields = item.as_object().ok_or_else(|| self.wrong(&key, item, "a section"))?;
                    all.push(RawEntry { key, name: name.clone(), fields });
                }
            }
            Some(other) => return Err(self.wrong("providers", other, "a section")),
        }
        Ok(all)
    }

    pub(super) fn wrong(&self, key: &str, value: &Value, wanted: &str) -> Problem {
        let file = &self.file;
        let line = file.line_of(key.split('[').next().unwrap_or(key));
        Problem::WrongType {
            origin: Origin::File { path: file.path().to_owned(), line },
            key: key.to_owned(),
            found: found(value, is_secret_key(key)),
            wanted: wanted.to_owned(),
        }
    }
}

/// An entry as it stands in the file, with the key that names it in messages.
struct RawEntry<'a> {
    key: String,
    name: String,
    fields: &'a Map<String, Value>,
}

/// Reads the fields of one entry.
pub(super) struct Reader<'a> {
    pub(super) layers: &'a Layers,
    pub(super) key: &'a str,
    pub(super) fields: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn entry(&self, name: &str) -> Result<CustomProvider, Problem> {
        let missing = || self.layers.wrong(&format!("{}.base_url", self.key), &Value::Null, "an address");
        Ok(CustomProvider {
            name: CustomProvider::plain_name(name),
            base_url: self.text(&["base_url", "url", "api"])?.ok_or_else(missing)?,
            api_key: self.text(&["api_key"])?.map(SecretString::from),
            key_env: self.text(&["key_env"])?,
            api_mode: self.mode()?,
            default_model: self.text(&["default_model", "model"])?,
            context_length: self.number("context_length")?,
            max_tokens: self.number("max_output_tokens")?.or(self.number("max_tokens")?),
            prices: self.prices()?,
            models: self.models()?,
            extras: self.extras()?.into(),
            is_disabled: self.is_disabled()?,
        })
    }

    /// The first of these fields that says something.
    pub(super) fn text(&self, names: &[&str]) -> Result<Option<String>, Problem> {
        for name in names {
            match self.fields.get(*name) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => {
                    let lookup = |name: &str| self.layers.variable(name).map(str::to_owned);
                    let text = expand(text, &lookup).trim().to_owned();
                    if !text.is_empty() {
                        return Ok(Some(text));
                    }
                }
                Some(other) => return Err(self.wrong(name, other, "text")),
            }
        }
        Ok(None)
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number @ 1..) => Ok(Some(number)),
                _ => Err(self.wrong(name, value, "a whole number above 0")),
            },
        }
    }

    fn time_limits(&self, total: &str) -> Result<TimeLimits, Problem> {
        let seconds = |name: &str| self.number(name).map(|count| count.map(Duration::from_secs));
        let stale = seconds("stale_timeout_seconds")?;
        Ok(TimeLimits {
            gap: stale,
            local_gap: stale,
            whole_reply: stale,
            total: seconds(total)?,
            ..TimeLimits::default()
        })
    }

    fn is_disabled(&self) -> Result<bool, Problem> {
        match self.fields.get("enabled") {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(on)) => Ok(!on),
            Some(other) => Err(self.wrong("enabled", other, "true or false")),
        }
    }

    fn mode(&self) -> Result<Option<ModeName>, Problem> {
        let Some(text) = self.text(&["api_mode", "transport"])?.filter(|text| text != "auto") else {
            return Ok(None);
        };
        let words = "one of chat_completions, codex_responses, anthropic_messages";
        ModeName::parse(&text).map(Some).ok_or_else(|| self.wrong("api_mode", &text.into(), words))
    }

    /// A list of names, or a section with a name and its facts per line.
    fn models(&self) -> Result<BTreeMap<String, CustomModel>, Problem> {
        match self.fields.get("models") {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Array(names)) => {
                let name = |value: &Value| Some((value.as_str()?.to_owned(), CustomModel::default()));
                let all: Option<_> = names.iter().map(name).collect();
                all.ok_or_else(|| self.wrong("models", &Value::Array(vec![]), "a list of names"))
            }
            Some(Value::Object(models)) => {
                let mut all = BTreeMap::new();
                for (name, facts) in models {
                    let key = format!("{}.models.{name}", self.key);
                    let model = match facts {
                        Value::Null => CustomModel::default(),
                        Value::Object(fields) => {
                            let reader = Reader { layers: self.layers, key: &key, fields };
                            CustomModel {
                                context_length: reader.number("context_length")?,
                                prices: reader.prices()?,
                            }
                        }
                        other => return Err(self.layers.wrong(&key, other, "a section")),
                    };
                    all.insert(name.clone(), model);
                }
                Ok(all)
            }
            Some(other) => Err(self.wrong("models", other, "a list of names or a section")),
        }
    }

    /// `pricing: {input, output, cache_read, cache_write}` in dollars for a million tokens.
    fn prices(&self) -> Result<Option<Prices>, Problem> {
        let fields = match self.fields.get("pricing") {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(fields)) => fields,
            Some(other) => return Err(self.wrong("pricing", other, "a section")),
        };
        let price = |name: &str| -> Result<Option<Money>, Problem> {
            let text = match fields.get(name) {
                None | Some(Value::Null) => return Ok(None),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            let wrong =
                || self.wrong(&format!("pricing.{name}"), &text.clone().into(), "a number of dollars");
            per_million(&text).map(Some).ok_or_else(wrong)
        };
        let needed = |name: &str| {
            let missing = || self.wrong(&format!("pricing.{name}"), &Value::Null, "a number of dollars");
            price(name)?.ok_or_else(missing)
        };
        Ok(Some(Prices {
            input: needed("input")?,
            output: needed("output")?,
            cache_read: price("cache_read")?,
            cache_write: price("cache_write")?,
        }))
    }

    pub(super) fn wrong(&self, name: &str, value: &Value, wanted: &str) -> Problem {
        self.layers.wrong(&format!("{}.{name}", self.key), value, wanted)
    }
}

#[cfg(test)]
#[path = "custom_providers_tests.rs"]
mod tests;

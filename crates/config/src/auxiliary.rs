//! Models for small jobs: `auxiliary.<task>` of `config.yaml`.

use super::custom_providers::Reader;
use super::error::ConfigError;
use super::fallback_providers::FallbackEntry;
use super::layers::Config;
use hermes_conversation::AuxTask;
use hermes_wire::Effort;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::time::Duration;

/// The fields of a task that this version reads.
const FIELDS: [&str; 11] = [
    "provider",
    "model",
    "base_url",
    "api_key",
    "key_env",
    "api_mode",
    "timeout",
    "reasoning_effort",
    "fallback_chain",
    "enabled",
    "language",
];

/// The setting that all tasks share.
const RETRIES: &str = "auxiliary.transient_retries";

/// Who does a job, as the user wants it.
#[derive(Debug, Clone)]
pub struct AuxSettings {
    /// The name of the section in messages: `auxiliary.vision`.
    pub key: String,
    pub provider: AuxProvider,
    pub model: Option<String>,
    pub base_url: Option<String>,
    pub api_key: Option<SecretString>,
    pub key_env: Option<String>,
    pub api_mode: Option<String>,
    pub timeout: Duration,
    pub effort: Option<Effort>,
    /// True if the task is enabled.
    pub is_enabled: bool,
    /// The language of the answer, where it is not to be that of the conversation.
    pub language: Option<String>,
    /// Who steps in, before the models that step in for the conversation.
    pub chain: Vec<FallbackEntry>,
    /// A line for each entry of the chain that makes no sense.
    pub warnings: Vec<String>,
}

/// Whose model does a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuxProvider {
    /// The conversation's provider, or another one that has the ability.
    Auto,
    /// The conversation's.
    Main,
    Named(String),
}

impl Config {
    /// Who does a job.
    pub fn auxiliary(&self, task: AuxTask) -> Result<AuxSettings, ConfigError> {
        let key = format!("auxiliary.{}", task.as_str());
        let none = Map::new();
        let fields = match self.layers().file.get(&key) {
            None | Some(Value::Null) => &none,
            Some(Value::Object(fields)) => fields,
            Some(other) => return Err(self.wrong(&key, other, "a section")),
        };
        let reader = Reader { config: self, key: &key, fields };
        let text = |name: &str| reader.text(&[name]);
        let base_url = text("base_url")?;
        let provider = match text("provider")?.unwrap_or_default().to_ascii_lowercase().as_str() {
            "" | "auto" if base_url.is_some() => {
                AuxProvider::Named(hermes_providers::custom_provider().id.to_owned())
            }
            "" | "auto" => AuxProvider::Auto,
            "main" => AuxProvider::Main,
            name => AuxProvider::Named(name.to_owned()),
        };
        let effort = match text("reasoning_effort")? {
            None => None,
            Some(word) => Some(Effort::parse(&word).ok_or_else(|| {
                self.wrong(&format!("{key}.reasoning_effort"), &word.into(), "one of none to ultra")
            })?),
        };
        let seconds = reader.number("timeout")?.unwrap_or(task.default_seconds()).max(task.min_seconds());
        let (chain, warnings) = self.chain(&key, fields);
        let is_enabled = match fields.get("enabled") {
            None | Some(Value::Null) => true,
            Some(Value::Bool(on)) => *on,
            Some(other) => return Err(self.wrong(&format!("{key}.enabled"), other, "true or false")),
        };
        Ok(AuxSettings {
            provider,
            model: text("model")?,
            base_url,
            api_key: text("api_key")?.map(SecretString::from),
            key_env: text("key_env")?,
            api_mode: text("api_mode")?,
            timeout: Duration::from_secs(seconds),
            effort,
            is_enabled,
            language: text("language")?,
            chain,
            warnings,
            key,
        })
    }

    /// Tries after the first, at a model that may recover at once.
    pub fn auxiliary_retries(&self) -> u32 {
        let stated = self.layers().file.get(RETRIES).and_then(Value::as_u64);
        stated.and_then(|count| u32::try_from(count).ok()).unwrap_or(2).min(10)
    }

    fn chain(&self, key: &str, fields: &Map<String, Value>) -> (Vec<FallbackEntry>, Vec<String>) {
        let items = match fields.get("fallback_chain") {
            None | Some(Value::Null) => return (Vec::new(), Vec::new()),
            Some(Value::Array(items)) => items.as_slice(),
            Some(other) => std::slice::from_ref(other),
        };
        let (mut chain, mut warnings) = (Vec::new(), Vec::new());
        for (at, item) in items.iter().enumerate() {
            match self.fallback_entry(&format!("{key}.fallback_chain[{}]", at + 1), item) {
                Ok(entry) => chain.push(entry),
                Err(warning) => warnings.push(warning),
            }
        }
        (chain, warnings)
    }

    /// Returns true if a key of the file belongs to a task.
    pub(super) fn is_auxiliary_key(key: &str) -> bool {
        key == RETRIES || task_of(key).is_some()
    }

    /// Fields of tasks that are kept but not used, by their dotted keys.
    pub(super) fn unused_auxiliary_fields(&self) -> Vec<String> {
        let leaves = self.layers().file.leaves().into_iter().map(|(key, _)| key);
        let is_unused = |key: &String| {
            let field =
                task_of(key).and_then(|task| key.strip_prefix("auxiliary.")?.strip_prefix(task.as_str()));
            field.is_some_and(|field| {
                let field = field.trim_start_matches('.').split(['.', '[']).next().unwrap_or_default();
                !field.is_empty() && !FIELDS.contains(&field)
            })
        };
        leaves.filter(is_unused).collect()
    }

    /// The variables that tasks take their keys from.
    pub(super) fn auxiliary_key_variables(&self) -> Vec<String> {
        let name = |task: &AuxTask| {
            let key = format!("auxiliary.{}.key_env", task.as_str());
            Some(self.layers().file.get(&key)?.as_str()?.trim().to_owned())
        };
        AuxTask::ALL.iter().filter_map(name).collect()
    }
}

/// The task that a dotted key belongs to.
fn task_of(key: &str) -> Option<AuxTask> {
    let name = key.strip_prefix("auxiliary.")?.split('.').next()?;
    AuxTask::parse(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::config_of as config;

    #[test]
    fn a_task_is_what_the_table_says_unless_the_file_says_otherwise() {
        let plain = config("").auxiliary(AuxTask::Vision).unwrap();
        assert_eq!((plain.provider, plain.timeout.as_secs()), (AuxProvider::Auto, 120));
        for (text, task, provider, seconds) in [
            ("auxiliary: {vision: {provider: main}}", AuxTask::Vision, AuxProvider::Main, 120),
            (
                "auxiliary: {vision: {provider: zai, timeout: 5}}",
                AuxTask::Vision,
                AuxProvider::Named("zai".into()),
                5,
            ),
            (
                "auxiliary: {title_generation: {base_url: 'http://127.0.0.1:9/v1'}}",
                AuxTask::Title,
                AuxProvider::Named("custom".into()),
                30,
            ),
            ("auxiliary: {compression: {timeout: 20}}", AuxTask::Compression, AuxProvider::Auto, 300),
            ("auxiliary: {vision: }", AuxTask::Vision, AuxProvider::Auto, 120),
        ] {
            let found = config(text).auxiliary(task).unwrap();
            assert_eq!((found.provider, found.timeout.as_secs()), (provider, seconds), "{text}");
        }
    }

    #[test]
    fn invalid_values_and_unused_fields_are_reported() {
        for text in [
            "auxiliary: {vision: yes}",
            "auxiliary: {vision: {timeout: soon}}",
            "auxiliary: {vision: {provider: [a]}}",
            "auxiliary: {vision: {reasoning_effort: lots}}",
        ] {
            let config = config(text);
            let error = config.auxiliary(AuxTask::Vision).unwrap_err().to_string();
            assert!(error.contains("auxiliary.vision"), "{error}");
            assert_eq!(config.check().len(), 1, "{text}");
        }
        let config = config(
            "auxiliary: {vision: {provider: main, extra_body: {a: 1}, fallback_chain: [{model: x}]}, nothing: 1, \
             transient_retries: 5}",
        );
        let unused: Vec<_> = config.unused_keys().into_iter().map(|unused| unused.key).collect();
        assert_eq!(unused, ["auxiliary.nothing", "auxiliary.vision.extra_body.a"]);
        let found = config.auxiliary(AuxTask::Vision).unwrap();
        assert_eq!((found.chain.len(), found.warnings.len(), config.auxiliary_retries()), (0, 1, 5));
    }
}

//! Models for auxiliary tasks: `auxiliary.<task>` of `config.yaml`.

use super::custom_providers::Reader;
use super::error::{ConfigError, Problem};
use super::fallback_providers::FallbackEntry;
use super::layers::Layers;
use super::settings::free_form::FreeForm;
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

/// The settings of one task.
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
    /// Fallbacks, tried before those of the conversation.
    pub chain: Vec<FallbackEntry>,
    /// A line for each invalid entry of the chain.
    pub warnings: Vec<String>,
}

/// The provider of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuxProvider {
    /// The conversation's provider, or another one that has the ability.
    Auto,
    /// The conversation's provider.
    Main,
    Named(String),
}

/// The settings of all tasks.
#[derive(Debug)]
pub struct AuxiliarySettings {
    /// The tasks that `config.yaml` has a section for.
    tasks: Vec<(AuxTask, Result<AuxSettings, Problem>)>,
    /// Retries after the first attempt, at a model that may recover at once.
    pub transient_retries: u32,
}

impl AuxiliarySettings {
    /// The settings of one task.
    pub fn task(&self, task: AuxTask) -> Result<AuxSettings, ConfigError> {
        match self.tasks.iter().find(|(known, _)| *known == task) {
            Some((_, settings)) => settings.clone().map_err(ConfigError::from),
            None => Ok(AuxSettings::usual(task)),
        }
    }

    /// The problem of each task that has one.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.tasks.iter().filter_map(|(_, settings)| settings.as_ref().err())
    }
}

impl FreeForm for AuxiliarySettings {
    fn read(layers: &Layers) -> Self {
        let section = layers.file.get("auxiliary");
        let task = |task: &AuxTask| match section?.get(task.as_str())? {
            Value::Null => None,
            fields => Some((*task, layers.auxiliary(*task, fields))),
        };
        let tasks = AuxTask::ALL.iter().filter_map(task).collect();
        let retries = layers.file.get(RETRIES).and_then(Value::as_u64);
        let retries = retries.and_then(|count| u32::try_from(count).ok()).unwrap_or(2).min(10);
        Self { tasks, transient_retries: retries }
    }
}

impl AuxSettings {
    /// The settings of a task without a section.
    fn usual(task: AuxTask) -> Self {
        Self {
            key: format!("auxiliary.{}", task.as_str()),
            provider: AuxProvider::Auto,
            model: None,
            base_url: None,
            api_key: None,
            key_env: None,
            api_mode: None,
            timeout: Duration::from_secs(task.default_seconds().max(task.min_seconds())),
            effort: None,
            is_enabled: true,
            language: None,
            chain: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl Layers {
    fn auxiliary(&self, task: AuxTask, section: &Value) -> Result<AuxSettings, Problem> {
        let key = format!("auxiliary.{}", task.as_str());
        let Some(fields) = section.as_object() else {
            return Err(self.wrong(&key, section, "a section"));
        };
        let reader = Reader { layers: self, key: &key, fields };
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
        let leaves = self.file.leaves().into_iter().map(|(key, _)| key);
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
            Some(self.file.get(&key)?.as_str()?.trim().to_owned())
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
        let plain = config("").settings.auxiliary.task(AuxTask::Vision).unwrap();
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
            let found = config(text).settings.auxiliary.task(task).unwrap();
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
            let error = config.settings.auxiliary.task(AuxTask::Vision).unwrap_err().to_string();
            assert!(error.contains("auxiliary.vision"), "{error}");
            assert_eq!(config.check().len(), 1, "{text}");
        }
        let config = config(
            "auxiliary: {vision: {provider: main, extra_body: {a: 1}, fallback_chain: [{model: x}]}, nothing: 1, \
             transient_retries: 5}",
        );
        let unused: Vec<_> = config.unused_keys().into_iter().map(|unused| unused.key).collect();
        assert_eq!(unused, ["auxiliary.nothing", "auxiliary.vision.extra_body.a"]);
        let found = config.settings.auxiliary.task(AuxTask::Vision).unwrap();
        assert_eq!(
            (found.chain.len(), found.warnings.len(), config.settings.auxiliary.transient_retries),
            (0, 1, 5)
        );
    }
}

//! Who keeps a conversation inside the model's window, by the settings.
//!
//! An engine of somebody else is only looked for when the settings name it: a folder that nobody named is
//! not even read.

mod checks;
mod external;
mod plugin;
mod talk;
mod tools;
mod wire;

pub use external::{External, ExternalPort, Place, Told, threshold};
pub use plugin::Plugin;
pub use tools::{are_wanted, with_tools};
pub use wire::{QuestionWire, ToolWire};

use hermes_config::home::Home;
use hermes_config::{Config, ConfigError};
use hermes_context::{Compressor, CompressorSettings, EnginePort, Lossless, LosslessSettings, Window, here};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The engines that come with Hermes.
const BUILT_IN: [&str; 2] = ["compressor", "lossless"];

/// An engine and its settings. With the same settings and the same history a built-in engine decides the
/// same; what others decide is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineSettings {
    Compressor(CompressorSettings),
    Lossless(LosslessSettings),
    External(ExternalSettings),
}

/// An engine of somebody else, and what takes its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExternalSettings {
    pub name: String,
    pub told: Told,
    pub compressor: CompressorSettings,
}

impl EngineSettings {
    /// An engine that decides here. In the place of one that is elsewhere it is the compressor.
    pub fn engine(&self) -> Arc<dyn EnginePort> {
        match self {
            Self::Compressor(settings) => here(Compressor::new(settings.clone())),
            Self::Lossless(settings) => here(Lossless::new(settings.clone())),
            Self::External(settings) => here(Compressor::new(settings.compressor.clone())),
        }
    }

    /// The engine's name, for people.
    pub fn name(&self) -> String {
        match self {
            Self::External(settings) if !settings.told.is_given_up => settings.name.clone(),
            other => other.engine().name().to_owned(),
        }
    }

    /// Whether nobody looks at earlier summaries: the compressor finds the last one in the history.
    pub fn forgets_nodes(&self) -> bool {
        matches!(self, Self::Compressor(_))
    }

    /// From how many tokens on somebody looks at a history.
    pub fn threshold(&self, window: &Window) -> Option<u64> {
        match self {
            Self::External(settings) => {
                threshold(settings.told, &Compressor::new(settings.compressor.clone()), window)
            }
            other => other.engine().threshold(window),
        }
    }
}

/// Which engine the settings name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Compressor,
    Lossless,
    Plugin(Plugin),
}

impl Choice {
    /// With the settings for conversations with this model.
    pub fn settings(
        &self,
        config: &Config,
        provider: &str,
        model: &str,
    ) -> Result<EngineSettings, ConfigError> {
        let compressor = compressor(config, provider, model)?;
        Ok(match self {
            Self::Compressor => EngineSettings::Compressor(compressor),
            Self::Lossless => {
                let fan_out = config.integer("context.lossless.fan_out")?.unwrap_or_default();
                EngineSettings::Lossless(LosslessSettings {
                    compression: compressor,
                    fan_out: usize::try_from(fan_out).unwrap_or_default().max(2),
                    extractive: config.boolean("context.lossless.extractive")?,
                    ..LosslessSettings::default()
                })
            }
            Self::Plugin(plugin) => EngineSettings::External(ExternalSettings {
                name: plugin.name.clone(),
                told: Told::default(),
                compressor,
            }),
        })
    }
}

/// Finds the engine that `context.engine` names, and what a person should know about it: first a plugin's
/// folder, then engines that plugins register (nothing registers any yet: they go between the two), then
/// those that are built in. `compressor` is always the one that is built in.
pub fn choose(config: &Config, home: &Home) -> Result<(Choice, Option<String>), ConfigError> {
    let name = config.text("context.engine")?.unwrap_or_default();
    let name = name.trim();
    if matches!(name, "" | "compressor") {
        return Ok((Choice::Compressor, None));
    }
    Ok(match plugin::find(home, name) {
        Ok(Some(plugin)) => (Choice::Plugin(plugin), None),
        Err(why) => (Choice::Compressor, Some(format!("context.engine: {why}; `compressor` is used"))),
        Ok(None) => match built_in(name) {
            Some(choice) => (choice, None),
            None => (Choice::Compressor, Some(unknown(name, home))),
        },
    })
}

/// An engine of ours by its name, or by the name that another program has for it.
fn built_in(name: &str) -> Option<Choice> {
    let name = if name == "lcm" { "lossless" } else { name };
    match name {
        "compressor" => Some(Choice::Compressor),
        "lossless" => Some(Choice::Lossless),
        _ => None,
    }
}

fn unknown(name: &str, home: &Home) -> String {
    let plugins = std::fs::read_dir(home.context_engines_dir()).into_iter().flatten().flatten();
    let plugins = plugins.filter_map(|entry| entry.file_name().into_string().ok());
    let mut plugins: Vec<String> =
        plugins.filter(|name| plugin::is_name(name) && !BUILT_IN.contains(&name.as_str())).collect();
    plugins.sort();
    let known: Vec<&str> = BUILT_IN.into_iter().chain(plugins.iter().map(String::as_str)).collect();
    format!(
        "context.engine is `{}`, and there is no such engine (there are: {}); `compressor` is used",
        name.escape_default(),
        known.join(", ")
    )
}

fn compressor(config: &Config, provider: &str, model: &str) -> Result<CompressorSettings, ConfigError> {
    let usual = CompressorSettings::default();
    let count = |key: &str| -> Result<Option<usize>, ConfigError> {
        Ok(config.integer(key)?.map(|number| usize::try_from(number).unwrap_or(0)))
    };
    Ok(CompressorSettings {
        enabled: config.boolean("compression.enabled")?,
        threshold: config.share("compression.threshold")?,
        target_ratio: config.share("compression.target_ratio")?.unwrap_or(usual.target_ratio),
        protect_last_n: count("compression.protect_last_n")?,
        protect_first_n: count("compression.protect_first_n")?.unwrap_or(usual.protect_first_n),
        hygiene_hard_message_limit: count("compression.hygiene_hard_message_limit")?
            .unwrap_or(usual.hygiene_hard_message_limit),
        model: format!("{provider}/{model}"),
        model_thresholds: config.boolean("compression.codex_gpt55_autoraise")?,
        ..usual
    })
}

#[cfg(test)]
#[path = "context_engine_tests.rs"]
mod tests;

//! Selection of the context engine by the settings.
//!
//! The directory of an engine plugin is read only if the settings name it.

mod checks;
mod external;
mod json_rpc;
mod plugin;
mod tools;
mod wire;

pub use external::{EngineStatus, External, ExternalPort, LaunchContext, threshold};
pub use plugin::Plugin;
pub use tools::{are_enabled, with_tools};
pub use wire::{QuestionWire, ToolWire};

use hermes_config::home::Home;
use hermes_config::{Config, ConfigError};
use hermes_context::{Compressor, CompressorSettings, EnginePort, Lossless, LosslessSettings, Window, here};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The engines that come with Hermes.
const BUILT_IN: [&str; 2] = ["compressor", "lossless"];

/// An engine and its settings. A built-in engine decides the same for the same settings and history;
/// decisions of other engines are recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineSettings {
    Compressor(CompressorSettings),
    Lossless(LosslessSettings),
    External(ExternalSettings),
}

/// An engine that runs as a program, and the compressor that replaces it after a failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExternalSettings {
    pub name: String,
    #[serde(rename = "told")]
    pub status: EngineStatus,
    pub compressor: CompressorSettings,
}

impl EngineSettings {
    /// The engine that runs in this process; for an external engine this is the compressor.
    pub fn engine(&self) -> Arc<dyn EnginePort> {
        match self {
            Self::Compressor(settings) => here(Compressor::new(settings.clone())),
            Self::Lossless(settings) => here(Lossless::new(settings.clone())),
            Self::External(settings) => here(Compressor::new(settings.compressor.clone())),
        }
    }

    /// The display name of the engine.
    pub fn name(&self) -> String {
        match self {
            Self::External(settings) if !settings.status.has_failed => settings.name.clone(),
            other => other.engine().name().to_owned(),
        }
    }

    /// Returns true if the engine does not use recorded nodes: the compressor finds the last summary in the
    /// history.
    pub fn forgets_nodes(&self) -> bool {
        matches!(self, Self::Compressor(_))
    }

    /// The number of tokens from which the engine plans compactions.
    pub fn threshold(&self, window: &Window) -> Option<u64> {
        match self {
            Self::External(settings) => {
                threshold(settings.status, &Compressor::new(settings.compressor.clone()), window)
            }
            other => other.engine().threshold(window),
        }
    }
}

/// The engine that the settings name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Compressor,
    Lossless,
    Plugin(Plugin),
}

impl Choice {
    /// The engine with its settings for this model.
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
                let lossless = &config.settings.context.lossless;
                EngineSettings::Lossless(LosslessSettings {
                    compression: compressor,
                    fan_out: usize::try_from(lossless.fan_out.value()?).unwrap_or_default().max(2),
                    extractive: lossless.extractive.value()?,
                    ..LosslessSettings::default()
                })
            }
            Self::Plugin(plugin) => EngineSettings::External(ExternalSettings {
                name: plugin.name.clone(),
                status: EngineStatus::default(),
                compressor,
            }),
        })
    }
}

/// Finds the engine that `context.engine` names, with a warning for the user if there is none: first the
/// directory of a plugin, then the built-in engines. `compressor` is always the built-in one.
pub fn choose(config: &Config, home: &Home) -> Result<(Choice, Option<String>), ConfigError> {
    let name = config.settings.context.engine.get()?.trim();
    if matches!(name, "" | "compressor") {
        return Ok((Choice::Compressor, None));
    }
    Ok(match plugin::find(home, name) {
        Ok(Some(plugin)) => (Choice::Plugin(plugin), None),
        Err(why) => (Choice::Compressor, Some(format!("context.engine: {why}; using `compressor`"))),
        Ok(None) => match built_in(name) {
            Some(choice) => (choice, None),
            None => (Choice::Compressor, Some(unknown(name, home))),
        },
    })
}

/// A built-in engine by its name or alias.
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
        "unknown context.engine `{}` (known: {}); using `compressor`",
        name.escape_default(),
        known.join(", ")
    )
}

fn compressor(config: &Config, provider: &str, model: &str) -> Result<CompressorSettings, ConfigError> {
    let usual = CompressorSettings::default();
    let set = &config.settings.compression;
    let count = |number: u64| usize::try_from(number).unwrap_or(0);
    Ok(CompressorSettings {
        enabled: set.enabled.value()?,
        threshold: set.threshold.value()?,
        target_ratio: set.target_ratio.value()?.unwrap_or(usual.target_ratio),
        protect_last_n: set.protect_last_n.value()?.map(count),
        protect_first_n: count(set.protect_first_n.value()?),
        hygiene_hard_message_limit: count(set.hygiene_hard_message_limit.value()?),
        model: format!("{provider}/{model}"),
        model_thresholds: set.codex_gpt55_autoraise.value()?,
        ..usual
    })
}

#[cfg(test)]
#[path = "context_engine_tests.rs"]
mod tests;

//! The settings of sub-agents.

use hermes_config::settings::{DelegationSettings, Text};
use hermes_config::{Config, ConfigError, FallbackEntry, Setting};
use hermes_models::{common, resolve_entry};
use hermes_providers::Endpoint;
use std::time::Duration;

/// The shortest time limit in seconds.
const SHORTEST: u64 = 30;

/// The settings of sub-agents, `delegation.*`.
pub struct SubAgentSettings {
    pub iterations: u32,
    pub at_once: usize,
    /// The number of levels of sub-agents.
    pub depth: u32,
    pub orchestrators: bool,
    pub time: Option<Duration>,
    pub summary_chars: usize,
    pub approves: bool,
    model: Option<String>,
    provider: Option<String>,
}

impl SubAgentSettings {
    pub fn read(config: &Config) -> Result<Self, ConfigError> {
        let set = &config.settings.delegation;
        let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let word = |setting: &Setting<Option<Text>>| -> Result<Option<String>, ConfigError> {
            let text = setting.get()?.as_deref().map(str::trim).filter(|text| !text.is_empty());
            Ok(text.map(str::to_owned))
        };
        let seconds = set.child_timeout_seconds.value()?;
        Ok(Self {
            iterations: small(set.max_iterations.value()?),
            at_once: usize::try_from(set.max_concurrent_children.value()?.max(1)).unwrap_or(1),
            depth: small(set.max_spawn_depth.value()?.max(1)),
            orchestrators: set.orchestrator_enabled.value()?,
            time: (seconds > 0).then(|| Duration::from_secs(seconds.max(SHORTEST))),
            summary_chars: usize::try_from(set.max_summary_chars.value()?).unwrap_or(usize::MAX),
            approves: set.subagent_auto_approve.value()?,
            model: word(&set.model)?,
            provider: word(&set.provider)?,
        })
    }

    /// Returns the model for sub-agents of a session with the endpoint `own`. The error is a message.
    pub fn endpoint(&self, config: &Config, own: &Endpoint) -> Result<Endpoint, String> {
        let Some(provider) = &self.provider else {
            return Ok(self.model.as_deref().map_or_else(|| own.clone(), |model| own.with_model(model)));
        };
        let entry = FallbackEntry {
            key: DelegationSettings::provider.name.to_owned(),
            provider: provider.clone(),
            model: self.model.clone().unwrap_or_else(|| own.model.clone()),
            base_url: None,
            api_key: None,
            key_env: None,
        };
        let common = common(config).map_err(|error| error.to_string())?;
        resolve_entry(config, &entry, &common)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_range_settings_are_clamped() {
        let text = "delegation: {max_concurrent_children: 0, max_spawn_depth: 0, child_timeout_seconds: 5, model: ' '}\n";
        let settings = SubAgentSettings::read(&Config::parse(text).unwrap()).unwrap();
        assert_eq!((settings.at_once, settings.depth), (1, 1));
        assert_eq!(settings.time, Some(Duration::from_secs(30)));
        assert_eq!(settings.model, None);
        let default = SubAgentSettings::read(&Config::parse("").unwrap()).unwrap();
        assert_eq!((default.iterations, default.at_once, default.depth, default.time), (50, 3, 1, None));
        assert!(default.orchestrators && !default.approves);
    }
}
